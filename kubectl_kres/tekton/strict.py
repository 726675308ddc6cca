"""Where the webhook's decoder stops: at the first text that is no quantity, or field that it does not know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kubectl_kres.errors import QuantityError
from kubectl_kres.quantity import from_json
from kubectl_kres.tekton.convert import V1BETA1
from kubectl_kres.tekton.duration import fault

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

_ACTION = frozenset({"name", "params", "resolver"})

_LISTS = frozenset({"limits", "requests"})
_SIDES = _LISTS | {"claims"}


class Fault(NamedTuple):
    """What the decoder says, which does not name the place; ``path`` does. ``observed``: the text or field there."""

    text: str
    path: str
    observed: str


class _Stopped(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.text)
        self.fault = fault


def fault_in(raw: Mapping[str, Any]) -> Fault | None:
    """Where the decoder stops; None if it takes the object.

    Unknown fields are only looked for in embedded specs and below: elsewhere the API server prunes them first. Keys are
    met in sorted order, since that is how the API server sends the object. Source: knative webhook defaulting.
    """
    spec = raw.get("spec")
    if not isinstance(spec, Mapping):
        return None
    beta = raw.get("apiVersion") == V1BETA1
    walk = _Walk(beta=beta)
    kind = raw.get("kind")
    try:
        if kind == "Task":
            walk.task(spec, "spec", strict=False)
        elif kind == "TaskRun":
            walk.task_run(spec, "spec")
        elif kind == "Pipeline":
            walk.pipeline(spec, "spec", strict=False)
        elif kind == "PipelineRun":
            walk.pipeline_run(spec, "spec")
    except _Stopped as stopped:
        return stopped.fault
    return None


class _Walk:
    """One object's way through the decoder."""

    def __init__(self, *, beta: bool) -> None:
        self.beta = beta
        self.own = "resources" if beta else "computeResources"

    def task_run(self, spec: Mapping[str, Any], path: str) -> None:
        for key in sorted(spec, key=str):
            at = f"{path}.{key}"
            if key == "computeResources":
                _quantities(spec[key], at)
            elif key == "taskSpec":
                self.task(spec[key], at, strict=True)
            elif key in self._override_lists():
                self._overrides(spec[key], at)
            elif key == "timeout":
                _duration(spec[key], at)

    def pipeline_run(self, spec: Mapping[str, Any], path: str) -> None:
        for key in sorted(spec, key=str):
            if key == "pipelineSpec":
                self.pipeline(spec[key], f"{path}.{key}", strict=True)
            elif key == "timeout":
                _duration(spec[key], f"{path}.{key}")
            elif key == "timeouts" and isinstance(spec[key], Mapping):
                for part in sorted(spec[key], key=str):
                    _duration(spec[key][part], f"{path}.{key}.{part}")
            elif key == "taskRunSpecs":
                for at, entry in _maps(spec[key], f"{path}.{key}"):
                    self.task_run({name: value for name, value in entry.items() if name != "taskSpec"}, at)

    def pipeline(self, spec: Any, path: str, *, strict: bool) -> None:
        known = _PIPELINE | ({"resources"} if self.beta else set())
        for key, value in self._known(spec, known, path, strict=strict):
            if key in {"tasks", "finally"}:
                for at, task in _maps(value, f"{path}.{key}"):
                    self._pipeline_task(task, at, strict=strict)

    def task(self, spec: Any, path: str, *, strict: bool) -> None:
        known = _TASK | ({"resources"} if self.beta else set())
        for key, value in self._known(spec, known, path, strict=strict):
            fields = {"steps": _STEP, "stepTemplate": _CONTAINER, "sidecars": _SIDECAR}.get(key)
            if fields is not None:
                more = _LIFE if self.beta and key != "sidecars" else frozenset()
                if key == "stepTemplate":
                    self._container(value, fields | more, f"{path}.{key}", strict=strict)
                    continue
                for at, container in _maps(value, f"{path}.{key}"):
                    self._container(container, fields | more, at, strict=strict)

    def _pipeline_task(self, task: Mapping[str, Any], path: str, *, strict: bool) -> None:
        known = _PIPELINE_TASK | ({"resources"} if self.beta else set())
        for key, value in self._known(task, known, path, strict=strict):
            if key == "taskSpec":
                self.task(value, f"{path}.{key}", strict=True)
            elif key == "timeout":
                _duration(value, f"{path}.{key}")

    def _container(self, container: Any, fields: frozenset[str], path: str, *, strict: bool) -> None:
        for key, value in self._known(container, fields | {self.own}, path, strict=strict):
            if key == self.own:
                _quantities(value, f"{path}.{key}", strict=strict)
            elif key == "ref" and strict:
                _reference(value, f"{path}.{key}")

    def _override_lists(self) -> tuple[str, str]:
        return ("stepOverrides", "sidecarOverrides") if self.beta else ("stepSpecs", "sidecarSpecs")

    def _overrides(self, value: Any, path: str) -> None:
        for at, entry in _maps(value, path):
            _quantities(entry.get(self.own), f"{at}.{self.own}")

    @staticmethod
    def _known(value: Any, fields: frozenset[str], path: str, *, strict: bool) -> Iterator[tuple[str, Any]]:
        if not isinstance(value, Mapping):
            return
        folded = {field.casefold() for field in fields}
        for key in sorted(value, key=str):
            if strict and str(key).casefold() not in folded:
                raise _Stopped(Fault(f'json: unknown field "{key}"', f"{path}.{key}", str(key)))
            yield str(key), value[key]


def _reference(value: Any, path: str) -> None:
    """Stops at what a step's reference to a StepAction does not have: it is always a StepAction."""
    for key in sorted(value, key=str) if isinstance(value, Mapping) else ():
        if str(key).casefold() not in _ACTION:
            raise _Stopped(Fault(f'json: unknown field "{key}"', f"{path}.{key}", str(key)))


def _duration(value: Any, path: str) -> None:
    """Stops at a text that is no duration, or a number, which JSON does not take for one."""
    text = fault(value) if isinstance(value, str) else ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = "json: cannot unmarshal number into Go value of type string"
    if text:
        raise _Stopped(Fault(text, path, str(value)))


def _quantities(resources: Any, path: str, *, strict: bool = False) -> None:
    if not isinstance(resources, Mapping):
        return
    for side in sorted(resources, key=str):
        values = resources[side]
        if strict and str(side).casefold() not in _SIDES:
            raise _Stopped(Fault(f'json: unknown field "{side}"', f"{path}.{side}", str(side)))
        if side not in _LISTS:
            continue
        if isinstance(values, Mapping):
            for name in sorted(values, key=str):
                try:
                    from_json(values[name])
                except QuantityError as error:
                    place = f"{path}.{side}[{name}]"
                    raise _Stopped(Fault(error.message, place, str(values[name]))) from error


def _maps(value: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(value, list | tuple):
        yield from ((f"{path}[{at}]", one) for at, one in enumerate(value) if isinstance(one, Mapping))
