"""Who would undo an edit of an object, and whether it stays: owners, labels, annotations and field managers tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from kubectl_kres.model.objects import (
    PERSONAL_MANAGERS,
    RELEASE,
    ManagedFields,
    ManagedMetadata,
    Metadata,
    ObjectRef,
    manager_of,
)
from kubectl_kres.model.workload_kinds import SCALED
from kubectl_kres.record import Wording
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.last_editor import last_edit
from kubectl_kres.reports.common.remedy import DeleteObject, KeptBy, Permanence, Remedy, Scale, When
from kubectl_kres.reports.common.system import Keeping, keeping_of, ownership_of
from kubectl_kres.store.store import ReadRequest, Store

_MANAGED_BY = "app.kubernetes.io/managed-by"
#: Values of the label that say that a person keeps the object.
_PEOPLE = frozenset({"", "kubectl", "manual", "kustomize"})
_STAYS = Permanence("stays")
_HPA = "HorizontalPodAutoscaler"


class Keeper(Struct, frozen=True):
    """Who keeps an object as it is, and what becomes of an edit of it."""

    kept: KeptBy
    permanence: Permanence


def keeper_of(store: Store, metadata: Metadata) -> Keeper | None:
    """Return who keeps an object as it is; None: nobody does, as far as it tells."""
    for owner in metadata.owner_references or ():
        if owner.controller:
            name = f"{owner.kind}/{owner.name}"
            return Keeper(KeptBy(name, "owner"), Permanence("undone", name, "reconcile"))
    if kept := ownership_of(metadata).by:
        return Keeper(kept, Permanence("undone", kept.by))
    keeping = keeping_of(store, metadata)
    if keeping is not None:
        return _from_git(keeping)
    return _labelled_keeper(metadata) or _managing_keeper(metadata)


def kept_by(store: Store, metadata: Metadata) -> KeptBy | None:
    """Return who keeps the object, and what to change instead; None: nobody does."""
    keeper = keeper_of(store, metadata)
    return keeper.kept if keeper is not None else None


def named_keeper(store: Store, ref: ObjectRef, metadata: Metadata) -> Wording:
    """Return the same with the name of the object; empty: nobody does."""
    kept = kept_by(store, metadata)
    return structs.replace(kept, names=(str(ref),)) if kept is not None else ""


def _from_git(keeping: Keeping) -> Keeper:
    return Keeper(KeptBy(keeping.tool, "source"), keeping.permanence)


def _labelled_keeper(metadata: Metadata) -> Keeper | None:
    """Return the manager that labels and annotations name."""
    annotations, labels = metadata.annotations or {}, metadata.labels or {}
    if annotations.get(RELEASE):
        release = Permanence("undone", f"Helm release {annotations[RELEASE]}", "next-release")
        return Keeper(KeptBy("Helm", "release", annotations[RELEASE]), release)
    managed = labels.get(_MANAGED_BY, "")
    if managed.lower() not in _PEOPLE:
        kept = KeptBy(managed, "label", _MANAGED_BY)
        return Keeper(kept, Permanence("unknown", managed, reason="unnamed"))
    return None


def _managing_keeper(metadata: Metadata) -> Keeper | None:
    """Return the manager that the field managers name."""
    for entry in metadata.managed_fields or () if isinstance(metadata, ManagedMetadata) else ():
        if name := manager_of(entry.manager):
            when: When = "next-release" if name == "Helm" else "next-apply" if name in _BY_HAND else ""
            known = Permanence("undone", name, when) if when else Permanence("unknown", name, reason="unnamed")
            return Keeper(KeptBy(name, "source"), known)
    return None


#: Tools that somebody has to start.
_BY_HAND = frozenset({"Terraform", "Pulumi"})


def with_permanence(store: Store, subject: Subject, remedies: Sequence[Remedy]) -> tuple[Remedy, ...]:
    """Return fixes, each with what becomes of it."""
    return tuple(
        remedy if remedy.stays is not None else structs.replace(remedy, stays=_permanence(store, subject, remedy))
        for remedy in remedies
    )


def _permanence(store: Store, subject: Subject, remedy: Remedy) -> Permanence | None:
    """Return what becomes of the edits of a fix; None: it edits nothing that is stored."""
    edits = [edit for edit in remedy.edits if not isinstance(edit, DeleteObject)]
    refs = dict.fromkeys(edit.object for edit in edits) or ({subject.ref: None} if not remedy.edits else {})
    if (
        not (remedy.edits or remedy.commands or remedy.no_command_reason)
        or any(ref in store.files for ref in refs)
        or subject.raw is not None
    ):
        return None
    seen = [*_of_objects(store, refs), *_of_fields(store, remedy), *_of_replicas(store, remedy)]
    return _decided(seen)


def permanence_of(store: Store, refs: Sequence[ObjectRef]) -> Permanence | None:
    """Return what becomes of edits of these objects; None: there are none, or they are made in a file."""
    if not refs or any(ref in store.files for ref in refs):
        return None
    return _decided([*_of_objects(store, refs)])


def _decided(seen: Sequence[Permanence]) -> Permanence:
    """Return what becomes of edits for all that was seen: what undoes one for sure comes before what may."""
    return next((each for each in seen if each.state == "undone"), None) or next(iter(seen), _STAYS)


def _of_objects(store: Store, refs: Sequence[ObjectRef] | dict[ObjectRef, None]) -> Iterator[Permanence]:
    for ref in refs:
        metadata = getattr(store.get(ref.kind, ref.name, ref.namespace), "metadata", None)
        keeper = keeper_of(store, metadata) if isinstance(metadata, Metadata) else None
        if keeper is not None:
            yield keeper.permanence


def _of_fields(store: Store, remedy: Remedy) -> Iterator[Permanence]:
    """Yield that a controller that is not known wrote a field which is edited: it may write it again."""
    for edit in remedy.edits:
        item = store.get(edit.object.kind, edit.object.name, edit.object.namespace)
        managed: Sequence[ManagedFields] = getattr(getattr(item, "metadata", None), "managed_fields", None) or ()
        last = last_edit(managed, edit.field) if managed and edit.field else None
        if last is not None and not last.manager.startswith(PERSONAL_MANAGERS):
            yield Permanence("unknown", last.manager, reason="manager")


def _of_replicas(store: Store, remedy: Remedy) -> Iterator[Permanence]:
    """Yield that an autoscaler which could not be read may set the number of pods again."""
    for edit in remedy.edits:
        # Nothing else has the subresource that an autoscaler writes: the parallelism of a Job stays.
        if isinstance(edit, Scale) and edit.object.kind in SCALED:
            coverage = store.covered(ReadRequest(_HPA, edit.object.namespace))
            if not coverage.is_known:
                yield Permanence("unknown", "an autoscaler", reason=coverage.state)
