"""A problem in the few words that a row of the overview has room for: the cause, and the pods that are there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.render.overview.lines import brief_name, percent_of, used_up
from kubectl_kres.render.verdict.headline import cause
from kubectl_kres.render.verdict.run_state import reason_text
from kubectl_kres.reports.common.explanation import RunState, Verdict
from kubectl_kres.reports.overview import Problem
from kubectl_kres.reports.rollout.wanted_pods import short_by

#: What the nodes lack, in the scheduler's sentence.
_NODES = re.compile(r"0/\d+ nodes are available: (.+?)\.(?: |$)")
_BOUNDS = {"limitrange/max": ">", "limitrange/min": "<"}


def short_cause(problem: Problem) -> str:
    """Return what is wrong, the amount that is missing with a minus before it."""
    if problem.verdict is not None:
        causes = "; ".join(dict.fromkeys(map(_finding, problem.verdict.findings)))
        return causes or problem.verdict.message or _verdict(problem.verdict) or problem.state
    if problem.run_state is not None:
        return _row_state(problem.run_state)
    return "; ".join(_problem_texts(problem)) or problem.state


def pods_of(problem: Problem) -> str:
    """Return how many pods are there of how many wanted; empty where it is about no pods."""
    if problem.wanted:
        return f"{problem.wanted - problem.missing}/{problem.wanted}"
    state = problem.run_state
    return f"{state.ready}/{state.of}" if state is not None and state.of else ""


def _row_state(state: RunState) -> str:
    """Return how it fares and why; of the scheduler's sentence what the nodes lack, the rest stands elsewhere."""
    if state.reason == "NoNode" and (nodes := _NODES.match(state.message)):
        return f"{state.word}: no node, {nodes[1]}"
    return f"{state.word}: {reason_text(state)}".removesuffix(": ")


def _verdict(verdict: Verdict) -> str:
    """Return why pods are missing that no rule refuses; empty where that is not known."""
    if verdict.fits is not None:
        return f"{verdict.fits} of {verdict.missing} missing pods fit"
    return f"rejected by {verdict.blocked.by}" if verdict.blocked is not None else ""


def _finding(finding: Finding) -> str:
    source = finding.source
    name = source.name if source is not None else ""
    resource = brief_name(finding.resource)
    if finding.rule == "quota/exceeded":
        return f"quota {name} -{short_by(finding)} {resource}"
    if finding.rule == "quota/must-specify":
        return f"quota {name} requires {resource}"
    if finding.rule in _BOUNDS and finding.limit and finding.asked:
        return f"{resource} {finding.asked} {_BOUNDS[finding.rule]} {finding.limit} of {name}"
    return cause([finding])


def _problem_texts(problem: Problem) -> Iterator[str]:
    if problem.lacks:
        yield ", ".join(f"-{lack} {brief_name(name)}" for name, lack in problem.lacks.items())
    if problem.behind:
        yield f"behind others for {', '.join(map(brief_name, problem.behind))}"
    if problem.name:
        yield f"{problem.state}: {brief_name(problem.name)} {used_up(problem)}{percent_of(problem)}"
    if problem.waiting:
        yield f"{problem.waiting} wait{'s' * (problem.waiting == 1)}"
    if problem.reason:
        yield f"{problem.state}: {problem.reason}"
