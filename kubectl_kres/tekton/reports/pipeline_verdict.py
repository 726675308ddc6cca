"""One verdict on a PipelineRun out of those on its tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.provenance.problem import Problem
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.explanation import Explanation, Verdict
from kubectl_kres.reports.common.remedy import Edit, RaiseQuota, Remedy, SetConfig
from kubectl_kres.reports.pod.verdict import verdict_of
from kubectl_kres.reports.remedies.pod_remedy import remedies
from kubectl_kres.reports.remedies.words import listed, told
from kubectl_kres.tekton.reports.pipeline import PlannedTask
from kubectl_kres.tekton.reports.remedy import TEKTON_REMEDIES
from kubectl_kres.tekton.reports.taskrun import refused_outcome
from kubectl_kres.tekton.reports.ways.config_edits import written

#: States of tasks that ask for nothing any more.
ENDED = frozenset({"done", "failed", "skipped"})

Judgement = tuple[Verdict, tuple[Remedy, ...]]


def judged(problems: Sequence[Problem], cycle: Sequence[str], tasks: Sequence[PlannedTask]) -> Judgement:
    """The verdict over all open tasks, and what to change, each with its task in front.

    ``problems``: why nothing of the run runs.
    """
    if problems:
        outcomes = tuple(refused_outcome(problem) for problem in problems)
        return verdict_of(outcomes), told(remedies(outcomes, special=TEKTON_REMEDIES))
    if cycle:
        text = f"tasks wait for each other: {' -> '.join((*cycle, cycle[0]))}"
        return Verdict(allowed=False, code=400, message=text), told(
            ("take one of these tasks out of the other's runAfter",)
        )
    if result := tuple(_faults(tasks)):
        lines, ways = tuple(text for text, _ in result), tuple(dict.fromkeys(way for _, way in result))
        return Verdict(allowed=False, code=400, message=lines[0], others=lines[1:]), told(ways)
    known = [
        (task.name, task.explanation) for task in tasks if task.explanation is not None and task.state not in ENDED
    ]
    refused = sorted(
        ((name, explanation) for name, explanation in known if explanation.verdict.allowed is not True), key=_waits
    )
    if not refused:
        return Verdict(allowed=True, code=201), ()
    texts = [f"task {name}: {explanation.verdict.message}" for name, explanation in refused]
    changes = of_tasks(refused)
    allowed = False if any(explanation.verdict.allowed is False for _, explanation in refused) else None
    first = refused[0][1].verdict
    return structs.replace(first, allowed=allowed, message=texts[0], others=tuple(texts[1:])), changes


def of_tasks(refused: Sequence[tuple[str, Explanation]]) -> tuple[Remedy, ...]:
    """The ways of one task, each with its name in front; of several tasks the first way of each, all of them needed.

    What is tried is tried for each task alone, so that nothing is proven of several.
    """
    if len(refused) == 1:
        name, explanation = refused[0]
        return tuple(structs.replace(remedy, text=f"task {name}: {remedy.text}") for remedy in explanation.remedies)
    first = [(name, explanation.remedies[0]) for name, explanation in refused if explanation.remedies]
    if not first:
        return ()
    names: dict[str, list[str]] = {}
    for name, remedy in first:
        names.setdefault(remedy.text, []).append(name)
    texts = [f"{'task' if len(own) == 1 else 'tasks'} {listed(own)}: {text}" for text, own in names.items()]
    edits = _together([edit for _, remedy in first for edit in remedy.edits])
    whys = dict.fromkeys(remedy.why for _, remedy in first if remedy.why)
    return (Remedy("; ".join(texts), edits, why="; ".join(whys)),)


def _together(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Each field once; of a quota the most that one of the tasks needs."""
    result: dict[tuple[ObjectRef, str], Edit] = {}
    for edit in edits:
        key, outcome = (edit.object, edit.field), result.get((edit.object, edit.field))
        if isinstance(edit, RaiseQuota) and isinstance(outcome, RaiseQuota) and parse(outcome.to) > parse(edit.to):
            continue
        result[key] = _with_entries(outcome, edit)
    return tuple(result.values())


def _with_entries(before: Edit | None, edit: Edit) -> Edit:
    """Of config-defaults the entries of all tasks, in one text."""
    if not isinstance(before, SetConfig) or not isinstance(edit, SetConfig) or not edit.entries:
        return edit
    more = {name: values for name, values in edit.entries.items() if name not in before.entries}
    return structs.replace(before, to=f"{before.to}{written(more)}", entries={**before.entries, **more})


def _faults(tasks: Sequence[PlannedTask]) -> Iterator[tuple[str, str]]:
    """What Tekton's webhook refuses in a Pipeline, in our words, each with what to change.

    Source: apis/pipeline/v1/pipeline_validation.go.
    """
    if not tasks:
        yield "the Pipeline has no tasks", "give the Pipeline a task"
    names = [task.name for task in tasks]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield f"several tasks are named {name}", "give each task a name of its own"
    known = {task.name for task in tasks if not task.is_finally}
    for task in tasks:
        if task.explanation is None and task.gap is None:
            yield (
                f"task {task.name} neither names a Task nor holds one",
                f"give task {task.name} a taskRef or a taskSpec",
            )
        for other in task.after:
            if other not in known:
                yield (
                    f"task {task.name} comes after {other}, which is no task of the Pipeline",
                    f"name a task of the Pipeline in task {task.name}",
                )


def _waits(named: tuple[str, Explanation]) -> bool:
    """Whether the refusal is tried again; what is final comes first."""
    part = named[1].tekton
    return part is not None and part.problem is not None and not part.problem.final
