"""Where the webhook's decoder stops: at the first text that is no quantity, or field that it does not know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_kres.errors import QuantityError
from kubectl_kres.quantity import from_json
from kubectl_kres.tekton.convert import V1BETA1

_CONTAINER = frozenset({
    *("args", "command", "env", "envFrom", "image", "imagePullPolicy", "securityContext", "volumeDevices"),
    *("volumeMounts", "workingDir"),
})  # fmt: skip
_LIFE = frozenset({
    *("lifecycle", "livenessProbe", "name", "ports", "readinessProbe", "startupProbe", "stdin", "stdinOnce"),
    *("terminationMessagePath", "terminationMessagePolicy", "tty"),
})  # fmt: skip
_STEP = _CONTAINER | {
    *("displayName", "name", "onError", "params", "ref", "results", "script", "stderrConfig", "stdoutConfig"),
    *("timeout", "when", "workspaces"),
}
_SIDECAR = _CONTAINER | _LIFE | {"restartPolicy", "script", "workspaces"}
_TASK = frozenset({
    *("description", "displayName", "params", "results", "sidecars", "stepTemplate", "steps", "volumes"),
    *("workspaces", "metadata", "apiVersion", "kind", "spec"),
})  # fmt: skip
_PIPELINE = frozenset({"description", "displayName", "finally", "params", "results", "tasks", "workspaces"})
_PIPELINE_TASK = frozenset({
    *("description", "displayName", "matrix", "name", "onError", "params", "pipelineRef", "pipelineSpec", "retries"),
    *("runAfter", "taskRef", "taskSpec", "timeout", "when", "workspaces"),
})  # fmt: skip

_LISTS = ("limits", "requests")


class _Fault(Exception):
    """What the decoder says."""


def fault_in(raw: Mapping[str, Any]) -> str:
    """The decoder's sentence; empty if it takes the object.

    Unknown fields are only looked for in embedded specs and below: elsewhere the API server prunes them first. Keys are
    met in sorted order, since that is how the API server sends the object. Source: knative webhook defaulting.
    """
    spec = raw.get("spec")
    if not isinstance(spec, Mapping):
        return ""
    beta = raw.get("apiVersion") == V1BETA1
    walk = _Walk(beta=beta)
    kind = raw.get("kind")
    try:
        if kind == "Task":
            walk.task(spec, strict=False)
        elif kind == "TaskRun":
            walk.task_run(spec)
        elif kind == "Pipeline":
            walk.pipeline(spec, strict=False)
        elif kind == "PipelineRun":
            walk.pipeline_run(spec)
    except _Fault as fault:
        return str(fault)
    return ""


class _Walk:
    """One object's way through the decoder."""

    def __init__(self, *, beta: bool) -> None:
        self.beta = beta
        self.own = "resources" if beta else "computeResources"

    def task_run(self, spec: Mapping[str, Any]) -> None:
        for key in sorted(spec, key=str):
            if key == "computeResources":
                _quantities(spec[key])
            elif key == "taskSpec":
                self.task(spec[key], strict=True)
            elif key in self._override_lists():
                self._overrides(spec[key])

    def pipeline_run(self, spec: Mapping[str, Any]) -> None:
        for key in sorted(spec, key=str):
            if key == "pipelineSpec":
                self.pipeline(spec[key], strict=True)
            elif key == "taskRunSpecs":
                for entry in _maps(spec[key]):
                    self.task_run({name: value for name, value in entry.items() if name != "taskSpec"})

    def pipeline(self, spec: Any, *, strict: bool) -> None:
        for key, value in self._known(spec, _PIPELINE | ({"resources"} if self.beta else set()), strict=strict):
            if key in {"tasks", "finally"}:
                for task in _maps(value):
                    self._pipeline_task(task, strict=strict)

    def task(self, spec: Any, *, strict: bool) -> None:
        known = _TASK | ({"resources"} if self.beta else set())
        for key, value in self._known(spec, known, strict=strict):
            fields = {"steps": _STEP, "stepTemplate": _CONTAINER, "sidecars": _SIDECAR}.get(key)
            if fields is not None:
                more = _LIFE if self.beta and key != "sidecars" else frozenset()
                for container in _maps([value] if key == "stepTemplate" else value):
                    self._container(container, fields | more, strict=strict)

    def _pipeline_task(self, task: Mapping[str, Any], *, strict: bool) -> None:
        known = _PIPELINE_TASK | ({"resources"} if self.beta else set())
        for key, value in self._known(task, known, strict=strict):
            if key == "taskSpec":
                self.task(value, strict=True)

    def _container(self, container: Mapping[str, Any], fields: frozenset[str], *, strict: bool) -> None:
        for key, value in self._known(container, fields | {self.own}, strict=strict):
            if key == self.own:
                _quantities(value)

    def _override_lists(self) -> tuple[str, str]:
        return ("stepOverrides", "sidecarOverrides") if self.beta else ("stepSpecs", "sidecarSpecs")

    def _overrides(self, value: Any) -> None:
        for entry in _maps(value):
            _quantities(entry.get(self.own))

    @staticmethod
    def _known(value: Any, fields: frozenset[str], *, strict: bool) -> Iterator[tuple[str, Any]]:
        if not isinstance(value, Mapping):
            return
        folded = {field.casefold() for field in fields}
        for key in sorted(value, key=str):
            if strict and str(key).casefold() not in folded:
                raise _Fault(f'json: unknown field "{key}"')
            yield str(key), value[key]


def _quantities(resources: Any) -> None:
    if not isinstance(resources, Mapping):
        return
    for side in _LISTS:
        values = resources.get(side)
        if isinstance(values, Mapping):
            for name in sorted(values, key=str):
                try:
                    from_json(values[name])
                except QuantityError as error:
                    raise _Fault(error.message) from error


def _maps(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list | tuple):
        yield from (one for one in value if isinstance(one, Mapping))
