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
from kubectl_kres.render.text.line import Line, Tone, age_text, draw, pad_text, size, tone_lines, wrap_text
from kubectl_kres.render.text.system import systems
from kubectl_kres.render.verdict.brief import Brief, with_remedies
from kubectl_kres.render.verdict.headline import PARTLY, cause, only_fit, refusal_reason, rejection_text
from kubectl_kres.render.verdict.run_state import nearest_in_short, reason_text, short
from kubectl_kres.reports.common.explanation import FailedRead, RunState, Verdict
from kubectl_kres.reports.common.parts import NodeReport, Severity
from kubectl_kres.reports.common.resource_lists import join_words
from kubectl_kres.reports.overview import AreaPart, Overview, OverviewArea, Problem
from kubectl_kres.reports.rollout.wanted_pods import quota_shortfall

#: Mark and tone of a severity.
SIGNS: Mapping[Severity, tuple[str, Tone]] = {
    "bad": ("x", "bad"),
    "warn": ("!", "warn"),
    "unknown": ("?", "warn"),
    "": ("", ""),
}
#: What the marks are called.
SIGNS_SAID = "x wrong, ! to watch, ? not known"
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
_COUNTED: Mapping[Severity, str] = {"bad": "wrong", "warn": "to watch", "unknown": "unknown"}
#: What the list of findings is, which the overview leads to.
CHECKED = "also what is about to be wrong"


def area_bar(area: OverviewArea, *, ascii_only: bool) -> Line:
    """Return how its objects fare, in proportion; nothing where there is nothing to compare."""
    widths = divide_cells([part.count for part in area.parts], BAR) if area.parts else []
    return [
        (SIGNS[part.severity][1] or "quiet", _cell(part, ascii_only=ascii_only) * width)
        for part, width in zip(area.parts, widths, strict=True)
    ]


def _cell(part: AreaPart, *, ascii_only: bool) -> str:
    return _LETTERS.get(part.word) or _CELLS[part.severity][ascii_only]


def describe_area(area: OverviewArea) -> str:
    """Return how many fare how; of what is not known why."""
    if area.state == "absent":
        texts = (system.absent.get(area.kind, "") for system in systems())
        return next(filter(None, texts), f"the server has no {BY_KIND[area.kind].plural}")
    if area.state:
        return _UNKNOWN[area.state]
    parts = ", ".join(map(_format_area_part, area.parts))
    return f"{area.of}: {parts}" if area.of and parts else parts or ("" if area.count else "none")


def brief_areas(area: OverviewArea) -> tuple[str, ...]:
    """Return the same in fewer and fewer words: without what they are, without those that fare well, the worst alone;
    of pods the letters of their classes.
    """
    if area.state:
        return ()
    parts = ", ".join(map(_format_area_part, area.parts))
    severe = [part for part in area.parts if part.severity]
    bad, others = [*map(_format_area_part, severe)], sum(part.count for part in severe[1:])
    letters = ", ".join(f"{part.count} {_LETTERS.get(part.word, part.word)}" for part in area.parts)
    return (parts, ", ".join(bad), f"{bad[0]}, {others} more" if others else bad[0]) if bad else (parts, letters)


def _format_area_part(part: AreaPart) -> str:
    letter = _LETTERS.get(part.word)
    return f"{part.count} {part.word}{f' ({letter})' if letter else ''}"


def describe_problem(problem: Problem, now: str) -> str:
    """Return how it is and what is missing, in a line. ``now``: as RFC 3339, for how long."""
    texts = [problem.state]
    if problem.verdict is not None:
        reason = _refused_because(problem.verdict, now)
        texts = [f"{problem.state}: {reason}" if reason else problem.state]
        texts.append(f"{problem.missing} of {problem.wanted} pods missing" if problem.missing else "no new pods")
    if problem.run_state is not None:
        texts = [*filter(None, (_format_run_state(problem.run_state), nearest_in_short(problem.nodes)))]
    if problem.lacks:
        texts.append(f"lacks {', '.join(f'{brief_name(name)} {lack}' for name, lack in problem.lacks.items())}")
    if problem.behind:
        texts.append(f"behind others for {', '.join(map(brief_name, problem.behind))}")
    if problem.waiting:
        texts.append(f"{problem.waiting} wait{'s' * (problem.waiting == 1)}")
    if problem.name:
        texts.append(f"{problem.name} {used_up(problem)}{percent_of(problem)}")
    if problem.reason:
        texts.append(problem.reason)
    if ago := age_text(problem.since, now):
        texts.append(f"since {ago}")
    return "; ".join(texts)


def _refused_because(verdict: Verdict, now: str) -> str:
    """Return why its pods are missing; empty where that is not known."""
    if reason := refusal_reason(verdict):
        return reason
    if verdict.fits is not None:
        return only_fit(verdict)
    return rejection_text(verdict.blocked, now) if verdict.blocked is not None else ""


def _format_run_state(state: RunState) -> str:
    """Return how it fares and why, with how many of its pods are like that."""
    word = f"{state.word}, but was killed" if state.word == "runs" else state.word
    pods = f"; {state.pods} of {state.of} pods" if state.of and state.pods else ""
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
    overview: Overview, now: str, *, ascii_only: bool, color: bool = False, width: int = 80, flags: str = ""
) -> Iterator[str]:
    """Yield the whole overview; ``now`` as RFC 3339, ``flags``: with which commands look at the same source."""
    for line in _overview_lines(overview, now, width, flags, ascii_only=ascii_only):
        yield draw(line, color=color)


def _overview_lines(overview: Overview, now: str, width: int, flags: str, *, ascii_only: bool) -> Iterator[Line]:
    namespace_text = f"namespace {overview.namespace}" if overview.namespace else "all namespaces"
    yield [("strong", f"overview of {namespace_text}")]
    yield from _areas(_select_areas(overview), width, ascii_only=ascii_only)
    bad, near, well = (_CELLS[severity][ascii_only] for severity in ("bad", "warn", ""))
    yield [("quiet", f"x {bad} wrong, ! {near} to watch, ? not known, {well} the rest")]
    if overview.problems:
        yield [("", "")]
        yield [("strong", "worst first")]
    for problem in overview.problems:
        yield from problem_lines(problem, now, width, flags)
    if overview.unseen:
        yield [("", "")]
        yield [("strong", "not visible")]
    for failed_read in overview.unseen:
        yield from _unseen_lines(failed_read, width)
    if overview.elsewhere:
        yield [("", "")]
        names = join_words(f"{problem.subject} is {problem.state}" for problem in overview.elsewhere)
        yield from tone_lines("quiet", wrap_text(f"of other namespaces: {names}", width, rest="  "))
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
    blind = dict.fromkeys(failed_read.kind for failed_read in overview.unseen if failed_read.required)
    scope += f" ({join_words(blind)} could not be read)" if blind else ""
    if not overview.problems:
        word = "nothing wrong" if overview.complete else f"nothing wrong{PARTLY}"
        more = " ".join(filter(None, ("kubectl kres check", _format_namespace_flag(overview), flags)))
        return Brief("good" if overview.complete else "warn", word, f": {scope}", next=more)
    worst = overview.problems[0]
    counts = Counter(problem.severity for problem in overview.problems)
    word = ", ".join(f"{counts[severity]} {text}" for severity, text in _COUNTED.items() if counts[severity])
    more = " ".join(filter(None, ("kubectl kres", ask_words(worst), flags)))
    text = f": {scope}: worst: {worst.subject.full_name} {describe_problem(worst, now)}"
    return with_remedies(Brief(SIGNS[worst.severity][1], word, text, next=more), worst.remedies)


def _format_namespace_flag(overview: Overview) -> str:
    return f"-n {quote(overview.namespace)}" if overview.namespace else "-A"


def _select_areas(overview: Overview) -> list[OverviewArea]:
    """Return the areas; of one namespace those in which there is something, without the count of namespaces."""
    if not overview.namespace:
        return list(overview.areas)
    shown = [area for area in overview.areas if area.kind != "Namespace" and (area.state or area.count != 0)]
    return shown or list(overview.areas)


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
    for index, remedy in enumerate(problem.remedies[:2]):
        yield from tone_lines(
            "", wrap_text(remedy.text, width, first="  or   " if index else "  fix  ", rest="       ")
        )
        if remedy.why and not index:
            yield from tone_lines("quiet", wrap_text(remedy.why, width, first="       ", rest="       "))
        for command in remedy.commands if not index else ():
            yield [("", "       "), ("command", command)]
    yield [("quiet", f"  next kubectl kres {' '.join(filter(None, (ask_words(problem), flags)))}")]


def _unseen_lines(failed_read: FailedRead, width: int) -> Iterator[Line]:
    texts = wrap_text(unseen_words(failed_read), width, first="? ", rest=_INDENT)
    yield from tone_lines("warn" if failed_read.required else "quiet", texts)


def unseen_words(failed_read: FailedRead) -> str:
    """Return what could not be read, and the server's words."""
    namespace_text = f" of namespace {failed_read.namespace}" if failed_read.namespace else ""
    return f"{failed_read.kind} objects{namespace_text}: {failed_read.message or failed_read.state}"


#: What the nodes lack, in the scheduler's sentence.
_NODES = re.compile(r"0/\d+ nodes are available: (.+?)\.(?: |$)")
_INSUFFICIENT = re.compile(" Insufficient (?:requests\\.)?")
#: Where the rest of a reason begins, which a row has no room for.
_CLAUSES = re.compile(": |; |, and ")
_BOUNDS = {"limitrange/max": ">", "limitrange/min": "<"}
#: What kubectl calls it too.
_SHORTEST = {"persistentvolumeclaims": "pvc", "count/persistentvolumeclaims": "pvc"}


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
    return f"{state.ready}/{state.of}" if state is not None and state.of else ""


def _row_state(state: RunState, nodes: NodeReport | None) -> Iterator[str]:
    """Yield how it fares and why; what the nearest node lacks, else what the scheduler says that the nodes lack."""
    nearest = nodes.nearest if nodes is not None and not nodes.fitting else None
    if state.reason == "NoNode" and nearest is not None and nearest.shortages and not nearest.obstacles:
        yield f"no node: {', '.join(f'-{lack.lacking} {shortest_name(lack.resource)}' for lack in nearest.shortages)}"
        names = ", ".join(shortest_name(lack.resource) for lack in nearest.shortages)
        yield from (f"no node: {names} short", f"no node: {names}", "no node")
    elif state.reason == "NoNode" and (sentence := _NODES.match(state.message)):
        yield f"no node: {sentence[1]}"
        yield f"no node: {_INSUFFICIENT.sub(' lack ', sentence[1])}"
        yield "no node"
    elif state.word == "runs":
        # That it runs is seen by its pods.
        killed = reason_text(state).partition(" under ")[0].replace(" was killed", " killed")
        yield killed
        yield killed.removeprefix("container ")
        yield "killed"
    else:
        text = reason_text(state)
        yield f"{state.word}: {text}".removesuffix(": ")
        yield f"{state.word}: {_CLAUSES.split(text, maxsplit=1)[0]}".removesuffix(": ")
        yield short(state)[0]
        yield state.word


def _verdict(verdict: Verdict) -> Iterator[str]:
    """Yield why pods are missing that no rule refuses; nothing where that is not known."""
    if verdict.fits is not None:
        yield from (f"{verdict.fits} of {verdict.missing} {what}fit" for what in ("missing pods ", "missing ", ""))
    elif verdict.blocked is not None:
        rejecter = verdict.blocked.by.removesuffix(" (it cannot be called)")
        kind = rejecter.partition(" ")[0]
        if rejecter == verdict.blocked.by:
            yield from (f"rejected by {rejecter}", f"rejected by {kind}")
        else:
            yield from (f"{rejecter} cannot be called", f"{kind} cannot be called", f"{kind} fails")


def _finding(finding: Finding) -> tuple[str, ...]:
    source = finding.source
    name, resource = source.name if source is not None else "", brief_name(finding.resource)
    if finding.rule == "quota/exceeded":
        lacks = f"-{quota_shortfall(finding)} {shortest_name(finding.resource)}"
        return f"quota {name} -{quota_shortfall(finding)} {resource}", f"quota {lacks}", lacks
    if finding.rule == "quota/must-specify":
        return f"quota {name} requires {resource}", f"quota requires {resource}", f"no {resource}"
    if finding.rule in _BOUNDS and finding.limit and finding.asked:
        bound = f"{resource} {finding.asked} {_BOUNDS[finding.rule]} {finding.limit}"
        return f"{bound} of {name}", bound
    text = cause([finding])
    return text, _CLAUSES.split(text, maxsplit=1)[0]


def _problem_texts(problem: Problem) -> Iterator[str]:
    lacks = ", ".join(f"-{lack} {brief_name(name)}" for name, lack in problem.lacks.items())
    names = ", ".join(map(brief_name, problem.behind))
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
        yield f"short of {', '.join(map(shortest_name, problem.lacks))}"
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
