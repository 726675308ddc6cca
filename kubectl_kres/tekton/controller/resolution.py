"""What Tekton says where something that a run refers to does not exist, or a StepAction does not fit its step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.model.tekton import PipelineRun, Step, TaskRun
from kubectl_kres.model.tekton_parts import Param
from kubectl_kres.tekton.base.result import Gap, Problem

RULE = "tekton/resolution"


def without_task(run: TaskRun, gap: Gap) -> Problem:
    """The condition of a run whose Task does not exist. Source: taskrun/resources/taskspec.go GetTaskData."""
    return _unresolved(f"error when listing tasks for taskRun {run.metadata.name}: {_not_found(gap)}")


def without_actions(sentences: Sequence[str]) -> tuple[Problem, ...]:
    """The condition of a run whose StepActions do not resolve: any of these, since all are looked for at once."""
    return tuple(_unresolved(one) for one in sentences)


def misfits(step: Step, index: int, declared: Sequence[Param]) -> Iterator[str]:
    """Why a StepAction with these parameters cannot be put in its step; nothing if it can.

    Source: taskrun/resources/validate_params.go validateStepHasStepActionParameters.
    """
    given, known = [one.name for one in step.params or ()], {one.name for one in declared}
    missing = [one.name for one in declared if one.default is None and one.name not in given]
    if extra := [name for name in given if name not in known]:
        yield at_step(step, index, f"extra params passed by Step to StepAction: [{' '.join(extra)}]")
    elif missing:
        yield at_step(step, index, f"non-existent params in Step: [{' '.join(missing)}]")


def not_there(step: Step, index: int, gap: Gap) -> str:
    """That the StepAction of a step does not exist."""
    return at_step(step, index, _not_found(gap))


def at_step(step: Step, index: int, text: str) -> str:
    """Source: taskrun/resources/taskspec.go GetStepActionsData."""
    return f'failed to resolve step ref for step "{step.name}" (index {index}): {text}'


def without_pipeline(run: PipelineRun, gap: Gap) -> Problem:
    """The condition of a PipelineRun whose Pipeline does not exist.

    Source: pipelinerun/pipelinerun.go reconcile, pipelinerun/pipelinespec GetPipelineData.
    """
    meta = run.metadata
    cause = f"error when getting Pipeline for PipelineRun {meta.name}: {_not_found(gap)}"
    text = f"Error retrieving pipeline for pipelinerun {meta.namespace}/{meta.name}: {cause}"
    return Problem("reconcile", "PipelineRun", text, RULE, "CouldntGetPipeline", "False")


def without_pipeline_task(run: PipelineRun, pipeline: str, gap: Gap) -> Problem:
    """The condition of a PipelineRun with a task whose Task does not exist: none of its tasks runs.

    Source: pipelinerun/pipelinerun.go resolvePipelineState.
    """
    cause = f"it contains Tasks that don't exist: Couldn't retrieve Task \"{gap.name}\": {_not_found(gap)}"
    text = f"Pipeline {run.metadata.namespace}/{pipeline} can't be Run; {cause}"
    return Problem("reconcile", "PipelineRun", text, RULE, "CouldntGetTask", "False")


def _not_found(gap: Gap) -> str:
    return f'{gap.kind.lower()}s.tekton.dev "{gap.name}" not found'


def _unresolved(text: str) -> Problem:
    return Problem("reconcile", "TaskRun", text, RULE, "TaskRunResolutionFailed", "False")
