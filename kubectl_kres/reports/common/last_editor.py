"""The last editor of a field, out of an object's managedFields, and values to write into a pod's manifest.

A written value is both an edit that a person reads and the manifest after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from kubectl_kres.admission.base.draft import Side
from kubectl_kres.model.objects import ManagedFields
from kubectl_kres.model.pod import Container, Pod, ResourceRequirements
from kubectl_kres.quantity import Quantity, stored_quantity
from kubectl_kres.record import Record
from kubectl_kres.reports.common.explanation import LastEdit

_STEP = r"([^.\[\]]+)|\[([^\]]*)\]"


def last_edit(
    managed: Sequence[ManagedFields] | None, path: str, names: Mapping[str, str] | None = None
) -> LastEdit | None:
    """Return the newest manager of the field at ``path``, or of the nearest field above it that anyone manages.

    ``names`` gives the ``name`` of list items that are keyed by it (``spec.containers[0]`` to ``app``).
    """
    if not managed:
        return None
    best: tuple[int, str, ManagedFields] | None = None
    steps = list(_steps(path, names or {}))
    for entry in managed:
        depth = _depth(entry.fields_v1, steps)
        if depth and (best is None or (depth, entry.time or "") > best[:2]):
            best = depth, entry.time or "", entry
    if best is None:
        return None
    entry = best[2]
    return LastEdit(entry.manager, entry.operation, entry.time or "")


def _steps(path: str, names: Mapping[str, str]) -> Sequence[str]:
    """Return a field path as keys of fieldsV1. List items are keyed by their name; atomic lists end the walk before."""
    steps: list[str] = []
    walked = ""
    for match in re.finditer(_STEP, path):
        field, key = match.group(1), match.group(2)
        if field is not None:
            walked = f"{walked}.{field}" if walked else field
            steps.append(f"f:{field}")
        else:
            walked = f"{walked}[{key}]"
            named = names.get(walked)
            steps.append(f'k:{{"name":"{named}"}}' if named is not None else f"f:{key}")
    return steps


def _depth(tree: Any, steps: Sequence[str]) -> int:
    """Return how many steps of the path the manager owns; 0 if not even the first two, which every manager of a spec
    has.
    """
    depth = 0
    for step in steps:
        if not isinstance(tree, Mapping) or step not in tree:
            # A leaf or an atomic list owns everything below it; a branch without the step does not.
            return depth if isinstance(tree, Mapping) and not tree and depth > 1 else 0
        tree = tree[step]
        depth += 1
    return depth


class FieldEdit(Record, frozen=True):
    """A field to write. ``after`` absent: the field is to be removed. ``free``: other values would do as well."""

    path: str
    before: str | None = None
    after: str | None = None
    free: bool = False


class ManifestEdit(Struct, frozen=True):
    """A value for one field of the manifest. ``side`` empty: the whole pod-level stanza, set to nothing or removed."""

    path: str
    side: Side | Literal[""]
    resource: str = ""
    after: Quantity | None = None
    free: bool = False
    empty: bool = False


def _group(pod: Pod, path: str) -> Sequence[Container]:
    return (pod.spec.init_containers if "initContainers" in path else pod.spec.containers) or ()


def _resources(pod: Pod, path: str) -> ResourceRequirements | None:
    if path == "spec":
        return pod.spec.resources
    return _group(pod, path)[_index(path)].resources


def _index(path: str) -> int:
    return int(path.partition("[")[2].rstrip("]"))


def manifest_value(pod: Pod, path: str, side: Side, resource: str) -> str | None:
    """Return the text of one value in the manifest; None if it has none. ``path`` of the container, or ``spec``."""
    resources = _resources(pod, path)
    values = None if resources is None else resources.limits if side == "limits" else resources.requests
    if not values or resource not in values:
        return None
    return "0" if values[resource] is None else str(values[resource])


def build_edit(pod: Pod, put: ManifestEdit) -> FieldEdit | None:
    """Return the change of the manifest; None if it has the value already."""
    if not put.side:
        before, after = None if pod.spec.resources is None else "{...}", "{}" if put.empty else None
        return None if before == after else FieldEdit("spec.resources", before, after)
    before = manifest_value(pod, put.path, put.side, put.resource)
    if (before is None and put.after is None) or (
        before and put.after is not None and stored_quantity(before) == put.after
    ):
        return None
    path = f"{put.path}.resources.{put.side}[{put.resource}]"
    return FieldEdit(path, before, None if put.after is None else str(put.after), put.free)


def apply_edits(pod: Pod, edits: Iterable[ManifestEdit]) -> Pod:
    """Return the manifest after every edit."""
    spec = pod.spec
    for put in edits:
        if not put.side:
            spec = replace(spec, resources=ResourceRequirements() if put.empty else None)
        elif put.path == "spec":
            spec = replace(spec, resources=_apply_edit(spec.resources, put))
        else:
            key = "init_containers" if "initContainers" in put.path else "containers"
            group, index = list(getattr(spec, key)), _index(put.path)
            group[index] = replace(group[index], resources=_apply_edit(group[index].resources, put))
            spec = replace(spec, **{key: tuple(group)})
    return replace(pod, spec=spec)


def _apply_edit(resources: ResourceRequirements | None, put: ManifestEdit) -> ResourceRequirements | None:
    if resources is None and put.after is None:
        return None
    resource_requirements = resources or ResourceRequirements()
    values = dict((resource_requirements.limits if put.side == "limits" else resource_requirements.requests) or {})
    values.pop(put.resource, None)
    if put.after is not None:
        values[put.resource] = str(put.after)
    return (
        replace(resource_requirements, limits=values)
        if put.side == "limits"
        else replace(resource_requirements, requests=values)
    )
