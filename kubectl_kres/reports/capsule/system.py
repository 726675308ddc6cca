"""What Capsule registers with the answers about pods, quotas and namespaces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.model.capsule import GROUP, MANAGED_LABEL, POOL_LABEL, pool_of
from kubectl_kres.model.meta import ManagedMetadata, Metadata, ObjectRef
from kubectl_kres.model.pod import PodSpec
from kubectl_kres.model.policy import ResourceQuota
from kubectl_kres.reports.common.record import Record
from kubectl_kres.reports.common.system import Happening, KindAnswers, MoreRoom, Right, Sentences, System
from kubectl_kres.reports.common.system_parts import PoolTrail
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

_GET, _LIST, _BOTH = ("get",), ("list",), ("get", "list")
_SHARED = ("GlobalResourceQuota", "CustomQuota", "GlobalCustomQuota")
_QUOTAS = tuple(Right(kind, _LIST, "Capsule's quotas over several namespaces") for kind in _SHARED)
_OWN = tuple(Right(kind, _BOTH) for kind in ("ResourcePool", "ResourcePoolClaim"))


class Capsule(System):
    """Resource pools, claims, and the quotas that they become."""

    name = "capsule"
    group = GROUP
    answers: Mapping[str, KindAnswers] = {
        **dict.fromkeys(("ResourcePool", "ResourcePoolClaim"), KindAnswers("capsule")),
        "Tenant": KindAnswers("capsule"),
    }
    policies = ("ResourcePool", "ResourcePoolClaim", "Tenant")
    telling = ("ResourcePool", "ResourcePoolClaim")
    beside_lists = frozenset({"ResourcePool", "ResourcePoolClaim", *_SHARED})
    rights: Mapping[str, tuple[Right, ...]] = {
        "pods": (
            Right("ResourcePool", _BOTH, "what a pool has left"),
            Right("ResourcePoolClaim", _BOTH, "who else claims of a pool"),
        ),
        "explain": (*_QUOTAS, Right("Tenant", _GET, "what a Tenant's namespaces use of its quotas")),
        "quota": _QUOTAS,
        "claims": (
            *_OWN,
            Right("ResourceQuota", _BOTH, "the quota that a pool keeps in a namespace"),
            Right("Namespace", _BOTH, "which namespaces a pool selects"),
        ),
        "pools": (
            *_OWN,
            Right("ResourceQuota", _LIST, "the quotas that a pool keeps"),
            Right("Namespace", _LIST, "which namespaces a pool selects"),
        ),
    }

    over_pods: Mapping[str, str] = {
        "claims": "what a workload has to claim (--for)",
        "pools": "who uses what a pool shares out (--by)",
    }

    def needs_beside(self, store: Store, namespace: str, spec: PodSpec | None, *, new: bool) -> Iterable[Need]:
        """Two more reads where pools keep quotas: the claims of the namespace, and what the pools have left."""
        del spec, new
        pools = sorted(set(self.kept_quotas(store, namespace).values()))
        if not pools:
            return ()
        pool = Need("ResourcePool", name=pools[0] if len(pools) == 1 else "", required=False)
        return Need("ResourcePoolClaim", namespace, required=False), pool

    def quota_needs(self, store: Store, namespace: str) -> Iterable[Need]:
        """Two more reads where Capsule keeps a quota: what its pools have left, and who else claims of them."""
        if not any(map(pool_of, store.all("ResourceQuota", namespace or None))):
            return ()
        return Need("ResourcePool", required=False), Need("ResourcePoolClaim", namespace, required=False)

    def special(self, store: Store, namespace: str) -> Mapping[str, Sentences]:
        if not self.kept_quotas(store, namespace):
            return {}
        from kubectl_kres.reports.capsule.pool.pool_trail import claiming

        return claiming(store, namespace)

    def trails(self, store: Store, namespace: str, findings: Iterable[Finding]) -> tuple[PoolTrail, ...]:
        if not self.kept_quotas(store, namespace):
            return ()
        from kubectl_kres.reports.capsule.pool.pool_trail import trails

        return trails(store, namespace, findings)

    def kept_quotas(self, store: Store, namespace: str) -> Mapping[str, str]:
        quotas: Iterable[ResourceQuota] = store.all("ResourceQuota", namespace)
        return {quota.metadata.name: pool for quota in quotas if (pool := pool_of(quota))}

    def more_room(self, store: Store, ref: ObjectRef, lacks: Mapping[str, Mapping[str, str]]) -> MoreRoom | None:
        from kubectl_kres.reports.capsule.pool.pool_trail import more_room

        return more_room(store, ref, lacks)

    def pool_of(self, quota: ResourceQuota) -> str:
        return pool_of(quota)

    def keeper(self, metadata: Metadata) -> str:
        pool = (metadata.labels or {}).get(POOL_LABEL)
        if pool:
            return f"Capsule owns it for pool {pool}: claim more from the pool instead"
        return kept(metadata) if isinstance(metadata, ManagedMetadata) else ""

    def distributed(self, metadata: ManagedMetadata) -> str:
        return kept(metadata)

    def shared_needs(self, namespace: str, quotas: Iterable[ResourceQuota]) -> tuple[Need, ...]:
        from kubectl_kres.reports.capsule.common.shared_quotas import may_share, shared_needs

        return shared_needs(namespace) if may_share(quotas) else ()

    def concerns(self, item: Any, namespace: str) -> bool:
        return namespace in (item.status.namespaces or ())

    def happened(self, item: Any) -> Iterator[Happening]:
        from kubectl_kres.reports.capsule.happenings import happenings

        return happenings(item)

    def overview_areas(self) -> tuple[Any, ...]:
        from kubectl_kres.reports.capsule.overview import AREAS

        return AREAS

    def overview_needs(self, namespace: str) -> Iterable[Need]:
        return Need("ResourcePoolClaim", namespace, required=False), Need("ResourcePool", required=False)

    def shared_reports(self, store: Store, namespace: str) -> Iterator[Record]:
        if not any(any(True for _ in store.all(kind)) for kind in _SHARED):
            return
        from kubectl_kres.reports.capsule.common.shared_quotas import shared_reports

        yield from shared_reports(store, namespace)


_OWNERS = ("TenantResource", "GlobalTenantResource", "Tenant")
#: Labels of what is distributed, of Capsule's versions from old to new.
_LABELS = ("capsule.clastix.io/resources", "projectcapsule.dev/created-by", MANAGED_LABEL)
#: What starts the name of the field manager of what a TenantResource distributes.
MANAGER = "projectcapsule.dev/resource"
#: The value of the label on what a Tenant's own fields make.
_OF_TENANT = "controller"


def kept(metadata: ManagedMetadata) -> str:
    """A sentence for a LimitRange or quota that Capsule distributes; empty for any other, and for quotas of pools.

    Source: capsule internal/controllers/resources and internal/controllers/tenant; read, not recorded.
    """
    labels = metadata.labels or {}
    told = list(_told(metadata))
    if not told or POOL_LABEL in labels:
        return ""
    owner = next(
        (owner_reference for owner_reference in metadata.owner_references or () if owner_reference.kind in _OWNERS),
        None,
    )
    if owner is not None:
        made = f"{owner.kind}/{owner.name}"
    elif labels.get(MANAGED_LABEL) == _OF_TENANT:
        made = "its Tenant"
    else:
        made = "the TenantResource or GlobalTenantResource that distributes it"
    return f"Capsule owns it ({told[0]}): edits are undone, or refused; change {made} instead"


def _told(metadata: ManagedMetadata) -> Iterator[str]:
    """What tells that Capsule owns it."""
    for entry in metadata.managed_fields or ():
        if entry.manager.startswith(MANAGER):
            yield f"field manager {entry.manager}"
    for owner_reference in metadata.owner_references or ():
        if owner_reference.kind in _OWNERS and owner_reference.api_version.partition("/")[0] in {
            "",
            "capsule.clastix.io",
        }:
            yield f"owned by {owner_reference.kind}/{owner_reference.name}"
    for label in _LABELS:
        value = (metadata.labels or {}).get(label)
        if value is not None:
            yield f"label {label}={value}"


SYSTEM = Capsule()
