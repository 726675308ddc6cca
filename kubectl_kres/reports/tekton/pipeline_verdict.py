"""One verdict on a PipelineRun out of those on its tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from kubectl_kres.reports.common.explanation import Explanation, Verdict
from kubectl_kres.reports.pod.verdict import verdict_of
from kubectl_kres.reports.remedies.pod_remedy import remedies
from kubectl_kres.reports.tekton.pipeline import PlannedTask
from kubectl_kres.reports.tekton.remedy import TEKTON_REMEDIES
from kubectl_kres.reports.tekton.taskrun import refused_outcome
from kubectl_kres.tekton.base.result import Problem

#: States of tasks that ask for nothing any more.
ENDED = frozenset({"done", "failed", "skipped"})

Judgement = tuple[Verdict, tuple[str, ...]]


def judged(problems: Sequence[Problem], cycle: Sequence[str], tasks: Sequence[PlannedTask]) -> Judgement:
    """The verdict over all open tasks, and what to change, each with its task in front.

    ``problems``: why nothing of the run runs.
    """
    if problems:
        outcomes = tuple(refused_outcome(one) for one in problems)
        return verdict_of(outcomes), remedies(outcomes, special=TEKTON_REMEDIES)
    if cycle:
        text = f"tasks wait for each other: {' -> '.join((*cycle, cycle[0]))}"
        return Verdict(allowed=False, code=400, message=text), ("take one of these tasks out of the other's runAfter",)
    if found := tuple(_faults(tasks)):
        said, ways = tuple(text for text, _ in found), tuple(dict.fromkeys(way for _, way in found))
        return Verdict(allowed=False, code=400, message=said[0], others=said[1:]), ways
    told = [(one.name, one.explanation) for one in tasks if one.explanation is not None and one.state not in ENDED]
    refused = sorted(((name, one) for name, one in told if one.verdict.allowed is not True), key=_waits)
    if not refused:
        return Verdict(allowed=True, code=201), ()
    texts = [f"task {name}: {one.verdict.message}" for name, one in refused]
    changes = tuple(f"task {name}: {remedy}" for name, one in refused for remedy in (it.text for it in one.remedies))
    allowed = False if any(one.verdict.allowed is False for _, one in refused) else None
    first = refused[0][1].verdict
    return structs.replace(first, allowed=allowed, message=texts[0], others=tuple(texts[1:])), changes


def _faults(tasks: Sequence[PlannedTask]) -> Iterator[tuple[str, str]]:
    """What Tekton's webhook refuses in a Pipeline, in our words, each with what to change.

    Source: apis/pipeline/v1/pipeline_validation.go.
    """
    if not tasks:
        yield "the Pipeline has no tasks", "give the Pipeline a task"
    names = [one.name for one in tasks]
    for name in dict.fromkeys(one for one in names if names.count(one) > 1):
        yield f"several tasks are named {name}", "give each task a name of its own"
    known = {one.name for one in tasks if not one.is_finally}
    for one in tasks:
        if one.explanation is None and one.gap is None:
            yield f"task {one.name} neither names a Task nor holds one", f"give task {one.name} a taskRef or a taskSpec"
        for other in one.after:
            if other not in known:
                yield (
                    f"task {one.name} comes after {other}, which is no task of the Pipeline",
                    f"name a task of the Pipeline in task {one.name}",
                )


def _waits(named: tuple[str, Explanation]) -> bool:
    """Whether the refusal is tried again; what is final comes first."""
    part = named[1].tekton
    return part is not None and part.problem is not None and not part.problem.final
