"""v1beta1 objects in the form of v1, which is what Tekton stores and works on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.model.objects import Raw

V1 = "tekton.dev/v1"
V1BETA1 = "tekton.dev/v1beta1"


def to_v1(raw: Raw) -> Raw:
    """The object with v1's names for what concerns resources; one that is v1 already, or a StepAction, as it is.

    Parts of another type than expected are left to the decoder. Source: apis/pipeline/v1beta1/*_conversion.go.
    """
    convert = _BY_KIND.get(str(raw.get("kind", "")))
    if raw.get("apiVersion") != V1BETA1 or convert is None:
        return raw
    changed = {**raw, "apiVersion": V1}
    return _convert_field(changed, "spec", convert)


def _task_spec(spec: Raw) -> Raw:
    spec = _convert_items(spec, "steps", _container)
    spec = _convert_items(spec, "sidecars", _container)
    return _convert_field(spec, "stepTemplate", _container)


def _container(raw: Raw) -> Raw:
    return _rename_fields(raw, {"resources": "computeResources"})


def _override(raw: Raw) -> Raw:
    return _rename_fields(raw, {"resources": "computeResources"})


def _reference(raw: Raw) -> Raw:
    """``bundle`` has become a resolver."""
    return {**raw, "resolver": raw.get("resolver") or "bundles"} if raw.get("bundle") else raw


def _task_run(spec: Raw) -> Raw:
    spec = _convert_field(_convert_field(spec, "taskSpec", _task_spec), "taskRef", _reference)
    return _overrides(spec)


def _overrides(spec: Raw) -> Raw:
    spec = _convert_items(_convert_items(spec, "stepOverrides", _override), "sidecarOverrides", _override)
    return _rename_fields(spec, {"stepOverrides": "stepSpecs", "sidecarOverrides": "sidecarSpecs"})


def _pipeline_spec(spec: Raw) -> Raw:
    return _convert_items(_convert_items(spec, "tasks", _pipeline_task), "finally", _pipeline_task)


def _pipeline_task(raw: Raw) -> Raw:
    raw = _convert_field(_convert_field(raw, "taskSpec", _task_spec), "taskRef", _reference)
    return _convert_field(raw, "pipelineSpec", _pipeline_spec)


def _pipeline_run(spec: Raw) -> Raw:
    spec = _convert_field(_convert_field(spec, "pipelineSpec", _pipeline_spec), "pipelineRef", _reference)
    spec = _convert_items(spec, "taskRunSpecs", _task_run_spec)
    changed = dict(spec)
    for field in ("podTemplate", "serviceAccountName"):
        value = changed.pop(field, None)
        if value is not None:
            changed["taskRunTemplate"] = {**_mapping(changed.get("taskRunTemplate")), field: value}
    timeout = changed.pop("timeout", None)
    if timeout is not None:
        changed["timeouts"] = {"pipeline": timeout, **_mapping(changed.get("timeouts"))}
    return changed


def _task_run_spec(raw: Raw) -> Raw:
    return _rename_fields(
        _overrides(raw), {"taskPodTemplate": "podTemplate", "taskServiceAccountName": "serviceAccountName"}
    )


def _rename_fields(raw: Raw, names: Mapping[str, str]) -> Raw:
    """Without fields that have v1's name already: v1beta1 does not know them, so they are pruned."""
    new = frozenset(names.values())
    return {names.get(key, key): value for key, value in raw.items() if key not in new}


def _convert_field(raw: Raw, key: str, convert: Callable[[Raw], Raw]) -> Raw:
    value = raw.get(key)
    return {**raw, key: convert(value)} if isinstance(value, Mapping) else raw


def _convert_items(raw: Raw, key: str, convert: Callable[[Raw], Raw]) -> Raw:
    value = raw.get(key)
    if not isinstance(value, list | tuple):
        return raw
    return {**raw, key: [convert(item) if isinstance(item, Mapping) else item for item in value]}


def _mapping(value: Any) -> Raw:
    return value if isinstance(value, Mapping) else {}


_BY_KIND: Mapping[str, Callable[[Raw], Raw]] = {
    "Task": _task_spec,
    "TaskRun": _task_run,
    "Pipeline": _pipeline_spec,
    "PipelineRun": _pipeline_run,
}
