"""What a snapshot keeps of Tekton's objects: that there is a script, not what it says; how many values, not which."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import Struct, structs

from kubectl_kres.model import tekton
from kubectl_kres.model.configmap import ConfigMap
from kubectl_kres.model.tekton_parts import DeclaredResult, Param, Variable, When, WorkspaceDeclaration
from kubectl_kres.tekton.resources.containers import ARTIFACTS, needs_directory

T = TypeVar("T", bound=Struct)

#: Stands for a text that was left out.
HIDDEN = "hidden"

_REFERENCE = re.compile(r"\$\((?:params|tasks)\.[A-Za-z0-9_.\[\]*'\"-]+\)")
#: A variable at the start of a path, which decides where the path leads.
_START = re.compile(r"\$\([A-Za-z0-9_.\[\]'\"-]+\)")

KINDS = (tekton.Task, tekton.TaskRun, tekton.Pipeline, tekton.PipelineRun, tekton.StepAction)


def quiet(item: T) -> T:
    """One of Tekton's objects, or of its configuration, without the texts of people; any other object as it is.

    Equal values of parameters stay equal, since a matrix is counted by them.
    """
    if isinstance(item, ConfigMap):
        texts = ("default_pod_template", "default_task_run_workspace_binding")
        data = structs.replace(item.data, **{name: _hidden(getattr(item.data, name)) for name in texts})
        return structs.replace(item, data=data)
    return _Hush().of(item) if isinstance(item, KINDS) else item


#: What of a step only the webhook looks at, which sees no object of a snapshot.
_ASIDE = frozenset({"volume_mounts", "workspaces", "when", "timeout", "stdout_config", "stderr_config"})

_TEXTS = frozenset({"value", "default", "input", "values", "cel"})


class _Hush:
    """One object's texts, each with the number that stands for it."""

    def __init__(self) -> None:
        self.numbers: dict[str, str] = {}

    def of(self, item: T) -> T:
        """The struct with everything in it hushed; itself if there is nothing to hide."""
        changes: dict[str, Any] = {}
        for field in item.__struct_fields__:
            held = getattr(item, field)
            kept = self._field(item, field, held)
            if kept is not held and kept != held:
                changes[field] = kept
        return structs.replace(item, **changes) if changes else item

    def _field(self, item: Struct, field: str, held: Any) -> Any:
        if field in {"security_context", "volume_claim_template", "pipeline_spec"} and not isinstance(held, Struct):
            return held if held is None else {HIDDEN: True}
        if isinstance(item, tekton.Step | tekton.Sidecar) and field in _ASIDE:
            return None
        if isinstance(item, tekton.Step | tekton.Sidecar | Variable):
            return self._step(field, held)
        if isinstance(item, Param | DeclaredResult) and field == "properties":
            return held and {key: {} for key in held}
        if (isinstance(item, Param) and field == "enum") or (isinstance(item, DeclaredResult) and field == "value"):
            return None
        if isinstance(item, WorkspaceDeclaration) and field == "mount_path":
            return held and f"{_root(held)}x"
        if isinstance(item, Param | When) and field in _TEXTS:
            return self._values(held)
        return self._below(held)

    def _step(self, field: str, held: Any) -> Any:
        if field == "script":
            return _hidden(held)
        if field == "working_dir":
            return _place(held)
        if field in {"command", "args"} and held:
            return tuple(_hidden(word) for word in held)
        if field == "value":
            return _hidden(held)
        return self._below(held)

    def _below(self, held: Any) -> Any:
        if isinstance(held, tuple):
            return tuple(self._below(one) for one in held)
        return self.of(held) if isinstance(held, Struct) else held

    def _values(self, held: Any) -> Any:
        """Texts as numbers, but for what they refer to, and the root that a working directory may have."""
        if isinstance(held, str) and held.rstrip("/") != "/workspace":
            found = _REFERENCE.findall(held)
            number = f"{_root(held)}{len(self.numbers) + 1}"
            return " ".join(found) if found or not held else self.numbers.setdefault(held, number)
        if isinstance(held, list | tuple):
            return type(held)(self._values(one) for one in held)
        if isinstance(held, Mapping):
            return {key: self._values(value) for key, value in held.items()}
        return held


def _place(path: str) -> str:
    """A working directory that leads to the same containers, with the variable at its start."""
    start = _START.match(path)
    if start is None:
        return path and ("/workspace/x" if needs_directory(path) else "/")
    rest = path[start.end() :]
    return start[0] + ("/x" if rest.startswith("/") else rest and "x")


def _root(text: str) -> str:
    """Where a text leads that is used as a path."""
    return "/workspace/" if text.startswith("/workspace/") else "/" if text.startswith("/") else ""


def _hidden(text: str) -> str:
    """Nothing stays nothing; a reference that adds a container is kept."""
    return text and (ARTIFACTS if ARTIFACTS in text else HIDDEN)
