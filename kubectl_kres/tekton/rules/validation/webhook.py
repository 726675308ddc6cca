"""Tekton's admission webhooks: what they refuse in an object that is sent, and in which words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kubectl_kres.model.raw import decoded
from kubectl_kres.provenance.problem import Problem
from kubectl_kres.tekton import model as tekton
from kubectl_kres.tekton.model import Override
from kubectl_kres.tekton.rules.base import template_merge
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.base.convert import V1BETA1, to_v1
from kubectl_kres.tekton.rules.base.result import webhook_refusal
from kubectl_kres.tekton.rules.validation.action_faults import action_faults
from kubectl_kres.tekton.rules.validation.declarations import declaration_faults, declared, type_faults, with_given
from kubectl_kres.tekton.rules.validation.decoder import fault_in
from kubectl_kres.tekton.rules.validation.go_types import without_nulls
from kubectl_kres.tekton.rules.validation.name_faults import binding_faults, given_faults, reference_faults
from kubectl_kres.tekton.rules.validation.pipeline_faults import pipeline_faults
from kubectl_kres.tekton.rules.validation.pipeline_params import inline_faults, usage_faults
from kubectl_kres.tekton.rules.validation.renamed_fields import retired
from kubectl_kres.tekton.rules.validation.run_faults import pipeline_run_faults, task_run_faults
from kubectl_kres.tekton.rules.validation.task_faults import sidecar_faults, task_faults
from kubectl_kres.tekton.rules.validation.variable_faults import param_faults, use_faults
from kubectl_kres.tekton.rules.validation.webhook_error import WebhookError, by_rule, joined

_STRUCTS: Mapping[str, Any] = {
    "Task": tekton.Task,
    "TaskRun": tekton.ManagedTaskRun,
    "Pipeline": tekton.Pipeline,
    "PipelineRun": tekton.ManagedPipelineRun,
    "StepAction": tekton.StepAction,
}


def admitted(raw: Mapping[str, Any], flags: Flags, minutes: int = 60) -> Any:
    """The object as v1 stores it (a struct of ``tekton.model``), or the Problem that the client is told.

    ``minutes``: how long runs may take that do not say so.

    Source: apis/pipeline/v1/taskrun_validation.go, pipelinerun_validation.go and the same of v1beta1.
    """
    kind = str(raw.get("kind", ""))
    fault = fault_in(raw)
    if fault is not None:
        problem = webhook_refusal(kind, fault.said, "tekton/decode")
        return msgspec.structs.replace(problem, field=fault.path, observed=fault.observed)
    try:
        raw, item = _stored(raw, kind)
    except msgspec.ValidationError as error:
        # What is left is a field in other capitals than it has: not the decoder's own words.
        text = f"mutation failed: cannot decode incoming new object: in other words: {error}"
        return webhook_refusal(kind, text, "tekton/decode")
    beta = raw.get("apiVersion") == V1BETA1
    result = tuple(_faults(raw, item, flags, minutes, beta=beta))
    if not result:
        return item
    return _invalid(kind, result)


def _stored(raw: Mapping[str, Any], kind: str) -> tuple[Mapping[str, Any], Any]:
    """The object as the webhook goes on with it, in which null in a list is an empty value, and its struct."""
    filled = without_nulls(raw)
    return filled, decoded(to_v1(filled), _STRUCTS[kind])


def _invalid(kind: str, pairs: Sequence[WebhookError]) -> Problem:
    return webhook_refusal(kind, f"validation failed: {joined(pairs)}", pairs[0].rule, by_rule(pairs))


def refused(run: tekton.TaskRun, flags: Flags) -> Problem | None:
    """What the webhook says of a TaskRun that a PipelineRun makes, which is one of v1 whatever the Pipeline is."""
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
        yield from (WebhookError("must not set the field(s)", path, "tekton/retired-field") for path in retired(raw))
    if isinstance(item, tekton.TaskRun | tekton.PipelineRun):
        yield from given_faults(item.spec.params)
        yield from binding_faults(raw.get("spec"), str(raw.get("kind")))
    if isinstance(item, tekton.TaskRun):
        yield from _task_run(item.spec, flags, beta=beta)
    elif isinstance(item, tekton.PipelineRun):
        if beta and _present(raw, "timeout") and _present(raw, "timeouts"):
            paths = ("spec.timeout", "spec.timeouts")
            yield from (WebhookError("must not set the field(s)", path, "tekton/timeout") for path in paths)
        yield from _pipeline_run(item, flags, minutes, beta=beta)
    elif isinstance(item, tekton.Task):
        yield from task_faults(item.spec, "spec", flags, beta=beta)
        steps = template_merge.merged(item.spec.steps, item.spec.step_template, beta=beta)
        yield from param_faults(steps, declared(item.spec.params), "spec", beta=beta)
    elif isinstance(item, tekton.Pipeline):
        yield from pipeline_faults(item.spec, "spec", flags, beta=beta)
        yield from usage_faults(item.spec, beta=beta)
    elif isinstance(item, tekton.StepAction):
        yield from action_faults(item.spec, "spec", flags)


def _task_run(spec: tekton.TaskRunSpec, flags: Flags, *, beta: bool) -> Iterator[WebhookError]:
    yield from _one_of(spec.task_ref, spec.task_spec, flags, "spec.taskRef", "spec.taskSpec")
    if spec.task_spec is not None:
        yield from task_faults(spec.task_spec, "spec.taskSpec", flags, beta=beta)
        yield from _inline(spec, spec.task_spec, flags, beta=beta)
    if spec.debug is not None and flags.api_fields != "alpha":
        text = f'debug requires "enable-api-fields" feature gate to be "alpha" but it is "{flags.api_fields}"'
        yield WebhookError(text, "", "tekton/api-fields")
    yield from task_run_faults(spec, beta=beta, holds=flags.held_task_runs)
    yield from _values(spec, "spec", flags, beta=beta)


def _inline(run: tekton.TaskRunSpec, task: tekton.TaskSpec, flags: Flags, *, beta: bool) -> Iterator[WebhookError]:
    """What an embedded Task mentions, which may be given by the run alone.

    Source: v1/taskrun_validation.go validateInlineParameters.
    """
    params, bare = with_given(run.params, declared(task.params))
    yield from (WebhookError("missing field(s)", f"spec.{name}.properties", "tekton/declaration") for name in bare)
    if task.steps:
        steps = template_merge.merged(task.steps, task.step_template, beta=beta)
        yield from type_faults(params, "spec")
        yield from declaration_faults(params, "spec", enum=flags.param_enum)
        yield from use_faults(steps, params, "spec")
        yield from param_faults(steps, params, "spec", beta=beta)


def _pipeline_run(run: tekton.PipelineRun, flags: Flags, minutes: int, *, beta: bool) -> Iterator[WebhookError]:
    spec = run.spec
    yield from _one_of(spec.pipeline_ref, spec.pipeline_spec, flags, "spec.pipelineRef", "spec.pipelineSpec")
    if spec.pipeline_spec is not None:
        yield from pipeline_faults(spec.pipeline_spec, "spec.pipelineSpec", flags, beta=beta)
        yield from inline_faults(spec, spec.pipeline_spec, flags, beta=beta)
    yield from pipeline_run_faults(spec, minutes)
    for index, entry in enumerate(spec.task_run_specs or ()):
        yield from _values(entry, f"spec.taskRunSpecs[{index}]", flags, beta=beta)


def _one_of(ref: tekton.Reference | None, spec: object, flags: Flags, *paths: str) -> Iterator[WebhookError]:
    if (ref is None) == (spec is None):
        which = "neither" if ref is None else "both"
        yield from (WebhookError(f"expected exactly one, got {which}", path, "tekton/one-of") for path in paths)
    yield from reference_faults(ref, paths[0], flags)


def _values(
    spec: tekton.TaskRunSpec | tekton.PipelineTaskRunSpec, path: str, flags: Flags, *, beta: bool
) -> Iterator[WebhookError]:
    """The three places where a run gives values, and the rule that task level and steps exclude each other."""
    names = ("stepOverrides", "sidecarOverrides") if beta else ("stepSpecs", "sidecarSpecs")
    for field, overrides in zip(names, (spec.step_specs, spec.sidecar_specs), strict=True):
        if overrides:
            yield from _gate(field, flags)
            yield from _names(overrides, f"{path}.{field}")
    if spec.compute_resources is None:
        return
    yield from _gate("computeResources", flags)
    if any(_has_values(step_spec) for step_spec in spec.step_specs or ()):
        for where in (f"{path}.computeResources", f"{path}.{names[0]}.resources"):
            yield WebhookError("expected exactly one, got both", where, "tekton/task-level-conflict")


def _gate(field: str, flags: Flags) -> Iterator[WebhookError]:
    if flags.api_fields == "stable":
        text = f'{field} requires "enable-api-fields" feature gate to be "alpha" or "beta" but it is "stable"'
        yield WebhookError(text, "", "tekton/api-fields")


def _names(overrides: Sequence[Override], path: str) -> Iterator[WebhookError]:
    seen: set[str] = set()
    for index, override in enumerate(overrides):
        where = f"{path}[{index}].name"
        if not override.name:
            yield WebhookError("missing field(s)", where, "tekton/override-name")
        elif override.name.lower() in seen:
            yield WebhookError("expected exactly one, got both", where, "tekton/override-name")
        seen.add(override.name.lower())


def _has_values(override: Override) -> bool:
    resource_requirements = override.compute_resources
    return resource_requirements is not None and bool(
        resource_requirements.requests or resource_requirements.limits or resource_requirements.claims
    )


def _present(raw: Mapping[str, Any], field: str) -> bool:
    spec = raw.get("spec")
    return isinstance(spec, Mapping) and spec.get(field) is not None
