"""How a claim leaves a pool: released, its namespace gone from the selection, or the pool deleted."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import structs

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.rules.assignment import owns
from kubectl_kres.capsule.rules.conditions import BOUND, EXHAUSTED, without

RELEASE = "projectcapsule.dev/release"


def wants_release(claim: ResourcePoolClaim) -> bool:
    """Whether the claim carries the release annotation with a value that counts."""
    return (claim.metadata.annotations or {}).get(RELEASE, "").lower() == "true"


def without_release(claim: ResourcePoolClaim) -> ResourcePoolClaim:
    """The claim without the annotation, whatever its value."""
    annotations = claim.metadata.annotations or {}
    if RELEASE not in annotations:
        return claim
    kept = {key: value for key, value in annotations.items() if key != RELEASE}
    return structs.replace(claim, metadata=structs.replace(claim.metadata, annotations=kept or None))


def disassociate(claim: ResourcePoolClaim, pool: ResourcePool) -> ResourcePoolClaim:
    """The claim as the pool lets go of it. Ready stays as it was, and the claim is not queued again.

    With ``deleteBoundResources`` the owner reference stays, unless the claim was released: the garbage collector
    deletes it with the pool.

    Source: capsule internal/controllers/resourcepools/pool_controller.go handleClaimDisassociation.
    """
    kept = without(claim.status.conditions, {BOUND, EXHAUSTED})
    released = structs.replace(claim, status=structs.replace(claim.status, pool=None, conditions=kept, condition=None))
    if pool.spec.config.delete_bound_resources and not wants_release(claim):
        return released
    owners = tuple(
        owner_reference for owner_reference in claim.metadata.owner_references or () if not owns(owner_reference, pool)
    )
    freed = structs.replace(released, metadata=structs.replace(claim.metadata, owner_references=owners or None))
    return without_release(freed)


def is_orphan(claim: ResourcePoolClaim, pools: Collection[ResourcePool]) -> bool:
    """Whether the garbage collector deletes the claim: it has owners, all of them pools, and none of them exists."""
    owners = claim.metadata.owner_references or ()
    if any(owner.kind != "ResourcePool" for owner in owners):
        return False
    return bool(owners) and not any(owns(owner, pool) for owner in owners for pool in pools)
