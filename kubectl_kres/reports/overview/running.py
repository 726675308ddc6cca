"""The area that says how many workloads run, and which of them wait or fail although nothing refuses their pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.common.explanation import RunState
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.system_parts import Severity
from kubectl_kres.reports.overview.area import OverviewArea, Problem, parts_of
from kubectl_kres.reports.overview.areas import MOST

#: How workloads fare, the worst first.
_WORDS: Mapping[str, Severity] = {
    "fail": "bad",
    "wait": "bad",
    "killed lately": "warn",
    "starting": "",
    "off": "",
    "run": "",
    "ended": "",
}
_COUNTED: Mapping[str, str] = {"fails": "fail", "waits": "wait", "runs": "run"}
_NAME = "running"


def running_area(states: Iterable[tuple[ObjectRef, RunState]]) -> OverviewArea:
    """The states as counts; those that wait or fail, and what runs and was killed lately, are its problems."""
    counts: dict[str, int] = {}
    problems: list[Problem] = []
    for ref, state in states:
        killed = state.word == "runs" and bool(state.reason)
        word = "killed lately" if killed else _COUNTED.get(state.word, state.word)
        counts[word] = counts.get(word, 0) + 1
        if _WORDS[word]:
            problems.append(_problem(ref, state, _WORDS[word]))
    problems.sort(key=lambda problem: (problem.severity != "bad", problem.state != "fails", -_pods(problem)))
    parts = parts_of(counts, _WORDS)
    return OverviewArea(_NAME, "Pod", sum(counts.values()), parts, "workloads", problems=tuple(problems[:MOST]))


def _problem(ref: ObjectRef, state: RunState, severity: Severity) -> Problem:
    remedies = (Remedy(state.next),) if state.next else ()
    return Problem(_NAME, ref, severity, state.word, since=state.since, remedies=remedies, run_state=state)


def _pods(problem: Problem) -> int:
    return problem.run_state.pods if problem.run_state is not None else 0
