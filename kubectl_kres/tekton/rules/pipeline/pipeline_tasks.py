"""The TaskRuns of a PipelineRun: one for each task, or several with a matrix, with their values and their order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from kubectl_kres import durations
from kubectl_kres.model.objects import Metadata
from kubectl_kres.provenance.journal import Source
from kubectl_kres.tekton import model
from kubectl_kres.tekton.rules.base import variables
from kubectl_kres.tekton.rules.base.config import merge_pod_templates
from kubectl_kres.tekton.rules.base.problem import Problem
from kubectl_kres.tekton.rules.base.result import Fields, MissingReference, fields_below
from kubectl_kres.tekton.rules.base.task_order import waits_for
from kubectl_kres.tekton.rules.controller import resolve
from kubectl_kres.tekton.rules.pipeline.dag import cycle_in

#: A whole array in place of a value, and of one of several; only there may the star be left out.
_WHOLE_ARRAY = re.compile(r"\$\(params(?:\.|\[[\"'])([A-Za-z0-9_.-]+?)(?:[\"']\])?(\[\*\])?\)")
_RESULT_ARRAY = re.compile(r"\$\(tasks\.[^()]+\[\*\]\)")


def values_of(params: Sequence[model.Param] | None, declared: Sequence[model.Param] | None) -> dict[str, Any]:
    """Return the parameters of a PipelineRun: as given, else the Pipeline's defaults."""
    result = {param.name: param.default for param in declared or () if param.default is not None}
    return result | {param.name: param.value for param in params or ()}


def runs(matrix: model.Matrix | None, params: Mapping[str, Any]) -> int | None:
    """The number of runs, 1 without a matrix; None where it depends on the result of a task.

    Source: apis/pipeline/v1/matrix_types.go FanOut, CountCombinations.
    """
    if matrix is None or not (matrix.params or matrix.include):
        return 1
    lists = {param.name: _list(param.value, params) for param in matrix.params or ()}
    known_lists = {name: values for name, values in lists.items() if values is not None}
    if len(known_lists) < len(lists):
        return None
    number = 1 if known_lists else 0
    for values in known_lists.values():
        number *= len(values)
    return number + sum(_is_added_combination(include_params, known_lists) for include_params in matrix.include or ())


def _list(value: Any, params: Mapping[str, Any]) -> list[Any] | None:
    """Return the values of a parameter; a text can stand for a whole list of the PipelineRun. None: not known."""
    if isinstance(value, str):
        match = _WHOLE_ARRAY.fullmatch(value)
        return _array(params.get(match[1])) if match and match[2] else None
    return _expand_arrays(value, params) if isinstance(value, list | tuple) else None


def _expand_arrays(values: Sequence[Any], params: Mapping[str, Any]) -> list[Any] | None:
    """Return the values, with a parameter that is an array in place of the text that names it.

    Source: pkg/substitution/substitution.go ApplyArrayReplacements.
    """
    result: list[Any] = []
    for value in values:
        if isinstance(value, str) and _RESULT_ARRAY.fullmatch(value):
            return None
        match = _WHOLE_ARRAY.fullmatch(value) if isinstance(value, str) else None
        array = _array(params.get(match[1])) if match else None
        if match and match[2] and array is None:
            return None
        result += [value] if array is None else array
    return result


def _array(value: Any) -> list[Any] | None:
    return [*value] if isinstance(value, list | tuple) else None


def _is_added_combination(include: model.IncludeParams, lists: Mapping[str, Sequence[Any]]) -> bool:
    """Return whether an explicit combination is one more: it names a value that no combination of the lists has."""
    if not lists:
        return True
    common = [param for param in include.params or () if param.name in lists]
    return any(param.value not in lists[param.name] for param in common)


class Planned(Struct, frozen=True):
    """A pipeline task with the TaskRun made for it, or the first of those that its matrix makes.

    names: of its TaskRuns, as far as their number is known. number: of runs; None: only known once a task has a result.
    after: the tasks it waits for. fields: where the run's values stand. task: None where ``gap`` says why.
    """

    name: str
    run: model.TaskRun
    fields: Fields
    names: tuple[str, ...]
    after: tuple[str, ...] = ()
    is_finally: bool = False
    number: int | None = 1
    task: resolve.UsedTask | None = None
    gap: MissingReference | None = None


class Plan(Struct, frozen=True):
    """The tasks in the Pipeline's order, then ``finally``. problem: why none runs. cycle: tasks that wait in a ring."""

    pipeline: resolve.UsedPipeline
    tasks: tuple[Planned, ...] = ()
    problem: Problem | None = None
    cycle: tuple[str, ...] = ()

    @property
    def graph(self) -> dict[str, tuple[str, ...]]:
        """Return what each task, ``finally`` apart, waits for."""
        return {task.name: task.after for task in self.tasks if not task.is_finally}


def plan(run: model.PipelineRun, lookups: resolve.Lookups, minutes: int = 60) -> Plan | MissingReference:
    """Return the TaskRuns of a run, or what is missing to tell. ``minutes``: how long runs may take that do not say so.

    Source: reconciler/pipelinerun/pipelinerun.go, apis/pipeline/v1/pipelinerun_types.go GetTaskRunSpec.
    """
    result = resolve.pipeline_of(run, lookups)
    if isinstance(result, MissingReference):
        return result
    spec = result.spec
    params = values_of(run.spec.params, spec.params)
    tasks = tuple(
        _plan_task(task, run, result, lookups, params, _timeout(run, minutes, is_finally=last), is_finally=last)
        for group, last in ((spec.tasks, False), (spec.finally_, True))
        for task in group or ()
    )
    graph = {task.name: task.after for task in tasks if not task.is_finally}
    return Plan(result, tasks, _wrong_name(run, tasks), cycle_in(graph))


def default_pipeline_run(pipeline: model.Pipeline) -> model.PipelineRun:
    """Return a run of the Pipeline with nothing but defaults; it is named like the Pipeline.

    It has all that it needs, but not known what: parameters without a default stay names.
    """
    meta = Metadata(name=pipeline.metadata.name, namespace=pipeline.metadata.namespace)
    bare = (param.name for param in pipeline.spec.params or () if param.default is None)
    params = tuple(model.Param(name, f"$(params.{name})") for name in bare)
    return model.PipelineRun(
        meta, model.PipelineRunSpec(pipeline_ref=model.Reference(name=meta.name), params=params or None)
    )


def _wrong_name(run: model.PipelineRun, tasks: Sequence[Planned]) -> Problem | None:
    """Return the problem of an entry of ``taskRunSpecs`` for a task that does not exist, which ends the run."""
    known_names = {task.name for task in tasks}
    for entry in run.spec.task_run_specs or ():
        if entry.pipeline_task_name not in known_names:
            text = (
                f"[User error] PipelineRun {run.metadata.namespace}/{run.metadata.name} doesn't define taskRunSpecs "
                f'correctly: pipelineRun\'s taskrunSpecs defined wrong taskName: "{entry.pipeline_task_name}", '
                "does not exist in Pipeline"
            )
            return Problem(
                "reconcile", "PipelineRun", text, "tekton/unknown-pipeline-task", "InvalidTaskRunSpecs", "False"
            )
    return None


def _plan_task(
    task: model.PipelineTask,
    run: model.PipelineRun,
    pipeline: resolve.UsedPipeline,
    lookups: resolve.Lookups,
    params: Mapping[str, Any],
    timeout: str | None,
    *,
    is_finally: bool,
) -> Planned:
    index, entry = _entry(run, task.name)
    source = Source("PipelineRun", run.metadata.name, run.metadata.namespace, f"spec.taskRunSpecs[{index}]")
    number = runs(task.matrix, params)
    names = _names(run, task, number)
    name = names[0] if names else variables.child_name(run.metadata.name, f"-{task.name}")
    created_run = _task_run(task, run, entry, name, timeout, _params(task, params))
    result = _task(task, pipeline, lookups, is_finally=is_finally)
    return Planned(
        task.name,
        created_run,
        fields_below(source),
        names,
        tuple(dict.fromkeys(waits_for(task))),
        is_finally,
        number,
        None if isinstance(result, MissingReference) else result,
        result if isinstance(result, MissingReference) else None,
    )


def _entry(run: model.PipelineRun, name: str) -> tuple[int, model.PipelineTaskRunSpec]:
    """Return the last entry for a task, whose values count as a whole; templates are merged, later ones over earlier
    ones.
    """
    of_all = run.spec.task_run_template or model.TaskRunTemplate()
    template, account = of_all.pod_template, of_all.service_account_name
    pipeline_task_run_spec, position = model.PipelineTaskRunSpec(name), 0
    for index, entry in enumerate(run.spec.task_run_specs or ()):
        if entry.pipeline_task_name == name:
            pipeline_task_run_spec, position = entry, index
            template = merge_pod_templates(entry.pod_template, template)
            account = entry.service_account_name or account
    values = (
        pipeline_task_run_spec.compute_resources,
        pipeline_task_run_spec.step_specs,
        pipeline_task_run_spec.sidecar_specs,
    )
    return position, model.PipelineTaskRunSpec(name, *values, template, pipeline_task_run_spec.timeout, account)


def _timeout(run: model.PipelineRun, minutes: int, *, is_finally: bool) -> str | None:
    """Return what the PipelineRun's timeouts leave to each task of a part; None: what config-defaults says.

    Source: reconciler/pipelinerun/pipelinerun.go pipelineRunTimeout.
    """
    timeouts = run.spec.timeouts or model.Timeouts()
    own_value, other = (timeouts.finally_, timeouts.tasks) if is_finally else (timeouts.tasks, timeouts.finally_)
    usual = minutes * durations.MINUTE
    length = durations.parse_or_none(own_value) if own_value is not None else None
    if own_value is None and other is not None:
        whole = durations.parse_or_none(timeouts.pipeline) if timeouts.pipeline else usual
        rest = durations.parse_or_none(other)
        length = whole - rest if whole and rest else None
    if length is None or 0 < length <= usual:
        return None
    return durations.to_text(length)


def _task_run(
    task: model.PipelineTask,
    run: model.PipelineRun,
    entry: model.PipelineTaskRunSpec,
    name: str,
    timeout: str | None,
    params: tuple[model.Param, ...],
) -> model.TaskRun:
    meta = run.metadata
    labels = {variables.PIPELINE_RUN: meta.name, variables.PIPELINE_TASK: task.name}
    spec = model.TaskRunSpec(
        task_ref=task.task_ref,
        task_spec=task.task_spec,
        compute_resources=entry.compute_resources,
        step_specs=entry.step_specs,
        sidecar_specs=entry.sidecar_specs,
        pod_template=entry.pod_template,
        service_account_name=entry.service_account_name,
        params=params or None,
        workspaces=_bindings(task, run) or None,
        timeout=entry.timeout or task.timeout or timeout,
        retries=task.retries,
    )
    return model.TaskRun(Metadata(name=name, namespace=meta.namespace, labels=labels), spec)


def _bindings(task: model.PipelineTask, run: model.PipelineRun) -> tuple[model.WorkspaceBinding, ...]:
    """Return what the run's workspaces are bound to: a claim that is made from a template is one by then.

    Source: pipelinerun/pipelinerun.go taskWorkspaceByWorkspaceVolumeSource.
    """
    workspace_bindings = {workspace.name: workspace for workspace in run.spec.workspaces or ()}
    return tuple(
        _bind_workspace(
            workspace.name, workspace_bindings.get(workspace.workspace or workspace.name, model.WorkspaceBinding())
        )
        for workspace in task.workspaces or ()
    )


def _bind_workspace(name: str, binding: model.WorkspaceBinding) -> model.WorkspaceBinding:
    claim = binding.persistent_volume_claim
    if binding.volume_claim_template is not None:
        claim = model.ClaimVolume(f"pvc of {binding.name}")
    return model.WorkspaceBinding(name, claim)


def _params(task: model.PipelineTask, params: Mapping[str, Any]) -> tuple[model.Param, ...]:
    """Return the texts that a task's runs are given, with the PipelineRun's in place of the names in them.

    An embedded Task also sees the PipelineRun's own, where it declares none of that name. Lists and what a matrix gives
    are left out. Source: pipelinerun/resources/apply.go ApplyParameters, propagateParams.
    """
    replacements = variables.parameters([model.Param(name, value) for name, value in params.items()], None)
    given_values = {
        param.name: variables.replace_variables(param.value, replacements)
        for param in task.params or ()
        if isinstance(param.value, str)
    }
    if task.task_spec is not None:
        own_value = {param.name for param in (*(task.task_spec.params or ()), *(task.params or ()))}
        given_values |= {
            name: value for name, value in params.items() if name not in own_value and isinstance(value, str)
        }
    return tuple(model.Param(name, value) for name, value in given_values.items())


def _names(run: model.PipelineRun, task: model.PipelineTask, number: int | None) -> tuple[str, ...]:
    """The names of the task's runs: those that are there, else those that will be."""
    made = tuple(
        child_reference.name
        for child_reference in run.status.child_references or ()
        if child_reference.pipeline_task_name == task.name
    )
    if made:
        return made
    if task.matrix is None or not (task.matrix.params or task.matrix.include):
        return (variables.child_name(run.metadata.name, f"-{task.name}"),)
    return tuple(variables.child_name(run.metadata.name, f"-{task.name}-{index}") for index in range(number or 0))


def _task(
    task: model.PipelineTask, pipeline: resolve.UsedPipeline, lookups: resolve.Lookups, *, is_finally: bool
) -> resolve.UsedTask | MissingReference:
    if task.pipeline_ref is not None or task.pipeline_spec is not None:
        return MissingReference(
            "Pipeline", task.pipeline_ref.name if task.pipeline_ref is not None else task.name, "nested"
        )
    if task.task_spec is None:
        ref = task.task_ref or model.Reference()
        if ref.api_version and ref.kind not in {"", "Task", "ClusterTask"}:
            return MissingReference(ref.kind, ref.name, "custom")
        return resolve.task_by_reference(ref, lookups)
    kind, version = task.task_spec.kind, task.task_spec.api_version
    if version and not version.startswith("tekton.dev/"):
        return MissingReference(kind, task.name, "custom")
    field = "finally" if is_finally else "tasks"
    group = (pipeline.spec.finally_ if is_finally else pipeline.spec.tasks) or ()
    position = next(index for index, pipeline_task in enumerate(group) if pipeline_task is task)
    origin = pipeline.origin.nested_spec(f"{field}[{position}].taskSpec")
    return resolve.resolve_step_actions(task.task_spec, origin, lookups)
