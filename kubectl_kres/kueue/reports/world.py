"""The Workload of a stored object, and what the object says to Kueue."""

from __future__ import annotations

from typing import Any

from kubectl_kres.kueue import model
from kubectl_kres.kueue.stored import QueueLabels, created, labels_in
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.store.store import ReadRequest, Store


def labels_of(item: Any) -> QueueLabels:
    """Return what a stored object says to Kueue."""
    labels = item.metadata.labels or {}
    return QueueLabels(
        labels.get(model.QUEUE_LABEL, ""),
        labels.get(model.PRIORITY_LABEL, ""),
        labels.get(model.GROUP_LABEL, ""),
        model.is_gated(item),
    )


def labels_of_subject(store: Store, subject: Subject) -> QueueLabels | None:
    """Return the same of what is asked about; None: it is not there, or is no object that waits."""
    if subject.kind.group == model.GROUP:
        return None
    if subject.raw is None:
        item = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace)
        return labels_of(item) if item is not None and hasattr(item, "spec") else None
    return labels_in(created(store, subject.ref, subject.raw).run, subject.ref.kind)


def workload_of(store: Store, subject: Subject) -> model.KueueWorkload | None:
    """Return the Workload of a stored object: by its label, its owner, the group of a pod; None: there is none."""
    ref = subject.ref
    if ref.kind == model.WORKLOAD:
        return store.get(model.WORKLOAD, ref.name, ref.namespace)
    item = store.get(ref.kind, ref.name, ref.namespace) if subject.raw is None else None
    if item is None:
        return None
    owned = store.memo(
        ("kueue/owners", ref.namespace), (model.WORKLOAD,), None, lambda: _by_owner(store, ref.namespace)
    )
    found = owned.get(item.metadata.uid) if item.metadata.uid else None
    found = found or owned.get(f"{ref.kind}/{ref.name}")
    if found is None and ref.kind == "Pod":
        group = labels_of(item).group
        found = store.get(model.WORKLOAD, group, ref.namespace) if group else None
        owner = next((each for each in item.metadata.owner_references or () if each.controller), None)
        found = found or (owned.get(owner.uid or f"{owner.kind}/{owner.name}") if owner is not None else None)
    return found


def _by_owner(store: Store, namespace: str) -> dict[str, model.KueueWorkload]:
    """Return Workloads by uid and by name of those that they are of; of several the one that does not end counts."""
    found: dict[str, model.KueueWorkload] = {}
    for workload in store.all(model.WORKLOAD, namespace):
        owners = workload.metadata.owner_references or ()
        uid = (workload.metadata.labels or {}).get(model.UID_LABEL, "")
        keys = [uid, *(each.uid for each in owners), *(f"{each.kind}/{each.name}" for each in owners)]
        ended = model.is_true(workload.status.conditions, model.FINISHED)
        for key in filter(None, keys):
            if key not in found or not ended:
                found[key] = workload
    return found


def owner_name(workload: model.KueueWorkload) -> str:
    """Return what a Workload is of, as ``Job/alpha``; its own name where it does not say."""
    owners = workload.metadata.owner_references or ()
    return f"{owners[0].kind}/{owners[0].name}" if owners else f"{model.WORKLOAD}/{workload.metadata.name}"


def group_size(item: Any) -> tuple[str, int] | None:
    """Return the group of a pod and how many pods it needs; None: it is in none, or does not say how many."""
    labels, annotations = item.metadata.labels or {}, item.metadata.annotations or {}
    group, count = labels.get(model.GROUP_LABEL, ""), annotations.get(model.GROUP_COUNT, "")
    return (group, int(count)) if group and count.isdecimal() else None


def pods_of_group(namespace: str, group: str) -> ReadRequest:
    """Return the read of the pods of a group."""
    return ReadRequest("Pod", namespace, label_selector=f"{model.GROUP_LABEL}={group}", required=False)
