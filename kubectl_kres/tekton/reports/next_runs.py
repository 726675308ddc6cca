"""The effect of a change on the next runs: the pod of each, before and after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from kubectl_kres.errors import ClusterError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, decode_object
from kubectl_kres.model.tekton_config import CONFIG_NAMES
from kubectl_kres.reports.changes.compare import resized_values, shown_pod
from kubectl_kres.reports.changes.report import ChangeReport, Effect, QuotaChange, StepResult, WorkloadChange
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.explain.explain import analysis_of
from kubectl_kres.simulate.change import Apply, Delete, PlacedStep, WaitForControllers, apply_step, key_of_step
from kubectl_kres.simulate.live import raw_of
from kubectl_kres.simulate.next_rollout import NextPodAnswer
from kubectl_kres.simulate.shapes import shape_fields
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.tekton.model import TaskRun, TaskRunStatus
from kubectl_kres.tekton.reports.config import configuration_needs
from kubectl_kres.tekton.reports.needs import tekton_needs
from kubectl_kres.tekton.reports.world import tekton_world
from kubectl_kres.tekton.rules.base.convert import to_v1
from kubectl_kres.tekton.rules.controller.taskrun import send_object

#: What runs refer to.
_DEFINITIONS = frozenset({"Task", "StepAction"})
#: What else decides about the pods of runs.
_DECIDING = frozenset({"LimitRange", "ResourceQuota", "PriorityClass", "RuntimeClass"})
_MEMBER = ("tekton.dev/pipeline", "tekton.dev/pipelineTask")


def defines(kind: str, name: str) -> bool:
    """Return whether an object says what is in the pod of a run."""
    return kind in _DEFINITIONS or (kind == "ConfigMap" and name in CONFIG_NAMES)


def decides(kind: str, name: str) -> bool:
    """Return whether an object is looked at when the pod of a run is made."""
    return kind in _DECIDING or defines(kind, name)


def run_needs(store: Store, spaces: Sequence[str]) -> Iterator[ReadRequest]:
    """Yield the reads that the runs of some namespaces depend on; called again, since a run says what it refers to."""
    yield from configuration_needs(store)
    for space in spaces:
        for kind in ("TaskRun", *sorted(_DEFINITIONS)):
            yield ReadRequest(kind, space, required=False)
        for subject in _subjects(store, space):
            yield from (replace(read, required=False) for read in tekton_needs(store, subject) if read.kind != "Pod")


def with_runs(
    report: ChangeReport, store: Store, steps: Sequence[PlacedStep], spaces: Iterable[str], options: EvaluationOptions
) -> ChangeReport:
    """Return the report with the next run of each Task, and of what pipelines and users ran last.

    ``spaces``: the namespaces whose runs are looked at.
    """
    before, after = _without_states(store), _without_states(store)
    refused = dict(_apply(after, steps, report.steps, options))
    _count(after, report.quotas)
    changes: list[WorkloadChange] = []
    unknown: list[str] = []
    for space in spaces:
        for subject in _subjects(store, space):
            sides = _find_next_run(before, subject, options), _find_next_run(after, subject, options)
            if isinstance(sides[0], str) and isinstance(sides[1], str):
                unknown.append(sides[1])
            else:
                changes += filter(None, [_find_run_change(subject.ref, *sides)])
    notes = [f"the pods of {len(unknown)} runs are not known, as of one: {unknown[0]}"] if len(unknown) > 1 else unknown
    effects = {report.outcome, *(change.effect for change in changes)}
    outcome: Any = next((word for word in ("worse", "better", "other") if word in effects), "none")
    return replace(
        report,
        outcome=outcome,
        steps=tuple(refused.get(step.number, step) for step in report.steps),
        workloads=(*report.workloads, *sorted(changes, key=lambda change: change.effect != "worse")),
        notes=(*report.notes, *notes),
    )


def _without_states(store: Store) -> Store:
    """Return a copy in which no run has begun, so that each uses its Task as it is then."""
    result = store.copied()
    for run in store.all("TaskRun"):
        ref = run.spec.task_ref
        fetched = run.status.task_spec if ref is not None and ref.resolver else None
        result.add("TaskRun", replace(run, status=TaskRunStatus(task_spec=fetched)))
    return result


def _subjects(store: Store, space: str) -> Iterator[Subject]:
    """Yield the newest run of each Task, or of each task of a pipeline, then the Tasks that nothing ran."""
    newest: dict[tuple[str, ...], TaskRun] = {}
    ran: set[str] = set()
    for run in store.all("TaskRun", space):
        labels, ref = run.metadata.labels or {}, run.spec.task_ref
        name = ref.name if ref is not None and not ref.resolver else ""
        ran.add(name)
        member = tuple(labels.get(label, "") for label in _MEMBER)
        key = member if all(member) else (name,) if name else (run.metadata.name, "", "")
        if key not in newest or _creation_time(run) > _creation_time(newest[key]):
            newest[key] = run
    for run in newest.values():
        yield Subject(ObjectRef("TaskRun", run.metadata.name, space), BY_KIND["TaskRun"])
    for task in store.all("Task", space):
        if task.metadata.name not in ran:
            yield Subject(ObjectRef("Task", task.metadata.name, space), BY_KIND["Task"])


def _creation_time(run: TaskRun) -> str:
    return run.metadata.creation_timestamp or ""


def _apply(
    store: Store, steps: Sequence[PlacedStep], results: Sequence[StepResult], options: EvaluationOptions
) -> Iterator[tuple[int, StepResult]]:
    """Put the steps into the store and yield the answers; what Tekton's webhooks refuse changes nothing."""
    answers = {result.number: result for result in results}
    for number, placed_step in enumerate(steps, 1):
        step, space, answer = placed_step.step, placed_step.namespace, answers.get(number)
        kind, name = key_of_step(step)
        known_kind = BY_KIND.get(kind)
        if isinstance(step, WaitForControllers) or answer is None or not answer.allowed or not decides(kind, name):
            continue
        stored = store.get(kind, name, space)
        if isinstance(step, Delete):
            store.remove(kind, name, space)
        elif known_kind is not None and (stored is not None or isinstance(step, Apply)):
            raw = apply_step(step, raw_of(stored) if stored is not None else None)
            raw["metadata"] = {**raw["metadata"], "namespace": space}
            problems = send_object(raw, tekton_world(store, space, options)).refusals if kind in _DEFINITIONS else ()
            if problems:
                first = problems[0]
                yield number, replace(answer, allowed=False, code=first.code, message=first.text)
                continue
            try:
                item = decode_object(to_v1(raw) if kind in _DEFINITIONS else raw, known_kind.struct)
            except msgspec.ValidationError as error:
                yield (
                    number,
                    replace(answer, allowed=False, code=400, message=f"it cannot be read as a {kind}: {error}"),
                )
                continue
            # As a file's, a ConfigMap counts wherever it stands.
            store.add(kind, item, file=answer.label if kind == "ConfigMap" else "")


def _count(store: Store, quotas: Iterable[QuotaChange]) -> None:
    """Set the used amounts of the quotas after the change; where a race decides, the largest."""
    for change in quotas:
        ref = change.quota
        quota = store.get(ref.kind, ref.name, ref.namespace)
        if quota is not None and change.hard_after:
            used = {**(quota.status.used or {}), change.resource: change.used_after.rpartition(" ")[2] or "0"}
            hard = {**(quota.status.hard or {}), change.resource: change.hard_after}
            store.add(ref.kind, replace(quota, status=replace(quota.status, hard=hard, used=used)))


def _find_next_run(store: Store, subject: Subject, options: EvaluationOptions) -> NextPodAnswer | str:
    """Return the pod of the next run; a text: why there is no answer."""
    try:
        outcomes = analysis_of(store, subject, options, journal=False).outcomes
    except ClusterError as error:
        return error.message
    messages = dict.fromkeys(outcome.message for outcome in outcomes if not outcome.allowed)
    stored = tuple(shape_fields(outcome.object) for outcome in outcomes if outcome.object is not None)
    return NextPodAnswer((subject.ref.kind, subject.ref.name), 0, 1, tuple(messages), stored)


def _find_run_change(ref: ObjectRef, before: NextPodAnswer | str, after: NextPodAnswer | str) -> WorkloadChange | None:
    old, new = (
        side if isinstance(side, NextPodAnswer) else NextPodAnswer((ref.kind, ref.name), 0, 1, (side,))
        for side in (before, after)
    )
    previous, now, values = shown_pod(old), shown_pod(new), tuple(resized_values(old, new))
    if (
        previous is None
        or now is None
        or (previous.admitted == now.admitted and previous.qos == now.qos and not values)
    ):
        return None
    effect: Effect = "other"
    if previous.admitted != now.admitted:
        effect = "better" if now.admitted else "worse"
    return WorkloadChange(ref, effect, None, None, previous, now, values)
