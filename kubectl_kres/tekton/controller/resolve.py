"""Which Task or Pipeline a run uses, where it stands, and what of it cannot be looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

import msgspec
from msgspec import Struct

from kubectl_kres.model.tekton import (
    Pipeline,
    PipelineRun,
    PipelineSpec,
    Reference,
    Step,
    StepAction,
    Task,
    TaskRun,
    TaskSpec,
)
from kubectl_kres.provenance.journal import Source
from kubectl_kres.tekton.base.result import Gap, SpecOrigin
from kubectl_kres.tekton.base.variables import parameters, replaced
from kubectl_kres.tekton.controller.resolution import misfits, not_there

T = TypeVar("T")


class Lookups(Struct, frozen=True):
    """Objects of the run's namespace by name. ``partial``: of kinds that were not read in full, the names that are
    known not to exist.
    """

    tasks: Mapping[str, Task] = {}
    step_actions: Mapping[str, StepAction] = {}
    pipelines: Mapping[str, Pipeline] = {}
    partial: Mapping[str, frozenset[str]] = {}


class UsedTask(Struct, frozen=True):
    """A Task as a run uses it. ``gaps``: StepActions that are not known, so that only the step's resources are.

    ``unresolved``: what Tekton says of StepActions that do not exist, or do not fit.
    """

    spec: TaskSpec
    origin: SpecOrigin
    gaps: tuple[Gap, ...] = ()
    unresolved: tuple[str, ...] = ()


class UsedPipeline(Struct, frozen=True):
    """A Pipeline as a run uses it."""

    spec: PipelineSpec
    origin: SpecOrigin
    name: str


def task_of(run: TaskRun, lookups: Lookups) -> UsedTask | Gap:
    """The Task of a run: embedded, by name, or as the run's status keeps it.

    What the status keeps is what the pod was made from: the object by that name is only named as the source where it
    still says the same.
    """
    own = Source("TaskRun", run.metadata.name, run.metadata.namespace)
    if run.spec.task_spec is not None and run.status.task_spec is None:
        return used(run.spec.task_spec, SpecOrigin(own.at("spec.taskSpec")), lookups)
    found = _named(run, lookups) if run.spec.task_spec is None else None
    kept = run.status.task_spec
    if kept is not None:
        if isinstance(found, UsedTask) and found.spec == kept:
            return found
        return UsedTask(kept, SpecOrigin(own.at("status.taskSpec")))
    return found if found is not None else Gap("Task", "", "missing")


def used(spec: TaskSpec, origin: SpecOrigin, lookups: Lookups) -> UsedTask:
    """The spec with its StepActions put in. Source: taskrun/resources/taskspec.go GetStepActionsData."""
    if all(step.ref is None for step in spec.steps or ()):
        return UsedTask(spec, origin)
    gaps: list[Gap] = []
    said: list[str] = []
    steps = tuple(_resolved(step, index, lookups, gaps, said) for index, step in enumerate(spec.steps or ()))
    return UsedTask(msgspec.structs.replace(spec, steps=steps), origin, tuple(gaps), tuple(said))


def pipeline_of(run: PipelineRun, lookups: Lookups) -> UsedPipeline | Gap:
    """The Pipeline of a run, found as ``task_of`` finds a Task. An embedded one has the run's name."""
    meta = run.metadata
    own = Source("PipelineRun", meta.name, meta.namespace)
    ref = run.spec.pipeline_ref
    kept = run.status.pipeline_spec
    if run.spec.pipeline_spec is not None:
        return UsedPipeline(run.spec.pipeline_spec, SpecOrigin(own.at("spec.pipelineSpec")), meta.name)
    found = _looked_up("Pipeline", ref, lookups.pipelines, lookups)
    if kept is not None:
        name = ref.name if ref is not None and ref.name else meta.name
        if isinstance(found, Pipeline) and found.spec == kept:
            return _pipeline(found)
        return UsedPipeline(kept, SpecOrigin(own.at("status.pipelineSpec")), name)
    return found if isinstance(found, Gap) else _pipeline(found)


def task_by_reference(ref: Reference, lookups: Lookups) -> UsedTask | Gap:
    """The Task that a reference names."""
    found = _looked_up("Task", ref, lookups.tasks, lookups)
    if isinstance(found, Gap):
        return found
    meta = found.metadata
    return used(found.spec, SpecOrigin(Source("Task", meta.name, meta.namespace, "spec")), lookups)


def _named(run: TaskRun, lookups: Lookups) -> UsedTask | Gap:
    return task_by_reference(run.spec.task_ref or Reference(), lookups)


def _pipeline(item: Pipeline) -> UsedPipeline:
    meta = item.metadata
    return UsedPipeline(item.spec, SpecOrigin(Source("Pipeline", meta.name, meta.namespace, "spec")), meta.name)


def _looked_up(kind: str, ref: Reference | None, held: Mapping[str, T], lookups: Lookups) -> T | Gap:
    ref = ref or Reference()
    resolver = ref.resolver or ("bundles" if ref.bundle else "")
    if resolver:
        return Gap(kind, ref.name, "remote", resolver)
    if ref.api_version and not ref.api_version.startswith("tekton.dev/"):
        return Gap(ref.kind, ref.name, "custom")
    if ref.kind not in {"", kind}:
        return Gap(ref.kind, ref.name, "unreadable")
    found = held.get(ref.name)
    if found is not None:
        return found
    known = lookups.partial.get(kind)
    return Gap(kind, ref.name, "missing" if known is None or ref.name in known else "unreadable")


def _resolved(step: Step, index: int, lookups: Lookups, gaps: list[Gap], said: list[str]) -> Step:
    """A step with what its StepAction says; resources are always the step's own."""
    if step.ref is None:
        return step
    found = _looked_up("StepAction", step.ref, lookups.step_actions, lookups)
    if isinstance(found, Gap):
        gaps.append(found)
        said += (not_there(step, index, found),) if found.why == "missing" else ()
        return step
    action = found.spec
    said += misfits(step, index, action.params or ())
    return msgspec.structs.replace(
        step,
        ref=None,
        image=action.image,
        script=action.script,
        command=action.command,
        args=action.args,
        env=action.env,
        security_context=action.security_context,
        results=action.results,
        volume_mounts=action.volume_mounts,
        working_dir=replaced(action.working_dir, parameters(step.params, action.params)),
    )


def remarks(gaps: tuple[Gap, ...]) -> Iterator[str]:
    """What the gaps of a Task mean for its pod."""
    for gap in gaps:
        yield f"{gap}: whether it has a script or a working directory, which add init containers, is not known"
