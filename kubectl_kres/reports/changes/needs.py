"""What a simulation must read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.reports.policing.system import deciding_needs, parameter_needs
from kubectl_kres.simulate.live import IN_NAMESPACE, OF_CLUSTER
from kubectl_kres.simulate.plugins import POLICIES
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

#: Without these it is not known who is hurt.
_REQUIRED = frozenset({"LimitRange", "ResourceQuota", "Deployment", "ReplicaSet", "StatefulSet", "Job", "Pod"})
_POOLED = ("Namespace", "ResourcePool", "ResourcePoolClaim", "ResourceQuota")


def namespace_needs(spaces: Iterable[str]) -> Iterator[Need]:
    """The reads for some namespaces; an empty name stands for all."""
    for space in spaces:
        for kind in (*IN_NAMESPACE, "Pod"):
            yield Need(kind, space, required=kind in _REQUIRED)
    for kind in OF_CLUSTER:
        if kind not in POLICIES:
            yield Need(kind, required=False)


def plugin_needs(store: Store, spaces: Iterable[str]) -> Iterator[Need]:
    """What else decides about pods: labels of namespaces, and policies where something binds them, so that it is asked
    again after the first reading.
    """
    for need in deciding_needs(store):
        if need.kind in POLICIES:
            yield need
    if store.origin.kind == "cluster":
        for space in filter(None, spaces):
            yield Need("Namespace", name=space, required=False)
            yield from parameter_needs(store, space)


def pool_needs() -> Iterator[Need]:
    """The reads for steps about pools, claims and namespaces."""
    for kind in _POOLED:
        yield Need(kind)
