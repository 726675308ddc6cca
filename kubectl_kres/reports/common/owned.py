"""What controls an object, what it owns, and what is told of it, without looking through a namespace for each one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Event, Workload
from kubectl_kres.store.store import Store

#: The label with which the pods of a Deployment tell their template.
_HASH = "pod-template-hash"

#: The kind and name of an object.
_Key = tuple[str, str]
#: By kind: the store's revision of it, and for each namespace that was asked about its objects by key.
_Found = dict[str, tuple[tuple[int, ...], dict[str, Mapping[_Key, list[Any]]]]]

_found: WeakKeyDictionary[Store, _Found] = WeakKeyDictionary()


def controller(value: Pod | Workload) -> tuple[str, str]:
    """Kind and name of the owner that manages the object; empty if there is none."""
    for owner in value.metadata.owner_references or ():
        if owner.controller:
            return owner.kind, owner.name
    return "", ""


def owned_by(store: Store, kind: str, namespace: str, owner: _Key) -> Sequence[Any]:
    """Pods or workloads of a kind whose controller has this kind and name, by name."""
    return _by_key(store, kind, namespace, controller).get(owner, ())


def sole_replica_set(store: Store, deployment: Workload) -> str:
    """The name of the one ReplicaSet whose pods are all that a Deployment counts; empty where the store holds others.

    A ReplicaSet is known by its name, the Deployment's and a hash that its pods are labelled with. Source:
    controller/deployment sync.go getNewReplicaSet.
    """
    name, namespace = deployment.metadata.name, deployment.metadata.namespace
    active = [
        (owner, pod)
        for (kind, owner), pods in _by_key(store, "Pod", namespace, controller).items()
        if kind == "ReplicaSet" and owner.rpartition("-")[0] == name
        for pod in pods
        if not pod.metadata.deletion_timestamp and pod.status.phase not in {"Succeeded", "Failed"}
    ]
    owners = {owner for owner, pod in active if owner == f"{name}-{(pod.metadata.labels or {}).get(_HASH, '')}"}
    if len(owners) != 1 or len({owner for owner, _ in active}) != 1 or len(active) != deployment.status.replicas:
        return ""
    return owners.pop()


def events_about(store: Store, namespace: str, about: _Key) -> Sequence[Event]:
    """The events of a namespace about the object of this kind and name, by their own names."""
    return _by_key(store, "Event", namespace, _subject).get(about, ())


def _subject(event: Event) -> _Key:
    return event.involved_object.kind, event.involved_object.name


def _by_key(store: Store, kind: str, namespace: str, key: Callable[[Any], _Key]) -> Mapping[_Key, list[Any]]:
    """Looked through again only where the store has changed."""
    result, revision = _found.setdefault(store, {}), store.revision(kind)
    last = result.get(kind)
    if last is None or last[0] != revision:
        last = result[kind] = (revision, {})
    spaces = last[1]
    if namespace not in spaces:
        groups: dict[_Key, list[Any]] = {}
        for item in store.all(kind, namespace):
            groups.setdefault(key(item), []).append(item)
        spaces[namespace] = groups
    return spaces[namespace]


def selector_text(selector: Any) -> str:
    """A selector as the query parameter: of a LabelSelector as decoded, or the plain map of a ReplicationController."""
    if not isinstance(selector, dict):
        return ""
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        return ",".join(f"{key}={value}" for key, value in sorted(selector.items()))
    parts = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for expression in selector.get("matchExpressions") or ():
        key, values = expression.get("key", ""), ",".join(expression.get("values") or ())
        operator = expression.get("operator", "")
        shown = {"Exists": key, "DoesNotExist": f"!{key}", "In": f"{key} in ({values})"}
        parts.append(shown.get(operator, f"{key} notin ({values})"))
    return ",".join(parts)
