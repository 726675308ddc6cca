"""One verdict on a PipelineRun out of those on its tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.explanation import Explanation, Verdict
from kubectl_kres.reports.common.remedy import Edit, RaiseQuota, Remedy
from kubectl_kres.reports.pod.verdict import verdict_of
from kubectl_kres.reports.remedies.pod_remedy import remedies
from kubectl_kres.reports.remedies.words import listed, told
from kubectl_kres.reports.tekton.pipeline import PlannedTask
from kubectl_kres.reports.tekton.remedy import TEKTON_REMEDIES
from kubectl_kres.reports.tekton.taskrun import refused_outcome
from kubectl_kres.tekton.base.result import Problem

#: States of tasks that ask for nothing any more.
ENDED = frozenset({"done", "failed", "skipped"})

Judgement = tuple[Verdict, tuple[Remedy, ...]]


def judged(problems: Sequence[Problem], cycle: Sequence[str], tasks: Sequence[PlannedTask]) -> Judgement:
    """The verdict over all open tasks, and what to change, each with its task in front.

    ``problems``: why nothing of the run runs.
    """
    if problems:
        outcomes = tuple(refused_outcome(one) for one in problems)
        return verdict_of(outcomes), told(remedies(outcomes, special=TEKTON_REMEDIES))
    if cycle:
        text = f"tasks wait for each other: {' -> '.join((*cycle, cycle[0]))}"
        return Verdict(allowed=False, code=400, message=text), told(
            ("take one of these tasks out of the other's runAfter",)
        )
    if found := tuple(_faults(tasks)):
        said, ways = tuple(text for text, _ in found), tuple(dict.fromkeys(way for _, way in found))
        return Verdict(allowed=False, code=400, message=said[0], others=said[1:]), told(ways)
    known = [(one.name, one.explanation) for one in tasks if one.explanation is not None and one.state not in ENDED]
    refused = sorted(((name, one) for name, one in known if one.verdict.allowed is not True), key=_waits)
    if not refused:
        return Verdict(allowed=True, code=201), ()
    texts = [f"task {name}: {one.verdict.message}" for name, one in refused]
    changes = of_tasks(refused)
    allowed = False if any(one.verdict.allowed is False for _, one in refused) else None
    first = refused[0][1].verdict
    return structs.replace(first, allowed=allowed, message=texts[0], others=tuple(texts[1:])), changes


def of_tasks(refused: Sequence[tuple[str, Explanation]]) -> tuple[Remedy, ...]:
    """The ways of one task, each with its name in front; of several tasks the first way of each, all of them needed.

    What is tried is tried for each task alone, so that nothing is proven of several.
    """
    if len(refused) == 1:
        name, found = refused[0]
        return tuple(structs.replace(one, text=f"task {name}: {one.text}") for one in found.remedies)
    first = [(name, one.remedies[0]) for name, one in refused if one.remedies]
    if not first:
        return ()
    names: dict[str, list[str]] = {}
    for name, one in first:
        names.setdefault(one.text, []).append(name)
    texts = [f"{'task' if len(own) == 1 else 'tasks'} {listed(own)}: {text}" for text, own in names.items()]
    edits = _together([edit for _, one in first for edit in one.edits])
    whys = dict.fromkeys(one.why for _, one in first if one.why)
    return (Remedy("; ".join(texts), edits, why="; ".join(whys)),)


def _together(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Each field once; of a quota the most that one of the tasks needs."""
    found: dict[tuple[ObjectRef, str], Edit] = {}
    for one in edits:
        key, held = (one.object, one.field), found.get((one.object, one.field))
        if isinstance(one, RaiseQuota) and isinstance(held, RaiseQuota) and parse(held.to) > parse(one.to):
            continue
        found[key] = one
    return tuple(found.values())


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
