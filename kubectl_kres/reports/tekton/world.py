"""What the runs of a namespace meet: policies, Tekton's configuration, and the Tasks that they refer to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from kubectl_kres.model.policy import Namespace
from kubectl_kres.reports.common.effective_policies import policies
from kubectl_kres.reports.common.subject import Ask
from kubectl_kres.reports.tekton.config import configuration
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.controller.resolve import Lookups
from kubectl_kres.tekton.controller.taskrun import RunWorld, world_of

_KINDS = (
    *("LimitRange", "ResourceQuota", "PriorityClass", "RuntimeClass"),
    *("ConfigMap", "CustomResourceDefinition", "Namespace"),
)
_REFERRED = ("Task", "StepAction", "Pipeline")

#: By store and namespace: what was found last, for which question, and the revisions that it was made from.
_found: WeakKeyDictionary[Store, dict[str, tuple[tuple[int, ...], Ask, RunWorld]]] = WeakKeyDictionary()


def tekton_world(store: Store, namespace: str, ask: Ask) -> RunWorld:
    """The world of a namespace; made again only where the store has changed."""
    held, revision = _found.setdefault(store, {}), (*store.revision(*_KINDS, *_REFERRED), len(store.files))
    last = held.get(namespace)
    if last is None or last[0] != revision or last[1] is not ask:
        last = held[namespace] = (revision, ask, _world(store, namespace, ask))
    return last[2]


def _world(store: Store, namespace: str, ask: Ask) -> RunWorld:
    own = store.get("Namespace", namespace)
    tasks, actions, pipelines = (_by_name(store, kind, namespace) for kind in _REFERRED)
    return world_of(
        policies(store, namespace, ask.server).policies,
        ask.server,
        configuration(store, ask),
        Lookups(tasks, actions, pipelines, _partial(store, namespace)),
        namespace=own if isinstance(own, Namespace) else None,
    )


def _by_name(store: Store, kind: str, namespace: str) -> Mapping[str, Any]:
    return {one.metadata.name: one for one in store.all(kind, namespace)}


def _partial(store: Store, namespace: str) -> Mapping[str, frozenset[str]]:
    """Of kinds that were not read in full the names that were looked for, and are not there."""
    return {
        kind: frozenset(
            need.name
            for need, coverage in store.needs().items()
            if (need.kind, need.namespace) == (kind, namespace) and need.name and coverage.known
        )
        for kind in _REFERRED
        if not store.covered(Need(kind, namespace)).known
    }
