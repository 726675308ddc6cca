"""What the webhook refuses in names: given or declared twice, referred to and not declared, bound to nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from posixpath import normpath
from typing import Any

from kubectl_kres.model.tekton import Param, Reference, Step, WorkspaceDeclaration
from kubectl_kres.tekton.field_error import FieldError

_VOLUMES = ("configmap", "emptydir", "persistentvolumeclaim", "secret", "volumeclaimtemplate")
#: What a workspace can be bound to, with the field that it must have, as Tekton writes it.
_BOUND = {
    "configMap": ("name", "configmap.name"),
    "csi": ("driver", "csi.driver"),
    "emptyDir": ("", ""),
    "persistentVolumeClaim": ("claimName", "persistentvolumeclaim.claimname"),
    "projected": ("sources", "projected.sources"),
    "secret": ("secretName", "secret.secretName"),
    "volumeClaimTemplate": ("", ""),
}
_PARAM = re.compile(r"\$\(params(?:\.([^()$\[\]\s]+)|\[(?:'([^']*)'|\"([^\"]*)\")\])(?:\[[^\]]*\])?\)")
_QUALIFIED = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_UNQUALIFIED = (
    "invalid value: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_LONGEST = 63
_EXPRESSION = re.compile(r"(\$\(params[^()\s]{1,200}\))")
_TWICE = "tekton/given-twice"


def given_faults(params: Sequence[Param] | None) -> Iterator[FieldError]:
    """Parameters of a run that are given twice; capitals do not count. Source: v1/taskrun_validation.go."""
    seen: set[str] = set()
    for one in params or ():
        if one.name.lower() in seen:
            yield FieldError("expected exactly one, got both", f"spec.{_key(one.name)}.name", _TWICE)
        seen.add(one.name.lower())


def declared_faults(params: Sequence[Param] | None, path: str) -> Iterator[FieldError]:
    """Parameters that a Task declares twice. Source: v1/param_types.go ValidateNoDuplicateNames."""
    for name, times in Counter(one.name for one in params or ()).items():
        if times > 1:
            yield FieldError("parameter appears more than once", f"{path}.{_key(name)}", _TWICE)


def workspace_faults(workspaces: Sequence[WorkspaceDeclaration] | None, path: str) -> Iterator[FieldError]:
    """Workspaces that a Task declares twice, by name or by path. Source: v1/task_validation.go."""
    names: set[str] = set()
    mounts: set[str] = set()
    for index, one in enumerate(workspaces or ()):
        where, mount = f"{path}.workspaces[{index}]", one.mount_path or f"/workspace/{one.name}"
        if one.name in names:
            yield FieldError(f'workspace name "{one.name}" must be unique', f"{where}.name", _TWICE)
        if normpath(mount) in mounts:
            yield FieldError(f'workspace mount path "{normpath(mount)}" must be unique', f"{where}.mountpath", _TWICE)
        names.add(one.name)
        mounts.add(normpath(mount))


def binding_faults(spec: Any, kind: str) -> Iterator[FieldError]:
    """What a run binds its workspaces to, as written: exactly one thing each, under a name of its own.

    Source: v1/workspace_validation.go, taskrun_validation.go, pipelinerun_validation.go.
    """
    held = spec.get("workspaces") if isinstance(spec, Mapping) else None
    seen: dict[str, int] = {}
    for index, one in enumerate(held if isinstance(held, list | tuple) else ()):
        if not isinstance(one, Mapping):
            continue
        path, name = f"spec.workspaces[{index}]", str(one.get("name", ""))
        if name in seen:
            many = f'workspace "{name}" provided by pipelinerun more than once, at index {seen[name]} and {index}'
            text = "expected exactly one, got both" if kind == "TaskRun" else many
            yield FieldError(text, f"{path}.name", _TWICE)
        seen.setdefault(name, index)
        yield from _bound(one, path)


def undeclared_faults(steps: Sequence[Step] | None, known: Collection[str], *, beta: bool) -> Iterator[FieldError]:
    """Parameters that steps refer to and nobody declares; only names that are surely none of an object or list.

    Source: v1/task_validation.go ValidateUsageOfDeclaredParameters.
    """
    for index, step in enumerate(steps or ()):
        for field, text in _texts(step) if step.ref is None else ():
            missing = [name for name in _named(text) if not _is_known(name, known)]
            if missing:
                which = f" `{missing[0]}`" if beta and field == "script" else ""
                path = f"spec.steps[{index}].{field}"
                yield FieldError(f"non-existent variable{which} in {_quoted(text)}", path, "tekton/undeclared")


def local_name_faults(ref: Reference | None, path: str) -> Iterator[FieldError]:
    """The name of a Task in the namespace. Source: v1/container_validation.go validateRef."""
    if ref is None or ref.resolver or not ref.name or "/" in ref.name:
        return
    if len(ref.name.encode()) > _LONGEST:
        yield FieldError("invalid value: name part must be no more than 63 bytes", f"{path}.name", "tekton/name")
    elif not _QUALIFIED.fullmatch(ref.name):
        yield FieldError(_UNQUALIFIED, f"{path}.name", "tekton/name")


def _key(name: str) -> str:
    """A parameter in a path. Source: knative.dev/pkg/apis flatten."""
    return f"params.[{name}]" if "." in name else f"params[{name}]"


def _bound(one: Mapping[str, Any], path: str) -> Iterator[FieldError]:
    given = [field for field in _BOUND if one.get(field) is not None]
    if len(given) != 1:
        text = f"expected exactly one, got {'both' if given else 'neither'}"
        yield from (FieldError(text, f"{path}.{field}", "tekton/workspace-binding") for field in _VOLUMES)
        return
    wanted, said = _BOUND[given[0]]
    held = one[given[0]]
    if wanted and isinstance(held, Mapping) and not held.get(wanted):
        yield FieldError("missing field(s)", f"{path}.{said}", "tekton/workspace-binding")


def _texts(step: Step) -> Iterator[tuple[str, str]]:
    """The texts of a step that can refer to parameters, by field."""
    yield "image", step.image
    yield "script", step.script
    yield "workingDir", step.working_dir
    yield from ((f"command[{index}]", word) for index, word in enumerate(step.command or ()))
    yield from ((f"args[{index}]", word) for index, word in enumerate(step.args or ()))
    yield from ((f"env[{one.name}]", one.value) for one in step.env or ())


def _quoted(text: str) -> str:
    """The text as Go quotes it, with only what it refers to: scripts and arguments are shown to nobody."""
    parts = (part if place % 2 else "..." * bool(part) for place, part in enumerate(_EXPRESSION.split(text)))
    return '"{}"'.format("".join(parts).replace("\\", "\\\\").replace('"', '\\"'))


def _named(text: str) -> Iterator[str]:
    return (match[1] or match[2] or match[3] or "" for match in _PARAM.finditer(text))


def _is_known(name: str, known: Collection[str]) -> bool:
    return not name or any(name == one or name.startswith(f"{one}.") for one in known)
