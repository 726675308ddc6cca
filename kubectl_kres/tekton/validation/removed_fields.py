"""Where an object of v1beta1 still has the inputs and outputs of old, which Tekton takes no more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_FIELD = "resources"


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
    held = spec.get(field)
    if isinstance(held, Mapping) and held.get(_FIELD) is not None:
        yield f"{path}.{field}.{_FIELD}"
