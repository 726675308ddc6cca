"""What the runs of a namespace meet: policies, Tekton's configuration, and the Tasks that they refer to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from kubectl_kres.model.configmap import ConfigMap
from kubectl_kres.model.policy import Namespace
from kubectl_kres.reports.policies import policies
from kubectl_kres.reports.subject import Ask
from kubectl_kres.reports.tekton_needs import CONFIGURATION
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.config import DEFAULTS, FLAGS, INFO, Config, config_of
from kubectl_kres.tekton.resolve import Lookups
from kubectl_kres.tekton.run import World, world_of

_KINDS = ("LimitRange", "ResourceQuota", "PriorityClass", "RuntimeClass", "ConfigMap", "Namespace")
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


def configuration(store: Store, ask: Ask) -> Config:
    """How Tekton is configured, with what was assumed where it could not be read."""
    held = {need.name: _config_map(store, need.name) for need in CONFIGURATION}
    known = all(held[need.name] is not None or store.covered(need).known for need in CONFIGURATION)
    return config_of(held[DEFAULTS], held[FLAGS], held[INFO], ask.read_yaml, known=known)


def _config_map(store: Store, name: str) -> ConfigMap | None:
    """From whatever namespace it comes: a file may name another one than the cluster's."""
    found = [one for one in store.all("ConfigMap") if one.metadata.name == name]
    return next((one for one in found if isinstance(one, ConfigMap)), None)


def _by_name(store: Store, kind: str, namespace: str) -> Mapping[str, Any] | None:
    """The objects of a kind; None if some of it could not be read and none is there."""
    held = {one.metadata.name: one for one in store.all(kind, namespace)}
    states = [coverage for need, coverage in store.needs().items() if need.kind == kind]
    unknown = any(not coverage.known for coverage in states) or store.covered(Need(kind, namespace)).state == "unread"
    return None if unknown and not states and not held else held
