"""What Capsule registers with the reports of changes: claims whose state differs, pools and claims to write."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.replay.world import PoolWorld
from kubectl_kres.capsule.reports.common.claim_state import HELD, claim_standing_of
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.changes.report import ClaimChange, Effect
from kubectl_kres.reports.changes.system import Altered, ChangeSystem, KeptObjects


def _claim_changes(before: PoolWorld, after: PoolWorld) -> Iterator[ClaimChange]:
    keys = {key for key in (*before.claims, *after.claims) if not _is_unchanged_claim(before, after, key)}
    for key in sorted(keys):
        previous, now = _claim_state(before, key), _claim_state(after, key)
        if previous == now:
            continue
        claim = after.claims.get(key) or before.claims[key]
        effect: Effect = "other"
        if previous in HELD and now not in HELD and now:
            effect = "worse"
        elif now in HELD and previous not in HELD:
            effect = "better"
        elif not previous and now not in HELD:
            effect = "worse"
        status = claim.status.pool
        pool = status.name if status is not None else claim.spec.pool
        yield ClaimChange(ObjectRef("ResourcePoolClaim", key[1], key[0]), effect, pool, previous, now)


def _is_unchanged_claim(before: PoolWorld, after: PoolWorld, key: tuple[str, str]) -> bool:
    """Return whether neither a claim nor its pool was touched, so that nothing has to be compared."""
    claim = after.claims.get(key)
    if claim is None or claim is not before.claims.get(key):
        return False
    named = claim.status.pool.name if claim.status.pool is not None else claim.spec.pool
    return before.pools.get(named) is after.pools.get(named)


def _claim_state(pools: PoolWorld, key: tuple[str, str]) -> str:
    claim = pools.claims.get(key)
    if claim is None:
        return ""
    named = claim.status.pool.name if claim.status.pool is not None else claim.spec.pool
    return claim_standing_of(claim, pools.pools.get(named)).state


def _altered(before: PoolWorld, after: PoolWorld) -> Altered:
    pools = (pool for name, pool in after.pools.items() if pool != before.pools.get(name))
    claims = (claim for key, claim in after.claims.items() if claim != before.claims.get(key))
    gone = (ObjectRef("ResourcePoolClaim", name, space) for space, name in before.claims.keys() - after.claims.keys())
    return Altered(
        (*(("ResourcePool", pool) for pool in pools), *(("ResourcePoolClaim", claim) for claim in claims)), tuple(gone)
    )


SYSTEM = ChangeSystem(
    "capsule",
    applied_before=dict.fromkeys(("ResourcePool", "ResourcePoolClaim"), "ResourceQuota"),
    not_followed=dict.fromkeys(
        ("Tenant", "GlobalResourceQuota", "CustomQuota", "GlobalCustomQuota"),
        "what Capsule makes of a {} is not simulated",
    ),
    kept=KeptObjects(_claim_changes, _altered),
)
