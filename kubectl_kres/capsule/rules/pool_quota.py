"""How the quota that a pool keeps in each of its namespaces is recognised, which every answer about a quota asks."""

from __future__ import annotations

from kubectl_kres.model.policy import ResourceQuota

POOL_LABEL = "projectcapsule.dev/pool"
MANAGED_LABEL = "projectcapsule.dev/managed-by"
#: What the name of a managed quota starts with.
PREFIX = "capsule-pool-"


def quota_name(pool: str) -> str:
    """The name of the managed quota of a pool."""
    return f"{PREFIX}{pool}"


def pool_of(quota: ResourceQuota) -> str:
    """The pool that manages a quota, by its label; empty if none does."""
    name = (quota.metadata.labels or {}).get(POOL_LABEL, "")
    return name if name and quota.metadata.name == quota_name(name) else ""
