"""Tekton's admission webhooks: what they refuse in an object that is sent, and their messages.

Refusals of a run beside its values (timeouts, retries, the wanted status, breakpoints) and of StepActions are here,
too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kubectl_kres import durations
from kubectl_kres.model.objects import decode_object
from kubectl_kres.tekton import model
from kubectl_kres.tekton.rules.base import config as template_merge
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.base.convert import V1BETA1, to_v1
from kubectl_kres.tekton.rules.base.problem import Problem
from kubectl_kres.tekton.rules.base.result import webhook_refusal
from kubectl_kres.tekton.rules.validation import declarations, variable_faults
from kubectl_kres.tekton.rules.validation import name_faults as result_faults
from kubectl_kres.tekton.rules.validation.decoder import fault_in, retired_fields, without_nulls
from kubectl_kres.tekton.rules.validation.name_faults import binding_faults, given_faults, reference_faults
from kubectl_kres.tekton.rules.validation.pipeline_faults import inline_faults, pipeline_faults, usage_faults
from kubectl_kres.tekton.rules.validation.task_faults import runs, sidecar_faults, task_faults, windows_faults
from kubectl_kres.tekton.rules.validation.webhook_error import WebhookError, by_rule, entry_path, join_errors

_UNDECLARED, _MISUSED = "tekton/undeclared", "tekton/variable-use"


def action_faults(spec: model.Step, path: str, flags: Flags) -> Iterator[WebhookError]:
    """Yield the faults of the spec that stands at ``path``. Source: v1beta1/stepaction_validation.go."""
    params = declarations.read_declarations(spec.params)
    yield from runs(path, "Image", spec.image, script=spec.script, command=spec.command)
    yield from windows_faults(spec.script, flags)
    if any(True for _ in variable_faults.find_mentions(spec.script, "params")):
        text = "param substitution in scripts is not allowed."
        yield WebhookError(text, f"{path}.script", "tekton/action-script")
    yield from _param_faults(spec, params, path)
    yield from declarations.type_faults(params, f"{path}.params")
    yield from declarations.declaration_faults(params, path, enum=True)
    results = {result.name for result in spec.results or ()}
    for prefix in ("step.results", "results"):
        if words := variable_faults.unknown(spec.script, prefix, results, variable_faults.mask_text):
            yield WebhookError(words, f"{path}.script", _UNDECLARED)
    yield from result_faults.step_result_faults(spec.results, f"{path}.results")
    yield from _mount_faults(spec, {param.name for param in params}, path)


def _texts(spec: model.Step) -> Iterator[tuple[str, str]]:
    yield "image", spec.image
    yield "script", spec.script
    yield from ((f"command[{index}]", word) for index, word in enumerate(spec.command or ()))
    yield from ((f"args[{index}]", word) for index, word in enumerate(spec.args or ()))
    yield from ((entry_path("env", variable.name), variable.value) for variable in spec.env or ())
    yield from (
        (f"volumeMounts[{index}]", volume_mount.name) for index, volume_mount in enumerate(spec.volume_mounts or ())
    )


def _param_faults(spec: model.Step, params: Sequence[declarations.Declaration], path: str) -> Iterator[WebhookError]:
    names, lists = (
        {param.name for param in params},
        {declaration.name for declaration in declarations.parameters_of_type(params, "array")},
    )
    objects = declarations.parameters_of_type(params, "object")
    whole = {declaration.name for declaration in objects}
    for field, text in _texts(spec):
        show = variable_faults.shown_part(field)
        for words in _find_undeclared_params(text, names, objects, show):
            yield WebhookError(words, f"{path}.{field}", _UNDECLARED)
        judge = (
            variable_faults.not_isolated
            if field.startswith(("command[", "args["))
            else variable_faults.whole_list_fault
        )
        for words in {
            variable_faults.whole_object_fault(text, "params", whole, show),
            judge(text, "params", lists, show),
        } - {""}:
            yield WebhookError(words, f"{path}.{field}", _MISUSED)
    yield from declarations.bare_objects(params, path)


def _find_undeclared_params(
    text: str, names: Collection[str], objects: Sequence[declarations.Declaration], show: variable_faults.Shown
) -> Iterator[str]:
    evaluated = [variable_faults.unknown(text, "params", names, show)]
    evaluated += [
        variable_faults.unknown(text, rf"params\.{declaration.name}", declaration.properties or (), show)
        for declaration in objects
    ]
    yield from filter(None, evaluated)


def _mount_faults(spec: model.Step, names: Collection[str], path: str) -> Iterator[WebhookError]:
    """Yield the faults of volume mounts: a StepAction knows no volume and is given the name of one."""
    for index, volume_mount in enumerate(spec.volume_mounts or ()):
        item_path = f"{path}.volumeMounts[{index}]"
        if [mention.written for mention in variable_faults.find_mentions(volume_mount.name, "params")] != [
            volume_mount.name
        ]:
            detail = "expect the Name to be a single param reference"
            yield WebhookError(f"invalid value: {volume_mount.name}", f"{item_path}.name", "tekton/mount", detail)
            return
        if text := variable_faults.unknown(volume_mount.name, "params", names, str):
            yield WebhookError(text, item_path, _UNDECLARED)


_CANCELLED, HELD_TASK_RUN = "TaskRunCancelled", "TaskRunPending"
_TIMEOUT = "tekton/timeout"


def task_run_faults(spec: model.TaskRunSpec, *, beta: bool = False, holds: bool = True) -> Iterator[WebhookError]:
    """``beta``: retries are not looked at. ``holds``: a run may be holds back.

    Source: v1/taskrun_validation.go TaskRunSpec.Validate, validateDebug.
    """
    if spec.debug is not None and spec.debug.breakpoints is not None:
        yield from _breakpoints(spec.debug.breakpoints)
    known = (_CANCELLED, HELD_TASK_RUN) if holds else (_CANCELLED,)
    if spec.status and spec.status not in known:
        text = f"invalid value: {spec.status} should be {' or '.join(known)}"
        yield WebhookError(text, "spec.status", "tekton/run-status")
    if spec.retries < 0 and not beta:
        yield WebhookError(f"invalid value: {spec.retries} should be >= 0", "spec.retries", "tekton/retries")
    yield from _negative(spec.timeout, "spec.timeout")


def pipeline_run_faults(spec: model.PipelineRunSpec, minutes: int) -> Iterator[WebhookError]:
    """``minutes``: how long a PipelineRun may take that does not say so.

    Source: v1/pipelinerun_validation.go validatePipelineTimeout, validateTaskRunSpecTimeout.
    """
    timeouts = spec.timeouts or model.Timeouts()
    whole = _length(timeouts.pipeline)
    whole = minutes * durations.MINUTE if whole is None else whole
    tasks, last = _length(timeouts.tasks), _length(timeouts.finally_)
    for field, length in (("tasks", tasks), ("finally", last), ("pipeline", whole)):
        yield from _below_zero(length, f"spec.timeouts.{field}")
    yield from _timeout_part_faults(whole, tasks, last)
    most, source = (tasks, "pipeline tasks duration") if tasks is not None else (whole, "pipeline duration")
    yield from _task_timeout_faults(spec.task_run_specs or (), most, source)


def _timeout_part_faults(whole: int, tasks: int | None, last: int | None) -> Iterator[WebhookError]:
    """Yield what the parts of a pipeline may take, against the whole."""
    for field, length in (("tasks", tasks), ("finally", last)):
        if length is not None and whole and (length > whole or not length):
            endless = "" if length else " (no timeout)"
            text = f"invalid value: {durations.to_text(length)}{endless} should be <= pipeline duration"
            yield WebhookError(text, f"spec.timeouts.{field}", _TIMEOUT)
    if tasks is not None and last is not None and tasks + last > whole:
        text = f"invalid value: {durations.to_text(tasks)} + {durations.to_text(last)} should be <= pipeline duration"
        yield from (WebhookError(text, f"spec.timeouts.{field}", _TIMEOUT) for field in ("tasks", "finally"))


def _task_timeout_faults(
    entries: Sequence[model.PipelineTaskRunSpec], most: int, source: str
) -> Iterator[WebhookError]:
    for index, entry in enumerate(entries):
        length, path = _length(entry.timeout), f"spec.taskRunSpecs[{index}].timeout"
        if length is not None and length >= 0 and most > 0 and length > most:
            text = f"invalid value: {durations.to_text(length)} should be <= {source} {durations.to_text(most)}"
            yield WebhookError(text, path, _TIMEOUT)
        yield from _below_zero(length, path)


def _breakpoints(points: model.Breakpoints) -> Iterator[WebhookError]:
    path, rule = "spec.debug.breakpoints", "tekton/breakpoint"
    only = "onFailure breakpoint is only allowed to be set as enabled"
    if not points.on_failure:
        text = "invalid value: onFailure breakpoint is empty, it is only allowed to be set as enabled"
        yield WebhookError(text, f"{path}.onFailure", rule)
    elif points.on_failure != "enabled":
        text = f"invalid value: {points.on_failure} is not a valid onFailure breakpoint value, {only}"
        yield WebhookError(text, f"{path}.onFailure", rule)
    steps = points.before_steps or ()
    for index, step in enumerate(steps):
        if step in steps[:index]:
            text = f"before step must be unique, the same step: {step} is defined multiple times at"
            yield WebhookError(text, f"{path}.beforeSteps[{index}]", rule)


def _negative(timeout: str | None, path: str) -> Iterator[WebhookError]:
    yield from _below_zero(_length(timeout), path)


def _below_zero(length: int | None, path: str) -> Iterator[WebhookError]:
    if length is not None and length < 0:
        yield WebhookError(f"invalid value: {durations.to_text(length)} should be >= 0", path, _TIMEOUT)


def _length(text: str | None) -> int | None:
    return None if text is None else durations.parse_or_none(text)


_STRUCTS: Mapping[str, Any] = {
    "Task": model.Task,
    "TaskRun": model.ManagedTaskRun,
    "Pipeline": model.Pipeline,
    "PipelineRun": model.ManagedPipelineRun,
    "StepAction": model.StepAction,
}


def admit_object(raw: Mapping[str, Any], flags: Flags, minutes: int = 60) -> Any:
    """Return the object as v1 stores it (a struct of ``tekton.model``), or the Problem that the client is reported.

    ``minutes``: how long runs may take that do not say so.

    Source: apis/pipeline/v1/taskrun_validation.go, pipelinerun_validation.go and the same of v1beta1.
    """
    kind = str(raw.get("kind", ""))
    fault = fault_in(raw)
    if fault is not None:
        problem = webhook_refusal(kind, fault.message, "tekton/decode")
        return msgspec.structs.replace(problem, field=fault.path, observed=fault.observed)
    try:
        raw, item = _build_stored_object(raw, kind)
    except msgspec.ValidationError as error:
        # What is left is a field in other capitals than it has: not the decoder's own words.
        text = f"mutation failed: cannot decode incoming new object: in other words: {error}"
        return webhook_refusal(kind, text, "tekton/decode")
    beta = raw.get("apiVersion") == V1BETA1
    result = tuple(_faults(raw, item, flags, minutes, beta=beta))
    if not result:
        return item
    return _invalid(kind, result)


def _build_stored_object(raw: Mapping[str, Any], kind: str) -> tuple[Mapping[str, Any], Any]:
    """Return the object as the webhook goes on with it, in which null in a list is an empty value, and its struct."""
    filled = without_nulls(raw)
    return filled, decode_object(to_v1(filled), _STRUCTS[kind])


def _invalid(kind: str, pairs: Sequence[WebhookError]) -> Problem:
    return webhook_refusal(kind, f"validation failed: {join_errors(pairs)}", pairs[0].rule, by_rule(pairs))


def task_run_problem(run: model.TaskRun, flags: Flags) -> Problem | None:
    """Return what the webhook says of a TaskRun that a PipelineRun makes, which is one of v1 whatever the
    Pipeline is.
    """
    spec = run.spec
    sidecars = spec.task_spec.sidecars if spec.task_spec is not None else None
    result = (
        *_one_of(spec.task_ref, spec.task_spec, flags, "spec.taskRef", "spec.taskSpec"),
        *(fault for sidecar in sidecars or () for fault in sidecar_faults(sidecar, "spec.taskSpec.sidecars")),
        *task_run_faults(spec, holds=flags.held_task_runs),
        *_values(spec, "spec", flags, beta=False),
    )
    return _invalid("TaskRun", result) if result else None


def _faults(raw: Mapping[str, Any], item: Any, flags: Flags, minutes: int, *, beta: bool) -> Iterator[WebhookError]:
    if beta:
        yield from (
            WebhookError("must not set the field(s)", path, "tekton/retired-field") for path in retired_fields(raw)
        )
    if isinstance(item, model.TaskRun | model.PipelineRun):
        yield from given_faults(item.spec.params)
        yield from binding_faults(raw.get("spec"), str(raw.get("kind")))
    if isinstance(item, model.TaskRun):
        yield from _task_run(item.spec, flags, beta=beta)
    elif isinstance(item, model.PipelineRun):
        if beta and _present(raw, "timeout") and _present(raw, "timeouts"):
            paths = ("spec.timeout", "spec.timeouts")
            yield from (WebhookError("must not set the field(s)", path, "tekton/timeout") for path in paths)
        yield from _pipeline_run(item, flags, minutes, beta=beta)
    elif isinstance(item, model.Task):
        yield from task_faults(item.spec, "spec", flags, beta=beta)
        steps = template_merge.merge_templates(item.spec.steps, item.spec.step_template, beta=beta)
        yield from variable_faults.param_faults(
            steps, declarations.read_declarations(item.spec.params), "spec", beta=beta
        )
    elif isinstance(item, model.Pipeline):
        yield from pipeline_faults(item.spec, "spec", flags, beta=beta)
        yield from usage_faults(item.spec, beta=beta)
    elif isinstance(item, model.StepAction):
        yield from action_faults(item.spec, "spec", flags)


def _task_run(spec: model.TaskRunSpec, flags: Flags, *, beta: bool) -> Iterator[WebhookError]:
    yield from _one_of(spec.task_ref, spec.task_spec, flags, "spec.taskRef", "spec.taskSpec")
    if spec.task_spec is not None:
        yield from task_faults(spec.task_spec, "spec.taskSpec", flags, beta=beta)
        yield from _inline(spec, spec.task_spec, flags, beta=beta)
    if spec.debug is not None and flags.api_fields != "alpha":
        text = f'debug requires "enable-api-fields" feature gate to be "alpha" but it is "{flags.api_fields}"'
        yield WebhookError(text, "", "tekton/api-fields")
    yield from task_run_faults(spec, beta=beta, holds=flags.held_task_runs)
    yield from _values(spec, "spec", flags, beta=beta)


def _inline(run: model.TaskRunSpec, task: model.TaskSpec, flags: Flags, *, beta: bool) -> Iterator[WebhookError]:
    """Yield what an embedded Task mentions, which may be given by the run alone.

    Source: v1/taskrun_validation.go validateInlineParameters.
    """
    params, bare = declarations.with_given(run.params, declarations.read_declarations(task.params))
    yield from (WebhookError("missing field(s)", f"spec.{name}.properties", "tekton/declaration") for name in bare)
    if task.steps:
        steps = template_merge.merge_templates(task.steps, task.step_template, beta=beta)
        yield from declarations.type_faults(params, "spec")
        yield from declarations.declaration_faults(params, "spec", enum=flags.param_enum)
        yield from variable_faults.use_faults(steps, params, "spec")
        yield from variable_faults.param_faults(steps, params, "spec", beta=beta)


def _pipeline_run(run: model.PipelineRun, flags: Flags, minutes: int, *, beta: bool) -> Iterator[WebhookError]:
    spec = run.spec
    yield from _one_of(spec.pipeline_ref, spec.pipeline_spec, flags, "spec.pipelineRef", "spec.pipelineSpec")
    if spec.pipeline_spec is not None:
        yield from pipeline_faults(spec.pipeline_spec, "spec.pipelineSpec", flags, beta=beta)
        yield from inline_faults(spec, spec.pipeline_spec, flags, beta=beta)
    yield from pipeline_run_faults(spec, minutes)
    for index, entry in enumerate(spec.task_run_specs or ()):
        yield from _values(entry, f"spec.taskRunSpecs[{index}]", flags, beta=beta)


def _one_of(ref: model.Reference | None, spec: object, flags: Flags, *paths: str) -> Iterator[WebhookError]:
    if (ref is None) == (spec is None):
        which = "neither" if ref is None else "both"
        yield from (WebhookError(f"expected exactly one, got {which}", path, "tekton/one-of") for path in paths)
    yield from reference_faults(ref, paths[0], flags)


def _values(
    spec: model.TaskRunSpec | model.PipelineTaskRunSpec, path: str, flags: Flags, *, beta: bool
) -> Iterator[WebhookError]:
    """Yield the three places where a run gives values, and the rule that task level and steps exclude each other."""
    names = ("stepOverrides", "sidecarOverrides") if beta else ("stepSpecs", "sidecarSpecs")
    for field, overrides in zip(names, (spec.step_specs, spec.sidecar_specs), strict=True):
        if overrides:
            yield from _gate(field, flags, alpha=flags.alpha_steps)
            yield from _names(overrides, f"{path}.{field}")
    if spec.compute_resources is None:
        return
    yield from _gate("computeResources", flags, alpha=flags.alpha_tasks)
    if any(_has_values(step_spec) for step_spec in spec.step_specs or ()):
        for item_path in (f"{path}.computeResources", f"{path}.{names[0]}.resources"):
            yield WebhookError("expected exactly one, got both", item_path, "tekton/task-level-conflict")


def _gate(field: str, flags: Flags, *, alpha: bool) -> Iterator[WebhookError]:
    """``alpha``: a beta feature is not enough."""
    if alpha and flags.api_fields != "alpha":
        text = f'{field} requires "enable-api-fields" feature gate to be "alpha" but it is "{flags.api_fields}"'
        yield WebhookError(text, "", "tekton/api-fields")
    elif flags.api_fields == "stable":
        text = f'{field} requires "enable-api-fields" feature gate to be "alpha" or "beta" but it is "stable"'
        yield WebhookError(text, "", "tekton/api-fields")


def _names(overrides: Sequence[model.Override], path: str) -> Iterator[WebhookError]:
    seen: set[str] = set()
    for index, override in enumerate(overrides):
        item_path = f"{path}[{index}].name"
        if not override.name:
            yield WebhookError("missing field(s)", item_path, "tekton/override-name")
        elif override.name.lower() in seen:
            yield WebhookError("expected exactly one, got both", item_path, "tekton/override-name")
        seen.add(override.name.lower())


def _has_values(override: model.Override) -> bool:
    resource_requirements = override.compute_resources
    return resource_requirements is not None and bool(
        resource_requirements.requests or resource_requirements.limits or resource_requirements.claims
    )


def _present(raw: Mapping[str, Any], field: str) -> bool:
    spec = raw.get("spec")
    return isinstance(spec, Mapping) and spec.get(field) is not None
