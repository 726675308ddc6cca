"""Events of a claim or a pool: the worlds that each can lead to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from msgspec import structs

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim, ResourcePoolClaimStatus, ResourcePoolStatus
from kubectl_kres.capsule.replay.reconcile import MOST_WORLDS, pools_of, reconcile, settle_world, unassigned_claims
from kubectl_kres.capsule.replay.world import (
    PoolWorld,
    WorldOutcome,
    distinct_worlds,
    unreadable,
    with_claims,
    with_pool,
    without_keys,
    without_pool,
)
from kubectl_kres.capsule.rules.allocation import AmountFault, key_of, queue_key, readable
from kubectl_kres.capsule.rules.assignment import assign
from kubectl_kres.capsule.rules.webhooks import refuse_claim, refuse_deletion, refuse_pool, stored_claim, stored_pool
from kubectl_kres.model.objects import ManagedMetadata, ObjectRef


def claim_created(world: PoolWorld, claim: ResourcePoolClaim) -> tuple[WorldOutcome, ...]:
    """Return a new claim: a pool is chosen if none is named, then it is assigned and its pool allocates."""
    fault = _fault(claim)
    if fault is not None:
        return (WorldOutcome(world, unreadable(fault)),)
    refusal = refuse_claim(claim)
    if refusal is not None:
        return (WorldOutcome(world, refusal),)
    return tuple(
        WorldOutcome(pool_world)
        for resource_pool_claim in stored_claim(_build_new_claim(claim), world.pools.values())
        for pool_world in settle_world(
            with_claims(world, {key_of(resource_pool_claim): resource_pool_claim}),
            claims=(key_of(resource_pool_claim),),
        )
    )


def created_together(world: PoolWorld, claims: Sequence[ResourcePoolClaim]) -> tuple[WorldOutcome, ...]:
    """Claims that are all assigned before their pools look at them, so that they are served in the order of the queue.

    Of several pools that could be chosen for one the first by name is taken; claims that are refused are left out.
    """
    stored = {}
    for claim in sorted(claims, key=queue_key):
        if _fault(claim) is None and refuse_claim(claim) is None:
            stored[key_of(claim)] = stored_claim(_build_new_claim(claim), world.pools.values())[0]
    return tuple(WorldOutcome(pool_world) for pool_world in settle_world(with_claims(world, stored), claims=stored))


def claim_updated(world: PoolWorld, old: ResourcePoolClaim, new: ResourcePoolClaim) -> tuple[WorldOutcome, ...]:
    """Return a changed claim: refused while it is in use, except for metadata. Only a changed spec makes it be assigned
    anew; any change makes its pool allocate, and takes an annotation for release into account.
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
        world_outcomes += (
            WorldOutcome(rest) for rest in settle_world(now, claims=(key,) if changed else (), pools=woken)
        )
    return tuple(world_outcomes)


def claim_deleted(world: PoolWorld, claim: ResourcePoolClaim) -> tuple[WorldOutcome, ...]:
    """Return a claim that goes frees its share; refused while it is in use."""
    refusal = refuse_deletion(claim)
    if refusal is not None:
        return (WorldOutcome(world, refusal),)
    return tuple(WorldOutcome(pool_world) for pool_world in remove_claims(world, (claim,)))


def remove_claims(world: PoolWorld, claims: Sequence[ResourcePoolClaim]) -> tuple[PoolWorld, ...]:
    """Return the worlds without some claims, whatever their state: the API server or its garbage collector removed
    them.
    """
    kept = without_keys(world.claims, *map(key_of, claims))
    return distinct_worlds(settle_world(structs.replace(world, claims=kept), pools=pools_of(world, claims)))


def _build_new_claim(claim: ResourcePoolClaim) -> ResourcePoolClaim:
    """As the server takes a new object: its status is dropped."""
    metadata = structs.replace(claim.metadata, generation=1)
    return structs.replace(claim, metadata=metadata, status=ResourcePoolClaimStatus())


def _fault(claim: ResourcePoolClaim) -> AmountFault | None:
    """Return the first amount that is none."""
    faults: list[AmountFault] = []
    ref = ObjectRef("ResourcePoolClaim", claim.metadata.name, claim.metadata.namespace)
    readable(claim.spec.claim, ref, "spec.claim", faults)
    return faults[0] if faults else None


#: Stands for the time of a deletion, which means no more than that there is one.
ENDING = "deleted"


def pool_created(world: PoolWorld, pool: ResourcePool) -> tuple[WorldOutcome, ...]:
    """Return a new pool reconciles, and claims that wait for it by name are assigned."""
    fault = _pool_fault(pool)
    if fault is not None:
        return (WorldOutcome(world, unreadable(fault)),)
    metadata = structs.replace(_generation(pool, 1), uid=_new_uid(world, pool))
    stored = stored_pool(structs.replace(pool, status=ResourcePoolStatus(), metadata=metadata))
    return _settle_pool(with_pool(world, stored), stored)


def _new_uid(world: PoolWorld, pool: ResourcePool) -> str:
    """Return the uid of a new pool: the server gives it one of its own, also under the name of one that is gone."""
    uid, count = pool.metadata.uid or pool.metadata.name, 2
    if uid not in world.ended:
        return pool.metadata.uid
    while f"{uid}#{count}" in world.ended:
        count += 1
    return f"{uid}#{count}"


def pool_updated(world: PoolWorld, old: ResourcePool, new: ResourcePool) -> tuple[WorldOutcome, ...]:
    """Return a changed pool; refused if it holds less than what claims hold of it. Each refusal is an outcome of its
    own.
    """
    fault = _pool_fault(new)
    if fault is not None:
        return (WorldOutcome(world, unreadable(fault)),)
    stored = stored_pool(structs.replace(new, status=old.status))
    refusals = refuse_pool(old, stored)
    if refusals:
        return tuple(WorldOutcome(world, refusal) for refusal in refusals)
    if stored.spec != old.spec:
        stored = structs.replace(stored, metadata=_generation(stored, old.metadata.generation + 1))
    return _settle_pool(with_pool(world, stored), stored)


def pool_deleted(world: PoolWorld, pool: ResourcePool) -> tuple[PoolWorld, ...]:
    """Quotas go, allocated claims are let go and looked at again, each while the pool is still ending or once it is
    gone: which of the two is a race. Waiting claims follow when time passes.
    """
    name, spaces = pool.metadata.name, pool.status.namespaces or ()
    ending = structs.replace(pool, metadata=structs.replace(pool.metadata, deletion_timestamp=ENDING))
    before = reconcile(with_pool(world, ending), name).world
    after = without_pool(before, name)
    texts = {
        key: [
            resource_pool_claim
            for pools in (after.pools, before.pools)
            for resource_pool_claim in assign(after.claims[key], pools)
        ]
        for key in unassigned_claims(after, spaces)
    }
    return distinct_worlds(
        with_claims(after, dict(zip(texts, chosen, strict=True))) for chosen in _combine_variants([*texts.values()])
    )


def _combine_variants(texts: Sequence[Sequence[ResourcePoolClaim]]) -> Iterator[Sequence[ResourcePoolClaim]]:
    """Yield one of its variants for each claim, in every combination; of very many only those where all are reported
    the same.
    """
    if prod(map(len, texts)) <= MOST_WORLDS:
        yield from product(*texts)
        return
    for position in range(max(map(len, texts))):
        yield [variants[min(position, len(variants) - 1)] for variants in texts]


def _settle_pool(world: PoolWorld, pool: ResourcePool) -> tuple[WorldOutcome, ...]:
    return tuple(WorldOutcome(pool_world) for pool_world in settle_world(world, pools=(pool.metadata.name,)))


def _pool_fault(pool: ResourcePool) -> AmountFault | None:
    """Return the first amount that is none."""
    faults: list[AmountFault] = []
    ref = ObjectRef("ResourcePool", pool.metadata.name)
    readable(pool.spec.quota.hard, ref, "spec.quota.hard", faults)
    readable(pool.spec.defaults, ref, "spec.defaults", faults)
    return faults[0] if faults else None


def _generation(pool: ResourcePool, generation: int) -> ManagedMetadata:
    return structs.replace(pool.metadata, generation=generation)
