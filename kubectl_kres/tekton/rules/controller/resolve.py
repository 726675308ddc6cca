"""Resolution of the Task or Pipeline of a run: the object, what of it cannot be read, or the failing condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct

from kubectl_kres.provenance.journal import Source
from kubectl_kres.tekton import model
from kubectl_kres.tekton.rules.base.problem import Problem
from kubectl_kres.tekton.rules.base.result import MissingReference, SpecOrigin
from kubectl_kres.tekton.rules.base.variables import parameters, replace_variables

RULE = "tekton/resolution"

T = TypeVar("T")


class Lookups(Struct, frozen=True):
    """Objects of the run's namespace by name. ``partial``: of kinds that were not read in full, the names that are
    known not to exist.
    """

    tasks: Mapping[str, model.Task] = {}
    step_actions: Mapping[str, model.StepAction] = {}
    pipelines: Mapping[str, model.Pipeline] = {}
    partial: Mapping[str, frozenset[str]] = {}


class UsedTask(Struct, frozen=True):
    """A Task as a run uses it. ``gaps``: StepActions that are not known, so that only the step's resources are.

    ``unresolved``: what Tekton says of StepActions that do not exist, or do not fit.
    """

    spec: model.TaskSpec
    origin: SpecOrigin
    gaps: tuple[MissingReference, ...] = ()
    unresolved: tuple[str, ...] = ()


class UsedPipeline(Struct, frozen=True):
    """A Pipeline as a run uses it."""

    spec: model.PipelineSpec
    origin: SpecOrigin
    name: str


def task_of(run: model.TaskRun, lookups: Lookups) -> UsedTask | MissingReference:
    """Return the Task of a run: embedded, by name, or as the run's status keeps it.

    What the status keeps is what the pod was made from: the object by that name is only named as the source where it
    still says the same.
    """
    own_source = Source("TaskRun", run.metadata.name, run.metadata.namespace)
    if run.spec.task_spec is not None and run.status.task_spec is None:
        return resolve_step_actions(run.spec.task_spec, SpecOrigin(own_source.at_path("spec.taskSpec")), lookups)
    result = _find_named_task(run, lookups) if run.spec.task_spec is None else None
    kept = run.status.task_spec
    if kept is not None:
        if isinstance(result, UsedTask) and result.spec == kept:
            return result
        return UsedTask(kept, SpecOrigin(own_source.at_path("status.taskSpec")))
    return result if result is not None else MissingReference("Task", "", "missing")


def resolve_step_actions(spec: model.TaskSpec, origin: SpecOrigin, lookups: Lookups) -> UsedTask:
    """Return the spec with its StepActions put in. Source: taskrun/resources/taskspec.go GetStepActionsData."""
    if all(step.ref is None for step in spec.steps or ()):
        return UsedTask(spec, origin)
    gaps: list[MissingReference] = []
    texts: list[str] = []
    steps = tuple(_resolve_step(step, index, lookups, gaps, texts) for index, step in enumerate(spec.steps or ()))
    return UsedTask(msgspec.structs.replace(spec, steps=steps), origin, tuple(gaps), tuple(texts))


def pipeline_of(run: model.PipelineRun, lookups: Lookups) -> UsedPipeline | MissingReference:
    """Return the Pipeline of a run, found as ``task_of`` finds a Task. An embedded one has the run's name."""
    meta = run.metadata
    own_source = Source("PipelineRun", meta.name, meta.namespace)
    ref = run.spec.pipeline_ref
    kept = run.status.pipeline_spec
    if run.spec.pipeline_spec is not None:
        return UsedPipeline(run.spec.pipeline_spec, SpecOrigin(own_source.at_path("spec.pipelineSpec")), meta.name)
    pipeline = _find_definition("Pipeline", ref, lookups.pipelines, lookups)
    if kept is not None:
        name = ref.name if ref is not None and ref.name else meta.name
        if isinstance(pipeline, model.Pipeline) and pipeline.spec == kept:
            return _pipeline(pipeline)
        return UsedPipeline(kept, SpecOrigin(own_source.at_path("status.pipelineSpec")), name)
    return pipeline if isinstance(pipeline, MissingReference) else _pipeline(pipeline)


def task_by_reference(ref: model.Reference, lookups: Lookups) -> UsedTask | MissingReference:
    """Return the Task that a reference names."""
    task = _find_definition("Task", ref, lookups.tasks, lookups)
    if isinstance(task, MissingReference):
        return task
    meta = task.metadata
    return resolve_step_actions(task.spec, SpecOrigin(Source("Task", meta.name, meta.namespace, "spec")), lookups)


def _find_named_task(run: model.TaskRun, lookups: Lookups) -> UsedTask | MissingReference:
    return task_by_reference(run.spec.task_ref or model.Reference(), lookups)


def _pipeline(item: model.Pipeline) -> UsedPipeline:
    meta = item.metadata
    return UsedPipeline(item.spec, SpecOrigin(Source("Pipeline", meta.name, meta.namespace, "spec")), meta.name)


def _find_definition(
    kind: str, ref: model.Reference | None, mapping: Mapping[str, T], lookups: Lookups
) -> T | MissingReference:
    ref = ref or model.Reference()
    resolver = ref.resolver or ("bundles" if ref.bundle else "")
    if resolver:
        return MissingReference(kind, ref.name, "remote", resolver)
    if ref.api_version and not ref.api_version.startswith("tekton.dev/"):
        return MissingReference(ref.kind, ref.name, "custom")
    if ref.kind not in {"", kind}:
        return MissingReference(ref.kind, ref.name, "unreadable")
    result = mapping.get(ref.name)
    if result is not None:
        return result
    known_names = lookups.partial.get(kind)
    return MissingReference(
        kind, ref.name, "missing" if known_names is None or ref.name in known_names else "unreadable"
    )


def _resolve_step(
    step: model.Step, index: int, lookups: Lookups, gaps: list[MissingReference], texts: list[str]
) -> model.Step:
    """Return a step with what its StepAction says; resources are always the step's own."""
    if step.ref is None:
        return step
    step_action = _find_definition("StepAction", step.ref, lookups.step_actions, lookups)
    if isinstance(step_action, MissingReference):
        gaps.append(step_action)
        texts += (_not_there(step, index, step_action),) if step_action.reason == "missing" else ()
        return step
    action = step_action.spec
    texts += _find_param_faults(step, index, action.params or ())
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
        working_dir=replace_variables(action.working_dir, parameters(step.params, action.params)),
    )


def remarks(gaps: tuple[MissingReference, ...]) -> Iterator[str]:
    """Yield what the gaps of a Task mean for its pod."""
    for gap in gaps:
        yield f"{gap}: whether it has a script or a working directory, which add init containers, is not known"


def without_task(run: model.TaskRun, gap: MissingReference) -> Problem:
    """Return the condition of a run whose Task does not exist. Source: taskrun/resources/taskspec.go GetTaskData."""
    return _build_resolution_problem(f"error when listing tasks for taskRun {run.metadata.name}: {_not_found(gap)}")


def without_actions(sentences: Sequence[str]) -> tuple[Problem, ...]:
    """Return the condition of a run whose StepActions do not resolve: any of these, since all are looked for at
    once.
    """
    return tuple(_build_resolution_problem(sentence) for sentence in sentences)


def _find_param_faults(step: model.Step, index: int, declared: Sequence[model.Param]) -> Iterator[str]:
    """Return why a StepAction with these parameters cannot be put in its step; nothing if it can.

    Source: taskrun/resources/validate_params.go validateStepHasStepActionParameters.
    """
    given_names, known_names = [param.name for param in step.params or ()], {param.name for param in declared}
    missing = [param.name for param in declared if param.default is None and param.name not in given_names]
    if extra := [name for name in given_names if name not in known_names]:
        yield _at_step(step, index, f"extra params passed by Step to StepAction: [{' '.join(extra)}]")
    elif missing:
        yield _at_step(step, index, f"non-existent params in Step: [{' '.join(missing)}]")


def _not_there(step: model.Step, index: int, gap: MissingReference) -> str:
    """Return the sentence that the StepAction of a step does not exist."""
    return _at_step(step, index, _not_found(gap))


def _at_step(step: model.Step, index: int, text: str) -> str:
    """Source: taskrun/resources/taskspec.go GetStepActionsData."""
    return f'failed to resolve step ref for step "{step.name}" (index {index}): {text}'


def without_pipeline(run: model.PipelineRun, gap: MissingReference) -> Problem:
    """Return the condition of a PipelineRun whose Pipeline does not exist.

    Source: pipelinerun/pipelinerun.go reconcile, pipelinerun/pipelinespec GetPipelineData.
    """
    meta = run.metadata
    cause = f"error when getting Pipeline for PipelineRun {meta.name}: {_not_found(gap)}"
    text = f"Error retrieving pipeline for pipelinerun {meta.namespace}/{meta.name}: {cause}"
    return Problem("reconcile", "PipelineRun", text, RULE, "CouldntGetPipeline", "False")


def without_pipeline_task(run: model.PipelineRun, pipeline: str, gap: MissingReference) -> Problem:
    """Return the condition of a PipelineRun with a task whose Task does not exist: none of its tasks runs.

    Source: pipelinerun/pipelinerun.go resolvePipelineState.
    """
    cause = f"it contains Tasks that don't exist: Couldn't retrieve Task \"{gap.name}\": {_not_found(gap)}"
    text = f"Pipeline {run.metadata.namespace}/{pipeline} can't be Run; {cause}"
    return Problem("reconcile", "PipelineRun", text, RULE, "CouldntGetTask", "False")


def _not_found(gap: MissingReference) -> str:
    return f'{gap.kind.lower()}s.tekton.dev "{gap.name}" not found'


def _build_resolution_problem(text: str) -> Problem:
    return Problem("reconcile", "TaskRun", text, RULE, "TaskRunResolutionFailed", "False")
