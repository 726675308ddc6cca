"""Lines of the overview: an area with its counts and bar, something that is wrong, what mends it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from shlex import quote

from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.pictures.holders import divide_cells
from kubectl_kres.render.text.line import (
    Line,
    Tone,
    age_text,
    clip_text,
    draw,
    labelled_lines,
    pad_text,
    size,
    tone_lines,
    wrap_text,
)
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.text.system import systems
from kubectl_kres.render.text.unread import unseen_texts
from kubectl_kres.render.verdict.brief import Brief, with_remedies
from kubectl_kres.render.verdict.headline import PARTLY, cause, only_fit, refusal_reason, rejection_text
from kubectl_kres.render.verdict.note import brief_refusers
from kubectl_kres.render.verdict.run_state import nearest_in_short, reason_text, short
from kubectl_kres.reports.common.explanation import FailedRead, RunState, Verdict
from kubectl_kres.reports.common.nodes import NodeReport
from kubectl_kres.reports.common.shown import WORST
from kubectl_kres.reports.common.system import Severity
from kubectl_kres.reports.overview import AreaPart, Elsewhere, Overview, OverviewArea, Problem
from kubectl_kres.reports.rollout.wanted_pods import quota_shortfall
from kubectl_kres.wording import join_some

#: Mark and tone of a severity.
SIGNS: Mapping[Severity, tuple[str, Tone]] = {
    "bad": ("x", "bad"),
    "warn": ("!", "warn"),
    "unknown": ("?", "warn"),
    "": ("", ""),
}
#: What the marks are called.
SIGNS_SAID = "x wrong   ! watch   ? unknown"
#: Cells of an area's bar.
BAR = 12
#: What a cell is drawn with, in blocks and in ASCII: the darker the worse.
_CELLS: Mapping[Severity, str] = {"bad": "█#", "warn": "▓+", "unknown": "??", "": "░."}
#: Of pods, which are not better or worse: letters, which their counts repeat.
_LETTERS = {"Guaranteed": "G", "Burstable": "B", "BestEffort": "e", "finished": "-"}
_UNKNOWN = {"denied": "not visible", "failed": "not read", "unread": "not read"}
#: Beyond it a percentage says no more than that it is too much.
_MOST_PERCENT = 10_000
_INDENT = "    "
#: How many problems of a severity there are, in a word.
COUNTED: Mapping[Severity, str] = {"bad": "wrong", "warn": "to watch", "unknown": "unknown"}
#: Areas that count workloads, some of them in both.
_OF_WORKLOADS = frozenset({"refused", "running"})
#: What the list of findings is, which the overview leads to.
CHECKED = "what will break next"


def area_bar(area: OverviewArea, *, ascii_only: bool) -> Line:
    """Return how its objects fare, in proportion; nothing where there is nothing to compare."""
    widths = divide_cells([part.count for part in area.parts], BAR) if area.parts else []
    return [
        (SIGNS[part.severity][1] or "quiet", _cell(part, ascii_only=ascii_only) * width)
        for part, width in zip(area.parts, widths, strict=True)
    ]


def _cell(part: AreaPart, *, ascii_only: bool) -> str:
    return _LETTERS.get(part.state) or _CELLS[part.severity][ascii_only]


def describe_area(area: OverviewArea) -> str:
    """Return how many fare how; of what is not known why."""
    if area.state == "absent":
        texts = (system.absent.get(area.kind, "") for system in systems())
        return next(filter(None, texts), f"the server has no {BY_KIND[area.kind].plural}")
    if area.state:
        return _UNKNOWN[area.state]
    parts = ", ".join(map(_format_area_part, area.parts))
    if area.unit and parts:
        # They add up to another number than that of the objects.
        count = sum(part.count for part in area.parts)
        return f"{count} {area.unit.removesuffix('s') if count == 1 else area.unit}: {parts}"
    return parts or ("" if area.count else "none")


def brief_areas(area: OverviewArea) -> tuple[str, ...]:
    """Return the same in fewer and fewer words: without what they are, without those that fare well, the worst alone;
    of pods the letters of their classes.
    """
    if area.state:
        return ()
    parts = ", ".join(map(_format_area_part, area.parts))
    severe = [part for part in area.parts if part.severity]
    bad, others = [*map(_format_area_part, severe)], sum(part.count for part in severe[1:])
    letters = ", ".join(f"{part.count} {_LETTERS.get(part.state, part.state)}" for part in area.parts)
    return (parts, ", ".join(bad), f"{bad[0]}, {others} more" if others else bad[0]) if bad else (parts, letters)


def _format_area_part(part: AreaPart) -> str:
    letter = _LETTERS.get(part.state)
    return f"{part.count} {part.state}{f' ({letter})' if letter else ''}"


def describe_problem(problem: Problem, now: str) -> str:
    """Return how it is and what is missing, in a line. ``now``: as RFC 3339, for how long."""
    texts = [problem.state]
    if problem.verdict is not None:
        reason = _refused_because(problem.verdict, now)
        texts = [f"{problem.state}: {reason}" if reason else problem.state]
        texts.append(_format_missing(problem))
    if problem.run_state is not None:
        texts = [*filter(None, (_format_run_state(problem.run_state), nearest_in_short(problem.nodes)))]
    texts += _figures(problem)
    if ago := age_text(problem.since, now):
        texts.append(f"for {ago}")
    return "; ".join(texts)


def _format_missing(problem: Problem) -> str:
    """Return how many pods are missing, and which run meanwhile."""
    old = problem.old_pods
    if not problem.missing:
        return "no new pods"
    pods = "pod" if problem.wanted == 1 else "pods"
    if not old:
        return f"{problem.missing} of {problem.wanted} {pods} missing"
    run = f"{old} old pods run" if old > 1 else "1 old pod runs"
    return f"{problem.missing} of {problem.wanted} new {pods} missing, {run}"


def _figures(problem: Problem) -> Iterator[str]:
    """Yield what a quota, a claim or a run lacks, in figures and in the controller's words."""
    if problem.short_by:
        yield f"short by {', '.join(f'{lack} of {brief_name(name)}' for name, lack in problem.short_by.items())}"
    if problem.closed_resources:
        yield f"behind others for {', '.join(map(brief_name, problem.closed_resources))}"
    if problem.waiting:
        yield f"{problem.waiting} wait{'s' * (problem.waiting == 1)}"
    if problem.name:
        yield f"{problem.name} {used_up(problem)}{percent_of(problem)}"
    if problem.reason:
        yield problem.reason


def short_problem(problem: Problem, now: str) -> tuple[str, str]:
    """Return how it is, and why: a line each. Empty: that is not known, or the first one says it."""
    state = problem.run_state
    if problem.verdict is not None:
        texts, why = [problem.state, _format_missing(problem)], _refused_because(problem.verdict, now)
    elif state is not None:
        texts, why = [f"{state.state}, but was killed" if state.state == "runs" else state.state], reason_text(state)
        texts += [f"{state.pods} of {state.wanted} pods"] * bool(state.wanted > 1 and state.pods)
        if nearest := nearest_in_short(problem.nodes):
            why = f"{short(state)[0].partition(': ')[2]}; {nearest}"
    else:
        texts, why = [problem.state], "; ".join(_figures(problem))
    ago = age_text(problem.since, now)
    if not ago or (why and why.endswith(")")):
        return ", ".join(texts), why
    return (", ".join(texts), f"{why} (for {ago})") if why else (f"{', '.join(texts)} (for {ago})", "")


def _refused_because(verdict: Verdict, now: str) -> str:
    """Return why its pods are missing; empty where that is not known."""
    if reason := refusal_reason(verdict):
        return reason
    if verdict.fits is not None:
        return only_fit(verdict)
    return rejection_text(verdict.blocked, now) if verdict.blocked is not None else ""


def _format_run_state(state: RunState) -> str:
    """Return how it fares and why, with how many of its pods are like that."""
    word = f"{state.state}, but was killed" if state.state == "runs" else state.state
    pods = f"; {state.pods} of {state.wanted} pods" if state.wanted and state.pods else ""
    return f"{word}: {reason_text(state)}{pods}"


def used_up(problem: Problem) -> str:
    """Return how much is used of what there is."""
    return f"{problem.used or '-'} of {problem.hard}"


def brief_name(name: str) -> str:
    """``cpu`` for requests, which are the rule; limits are named."""
    return name.removeprefix("requests.")


def shortest_name(name: str) -> str:
    """Return the same, or what kubectl calls it too."""
    return _SHORTEST.get(name, brief_name(name))


def percent_of(problem: Problem) -> str:
    """Return the same in percent, where that says something."""
    percent = problem.percent
    return f", {percent}%" if percent is not None and percent < _MOST_PERCENT else ""


def ask_words(problem: Problem) -> str:
    """Return the command, without its source, that says all of it."""
    ref = problem.subject
    namespace_text = f" -n {ref.namespace}" if ref.namespace else ""
    if ref.kind == "ResourceQuota":
        return f"quota {ref.name}{namespace_text} --by workload"
    return f"explain {BY_KIND[ref.kind].plural.removesuffix('s')}/{ref.name}{namespace_text}"


def lines(
    overview: Overview,
    now: str,
    *,
    ascii_only: bool,
    color: bool = False,
    width: int = 80,
    flags: str = "",
    whole: bool = True,
) -> Iterator[str]:
    """Yield the overview; ``now`` as RFC 3339, ``flags``: with which commands look at the same source. ``whole``: all
    problems with all that mends them, not only the worst with the first thing that does.
    """
    for line in _overview_lines(overview, now, width, flags, ascii_only=ascii_only, whole=whole):
        yield draw(line, color=color)


def _overview_lines(
    overview: Overview, now: str, width: int, flags: str, *, ascii_only: bool, whole: bool
) -> Iterator[Line]:
    yield [("strong", f"overview of {_format_scope(overview)}")]
    areas = _select_areas(overview)
    if areas:
        yield from _areas(areas, width, ascii_only=ascii_only)
    else:
        yield [("quiet", "nothing here that takes or limits compute resources")]
    if overview.problems:
        yield [("", "")]
        yield [("strong", "worst first"), ("quiet", f"   {SIGNS_SAID}")]
    shown = overview.problems if whole else overview.problems[:WORST]
    for problem in shown:
        yield from problem_lines(problem, now, width, flags) if whole else _short_problem(problem, now, width, flags)
    left = len(overview.problems) - len(shown)
    if left:
        yield [("quiet", f"{left} more: --all")]
    if overview.unread:
        yield [("", "")]
        yield from _unread_lines(overview.unread, width, whole=whole)
    if overview.elsewhere:
        yield [("", "")]
        names = join_some(f"{problem.subject} is {problem.state}" for problem in overview.elsewhere)
        yield from tone_lines("quiet", wrap_text(f"of other namespaces: {names}", width, rest="  "))
    if overview.others is not None and overview.others.unready:
        more = " ".join(filter(None, ("kubectl kres overview -A", flags)))
        yield [("", "")]
        yield from tone_lines("warn", wrap_text(f"elsewhere {_format_elsewhere(overview.others)}", width, rest="  "))
        yield [("quiet", "  next "), ("command", more)]
    if not left or overview.unread or overview.elsewhere:
        yield [("", "")]
    yield [
        (
            "quiet",
            f"{CHECKED}: kubectl kres {' '.join(filter(None, ('check', _format_namespace_flag(overview), flags)))}",
        )
    ]


def brief(overview: Overview, now: str, flags: str) -> Brief:
    """Return how much is wrong, and the worst of it with what mends it."""
    scope = f"namespace {overview.namespace}" if overview.namespace else "all namespaces"
    blind = dict.fromkeys(failed_read.kind for failed_read in overview.unread if failed_read.required)
    scope += f" ({join_some(blind)} could not be read)" if blind else ""
    if not overview.problems:
        word = "nothing wrong" if overview.complete else f"nothing wrong{PARTLY}"
        more = " ".join(filter(None, ("kubectl kres check", _format_namespace_flag(overview), flags)))
        return Brief("good" if overview.complete else "warn", word, f": {scope}", next=more)
    worst = overview.problems[0]
    counts = Counter(problem.severity for problem in overview.problems)
    word = ", ".join(f"{counts[severity]} {text}" for severity, text in COUNTED.items() if counts[severity])
    more = " ".join(filter(None, ("kubectl kres", ask_words(worst), flags)))
    text = f": {scope}: worst: {worst.subject.full_name} {describe_problem(worst, now)}"
    return with_remedies(Brief(SIGNS[worst.severity][1], word, text, next=more), worst.fixes)


def _format_namespace_flag(overview: Overview) -> str:
    return f"-n {quote(overview.namespace)}" if overview.namespace else "-A"


def _select_areas(overview: Overview) -> list[OverviewArea]:
    """Return the areas that have a row: workloads have one, namespaces none; of one namespace those in which there is
    something.
    """
    areas = [area for area in overview.areas if area.name not in _OF_WORKLOADS or overview.workloads is None]
    areas = [*([overview.workloads] if overview.workloads is not None else ()), *areas]
    areas = [area for area in areas if area.kind != "Namespace"]
    if not overview.namespace:
        return areas
    return [area for area in areas if area.state not in {"", "absent"} or area.count]


def _format_elsewhere(others: Elsewhere) -> str:
    lack = (
        "workload (of {}) does not have all its" if others.unready == 1 else "workloads (of {}) do not have all their"
    )
    where = join_some(others.namespaces, 3)
    return f"{others.unready} {lack.format(others.workloads)} pods ready: in {where}"


def _format_scope(overview: Overview) -> str:
    if overview.namespace:
        return f"namespace {overview.namespace}"
    count = next((area.count for area in overview.areas if area.kind == "Namespace" and not area.state), None)
    return f"all namespaces ({count})" if count else "all namespaces"


def _areas(areas: Sequence[OverviewArea], width: int, *, ascii_only: bool) -> Iterator[Line]:
    names = max(size(area.name) for area in areas)
    counts = [_count(area) for area in areas]
    maximum = max(map(size, counts))
    indent = " " * (2 + names + 2 + maximum + 2 + BAR + 2)
    for area, count in zip(areas, counts, strict=True):
        mark, tone = SIGNS[area.severity] if not area.state else ("?" if area.state != "absent" else "", "warn")
        drawn = area_bar(area, ascii_only=ascii_only)
        first, *rest = wrap_text(describe_area(area), max(24, width - len(indent)))
        head = f"{pad_text(area.name, names)}  {' ' * (maximum - size(count))}{count}  "
        blank = " " * (BAR - sum(size(text) for _, text in drawn))
        yield [(tone, pad_text(mark, 2)), ("", head), *drawn, ("", f"{blank}  "), (_tone(area), first)]
        yield from tone_lines("", (f"{indent}{line}" for line in rest))


def _count(area: OverviewArea) -> str:
    return f"{area.count:,}" if area.count is not None else "-" if area.state == "absent" else "?"


def _tone(area: OverviewArea) -> Tone:
    return "quiet" if area.state == "absent" else SIGNS[area.severity][1]


def problem_lines(problem: Problem, now: str, width: int, flags: str = "") -> Iterator[Line]:
    """Yield what it is, what mends it with the command for that, and the command that says more of it."""
    mark, tone = SIGNS[problem.severity]
    ref = problem.subject
    first, *rest = wrap_text(
        f"{ref.full_name}  {describe_problem(problem, now)}", width, first=f"{mark} ", rest=_INDENT
    )
    yield [(tone, first[:2]), ("", first[2:])]
    yield from tone_lines("", rest)
    for index, remedy in enumerate(problem.fixes[:2]):
        yield from tone_lines(
            "", wrap_text(sentence_text(remedy.text), width, first="  or   " if index else "  fix  ", rest="       ")
        )
        if remedy.no_command_reason and not index:
            yield from tone_lines(
                "quiet", wrap_text(sentence_text(remedy.no_command_reason), width, first="       ", rest="       ")
            )
        for command in remedy.commands if not index else ():
            yield [("", "       "), ("command", command)]
    yield [("quiet", f"  next kubectl kres {' '.join(filter(None, (ask_words(problem), flags)))}")]


def _short_problem(problem: Problem, now: str, width: int, flags: str) -> Iterator[Line]:
    """Yield the same in few lines: what it is, the first thing that mends it, and one command: the one that mends it,
    or the one that says more.
    """
    mark, tone = SIGNS[problem.severity]
    how, why = short_problem(problem, now)
    first, *rest = wrap_text(f"{problem.subject.full_name} {how}", width, first=f"{mark} ", rest=_INDENT)
    yield [(tone, first[:2]), ("", first[2:])]
    yield from tone_lines("", rest)
    yield from tone_lines("", [clip_text(f"  {why}", width)] if why else [])
    commands: Sequence[str] = ()
    for remedy in problem.fixes[:1]:
        yield from tone_lines("", wrap_text(sentence_text(remedy.text), width, first="  fix  ", rest="       "))
        commands = remedy.commands
    for command in commands:
        yield [("", "       "), ("command", command)]
    if not commands:
        yield [("quiet", f"  next kubectl kres {' '.join(filter(None, (ask_words(problem), flags)))}")]


def _unread_lines(failed_reads: Sequence[FailedRead], width: int, *, whole: bool) -> Iterator[Line]:
    """Yield what could not be read; ``whole``: each in the server's words."""
    if not whole:
        for text in unseen_texts(failed_reads):
            yield from labelled_lines("unread", text, width, tone="warn")
        return
    yield [("strong", "not visible")]
    for failed_read in failed_reads:
        yield from _unseen_lines(failed_read, width)


def _unseen_lines(failed_read: FailedRead, width: int) -> Iterator[Line]:
    texts = wrap_text(unseen_words(failed_read), width, first="? ", rest=_INDENT)
    yield from tone_lines("warn" if failed_read.required else "quiet", texts)


def unseen_words(failed_read: FailedRead) -> str:
    """Return what could not be read, and the server's words."""
    namespace_text = f" of namespace {failed_read.namespace}" if failed_read.namespace else ""
    return f"{failed_read.kind} objects{namespace_text}: {sentence_text(failed_read.message) or failed_read.state}"


#: What the nodes lack, in the scheduler's sentence.
_NODES = re.compile(r"0/\d+ nodes are available: (.+?)\.(?: |$)")
_INSUFFICIENT = re.compile(" Insufficient (?:requests\\.)?")
#: Where the rest of a reason begins, which a row has no room for.
_CLAUSES = re.compile(": |; |, and ")
_BOUNDS = {"limitrange/max": ">", "limitrange/min": "<"}
#: What kubectl calls it too.
_SHORTEST = {"persistentvolumeclaims": "pvc", "count/persistentvolumeclaims": "pvc"}


def scheduler_reasons(message: str) -> str:
    """Return why no node takes a pod, without how many nodes there are; the whole where it is another sentence."""
    sentence = _NODES.match(message)
    return sentence[1] if sentence is not None else message


def short_causes(problem: Problem) -> tuple[str, ...]:
    """Return what is wrong, what is missing with a minus before it; then the same in fewer and fewer words."""
    if problem.verdict is not None:
        texts: Iterable[str] = refusal_causes(problem.verdict)
    elif problem.run_state is not None:
        texts = _row_state(problem.run_state, problem.nodes)
    else:
        texts = _problem_texts(problem)
    return tuple(dict.fromkeys(text for text in texts if text)) or (problem.state,)


def refusal_causes(verdict: Verdict) -> Iterator[str]:
    """Yield why pods are refused, then the same in fewer and fewer words; nothing where that is not known."""
    findings = dict.fromkeys(map(_finding, verdict.findings))
    if not findings:
        yield from [verdict.message] if verdict.message else _verdict(verdict)
        return
    most = max(map(len, findings))
    yield from ("; ".join(forms[min(index, len(forms) - 1)] for forms in findings) for index in range(most))
    first, others = next(iter(findings)), len(findings) - 1
    yield from (f"{form} +{others}" for form in first if others)


def short_ref(ref: ObjectRef) -> str:
    """Return the object's kind as short as kubectl takes it, and its name: ``deploy/web``."""
    kind = BY_KIND.get(ref.kind)
    return f"{min(kind.names, key=len) if kind is not None else ref.kind.lower()}/{ref.name}"


def pods_of(problem: Problem) -> str:
    """Return how many pods are there of how many wanted; empty where it is about no pods."""
    if problem.wanted:
        return f"{problem.wanted - problem.missing}/{problem.wanted}"
    state = problem.run_state
    return f"{state.ready}/{state.wanted}" if state is not None and state.wanted else ""


def _row_state(state: RunState, nodes: NodeReport | None) -> Iterator[str]:
    """Yield how it fares and why; what the nearest node lacks, else what the scheduler says that the nodes lack."""
    nearest = nodes.nearest if nodes is not None and not nodes.fitting else None
    if state.reason == "NoNode" and nearest is not None and nearest.shortages and not nearest.obstacles:
        yield f"no node: {', '.join(f'-{lack.short_by} {shortest_name(lack.resource)}' for lack in nearest.shortages)}"
        names = ", ".join(shortest_name(lack.resource) for lack in nearest.shortages)
        yield from (f"no node: {names} short", f"no node: {names}", "no node")
    elif state.reason == "NoNode" and (sentence := _NODES.match(state.message)):
        yield f"no node: {sentence[1]}"
        yield f"no node: {_INSUFFICIENT.sub(' lack ', sentence[1])}"
        yield "no node"
    elif state.state == "runs":
        # That it runs is seen by its pods.
        killed = reason_text(state).partition(" under ")[0].replace(" was killed", " killed")
        yield killed
        yield killed.removeprefix("container ")
        yield "killed"
    else:
        text = reason_text(state)
        yield f"{state.state}: {text}".removesuffix(": ")
        yield f"{state.state}: {_CLAUSES.split(text, maxsplit=1)[0]}".removesuffix(": ")
        yield short(state)[0]
        yield state.state


def _verdict(verdict: Verdict) -> Iterator[str]:
    """Yield why pods are missing that no rule refuses; nothing where that is not known."""
    if verdict.fits is not None:
        yield from (f"{verdict.fits} of {verdict.missing} {what}fit" for what in ("missing pods ", "missing ", ""))
    elif verdict.blocked is not None:
        by = verdict.blocked.by
        if by.rule == "webhook/unreachable":
            yield from (f"webhook {by.name} cannot be called", "webhook cannot be called", "webhook fails")
        else:
            yield from (f"rejected by {rejecter}" for rejecter in brief_refusers(by))


def _finding(finding: Finding) -> tuple[str, ...]:
    source = finding.source
    name, resource = source.name if source is not None else "", brief_name(finding.resource)
    if finding.rule == "quota/exceeded":
        lacks = f"-{quota_shortfall(finding)} {shortest_name(finding.resource)}"
        return f"quota {name} -{quota_shortfall(finding)} {resource}", f"quota {lacks}", lacks
    if finding.rule == "quota/must-specify":
        return f"quota {name} requires {resource}", f"quota requires {resource}", f"no {resource}"
    if finding.rule in _BOUNDS and finding.limit and finding.requested:
        bound = f"{resource} {finding.requested} {_BOUNDS[finding.rule]} {finding.limit}"
        return f"{bound} of {name}", bound
    text = cause([finding])
    return text, _CLAUSES.split(text, maxsplit=1)[0]


def _problem_texts(problem: Problem) -> Iterator[str]:
    lacks = ", ".join(f"-{lack} {brief_name(name)}" for name, lack in problem.short_by.items())
    names = ", ".join(map(brief_name, problem.closed_resources))
    used = f"{problem.state}: {shortest_name(problem.name)} {used_up(problem)}" if problem.name else ""
    waiting = f"{problem.waiting} wait{'s' * (problem.waiting == 1)}" if problem.waiting else ""
    reason, *briefer = brief_reasons(problem.reason)
    yield _join(
        lacks,
        f"behind others for {names}" if names else "",
        f"{problem.state}: {brief_name(problem.name)} {used_up(problem)}{percent_of(problem)}" if used else "",
        waiting,
        f"{problem.state}: {reason}" if reason else "",
    )
    if lacks:
        yield lacks
        yield f"short of {', '.join(map(shortest_name, problem.short_by))}"
    if names:
        yield f"behind others: {names}"
        yield "behind others"
    if used:
        yield _join(used, waiting)
        if percent := percent_of(problem).removeprefix(","):
            yield _join(f"{problem.state}: {shortest_name(problem.name)}{percent}", waiting)
        yield used
    if reason:
        yield from (f"{problem.state}: {brief}" for brief in briefer)
        yield from briefer
    yield problem.state


def brief_reasons(reason: str) -> tuple[str, str]:
    """Return the first clause of a reason, and the same without what goes without saying."""
    clause = _CLAUSES.split(reason, maxsplit=1)[0]
    return clause, clause.removeprefix("it was ").partition(" while ")[0]


def _join(*texts: str) -> str:
    return "; ".join(filter(None, texts))
