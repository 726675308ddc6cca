"""Edits as lines for kubectl (one process each, no shell, nothing to fill in), and who would undo them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.admission.base.outcome import FieldPath, MapKey
from kubectl_kres.model.objects import ARGO, RELEASE, ManagedMetadata, Metadata, ObjectRef, manager_of
from kubectl_kres.reports.common import parts
from kubectl_kres.reports.common.system import ownership_of
from kubectl_kres.store.store import Origin

#: Kinds whose pod template may be changed in place.
_PATCHED = frozenset({
    "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "CronJob",
})  # fmt: skip
_SCALED = frozenset({"Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"})


def commands(origin: Origin, edits: Sequence[parts.Edit], kept: Mapping[ObjectRef, str]) -> tuple[str, ...]:
    """Return the lines that make the edits, quotas and LimitRanges first; ``kept``: objects that are not changed
    here.
    """
    return tuple(_lines(origin, [edit for edit in edits if edit.object not in kept]))


def unchangeable(edits: Sequence[parts.Edit]) -> dict[ObjectRef, str]:
    """Return the objects that cannot be edited in place, each with the reason."""
    return {edit.object: reason for edit in edits if (reason := _why_not(edit))}


def _why_not(value: parts.Edit) -> str:
    kind = value.object.kind
    if value.action == "create":
        return f"kubectl creates a {kind} from a manifest only"
    if "volumeClaimTemplates" in value.field:
        return (
            "claim templates cannot be changed: delete the StatefulSet with --cascade=orphan, so that its pods and "
            "claims stay, and create it again with these values"
        )
    of_run = isinstance(value, parts.EditClaim) and kind in {"TaskRun", "PipelineRun"}
    if not (isinstance(value, parts.SetValue) or of_run) or kind in _PATCHED:
        return ""
    if kind == "Job":
        return "the template of a Job cannot be changed: delete the Job and create it again with these values"
    if kind == "Pod":
        return "the requests and limits of a pod are changed in its manifest, which is then created anew"
    if kind in {"TaskRun", "PipelineRun"}:
        return f"a {kind} that exists cannot be changed: create a new one with these values"
    return f"change the manifest of {value.object}"


def _lines(origin: Origin, edits: Sequence[parts.Edit]) -> Iterator[str]:
    quotas: dict[ObjectRef, list[parts.RaiseQuota]] = {}
    bounds: dict[ObjectRef, list[Mapping[str, Any]]] = {}
    templates: dict[ObjectRef, list[parts.SetValue]] = {}
    for edit in edits:
        match edit:
            case parts.RaiseQuota():
                quotas.setdefault(edit.object, []).append(edit)
            case parts.SetBound():
                bounds.setdefault(edit.object, []).append({"op": "add", "path": _pointer(edit.field), "value": edit.to})
            case parts.SetValue() if edit.object.kind in _PATCHED:
                templates.setdefault(edit.object, []).append(edit)
    for ref, raised in quotas.items():
        yield _raise_quota_command(origin, ref, raised)
    for ref, changes in bounds.items():
        yield _patch(origin, "limitrange", ref, changes, "json")
    for ref, values in templates.items():
        yield _patch(origin, ref.kind.lower(), ref, _template(values), "strategic")
    yield from (_scale_command(origin, edit) for edit in edits if isinstance(edit, parts.Scale))
    yield from (_deleting(origin, edit.object) for edit in edits if isinstance(edit, parts.DeleteObject))
    yield from (_configuration_command(origin, edit) for edit in edits if isinstance(edit, parts.SetConfig))


def _deleting(origin: Origin, ref: ObjectRef) -> str:
    return _kubectl(origin, f"delete {ref.kind.lower()} {shlex.quote(ref.name)} -n {shlex.quote(ref.namespace)}")


def _configuration_command(origin: Origin, edit: parts.SetConfig) -> str:
    """Return the line that sets a key of Tekton's configuration. A flag that the Tekton Operator keeps is not a
    text.
    """
    ref = edit.object
    value: object = edit.to
    if ref.kind != "ConfigMap" and edit.to in {"true", "false"}:
        value = edit.to == "true"
    return _patch(origin, ref.kind.lower(), ref, _nest_value(FieldPath.parse(edit.field).steps, value), "merge")


def _raise_quota_command(origin: Origin, ref: ObjectRef, edits: Sequence[parts.RaiseQuota]) -> str:
    """Return a merge patch, or a JSON patch for fields in lists, which a merge patch would replace as a whole."""
    paths = [FieldPath.parse(edit.field) for edit in edits]
    if any(isinstance(step, int) for path in paths for step in path.steps):
        changes = [{"op": "add", "path": _pointer(edit.field), "value": edit.to} for edit in edits]
        return _patch(origin, ref.kind.lower(), ref, changes, "json")
    patch: dict[str, Any] = {}
    for path, edit in zip(paths, edits, strict=True):
        node = patch
        for step in path.steps[:-1]:
            node = node.setdefault(str(step), {})
        node[str(path.steps[-1])] = edit.to
    return _patch(origin, "quota" if ref.kind == "ResourceQuota" else ref.kind.lower(), ref, patch, "merge")


def _scale_command(origin: Origin, scale: parts.Scale) -> str:
    ref = scale.object
    if ref.kind in _SCALED and scale.field == "spec.replicas":
        words = (
            f"scale {ref.kind.lower()} {shlex.quote(ref.name)} -n {shlex.quote(ref.namespace)} --replicas={scale.to}"
        )
        return _kubectl(origin, words)
    return _patch(origin, ref.kind.lower(), ref, _nest_value(FieldPath.parse(scale.field).steps, scale.to), "merge")


def _nest_value(steps: Sequence[str | int], value: object) -> object:
    for step in reversed(steps):
        value = {str(step): value}
    return value


def _template(values: Sequence[parts.SetValue]) -> object:
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


def _patch(origin: Origin, kind: str, ref: ObjectRef, patch: object, how: str) -> str:
    text = json.dumps(patch, separators=(",", ":"), ensure_ascii=True)
    object_arguments = f"{kind} {shlex.quote(ref.name)}{f' -n {shlex.quote(ref.namespace)}' if ref.namespace else ''}"
    return _kubectl(origin, f"patch {object_arguments} --type {how} -p {shlex.quote(text)}")


def usage_command(origin: Origin, quota: ObjectRef) -> str:
    """Return the line that shows who uses a quota, in the same cluster and namespace; empty if it is no
    ResourceQuota.
    """
    if quota.kind == "Tenant":
        return " ".join(
            filter(
                None, [_kubectl(origin, f"kres explain tenant/{shlex.quote(quota.name)} --by value"), origin.reading]
            )
        )
    if quota.kind != "ResourceQuota":
        return ""
    words = f"kres quota {shlex.quote(quota.name)} -n {shlex.quote(quota.namespace)} --by workload"
    return " ".join(filter(None, [_kubectl(origin, words), origin.reading]))


def is_patched(kind: str) -> bool:
    """Return whether the pod template of objects of this kind may be changed in place."""
    return kind in _PATCHED


def directed_command(origin: Origin, words: str) -> str:
    """Return the words as a line for kubectl, with the flags that choose the same server and user."""
    return _kubectl(origin, words)


def _kubectl(origin: Origin, words: str) -> str:
    """Return a line for kubectl, with the flags that choose the same server and user."""
    return f"kubectl {words}{f' {origin.flags}' if origin.flags else ''}"


#: A command within a sentence, as ``(kubectl get priorityclasses)``.
_BRACKETS = re.compile(r"\((kubectl(?: [a-z0-9.-]+)+?)( lists them)?\)")


def add_access_flags(origin: Origin, texts: Iterable[str]) -> tuple[str, ...]:
    """Return the sentences with such flags in the commands in their brackets."""
    if not origin.flags:
        return tuple(texts)
    return tuple(_BRACKETS.sub(lambda match: f"({match[1]} {origin.flags}{match[2] or ''})", text) for text in texts)


_MANAGED_BY = "app.kubernetes.io/managed-by"
#: Values of the label that say that a person keeps the object.
_PEOPLE = frozenset({"", "kubectl", "manual", "kustomize"})


def keeper(metadata: Metadata) -> str:
    """Return a sentence on who manages the object and what to change instead; empty: nobody does."""
    return _find_owner(metadata) or _find_labelled_manager(metadata) or _find_field_manager(metadata)


def keeper_of(ref: ObjectRef, metadata: Metadata) -> str:
    """The same sentence with the name of the object."""
    return named_owner(keeper(metadata), str(ref))


def named_owner(sentence: str, names: str) -> str:
    """A sentence of ``keeper`` with the objects that it is about in place of ``it``."""
    return sentence.replace(" owns it", f" owns {names}", 1)


def _find_owner(metadata: Metadata) -> str:
    for owner in metadata.owner_references or ():
        if owner.controller:
            return f"{owner.kind}/{owner.name} owns it: change that instead"
    return ownership_of(metadata).text


def _find_labelled_manager(metadata: Metadata) -> str:
    """Return the manager that labels and annotations name."""
    annotations, labels = metadata.annotations or {}, metadata.labels or {}
    if any(name in annotations or name in labels for name in ARGO):
        return "Argo CD owns it: edit its source"
    if annotations.get(RELEASE):
        return f"Helm owns it (release {annotations[RELEASE]}): edit the values of the release"
    managed = labels.get(_MANAGED_BY, "")
    if managed.lower() not in _PEOPLE:
        return f"{managed} owns it (label {_MANAGED_BY}): edit its source"
    return ""


def _find_field_manager(metadata: Metadata) -> str:
    """Return the manager that the field managers name."""
    for entry in metadata.managed_fields or () if isinstance(metadata, ManagedMetadata) else ():
        if name := manager_of(entry.manager):
            return f"{name} owns it ({entry.manager}): edit its source"
    return ""
