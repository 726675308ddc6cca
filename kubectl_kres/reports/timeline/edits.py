"""When objects that decide about pods were created and edited, by whom: from creation times and managedFields.

The server keeps for each manager when it last changed a field that it owns, not each edit: of several edits by one
manager the last is known. Source: apimachinery managedfields, buildManagerInfo; ManagedFieldsEntry.time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kubectl_kres.model.meta import ManagedFields, ManagedMetadata, ObjectRef
from kubectl_kres.model.workload import Workload
from kubectl_kres.reports.common.owned import controller
from kubectl_kres.reports.timeline.entry import CHANGED, CREATED, NEW_TEMPLATE, TimelineEntry

#: What stands for an item of a list, and for the object itself, in a tree of fields.
_KEY, _VALUE, _SELF = "k:", "v:", "."
_SPEC = "f:spec"
#: Parts of a specification whose fields are names of resources.
_AMOUNTS = (".hard", ".claim", ".defaults")


def edits(ref: ObjectRef, metadata: ManagedMetadata) -> Iterator[TimelineEntry]:
    """The creation of an object that decides, and the last edit of each manager."""
    created = metadata.creation_timestamp or ""
    writers = [(entry, fields) for entry in metadata.managed_fields or () if (fields := written(entry))]
    first = next((entry for entry, _ in writers if entry.time == created), None)
    if created:
        manager, operation = (first.manager, first.operation) if first is not None else ("", "")
        yield TimelineEntry(created, CREATED, ref, manager=manager, operation=operation)
    for entry, fields in writers:
        if entry.time and entry.time != created:
            yield TimelineEntry(
                entry.time, CHANGED, ref, fields=fields, manager=entry.manager, operation=entry.operation
            )


def written(entry: ManagedFields) -> tuple[str, ...]:
    """The fields of the specification that a manager owns, as ``spec.hard[requests.cpu]``; none of a status."""
    if entry.subresource == "status" or not isinstance(entry.fields_v1, Mapping):
        return ()
    tree = entry.fields_v1
    return tuple(_leaves(tree[_SPEC], "spec")) if _SPEC in tree else ()


def _leaves(tree: Any, path: str) -> Iterator[str]:
    steps = [step for step in tree if step != _SELF] if isinstance(tree, Mapping) else []
    if not steps:
        yield path
    for step in steps:
        name = step.removeprefix("f:")
        if step.startswith((_KEY, _VALUE)):
            yield path
            return
        bracketed = path.endswith(_AMOUNTS) or not name.isidentifier()
        yield from _leaves(tree[step], f"{path}[{name}]" if bracketed else f"{path}.{name}")


def rollouts(replica_sets: Iterable[Workload]) -> Iterator[TimelineEntry]:
    """When a Deployment got a template that it had not had: a ReplicaSet was made for it."""
    for replica_set in replica_sets:
        kind, name = controller(replica_set)
        meta = replica_set.metadata
        if kind == "Deployment" and meta.creation_timestamp:
            text = f"ReplicaSet {meta.name}"
            yield TimelineEntry(meta.creation_timestamp, NEW_TEMPLATE, ObjectRef(kind, name, meta.namespace), text)
