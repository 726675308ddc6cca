"""What a controller owns, found without looking through all objects of its namespace for each owner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from kubectl_kres.reports.pod.needs import controller
from kubectl_kres.store.store import Store

_Owner = tuple[str, str]
#: By kind: the store's revision of it, and for each namespace that was asked about what each owner has there.
_Found = dict[str, tuple[tuple[int, ...], dict[str, dict[_Owner, list[Any]]]]]

_found: WeakKeyDictionary[Store, _Found] = WeakKeyDictionary()


def owned_by(store: Store, kind: str, namespace: str, owner: _Owner) -> Sequence[Any]:
    """Pods or workloads of a kind whose controller has this kind and name, by name. They are looked through again
    only where the store has changed.
    """
    held, revision = _found.setdefault(store, {}), store.revision(kind)
    last = held.get(kind)
    if last is None or last[0] != revision:
        last = held[kind] = (revision, {})
    spaces = last[1]
    if namespace not in spaces:
        owners: dict[_Owner, list[Any]] = {}
        for item in store.all(kind, namespace):
            owners.setdefault(controller(item), []).append(item)
        spaces[namespace] = owners
    return spaces[namespace].get(owner, ())
