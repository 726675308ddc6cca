"""Edits as lines for kubectl: one process each, no shell, nothing to fill in."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import structs

from kubectl_kres.admission.base.field_path import FieldPath, MapKey
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload_kinds import PATCHED, SCALED
from kubectl_kres.record import Clauses, Sentence, Wording
from kubectl_kres.reports.common.remedy import (
    CreateObject,
    DeleteObject,
    Edit,
    EditClaim,
    NoCommand,
    RaiseQuota,
    Scale,
    SetBound,
    SetConfig,
    SetField,
    SetValue,
)
from kubectl_kres.reports.remedies.refusal_fixes import ByHand, MakeNamespace
from kubectl_kres.store.store import Origin

PatchType = Literal["strategic", "merge", "json"]


def commands(origin: Origin, edits: Sequence[Edit], kept: Container[ObjectRef]) -> tuple[str, ...]:
    """Return the lines that make the edits, quotas and LimitRanges first; ``kept``: objects that are not changed
    here.
    """
    return tuple(_lines(origin, [edit for edit in edits if edit.object not in kept]))


def unchangeable(edits: Sequence[Edit]) -> dict[ObjectRef, NoCommand]:
    """Return the objects that cannot be edited in place, each with the reason."""
    return {edit.object: reason for edit in edits if (reason := _why_not(edit))}


def _why_not(value: Edit) -> NoCommand | None:
    kind = value.object.kind
    if value.action == "create" and kind != "ResourceQuota":
        return NoCommand("create", kind)
    if "volumeClaimTemplates" in value.field:
        return NoCommand("claim-templates")
    of_run = isinstance(value, EditClaim) and kind in {"TaskRun", "PipelineRun"}
    if not (isinstance(value, SetValue) or of_run) or kind in PATCHED:
        return None
    if kind == "Job":
        return NoCommand("job")
    if kind == "Pod":
        return NoCommand("pod")
    if kind in {"TaskRun", "PipelineRun"}:
        return NoCommand("run", kind)
    return NoCommand("manifest", str(value.object))


def _lines(origin: Origin, edits: Sequence[Edit]) -> Iterator[str]:
    quotas: dict[ObjectRef, list[RaiseQuota]] = {}
    bounds: dict[ObjectRef, list[Mapping[str, Any]]] = {}
    templates: dict[ObjectRef, list[SetValue]] = {}
    for edit in edits:
        match edit:
            case RaiseQuota():
                quotas.setdefault(edit.object, []).append(edit)
            case SetBound():
                bounds.setdefault(edit.object, []).append({"op": "add", "path": _pointer(edit.field), "value": edit.to})
            case SetValue() if edit.object.kind in PATCHED:
                templates.setdefault(edit.object, []).append(edit)
    for ref, raised in quotas.items():
        yield _raise_quota_command(origin, ref, raised)
    for ref, changes in bounds.items():
        yield patch_command(origin, ref, changes, "json")
    for ref, fields in _fields_by_object(edits).items():
        yield patch_command(origin, ref, fields, "merge")
    for ref, values in templates.items():
        yield patch_command(origin, ref, _template(values), "strategic")
    for edit in edits:
        if isinstance(edit, CreateObject) and edit.object.kind == "ResourceQuota":
            yield _create_quota_command(origin, edit)
    yield from (_scale_command(origin, edit) for edit in edits if isinstance(edit, Scale))
    yield from (delete_command(origin, edit.object) for edit in edits if isinstance(edit, DeleteObject))
    yield from (_configuration_command(origin, edit) for edit in edits if isinstance(edit, SetConfig))


def _fields_by_object(edits: Sequence[Edit]) -> dict[ObjectRef, dict[str, Any]]:
    """Return the patch of each object of which fields are set; what is a number is written as one."""
    patches: dict[ObjectRef, dict[str, Any]] = {}
    for edit in edits:
        if isinstance(edit, SetField):
            node = patches.setdefault(edit.object, {})
            *steps, last = map(str, FieldPath.parse(edit.field).steps)
            for step in steps:
                node = node.setdefault(step, {})
            node[last] = int(edit.to) if edit.to.isdecimal() else edit.to
    return patches


def delete_command(origin: Origin, ref: ObjectRef) -> str:
    """Return the line that deletes an object of a namespace."""
    return directed_command(
        origin, f"delete {ref.kind.lower()} {shlex.quote(ref.name)} -n {shlex.quote(ref.namespace)}"
    )


def _configuration_command(origin: Origin, edit: SetConfig) -> str:
    """Return the line that sets a key of Tekton's configuration. A flag that the Tekton Operator keeps is not a
    text.
    """
    ref = edit.object
    value: object = edit.to
    if ref.kind != "ConfigMap" and edit.to in {"true", "false"}:
        value = edit.to == "true"
    return patch_command(origin, ref, nest_value(FieldPath.parse(edit.field).steps, value), "merge")


def _raise_quota_command(origin: Origin, ref: ObjectRef, edits: Sequence[RaiseQuota]) -> str:
    """Return a merge patch, or a JSON patch for fields in lists, which a merge patch would replace as a whole."""
    paths = [FieldPath.parse(edit.field) for edit in edits]
    if any(isinstance(step, int) for path in paths for step in path.steps):
        changes = [{"op": "add", "path": _pointer(edit.field), "value": edit.to} for edit in edits]
        return patch_command(origin, ref, changes, "json")
    patch: dict[str, Any] = {}
    for path, edit in zip(paths, edits, strict=True):
        node = patch
        for step in path.steps[:-1]:
            node = node.setdefault(str(step), {})
        node[str(path.steps[-1])] = edit.to
    return patch_command(origin, ref, patch, "merge", "quota" if ref.kind == "ResourceQuota" else "")


def _create_quota_command(origin: Origin, edit: CreateObject) -> str:
    """Return the line that makes a quota; kubectl has flags for hard and scopes, none for a scopeSelector."""
    spec, ref = edit.manifest["spec"], edit.object
    hard = ",".join(f"{name}={amount}" for name, amount in spec["hard"].items())
    scopes = f" --scopes={shlex.quote(','.join(spec['scopes']))}" if spec.get("scopes") else ""
    words = f"create quota {shlex.quote(ref.name)} -n {shlex.quote(ref.namespace)} --hard={shlex.quote(hard)}{scopes}"
    return directed_command(origin, words)


def _scale_command(origin: Origin, scale: Scale) -> str:
    ref = scale.object
    if ref.kind in SCALED and scale.field == "spec.replicas":
        words = (
            f"scale {ref.kind.lower()} {shlex.quote(ref.name)} -n {shlex.quote(ref.namespace)} --replicas={scale.to}"
        )
        return directed_command(origin, words)
    return patch_command(origin, ref, nest_value(FieldPath.parse(scale.field).steps, scale.to), "merge")


def nest_value(steps: Sequence[str | int], value: object) -> object:
    """Return a patch with one field, whose path is ``steps``."""
    for step in reversed(steps):
        value = {str(step): value}
    return value


def _template(values: Sequence[SetValue]) -> object:
    """Return a strategic merge patch: containers are found by their names."""
    patch: dict[str, Any] = {}
    for value in values:
        steps = FieldPath.parse(value.field).steps
        node = patch
        for step, after in zip(steps, [*steps[1:], None], strict=True):
            if isinstance(step, int):
                continue
            if after is None:
                node[str(step)] = value.to
            elif isinstance(after, int) and not isinstance(step, MapKey):
                group = node.setdefault(str(step), [])
                entry = next((item for item in group if item.get("name", "") == value.container), None)
                if entry is None:
                    entry = {"name": value.container}
                    group.append(entry)
                node = entry
            else:
                node = node.setdefault(str(step), {})
    return patch


def _pointer(field: str) -> str:
    """Return a JSON pointer to the field."""
    steps = FieldPath.parse(field).steps
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def patch_command(origin: Origin, ref: ObjectRef, patch: object, how: PatchType, kind: str = "") -> str:
    """Return the line that patches an object. ``kind``: as kubectl is told it, where that is not the object's own."""
    text = json.dumps(patch, separators=(",", ":"), ensure_ascii=True)
    space = f" -n {shlex.quote(ref.namespace)}" if ref.namespace else ""
    words = f"patch {kind or ref.kind.lower()} {shlex.quote(ref.name)}{space} --type {how} -p {shlex.quote(text)}"
    return directed_command(origin, words)


def usage_command(origin: Origin, quota: ObjectRef) -> str:
    """Return the line that shows who uses a quota, in the same cluster and namespace; empty if it is no
    ResourceQuota.
    """
    if quota.kind == "Tenant":
        return " ".join(
            filter(
                None,
                [directed_command(origin, f"kres explain tenant/{shlex.quote(quota.name)} --by value"), origin.reading],
            )
        )
    if quota.kind != "ResourceQuota":
        return ""
    words = f"kres quota {shlex.quote(quota.name)} -n {shlex.quote(quota.namespace)} --by workload"
    return " ".join(filter(None, [directed_command(origin, words), origin.reading]))


def is_patched(kind: str) -> bool:
    """Return whether the pod template of objects of this kind may be changed in place."""
    return kind in PATCHED


def directed_command(origin: Origin, words: str) -> str:
    """Return a line for kubectl, with the flags that choose the same server and user."""
    return f"kubectl {words}{f' {origin.flags}' if origin.flags else ''}"


#: A command within a sentence, as ``(kubectl get priorityclasses)``.
_BRACKETS = r"\((kubectl(?: [a-z0-9.-]+)+?)( lists them)?\)"


#: A command that ends a sentence and changes something.
_AT_END = r": kubectl (?:patch|label) .*$"


class CommandedFix(Sentence, frozen=True, kw_only=True):
    """Base of fixes that name a line which makes one of the changes; ``command`` empty: there is none."""

    command: str = ""


def add_access_flags(origin: Origin, texts: Iterable[Wording]) -> tuple[Wording, ...]:
    """Return the sentences with such flags in the commands in their brackets, and at their ends."""
    if not origin.flags:
        return tuple(texts)
    return tuple(_with_flags(origin, text) for text in texts)


def _with_flags(origin: Origin, text: Wording) -> Wording:
    if isinstance(text, Clauses):
        return structs.replace(text, parts=add_access_flags(origin, text.parts))
    if isinstance(text, ByHand | MakeNamespace):
        return structs.replace(text, flags=origin.flags)
    if isinstance(text, CommandedFix):
        return structs.replace(text, command=f"{text.command} {origin.flags}") if text.command else text
    if not isinstance(text, str):
        return text
    text = re.sub(_BRACKETS, lambda match: f"({match[1]} {origin.flags}{match[2] or ''})", text)
    return f"{text} {origin.flags}" if re.search(_AT_END, text) and not text.endswith(f" {origin.flags}") else text
