"""Look-ups by owner: the controller of an object, the objects that it controls, and the events about it.

The claims of a StatefulSet have no owner: they are found by the beginning of their names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kubectl_kres.model.ordinals import Names
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Event, Workload
from kubectl_kres.store.store import ReadRequest, Store

#: The kind and name of an object.
_Key = tuple[str, str]


def controller(value: Pod | Workload) -> tuple[str, str]:
    """Return kind and name of the controlling owner; empty if there is none."""
    for owner in value.metadata.owner_references or ():
        if owner.controller:
            return owner.kind, owner.name
    return "", ""


def owned_by(store: Store, kind: str, namespace: str, owner: _Key) -> Sequence[Any]:
    """Return the pods or workloads of a kind whose controller has this kind and name, by name."""
    return by_controller(store, kind, namespace).get(owner, ())


def by_controller(store: Store, kind: str, namespace: str) -> Mapping[_Key, list[Any]]:
    """Return the pods or workloads of a kind by kind and name of their controller."""
    return _by_key(store, kind, namespace, controller)


def pods_of_sets(store: Store, namespace: str, base: str) -> Sequence[Pod]:
    """Return the pods whose ReplicaSet is called ``base`` and a hash, as that of a Deployment of this name is."""
    return _by_key(store, "Pod", namespace, _base_of_set).get(("ReplicaSet", base), ())


def _base_of_set(pod: Pod) -> _Key:
    kind, name = controller(pod)
    return kind, name.rpartition("-")[0] if kind == "ReplicaSet" else name


def events_about(store: Store, namespace: str, about: _Key) -> Sequence[Event]:
    """Return the events of a namespace about the object of this kind and name, by their own names."""
    return _by_key(store, "Event", namespace, _subject).get(about, ())


def events_read(namespace: str, about: _Key) -> ReadRequest:
    """Return the read of these events alone."""
    kind, name = about
    selector = f"involvedObject.kind={kind},involvedObject.name={name}"
    return ReadRequest("Event", namespace, field_selector=selector, required=False)


def _subject(event: Event) -> _Key:
    return event.involved_object.kind, event.involved_object.name


def claim_ordinals(store: Store, namespace: str, base: str) -> Names:
    """Return the PersistentVolumeClaims of a namespace whose names are a beginning and an ordinal behind it."""
    claims = _by_key(store, "PersistentVolumeClaim", namespace, _base_of_name).get(("", base), ())
    return Names.of(claim.metadata.name for claim in claims)


def _base_of_name(item: Any) -> _Key:
    return "", item.metadata.name.rpartition("-")[0]


def _by_key(store: Store, kind: str, namespace: str, key: Callable[[Any], _Key]) -> Mapping[_Key, list[Any]]:
    """Return the objects by their owner."""
    spaces: dict[str, Mapping[_Key, list[Any]]] = store.memo(("by key", kind, key), (kind,), None, dict)
    if namespace not in spaces:
        groups: dict[_Key, list[Any]] = {}
        for item in store.all(kind, namespace):
            groups.setdefault(key(item), []).append(item)
        spaces[namespace] = groups
    return spaces[namespace]
