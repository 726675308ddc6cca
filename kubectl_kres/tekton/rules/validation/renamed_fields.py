"""Fields that a version of the API renamed or removed, so that their values get lost.

The API server prunes them, kubectl and the webhook refuse them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_kres.tekton.rules.base.convert import V1, V1BETA1

_FIELD = "resources"

Path = tuple[str | int, ...]

#: What v1beta1 calls the fields of v1.
_OLD = {"stepOverrides": "stepSpecs", "sidecarOverrides": "sidecarSpecs"}


def misnamed(raw: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Each such field with the name that its version has for it.

    Embedded specs are left out: what they hold is not pruned, and the webhook refuses it.
    """
    version, kind = raw.get("apiVersion"), raw.get("kind")
    if version not in {V1, V1BETA1}:
        return
    beta = version == V1BETA1
    spec = raw.get("spec")
    if kind == "Task":
        for field in ("steps", "sidecars"):
            yield from _each(spec, field, ("spec",), beta=beta)
        if isinstance(spec, Mapping):
            yield from _resources(spec.get("stepTemplate"), ("spec", "stepTemplate"), beta=beta)
    elif kind == "TaskRun":
        yield from _overrides(spec, ("spec",), beta=beta)
        if not beta and isinstance(spec, Mapping) and "resources" in spec:
            yield ("spec", "resources"), "computeResources"
    elif kind == "PipelineRun":
        entries = spec.get("taskRunSpecs") if isinstance(spec, Mapping) else None
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            yield from _overrides(entry, ("spec", "taskRunSpecs", index), beta=beta)


def _overrides(spec: Any, path: Path, *, beta: bool) -> Iterator[tuple[Path, str]]:
    if not isinstance(spec, Mapping):
        return
    for old, new in _OLD.items():
        wrong, right = (new, old) if beta else (old, new)
        if wrong in spec:
            yield (*path, wrong), right
        yield from _each(spec, right, path, beta=beta)


def _each(spec: Any, field: str, path: Path, *, beta: bool) -> Iterator[tuple[Path, str]]:
    result = spec.get(field) if isinstance(spec, Mapping) else None
    for index, item in enumerate(result if isinstance(result, list) else ()):
        yield from _resources(item, (*path, field, index), beta=beta)


def _resources(container: Any, path: Path, *, beta: bool) -> Iterator[tuple[Path, str]]:
    wrong, right = ("computeResources", "resources") if beta else ("resources", "computeResources")
    if isinstance(container, Mapping) and wrong in container:
        yield (*path, wrong), right


def retired(raw: Mapping[str, Any]) -> Iterator[str]:
    """The paths of these fields. Source: v1beta1/*_validation.go, ErrDisallowedFields."""
    spec, kind = raw.get("spec"), raw.get("kind")
    if not isinstance(spec, Mapping):
        return
    if spec.get(_FIELD) is not None:
        yield f"spec.{_FIELD}"
    if kind == "TaskRun":
        yield from _held(spec, "taskSpec", "spec")
    elif kind == "PipelineRun":
        yield from _held(spec, "pipelineSpec", "spec")
        yield from _tasks(spec.get("pipelineSpec"), "spec.pipelineSpec")
    elif kind == "Pipeline":
        yield from _tasks(spec, "spec")


def _tasks(spec: Any, path: str) -> Iterator[str]:
    for field in ("tasks", "finally"):
        tasks = spec.get(field) if isinstance(spec, Mapping) else None
        for index, task in enumerate(tasks if isinstance(tasks, list) else ()):
            if isinstance(task, Mapping):
                where = f"{path}.{field}[{index}]"
                yield from (f"{where}.{_FIELD}",) if task.get(_FIELD) is not None else ()
                yield from _held(task, "taskSpec", where)


def _held(spec: Mapping[str, Any], field: str, path: str) -> Iterator[str]:
    result = spec.get(field)
    if isinstance(result, Mapping) and result.get(_FIELD) is not None:
        yield f"{path}.{field}.{_FIELD}"
