"""What a simulation must read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.simulate.live import IN_NAMESPACE, OF_CLUSTER
from kubectl_kres.store.coverage import Need

#: Without these it is not known who is hurt.
_REQUIRED = frozenset({"LimitRange", "ResourceQuota", "Deployment", "ReplicaSet", "StatefulSet", "Job", "Pod"})
_POOLED = ("Namespace", "ResourcePool", "ResourcePoolClaim", "ResourceQuota")


def namespace_needs(spaces: Iterable[str]) -> Iterator[Need]:
    """The reads for some namespaces; an empty name stands for all."""
    for space in spaces:
        for kind in (*IN_NAMESPACE, "Pod"):
            yield Need(kind, space, required=kind in _REQUIRED)
    for kind in OF_CLUSTER:
        yield Need(kind, required=False)


def pool_needs() -> Iterator[Need]:
    """The reads for steps about pools, claims and namespaces."""
    for kind in _POOLED:
        yield Need(kind)
