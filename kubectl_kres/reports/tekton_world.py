"""What the runs of a namespace meet: policies, Tekton's configuration, and the Tasks that they refer to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from msgspec import structs

from kubectl_kres.model.policy import Namespace
from kubectl_kres.reports.policies import policies
from kubectl_kres.reports.subject import Ask
from kubectl_kres.reports.tekton_config import configuration
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.answer import Gap
from kubectl_kres.tekton.resolve import Lookups
from kubectl_kres.tekton.run import World, world_of

_KINDS = (
    *("LimitRange", "ResourceQuota", "PriorityClass", "RuntimeClass"),
    *("ConfigMap", "CustomResourceDefinition", "Namespace"),
)
_REFERRED = ("Task", "StepAction", "Pipeline")

#: By store and namespace: what was found last, for which question, and the revisions that it was made from.
_found: WeakKeyDictionary[Store, dict[str, tuple[tuple[int, ...], Ask, World]]] = WeakKeyDictionary()


def tekton_world(store: Store, namespace: str, ask: Ask) -> World:
    """The world of a namespace; made again only where the store has changed."""
    held, revision = _found.setdefault(store, {}), (*store.revision(*_KINDS, *_REFERRED), len(store.files))
    last = held.get(namespace)
    if last is None or last[0] != revision or last[1] is not ask:
        last = held[namespace] = (revision, ask, _world(store, namespace, ask))
    return last[2]


def _world(store: Store, namespace: str, ask: Ask) -> World:
    own = store.get("Namespace", namespace)
    return world_of(
        policies(store, namespace, ask.server).policies,
        ask.server,
        configuration(store, ask),
        Lookups(*(_by_name(store, kind, namespace) for kind in _REFERRED)),
        namespace=own if isinstance(own, Namespace) else None,
    )


def _by_name(store: Store, kind: str, namespace: str) -> Mapping[str, Any] | None:
    """The objects of a kind; None if there is none, and some of it could not be read."""
    held = {one.metadata.name: one for one in store.all(kind, namespace)}
    states = [coverage for need, coverage in store.needs().items() if need.kind == kind]
    known = states and all(coverage.known for coverage in states)
    return held if held or known else None


def as_seen(store: Store, gap: Gap, namespace: str) -> Gap:
    """A gap that is none of the cluster's: what could not be read does not count as missing."""
    if gap.why != "missing" or not gap.name or store.covered(Need(gap.kind, namespace, gap.name)).known:
        return gap
    return structs.replace(gap, why="unreadable")
