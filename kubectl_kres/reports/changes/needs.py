"""What a simulation must read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_kres.model.admitting import AdmissionPolicy
from kubectl_kres.model.raw import decoded
from kubectl_kres.policies.reports import deciding_needs, parameter_needs
from kubectl_kres.simulate.change import Apply, Step, key_of_step
from kubectl_kres.simulate.live import IN_NAMESPACE, OF_CLUSTER, raw_of
from kubectl_kres.simulate.parameters import parameters_of
from kubectl_kres.simulate.plugins import POLICIES
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.parameters import parameter_need
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


def taking_needs(spaces: Iterable[str]) -> Iterator[Need]:
    """The reads where nothing makes pods: what bounds PersistentVolumeClaims and Services, and those that there are."""
    for space in spaces:
        for kind in ("LimitRange", "ResourceQuota", "PersistentVolumeClaim", "Service"):
            yield Need(kind, space, required=kind in _REQUIRED)
    yield Need("StorageClass", required=False)


def plugin_needs(store: Store, spaces: Iterable[str], steps: Sequence[tuple[Step, str]] = ()) -> Iterator[Need]:
    """What else decides about pods: labels of namespaces, and policies where something binds them, so that it is asked
    again after the first reading. ``steps``: with their namespaces; policies and parameters among them.
    """
    for need in deciding_needs(store):
        if need.kind in POLICIES:
            yield need
    if store.origin.kind != "cluster":
        return
    own = [step.object for step, _ in steps if isinstance(step, Apply) and step.object.get("kind") in POLICIES]
    more = [decoded(raw, AdmissionPolicy) for raw in own]
    for space in filter(None, dict.fromkeys([*spaces, *(space for _, space in steps)])):
        yield Need("Namespace", name=space, required=False)
        yield from parameter_needs(store, space, more)
    parameters = parameters_of([*(raw_of(item) for kind in POLICIES for item in store.all(kind)), *own])
    for step, space in steps:
        if parameters.concern(step):
            kind, name = key_of_step(step)
            yield parameter_need(parameters.versions[kind], kind, space, {"name": name})


def pool_needs() -> Iterator[Need]:
    """The reads for steps about pools, claims and namespaces."""
    for kind in _POOLED:
        yield Need(kind)
