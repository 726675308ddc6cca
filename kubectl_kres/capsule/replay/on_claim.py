"""Events of a claim."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from kubectl_kres.capsule.model import ResourcePoolClaim, ResourcePoolClaimStatus
from kubectl_kres.capsule.replay.outcome import WorldOutcome, unreadable
from kubectl_kres.capsule.replay.settle import pools_of, settle
from kubectl_kres.capsule.replay.world import PoolWorld, distinct, dropped, with_claims
from kubectl_kres.capsule.rules.allocation import key_of, place
from kubectl_kres.capsule.rules.amounts import AmountFault, readable
from kubectl_kres.capsule.rules.webhooks import refuse_claim, refuse_deletion, stored_claim
from kubectl_kres.model.meta import ObjectRef


def created(world: PoolWorld, claim: ResourcePoolClaim) -> tuple[WorldOutcome, ...]:
    """A new claim: a pool is chosen if none is named, then it is assigned and its pool allocates."""
    fault = _fault(claim)
    if fault is not None:
        return (WorldOutcome(world, unreadable(fault)),)
    refusal = refuse_claim(claim)
    if refusal is not None:
        return (WorldOutcome(world, refusal),)
    return tuple(
        WorldOutcome(pool_world)
        for resource_pool_claim in stored_claim(_new(claim), world.pools.values())
        for pool_world in settle(
            with_claims(world, {key_of(resource_pool_claim): resource_pool_claim}),
            claims=(key_of(resource_pool_claim),),
        )
    )


def created_together(world: PoolWorld, claims: Sequence[ResourcePoolClaim]) -> tuple[WorldOutcome, ...]:
    """Claims that are all assigned before their pools look at them, so that they are served in the order of the queue.

    Of several pools that could be chosen for one the first by name is taken; claims that are refused are left out.
    """
    stored = {}
    for claim in sorted(claims, key=place):
        if _fault(claim) is None and refuse_claim(claim) is None:
            stored[key_of(claim)] = stored_claim(_new(claim), world.pools.values())[0]
    return tuple(WorldOutcome(pool_world) for pool_world in settle(with_claims(world, stored), claims=stored))


def updated(world: PoolWorld, old: ResourcePoolClaim, new: ResourcePoolClaim) -> tuple[WorldOutcome, ...]:
    """A changed claim: refused while it is in use, except for metadata. Only a changed spec makes it be assigned anew;
    any change makes its pool allocate, and takes an annotation for release into account.
    """
    fault = _fault(new)
    if fault is not None:
        return (WorldOutcome(world, unreadable(fault)),)
    world_outcomes: list[WorldOutcome] = []
    for resource_pool_claim in stored_claim(structs.replace(new, status=old.status), world.pools.values(), old):
        refusal = refuse_claim(resource_pool_claim, old)
        if refusal is not None:
            world_outcomes.append(WorldOutcome(world, refusal))
            continue
        changed = resource_pool_claim.spec != old.spec
        generation = old.metadata.generation + changed
        stored = structs.replace(
            resource_pool_claim, metadata=structs.replace(resource_pool_claim.metadata, generation=generation)
        )
        key, now = key_of(stored), with_claims(world, {key_of(stored): stored})
        woken = pools_of(now, (old, stored))
        world_outcomes += (WorldOutcome(rest) for rest in settle(now, claims=(key,) if changed else (), pools=woken))
    return tuple(world_outcomes)


def deleted(world: PoolWorld, claim: ResourcePoolClaim) -> tuple[WorldOutcome, ...]:
    """A claim that goes frees its share; refused while it is in use."""
    refusal = refuse_deletion(claim)
    if refusal is not None:
        return (WorldOutcome(world, refusal),)
    return tuple(WorldOutcome(pool_world) for pool_world in gone(world, (claim,)))


def gone(world: PoolWorld, claims: Sequence[ResourcePoolClaim]) -> tuple[PoolWorld, ...]:
    """The worlds without some claims, whatever their state: the API server or its garbage collector removed them."""
    kept = dropped(world.claims, *map(key_of, claims))
    return distinct(settle(structs.replace(world, claims=kept), pools=pools_of(world, claims)))


def _new(claim: ResourcePoolClaim) -> ResourcePoolClaim:
    """As the server takes a new object: its status is dropped."""
    metadata = structs.replace(claim.metadata, generation=1)
    return structs.replace(claim, metadata=metadata, status=ResourcePoolClaimStatus())


def _fault(claim: ResourcePoolClaim) -> AmountFault | None:
    """The first amount that is none."""
    faults: list[AmountFault] = []
    ref = ObjectRef("ResourcePoolClaim", claim.metadata.name, claim.metadata.namespace)
    readable(claim.spec.claim, ref, "spec.claim", faults)
    return faults[0] if faults else None
