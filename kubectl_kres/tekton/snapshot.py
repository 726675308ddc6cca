"""What a snapshot keeps of Tekton's objects: that there is a script, not what it says; how many values, not which."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct, structs

from kubectl_kres.model.tekton_config import ConfigMap
from kubectl_kres.snapshot.redact import deciding_parts
from kubectl_kres.tekton import model as tekton
from kubectl_kres.tekton.model import DeclaredResult, Param, Variable, When, WorkspaceDeclaration
from kubectl_kres.tekton.rules.resources.container_draft import ARTIFACTS, needs_directory

T = TypeVar("T", bound=Struct)

#: Stands for a text that was left out.
HIDDEN = "hidden"

_REFERENCE = re.compile(r"\$\((?:params|tasks)\.[A-Za-z0-9_.\[\]*'\"-]+\)")
#: A variable at the start of a path, which decides where the path leads.
_START = re.compile(r"\$\([A-Za-z0-9_.\[\]'\"-]+\)")

KINDS = (tekton.Task, tekton.TaskRun, tekton.Pipeline, tekton.PipelineRun, tekton.StepAction)


def redact(item: T) -> T:
    """Return one of Tekton's objects, or of its configuration, without the texts of people; any other object as it is.

    Equal values of parameters stay equal, since a matrix is counted by them.
    """
    if isinstance(item, ConfigMap):
        texts = (
            *("default_pod_template", "default_affinity_assistant_pod_template"),
            "default_task_run_workspace_binding",
        )
        data = structs.replace(item.data, **{name: _hide_text(getattr(item.data, name)) for name in texts})
        return structs.replace(item, data=data)
    return _Hush().replacement_for(item) if isinstance(item, KINDS) else item


def claim_template(template: Any) -> Any:
    """Return a claim's template with its name and what quotas and LimitRanges look at."""
    if not isinstance(template, Mapping):
        return template
    metadata, spec = template.get("metadata"), template.get("spec")
    kept = ("accessModes", "resources", "storageClassName", "volumeAttributesClassName")
    own_spec = {key: spec[key] for key in kept if key in spec} if isinstance(spec, Mapping) else {}
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return {**({"metadata": {"name": name}} if name else {}), "spec": own_spec}


def _host_ports(ports: Any) -> Any:
    if not isinstance(ports, list):
        return None
    return [{"hostPort": port["hostPort"]} for port in ports if isinstance(port, Mapping) and "hostPort" in port]


#: Fields that are kept in part.
_PARTS: Mapping[str, Callable[[Any], Any]] = {
    "security_context": deciding_parts,
    "volume_claim_template": claim_template,
    "ports": _host_ports,
}

#: What of a step only the webhook looks at, which sees no object of a snapshot.
_ASIDE = frozenset({"volume_mounts", "workspaces", "when", "timeout", "stdout_config", "stderr_config"})

_TEXTS = frozenset({"value", "default", "input", "values", "cel"})


class _Hush:
    """One object's texts, each with the number that stands for it."""

    def __init__(self) -> None:
        self.numbers: dict[str, str] = {}

    def replacement_for(self, item: T) -> T:
        """Return the struct with everything in it hushed; itself if there is nothing to hide."""
        changes: dict[str, Any] = {}
        for field in item.__struct_fields__:
            result = getattr(item, field)
            kept = self._field(item, field, result)
            if kept is not result and kept != result:
                changes[field] = kept
        return structs.replace(item, **changes) if changes else item

    def _field(self, item: Struct, field: str, value: Any) -> Any:
        if field in _PARTS:
            return _PARTS[field](value)
        hidden = field == "pipeline_spec" or (isinstance(item, tekton.Volume) and field != "name")
        if hidden and not isinstance(value, Struct):
            return value if value is None else {HIDDEN: True}
        if isinstance(item, tekton.Step | tekton.Sidecar) and field in _ASIDE:
            return None
        if isinstance(item, tekton.Step | tekton.Sidecar | Variable):
            return self._step(field, value)
        if isinstance(item, Param | DeclaredResult) and field == "properties":
            return value and {key: {} for key in value}
        if (isinstance(item, Param) and field == "enum") or (isinstance(item, DeclaredResult) and field == "value"):
            return None
        if isinstance(item, WorkspaceDeclaration) and field == "mount_path":
            return value and f"{_root(value)}x"
        if isinstance(item, Param | When) and field in _TEXTS:
            return self._values(value)
        return self._redact_value(value)

    def _step(self, field: str, value: Any) -> Any:
        if field == "script":
            return _hide_text(value)
        if field == "working_dir":
            return _reduce_directory(value)
        if field in {"command", "args"} and value:
            return tuple(_hide_text(word) for word in value)
        if field == "value":
            return _hide_text(value)
        return self._redact_value(value)

    def _redact_value(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self._redact_value(item) for item in value)
        return self.replacement_for(value) if isinstance(value, Struct) else value

    def _values(self, value: Any) -> Any:
        """Texts as numbers, but for what they refer to, and the root that a working directory may have."""
        if isinstance(value, str) and value.rstrip("/") != "/workspace":
            result = _REFERENCE.findall(value)
            number = f"{_root(value)}{len(self.numbers) + 1}"
            return " ".join(result) if result or not value else self.numbers.setdefault(value, number)
        if isinstance(value, list | tuple):
            return type(value)(self._values(item) for item in value)
        if isinstance(value, Mapping):
            return {key: self._values(value) for key, value in value.items()}
        return value


def _reduce_directory(path: str) -> str:
    """Return a working directory that leads to the same containers, with the variable at its start."""
    start = _START.match(path)
    if start is None:
        return path and ("/workspace/x" if needs_directory(path) else "/")
    rest = path[start.end() :]
    return start[0] + ("/x" if rest.startswith("/") else rest and "x")


def _root(text: str) -> str:
    """Return where a text leads that is used as a path."""
    return "/workspace/" if text.startswith("/workspace/") else "/" if text.startswith("/") else ""


def _hide_text(text: str) -> str:
    """Nothing stays nothing; a reference that adds a container is kept."""
    return text and (ARTIFACTS if ARTIFACTS in text else HIDDEN)
