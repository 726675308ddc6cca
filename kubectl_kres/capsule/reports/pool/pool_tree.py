"""Who uses what a pool shares out: namespace, the quota that the pool keeps there, workload, pod, value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import structs

from kubectl_kres.admission.base.server import Server
from kubectl_kres.capsule.model import ResourcePool
from kubectl_kres.capsule.reports.common.needs import pool_needs
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.policy import ResourceQuota
from kubectl_kres.reports.common.subject import Ask
from kubectl_kres.reports.quota.counted import counting_needs, owner_needs
from kubectl_kres.reports.quota.quota_report import used_by
from kubectl_kres.reports.quota.usage_tree import UsageNode, above, with_shares
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store


def pool_tree(scene: PoolIndex, pool: ResourcePool, ask: Ask) -> tuple[UsageNode, ...]:
    """A node for each namespace whose quota of the pool was read, with shares of what all of them use.

    Raises UsageError where an object holds what is no quantity.
    """
    return with_shares(tuple(_namespaces(scene, pool, ask)))


def _namespaces(scene: PoolIndex, pool: ResourcePool, ask: Ask) -> Iterator[UsageNode]:
    for space, quota in _quotas(scene, pool).items():
        name = quota.metadata.name
        hard = quota.status.hard or quota.spec.hard or {}
        inside = above(
            used_by(scene.store, quota, ask), f"ResourceQuota/{name}", ObjectRef("ResourceQuota", name, space)
        )
        claims = tuple(sorted(pool_claim.name for pool_claim in (pool.status.claims or {}).get(space, ())))
        kept = structs.replace(inside, hard={key: str(hard[key]) for key in sorted(hard)}, claims=claims)
        yield above([kept], f"Namespace/{space}", ObjectRef("Namespace", space))


def _quotas(scene: PoolIndex, pool: ResourcePool) -> Mapping[str, ResourceQuota]:
    """By namespace the quota that the pool keeps there."""
    resource_quotas = {space: scene.quota(pool.metadata.name, space) for space in sorted(scene.spaces(pool))}
    return {space: quota for space, quota in resource_quotas.items() if quota is not None}


def tree_needs(store: Store, name: str, server: Server) -> Iterator[Need]:
    """What counts in the namespaces of a pool, as far as these are known by now."""
    yield from pool_needs(store, name)
    pool: ResourcePool | None = store.get("ResourcePool", name)
    if pool is None:
        return
    for space, quota in _quotas(PoolIndex(store), pool).items():
        yield from counting_needs([quota], server, space)
        yield Need("LimitRange", space)
        yield from owner_needs(store, space)
