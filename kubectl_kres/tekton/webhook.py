"""Tekton's admission webhooks: what they refuse in an object that is sent, and in which words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from kubectl_kres.model import tekton
from kubectl_kres.model.raw import decoded
from kubectl_kres.model.tekton import Override, TaskSpec
from kubectl_kres.tekton.answer import Problem, webhook_refusal
from kubectl_kres.tekton.config import Flags
from kubectl_kres.tekton.convert import V1BETA1, to_v1
from kubectl_kres.tekton.strict import fault_in

_RESERVED = "tekton-log-results"

_STRUCTS: Mapping[str, Any] = {
    "Task": tekton.Task,
    "TaskRun": tekton.ManagedTaskRun,
    "Pipeline": tekton.Pipeline,
    "PipelineRun": tekton.ManagedPipelineRun,
    "StepAction": tekton.StepAction,
}


class _Error(NamedTuple):
    """A fault: the sentence, the field that it is about (empty: none), the code of the rule."""

    text: str
    path: str
    rule: str


def admitted(raw: Mapping[str, Any], flags: Flags) -> Any:
    """The object as v1 stores it (a struct of ``model.tekton``), or the Problem that the client is told.

    Source: apis/pipeline/v1/taskrun_validation.go, pipelinerun_validation.go and the same of v1beta1.
    """
    kind = str(raw.get("kind", ""))
    fault = fault_in(raw)
    if fault is not None:
        said = _undecodable(kind, fault.text)
        return msgspec.structs.replace(said, field=fault.path, observed=fault.observed)
    try:
        item = decoded(to_v1(raw), _STRUCTS[kind])
    except msgspec.ValidationError as error:
        return _undecodable(kind, str(error))
    beta = raw.get("apiVersion") == V1BETA1
    found = tuple(_faults(raw, item, flags, beta=beta))
    if not found:
        return item
    return webhook_refusal(kind, f"validation failed: {_joined(found)}", found[0].rule)


def refused(run: tekton.TaskRun, flags: Flags) -> Problem | None:
    """What the webhook says of a TaskRun that a PipelineRun makes."""
    found = tuple(_task_run(run.spec, flags, beta=False))
    return webhook_refusal("TaskRun", f"validation failed: {_joined(found)}", found[0].rule) if found else None


def _undecodable(kind: str, fault: str) -> Problem:
    text = f"mutation failed: cannot decode incoming new object: {fault}"
    return webhook_refusal(kind, text, "tekton/decode")


def _faults(raw: Mapping[str, Any], item: Any, flags: Flags, *, beta: bool) -> Iterator[_Error]:
    if isinstance(item, tekton.TaskRun):
        if beta and _present(raw, "resources"):
            yield _Error("must not set the field(s)", "spec.resources", "tekton/retired-field")
        yield from _task_run(item.spec, flags, beta=beta)
    elif isinstance(item, tekton.PipelineRun):
        yield from _pipeline_run(item, flags, beta=beta)
    elif isinstance(item, tekton.Task):
        yield from _task_spec(item.spec, "spec")
    elif isinstance(item, tekton.Pipeline):
        yield from _pipeline(item.spec, "spec")


def _task_run(spec: tekton.TaskRunSpec, flags: Flags, *, beta: bool) -> Iterator[_Error]:
    yield from _one_of(spec.task_ref, spec.task_spec, "spec.taskRef", "spec.taskSpec")
    if spec.task_spec is not None:
        yield from _task_spec(spec.task_spec, "spec.taskSpec")
    if spec.debug is not None and flags.api_fields != "alpha":
        text = f'debug requires "enable-api-fields" feature gate to be "alpha" but it is "{flags.api_fields}"'
        yield _Error(text, "", "tekton/api-fields")
    yield from _values(spec, "spec", flags, beta=beta)


def _pipeline_run(run: tekton.PipelineRun, flags: Flags, *, beta: bool) -> Iterator[_Error]:
    spec = run.spec
    yield from _one_of(spec.pipeline_ref, spec.pipeline_spec, "spec.pipelineRef", "spec.pipelineSpec")
    if spec.pipeline_spec is not None:
        yield from _pipeline(spec.pipeline_spec, "spec.pipelineSpec")
    for index, entry in enumerate(spec.task_run_specs or ()):
        yield from _values(entry, f"spec.taskRunSpecs[{index}]", flags, beta=beta)


def _pipeline(spec: tekton.PipelineSpec, path: str) -> Iterator[_Error]:
    for field, tasks in (("tasks", spec.tasks), ("finally", spec.finally_)):
        for index, task in enumerate(tasks or ()):
            if task.task_spec is not None and not task.task_spec.kind:
                yield from _task_spec(task.task_spec, f"{path}.{field}[{index}].taskSpec")


def _task_spec(spec: TaskSpec, path: str) -> Iterator[_Error]:
    if not spec.steps:
        yield _Error("missing field(s)", f"{path}.steps", "tekton/no-steps")
    for sidecar in spec.sidecars or ():
        if sidecar.name == _RESERVED:
            text = f"Invalid: cannot use reserved sidecar name {_RESERVED} "
            yield _Error(text, f"{path}.sidecars.name", "tekton/reserved-sidecar")


def _one_of(ref: object, spec: object, *paths: str) -> Iterator[_Error]:
    if (ref is None) == (spec is None):
        which = "neither" if ref is None else "both"
        yield from (_Error(f"expected exactly one, got {which}", path, "tekton/one-of") for path in paths)


def _values(
    spec: tekton.TaskRunSpec | tekton.PipelineTaskRunSpec, path: str, flags: Flags, *, beta: bool
) -> Iterator[_Error]:
    """The three places where a run gives values, and the rule that task level and steps exclude each other."""
    names = ("stepOverrides", "sidecarOverrides") if beta else ("stepSpecs", "sidecarSpecs")
    for field, overrides in zip(names, (spec.step_specs, spec.sidecar_specs), strict=True):
        if overrides:
            yield from _gate(field, flags)
            yield from _names(overrides, f"{path}.{field}")
    if spec.compute_resources is None:
        return
    yield from _gate("computeResources", flags)
    if any(_has_values(one) for one in spec.step_specs or ()):
        for where in (f"{path}.computeResources", f"{path}.{names[0]}.resources"):
            yield _Error("expected exactly one, got both", where, "tekton/task-level-conflict")


def _gate(field: str, flags: Flags) -> Iterator[_Error]:
    if flags.api_fields == "stable":
        text = f'{field} requires "enable-api-fields" feature gate to be "alpha" or "beta" but it is "stable"'
        yield _Error(text, "", "tekton/api-fields")


def _names(overrides: Sequence[Override], path: str) -> Iterator[_Error]:
    seen: set[str] = set()
    for index, one in enumerate(overrides):
        where = f"{path}[{index}].name"
        if not one.name:
            yield _Error("missing field(s)", where, "tekton/override-name")
        elif one.name.lower() in seen:
            yield _Error("expected exactly one, got both", where, "tekton/override-name")
        seen.add(one.name.lower())


def _has_values(one: Override) -> bool:
    held = one.compute_resources
    return held is not None and bool(held.requests or held.limits or held.claims)


def _present(raw: Mapping[str, Any], field: str) -> bool:
    spec = raw.get("spec")
    return isinstance(spec, Mapping) and spec.get(field) is not None


def _joined(errors: Sequence[_Error]) -> str:
    """Equal sentences once with all their fields, then sorted. Source: knative.dev/pkg/apis FieldError.Error."""
    by_text: dict[str, set[str]] = {}
    for error in errors:
        by_text.setdefault(error.text, set()).add(error.path)
    return "\n".join(sorted(f"{text}: {', '.join(sorted(paths))}" for text, paths in by_text.items()))
