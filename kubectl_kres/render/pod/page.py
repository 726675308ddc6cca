"""The short page of an explanation: the verdict, its cause, the fixes, and what admission changed.

``explain.explanation_lines`` is the whole answer, which ``--all`` shows.
"""

# ruff: noqa: PLC0415 - only a pod that waits for a node has any
from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from kubectl_kres.provenance.journal import is_own_rule
from kubectl_kres.render.pod.remarks import remark_groups
from kubectl_kres.render.pod.verdict import short_verdict_lines, shown_remedies
from kubectl_kres.render.text.line import (
    LABEL,
    Line,
    Tone,
    age_text,
    clip_text,
    columns,
    labelled_lines,
    size,
    tone_lines,
    with_ages,
    wrap_text,
)
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.headline import PARTLY, code_line, lacks_limit_ranges, one_line_message, server_text
from kubectl_kres.reports.common.explanation import (
    Explanation,
    Fact,
    ResourceValue,
    Total,
    facts_that_say,
    merge_facts,
    strip_controller_prefix,
)

#: Values that are shown; the rest is counted. Fewer where each has a remark, and where fixes are the answer.
_VALUES, _VALUES_LIVE, _VALUES_REFUSED = 6, 4, 2
#: Widest column of values and of their names.
_CELL, _NAME = 20, 36
#: Cells of an event's text.
_FACT = 240
#: Conditions that say no more than that pods are missing.
_NOISE = frozenset({"MinimumReplicasUnavailable"})
#: Remarks that are never cut: they may change the answer.
_WHOLE = frozenset({"or", "warning", "unread"})
#: Events and remarks of a kind that are shown.
_FACTS = 2


class _Row(Struct, frozen=True):
    """A value that is not stored as it was written: its name, its figures, what set it."""

    value: ResourceValue
    name: str


def page_lines(explanation: Explanation, *, now: str, width: int) -> Iterator[Line]:
    """Yield the answer as a page of its own. ``now`` (RFC 3339) turns times into ages; empty: none is shown."""
    yield from short_verdict_lines(explanation, now, width)
    yield [("", "")]
    if explanation.scheduling is not None:
        from kubectl_kres.render.scheduling import short_report_lines

        yield from short_report_lines(explanation.scheduling, width, now)
    yield from _value_lines(explanation, now, width)
    yield from _pod_line(explanation, width)
    yield from _quota_line(explanation, width)
    yield from _server_lines(explanation, now, width)
    yield from _remarks(explanation, now, width)
    yield from code_line(explanation.verdict)
    yield from labelled_lines("more", f"--all: {_format_hidden_parts(explanation)}", width, tone="quiet")


def _value_lines(explanation: Explanation, now: str, width: int) -> Iterator[Line]:
    """Yield the values that are not stored as they were written, each with what set it."""
    rows = [
        _Row(value, f"{container.name or 'pod level'} {value.resource} {value.side[:-1]}")
        for container in explanation.containers
        for value in container.values
        if (value.value is not None and value.value != value.written) or value.alternatives or value.note
    ]
    maximum = _VALUES_LIVE if explanation.live else _VALUES
    maximum = maximum if explanation.verdict.allowed is not False else _VALUES_REFUSED
    notes = [
        f"{container.name}: {sentence_text(container.note)}" for container in explanation.containers if container.note
    ]
    if not rows and explanation.containers:
        anything = any(container.values for container in explanation.containers)
        unread = anything and all(value.value is None for item in explanation.containers for value in item.values)
        text = "stored as written" if anything else "no container states a request or limit"
        text = "none is stored" if unread else text
        yield from labelled_lines("values", text, width, tone="quiet")
    if rows:
        sources = list(dict.fromkeys(_source(row.value) for row in rows))
        rows.sort(key=lambda row: sources.index(_source(row.value)))
        yield from _rows(rows[:maximum], now, width, live=explanation.live)
    # Where fixes are the answer the last line says enough.
    if len(rows) > maximum and explanation.verdict.allowed is not False:
        count = len(rows) - maximum
        yield [("quiet", f"  and {count} more value{'s' * (count != 1)} that admission sets")]
    for note in notes:
        yield from tone_lines("warn", wrap_text(note, width, first="  ", rest="  "))


def _rows(rows: Sequence[_Row], now: str, width: int, *, live: bool) -> Iterator[Line]:
    """Yield the rows of the values. The object that set a value follows its rule, or once all rows that it set."""
    heads = ["values", "SPEC", *(["TODAY", "LIVE"] if live else ["EFFECTIVE"]), "SET BY"]
    head, *shown = columns([heads, *(_cells(row, live=live) for row in rows)])
    yield [("strong", head[: len(heads[0])]), ("quiet", clip_text(head[len(heads[0]) :], width))]
    for index, (row, line) in enumerate(zip(rows, shown, strict=True)):
        value = row.value
        tone: Tone = "warn" if value.note or value.alternatives else ""
        source = _source(value)
        last = index + 1 == len(rows) or _source(rows[index + 1].value) != source
        beside = (
            source
            and size(line) + 2 + size(source) <= width
            and (last and (not index or _source(rows[index - 1].value) != source))
        )
        yield [(tone, f"{line}  {source}" if beside else line)]
        if source and last and not beside:
            yield from tone_lines("quiet", wrap_text(f"from {source}", width, first="      ", rest="        "))
        if value.note and (index + 1 == len(rows) or rows[index + 1].value.note != value.note):
            text = f"live differs: {with_ages(sentence_text(value.note), now)}"
            yield from tone_lines("warn", wrap_text(text, width, first="      ", rest="        "))


def _cells(row: _Row, *, live: bool) -> list[str]:
    value = row.value
    computed = " or ".join([value.value or "-", *(other.value for other in value.alternatives)])
    figures = [value.written or "-", computed, *([value.live or "-"] if live else [])]
    return [f"  {clip_text(row.name, _NAME)}", *(clip_text(figure, _CELL) for figure in figures), value.rule]


def _source(value: ResourceValue) -> str:
    """Return the object that the value was taken from; empty where that is the manifest itself.

    Of what pods tell it is also said how many of them.
    """
    if is_own_rule(value.rule) or value.source is None:
        return ""
    return str(value.source if value.rule == "seen/added-on-create" else value.source.ref)


def _pod_line(explanation: Explanation, width: int) -> Iterator[Line]:
    """Yield the effective request and limit of each resource of the pod, and its QoS class with the reason."""
    parts: list[str] = []
    if explanation.totals:
        parts.append(f"request / limit: {', '.join(_pairs(explanation.totals))}")
    if explanation.qos is not None:
        other = f" or {', '.join(explanation.qos_alternatives)}" if explanation.qos_alternatives else ""
        seen = PARTLY if lacks_limit_ranges(explanation.unread) else ""
        # Of a pod that is refused the reason of its class is no answer to anything.
        reason = f": {explanation.qos.reason}" if explanation.verdict.allowed is not False else ""
        parts.append(f"QoS {explanation.qos.name}{other}{seen}{reason}")
    if parts:
        yield from labelled_lines("pod", "; ".join(parts), width)
    for total in explanation.totals:
        if total.own_limits:
            yield from tone_lines("warn", wrap_text(own_limits_text(total), width, first=" " * LABEL, rest=" " * LABEL))
    if explanation.live_qos and explanation.qos is not None and explanation.live_qos != explanation.qos.name:
        kept = f"the live pod is {explanation.live_qos}: the class is kept from its creation"
        yield from tone_lines("warn", wrap_text(kept, width, first=" " * LABEL, rest=" " * LABEL))


def own_limits_text(total: Total) -> str:
    """Return that containers cannot all reach their own limits within the pod's."""
    return (
        f"the containers' own {total.resource} limits add up to {total.own_limits}: within the pod's {total.value} not "
        "all of them can be reached at once"
    )


def _pairs(totals: Sequence[Total]) -> Iterator[str]:
    """``cpu 500m / 1`` for each resource: request and limit."""
    by_resource: dict[str, dict[str, Total]] = {}
    for total in totals:
        by_resource.setdefault(total.resource, {})[total.side] = total
    for resource, sides in by_resource.items():
        request, limit = sides.get("requests"), sides.get("limits")
        bound = (
            "no limit"
            if limit is None
            else f"{clip_text(limit.value, _CELL)}{' (not of all containers)' * bool(limit.unlimited)}"
        )
        yield f"{resource} {clip_text(request.value, _CELL) if request is not None else '-'} / {bound}"


def _quota_line(explanation: Explanation, width: int) -> Iterator[Line]:
    """Return how many more such pods each quota has room for, but for those that the cause names."""
    findings = (*explanation.verdict.findings, *explanation.further)
    named = {finding.source.name for finding in findings if finding.source is not None}
    costs = [cost for cost in explanation.quotas if cost.fits is not None and (cost.fits or cost.quota not in named)]
    texts = [f"{cost.quota}: {_format_room(cost.fits or 0)}" for cost in costs]
    if texts:
        yield from labelled_lines("quotas", "; ".join(texts), width)


def _format_room(fits: int) -> str:
    return f"room for {fits} more such pod{'s' * (fits != 1)}" if fits else "no room for another such pod"


def _server_lines(explanation: Explanation, now: str, width: int) -> Iterator[Line]:
    """Yield the server's own sentence, once, with how often and when it was last said; then what else the
    cluster says.
    """
    verdict = explanation.verdict
    message = verdict.blocked.message if verdict.blocked is not None else one_line_message(verdict)
    facts = [fact for fact in merge_facts(explanation.facts) if fact.reason not in _NOISE]
    same = facts_that_say(message, facts)
    if message:
        text = message if verdict.blocked is not None else server_text(message, same)
        frequency = _format_frequency(same[0], now) if same else ""
        yield from labelled_lines("server", f"{text}{frequency}", width, tone="quiet")
    state = explanation.run_state
    others = [fact for fact in facts if fact not in same and not (state is not None and state.message == fact.text)]
    for fact in others[:_FACTS]:
        yield from labelled_lines(
            "seen",
            f"{fact.reason}: {clip_text(strip_controller_prefix(fact.text), _FACT)}{_format_frequency(fact, now)}",
            width,
            tone="quiet",
        )


def _format_frequency(fact: Fact, now: str) -> str:
    ago = age_text(fact.time, now)
    parts = [*([f"{fact.count}x"] if fact.count > 1 else []), *([f"last {ago} ago"] if ago else [])]
    return f" ({', '.join(parts)})" if parts else ""


def _remarks(explanation: Explanation, now: str, width: int) -> Iterator[Line]:
    """Yield other answers, warnings, failed reads, and a few of the assumptions and edits."""
    message = one_line_message(explanation.verdict)
    for tone, label, texts in remark_groups(explanation, now=now):
        kept = texts if label in _WHOLE else texts[:_FACTS]
        if label == "unread" and kept:
            from kubectl_kres.render.text.unread import unseen_texts

            kept = (*unseen_texts(explanation.unread),)
        if label == "warning":
            # The server warns of a template in the words in which it refuses its pods.
            kept = tuple(text for text in kept if text.partition(": ")[2] not in message)
        for text in kept:
            yield from labelled_lines(label, text, width, tone=tone)


def _format_hidden_parts(explanation: Explanation) -> str:
    """Return what only the whole answer shows."""
    facts = len(merge_facts(explanation.facts))
    counts = {"quota": len(explanation.quotas), "event": facts, "assumption": len(explanation.assumptions)}
    parts = [f"{count} {noun}{'s' * (count != 1)}" for noun, count in counts.items() if count]
    nodes = ["every node's reason"] if explanation.scheduling is not None else []
    fixes = len(explanation.fixes) - len(shown_remedies(explanation))
    more = [f"{fixes} more fix{'es' * (fixes != 1)}"] if fixes else []
    return ", ".join([*more, "every value", *nodes, *parts])
