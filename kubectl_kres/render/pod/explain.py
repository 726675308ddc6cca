"""An explanation as text: the whole answer, verdict and smallest fix first, and the same in at most five lines."""

# ruff: noqa: PLC0415 - a short page needs no tables, and other faces no page
from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from kubectl_kres.provenance.journal import Check, Derive, Set
from kubectl_kres.render.pod.remarks import remark_lines
from kubectl_kres.render.pod.verdict import verdict_lines
from kubectl_kres.render.text.line import (
    Line,
    aligned_lines,
    clip_text,
    command_lines,
    draw,
    pad_text,
    size,
    tone_lines,
    with_ages,
    wrap_text,
)
from kubectl_kres.render.text.sentences import decisive_texts, sentence_text
from kubectl_kres.render.text.system import systems
from kubectl_kres.render.verdict.brief import Brief, with_remedies
from kubectl_kres.render.verdict.headline import (
    PARTLY,
    at_maximum,
    headline,
    lacks_limit_ranges,
    pod_count_text,
)
from kubectl_kres.render.verdict.note import note_text
from kubectl_kres.reports.common.explanation import Explanation, Fact, Note, Total, merge_facts
from kubectl_kres.reports.pod.verdict import OUTCOMES

#: What objects come to, as the last line of a list counts them.
_NOTHING = Note(nothing=True)
_COUNTED = (*OUTCOMES, "ended", "ok", "over", "conflict", "limits nothing")

#: Widest name in a sum; the title of its table has it in full.
_NAME = 32


def lines(
    explanation: Explanation,
    *,
    steps: bool = False,
    container: str = "",
    question: str = "",
    whole: bool = False,
    now: str = "",
    color: bool = False,
    width: int = 80,
) -> Iterator[str]:
    """Yield every line of the answer. ``container`` and ``question`` (``app.limits.memory``) narrow it.

    ``whole`` or ``steps``: with all that is known; else the short page, with ages as of ``now`` (RFC 3339).

    Raises UsageError where they name nothing. Lines of ours keep to ``width``; the server's own sentences are not cut.
    """
    if question or container:
        from kubectl_kres.reports.explain import value_query as asked
    if question:
        from kubectl_kres.render.text.values import answer

        container_values, value = asked.value(explanation, question, container)
        result: Iterator[Line] = answer(container_values, value, width, now)
    elif container:
        from kubectl_kres.render.text.values import tables

        chosen = asked.containers(explanation, container)
        result = islice(tables(chosen, live=explanation.live, steps=steps, width=width, now=now), 1, None)
    elif steps or whole:
        result = explanation_lines(explanation, steps=steps, width=width, now=now)
    else:
        from kubectl_kres.render.pod.page import page_lines

        result = page_lines(explanation, now=now, width=width)
    for line in result:
        yield draw(line, color=color)


def count_line(words: Sequence[str]) -> str:
    """Return the last line of a list: how many objects have which verdict."""
    shown = [f"{words.count(word)} {word}" for word in _COUNTED if word in words]
    number = f"{len(words)} object{'s' * (len(words) != 1)}"
    return f"{number}: {', '.join(shown)}" if words else "no objects"


def fix_question_lines(command: str, *, color: bool = False) -> Iterator[str]:
    """Yield what to ask next where something in a list is stuck."""
    for line in command_lines("next", "what to change", (command,), 80):
        yield draw(line, color=color)


def left_out_lines(kinds: Sequence[str], *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield the objects of files that were not looked at, counted by kind."""
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(kinds).items()))
    for line in tone_lines("quiet", wrap_text(f"not looked at: {counted}", width, rest="  ")):
        yield draw(line, color=color)


def assumed_lines(text: str, *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield what may turn answers in a table."""
    for line in tone_lines("warn", wrap_text(f"assumed: {text}", width, rest="  ")):
        yield draw(line, color=color)


def explanation_lines(explanation: Explanation, *, steps: bool, width: int, now: str = "") -> Iterator[Line]:
    """Yield the lines of the whole answer, without colors."""
    from kubectl_kres.render.text.values import cost_lines, tables

    yield from verdict_lines(explanation, width, now)
    yield [("", "")]
    namespace_text = f" in {explanation.subject.namespace}" if explanation.subject.namespace else ""
    head = f"{explanation.subject}{namespace_text}, from {sentence_text(explanation.start)}{_existing(explanation)}"
    yield from tone_lines("quiet", wrap_text(head, width, rest="  "))
    for system in systems():
        yield from system.start_lines(explanation, width)
    yield from tables(explanation.containers, live=explanation.live, steps=steps, width=width, now=now)
    yield from _pod(explanation, width)
    for cost in explanation.quotas:
        yield from cost_lines(cost, width=width)
    for system in systems():
        yield from system.quota_lines(explanation, width)
    yield from _demands(explanation, width)
    if steps:
        yield from _other_steps(explanation, width)
    yield from fact_lines(explanation.facts, width, now)
    yield from _node_lines(explanation, width, now)
    yield from remark_lines(explanation, steps=steps, width=width, now=now)


def _existing(explanation: Explanation) -> str:
    """Return how many pods there are; all of them may be older than what is refused."""
    pods = explanation.replicas
    return f"; {pod_count_text(pods)}" if pods is not None and pods.wanted else ""


def _pod(explanation: Explanation, width: int) -> Iterator[Line]:
    from kubectl_kres.render.pod.page import own_limits_text
    from kubectl_kres.render.text.values import CELL, orders

    if explanation.totals:
        yield [("", "")]
        order = orders(explanation.order, explanation.listed)
        yield from tone_lines("strong", wrap_text(f"pod total{order}", width, rest="  "))
        names, inits = _names(explanation), _inits(explanation)
        labels = [f"{total.resource} {total.side[:-1]}" for total in explanation.totals]
        column = 2 + min(_NAME, max(map(size, labels)))
        figures = [clip_text(total.value, CELL) for total in explanation.totals]
        longest = max(map(size, figures))
        for total, label, figure in zip(explanation.totals, labels, figures, strict=True):
            indent = " " * (column + longest + 4)
            first, *rest = wrap_text(_format_sum(total, names, inits), width, first=indent, rest=indent)
            tail = f"  {pad_text(figure, longest)}  {first[len(indent) :]}"
            yield from aligned_lines("", f"  {label}", column, [("", tail)], width)
            yield from tone_lines("", rest)
            if total.unlimited:
                unlimited = " and ".join(total.unlimited)
                text = f"the pod is not limited: {unlimited} has no {label}; the API sums what the others state"
                yield from tone_lines("warn", wrap_text(text, width, first=indent, rest=indent))
            if total.own_limits:
                yield from tone_lines("warn", wrap_text(own_limits_text(total), width, first=indent, rest=indent))
        yield from _overhead(explanation)
    yield from _priority(explanation)
    if explanation.qos is not None:
        yield [("", "")]
        quality = explanation.qos
        other = f" or {', '.join(explanation.qos_alternatives)}" if explanation.qos_alternatives else ""
        head = f"QoS class {quality.name}{other}{PARTLY if lacks_limit_ranges(explanation.unread) else ''}"
        yield from tone_lines("", wrap_text(f"{head}: {quality.reason}", width, rest="  "))
        if explanation.live_qos and explanation.live_qos != quality.name:
            kept = f"the live pod is {explanation.live_qos}: the class is kept from its creation"
            yield from tone_lines("warn", wrap_text(kept, width, first="  ", rest="    "))


def _names(explanation: Explanation) -> Mapping[str, str]:
    """Return the names of containers by path. Those that only the live pod has come last and are in no sum."""
    return {container.path: container.name or "pod level" for container in reversed(explanation.containers)}


def sum_text(explanation: Explanation, total: Total) -> str:
    """Return how a figure of the whole pod comes about, as ``app 250m + proxy 100m``."""
    return _format_sum(total, _names(explanation), _inits(explanation))


def _inits(explanation: Explanation) -> frozenset[str]:
    """Return the paths of the init containers, which run one after the other and end."""
    return frozenset(container.path for container in explanation.containers if container.role == "init")


def _overhead(explanation: Explanation) -> Iterator[Line]:
    """Yield where the overhead in the sums comes from."""
    sets = [entry for entry in explanation.journal if isinstance(entry, Set) and entry.rule == "runtime-class/overhead"]
    if sets and sets[0].source is not None:
        yield [("", f"  overhead is that of {sets[0].source.ref}")]


def _priority(explanation: Explanation) -> Iterator[Line]:
    """Yield the priority class that admission gives a pod without one, if a quota counts by it."""
    sets = [
        entry for entry in explanation.journal if isinstance(entry, Set) and entry.rule == "priority/global-default"
    ]
    if sets and sets[0].source is not None:
        yield [("", "")]
        yield [("", f"PriorityClass {sets[0].after}, the global default: quotas here count by it")]


def _format_sum(total: Total, names: Mapping[str, str], inits: Collection[str]) -> str:
    derivation: Derive = total.derivation
    kept = [f"{_term(term.path, names)} {term.value}" for term in derivation.terms if term.kept]
    given_up = [(term.path, f"{_term(term.path, names)} {term.value}") for term in derivation.terms if not term.kept]
    lost = [text for _, text in given_up]
    if derivation.rule == "pod/pod-level":
        return f"{' + '.join(kept)}" + (f", in place of {' + '.join(lost)}" if lost else "")
    if derivation.rule == "pod/init-peak":
        others = [text for path, text in given_up if path.partition(".resources.")[0] in inits]
        later = [text for path, text in given_up if path.partition(".resources.")[0] not in inits]
        alone = f"; {' and '.join(others)} in their turn" if others else ""
        return f"{' + '.join(kept)} while it runs{alone}" + (f"; later {' + '.join(later)}" if later else "")
    return " + ".join(kept) + (f"; before that {', then '.join(lost)}" if lost else "")


def _term(path: str, names: Mapping[str, str]) -> str:
    if path.startswith("spec.overhead"):
        return "overhead"
    return clip_text(names.get(path.partition(".resources.")[0], path), _NAME)


def _demands(explanation: Explanation, width: int) -> Iterator[Line]:
    """Return the containers that lack a value which a quota requires, unless the first line says so."""
    if any(finding.rule == "quota/must-specify" for finding in explanation.verdict.findings):
        return
    for demand in explanation.demands:
        lacks = [
            f"{', '.join(holders)} lack{'s' * (len(holders) == 1)} {name}" for name, holders in demand.missing.items()
        ]
        if lacks:
            head = f"quota {demand.quota} requires {', '.join(demand.names)} on every container"
            yield [("", "")]
            yield from tone_lines("bad", wrap_text(f"{head}: {'; '.join(lacks)}", width, rest="  "))


def _other_steps(explanation: Explanation, width: int) -> Iterator[Line]:
    """Yield what the tables do not show: values of the pod besides requests and limits, and what was compared."""
    from kubectl_kres.render.text.values import format_source, text, title

    shown = {value.path for container in explanation.containers for value in container.values}
    names = {container.path: title(container) for container in reversed(explanation.containers)}
    sets = [entry for entry in explanation.journal if isinstance(entry, Set) and entry.path not in shown]
    checks = [entry for entry in explanation.journal if isinstance(entry, Check)]
    for heading, entries in (("also set", sets), ("checked", checks)):
        if entries:
            yield [("", "")]
            yield [("strong", heading)]
        for entry in entries:
            holder, resources, rest = entry.path.partition(".resources[")
            value_name = f"{names.get(holder, holder)} {rest.rstrip(']')}" if resources else entry.path
            bad = isinstance(entry, Check) and not entry.passed
            yield from tone_lines(
                "bad" if bad else "", wrap_text(f"{value_name}: {text(entry)}", width, first="  ", rest="      ")
            )
            if entry.source is not None:
                when_text = format_source(entry.source)
                yield from tone_lines("quiet", wrap_text(when_text, width, first="      ", rest="        "))


def fact_lines(facts: Sequence[Fact], width: int, now: str = "") -> Iterator[Line]:
    """Yield what the cluster says; nothing if it says nothing."""
    if not facts:
        return
    yield [("", "")]
    yield [("strong", "seen in the cluster")]
    for fact in merge_facts(facts):
        times = f" {fact.count}x" if fact.count > 1 else ""
        when_text = f", last {with_ages(fact.time, now)}" if fact.time else ""
        head, source = f"  {fact.reason}{times}", f"  {fact.source.ref}{when_text}"
        if size(head) + size(source) <= width:
            yield [("warn", head), ("quiet", source)]
        else:
            yield from tone_lines("warn", wrap_text(head, width, first="  ", rest="    "))
            yield from tone_lines("quiet", wrap_text(source, width, first="    ", rest="    "))
        yield from tone_lines("", wrap_text(fact.text, width, first="    ", rest="    "))


def _node_lines(explanation: Explanation, width: int, now: str) -> Iterator[Line]:
    """Yield the nodes for a pod that waits for one."""
    if explanation.scheduling is not None:
        from kubectl_kres.render.scheduling import report_lines

        yield from report_lines(explanation.scheduling, width, now)


def brief(explanation: Explanation, more: str, now: str = "") -> Brief:
    """Return the brief answer. ``more``: the command that prints the whole one. ``now`` (RFC 3339): times are ages."""
    tone, word, text = headline(explanation, now)
    if explanation.fixes:
        return with_remedies(Brief(tone, word, text, next=more), explanation.fixes)
    reach = explanation.autoscaled
    short = reach is not None and reach.fits < reach.max_replicas
    note = "" if tone == "good" and explanation.note == _NOTHING else note_text(explanation.note)
    warnings = [at_maximum(reach)] if reach is not None and short else []
    warnings += [f"assumed: {text}" for text in decisive_texts(explanation.assumptions)]
    return Brief(tone, word, text, remedy=note, warning="; ".join(warnings))
