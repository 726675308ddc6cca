"""Who keeps an object as it is, so that an edit of it is undone or lost: a release, an operator, its owner."""

from __future__ import annotations

from kubectl_kres.model.meta import ARGO, RELEASE, ManagedMetadata, Metadata, manager_of
from kubectl_kres.reports.common.system import systems

_MANAGED_BY = "app.kubernetes.io/managed-by"
#: Values of the label that say that a person keeps the object.
_PEOPLE = frozenset({"", "kubectl", "manual", "kustomize"})


def keeper(metadata: Metadata) -> str:
    """A sentence on who keeps it and what to change instead; empty: nobody does."""
    return _owned(metadata) or _released(metadata) or _applied(metadata)


def _owned(metadata: Metadata) -> str:
    for owner in metadata.owner_references or ():
        if owner.controller:
            return f"{owner.kind}/{owner.name} keeps it: change that instead"
    return next(filter(None, (system.keeper(metadata) for system in systems())), "")


def _released(metadata: Metadata) -> str:
    """What labels and annotations tell."""
    annotations, labels = metadata.annotations or {}, metadata.labels or {}
    if any(name in annotations or name in labels for name in ARGO):
        return "Argo CD keeps it: make the edit in its source"
    if annotations.get(RELEASE):
        return f"Helm keeps it (release {annotations[RELEASE]}): make the edit in the values of the release"
    managed = labels.get(_MANAGED_BY, "")
    if managed.lower() not in _PEOPLE:
        return f"{managed} keeps it (label {_MANAGED_BY}): make the edit in its source"
    return ""


def _applied(metadata: Metadata) -> str:
    """What the field managers tell."""
    for entry in metadata.managed_fields or () if isinstance(metadata, ManagedMetadata) else ():
        if name := manager_of(entry.manager):
            return f"{name} keeps it (field manager {entry.manager}): make the edit in its source"
    return ""
