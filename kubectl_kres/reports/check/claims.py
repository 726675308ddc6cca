"""Whether a claim asks for more than its whole pool has, so that no wait is long enough."""

from __future__ import annotations

from kubectl_kres.capsule.model import ResourcePoolClaim
from kubectl_kres.capsule.reports.common.amount_lists import parsed
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.quantity import ZERO


def beyond(index: PoolIndex, claim: ResourcePoolClaim) -> str:
    """What it asks for that the whole pool does not have; empty: nothing, or the pool could not be read."""
    pool = index.pool_of(claim)
    if pool is None:
        return ""
    hard = index.hard(pool)
    for name, asked in sorted(parsed(claim.spec.claim).items()):
        if name not in hard:
            return f"pool {pool.metadata.name} does not share out {name}"
        if asked > hard[name] or hard[name] <= ZERO:
            return f"it asks for {asked} of {name}, the whole pool {pool.metadata.name} has {hard[name]}"
    return ""
