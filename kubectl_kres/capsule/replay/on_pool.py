"""Events of a pool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from msgspec import structs

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim, ResourcePoolStatus
from kubectl_kres.capsule.replay.outcome import WorldOutcome, unreadable
from kubectl_kres.capsule.replay.reconcile import reconcile
from kubectl_kres.capsule.replay.settle import MOST_WORLDS, settle, unassigned
from kubectl_kres.capsule.replay.world import PoolWorld, distinct, with_claims, with_pool, without_pool
from kubectl_kres.capsule.rules.amounts import AmountFault, readable
from kubectl_kres.capsule.rules.assignment import assign
from kubectl_kres.capsule.rules.webhooks import refuse_pool, stored_pool
from kubectl_kres.model.meta import ManagedMetadata, ObjectRef

#: Stands for the time of a deletion, which means no more than that there is one.
ENDING = "deleted"


def created(world: PoolWorld, pool: ResourcePool) -> tuple[WorldOutcome, ...]:
    """A new pool reconciles, and claims that wait for it by name are assigned."""
    fault = _fault(pool)
    if fault is not None:
        return (WorldOutcome(world, unreadable(fault)),)
    metadata = structs.replace(_generation(pool, 1), uid=_new_uid(world, pool))
    stored = stored_pool(structs.replace(pool, status=ResourcePoolStatus(), metadata=metadata))
    return _settled(with_pool(world, stored), stored)


def _new_uid(world: PoolWorld, pool: ResourcePool) -> str:
    """Return the uid of a new pool: the server gives it one of its own, also under the name of one that is gone."""
    uid, count = pool.metadata.uid or pool.metadata.name, 2
    if uid not in world.ended:
        return pool.metadata.uid
    while f"{uid}#{count}" in world.ended:
        count += 1
    return f"{uid}#{count}"


def updated(world: PoolWorld, old: ResourcePool, new: ResourcePool) -> tuple[WorldOutcome, ...]:
    """A changed pool; refused if it holds less than what claims hold of it. Each refusal is an outcome of its own."""
    fault = _fault(new)
    if fault is not None:
        return (WorldOutcome(world, unreadable(fault)),)
    stored = stored_pool(structs.replace(new, status=old.status))
    refusals = refuse_pool(old, stored)
    if refusals:
        return tuple(WorldOutcome(world, refusal) for refusal in refusals)
    if stored.spec != old.spec:
        stored = structs.replace(stored, metadata=_generation(stored, old.metadata.generation + 1))
    return _settled(with_pool(world, stored), stored)


def deleted(world: PoolWorld, pool: ResourcePool) -> tuple[PoolWorld, ...]:
    """Quotas go, allocated claims are let go and looked at again, each while the pool is still ending or once it is
    gone: which of the two is a race. Waiting claims follow when time passes.
    """
    name, spaces = pool.metadata.name, pool.status.namespaces or ()
    ending = structs.replace(pool, metadata=structs.replace(pool.metadata, deletion_timestamp=ENDING))
    before = reconcile(with_pool(world, ending), name).world
    after = without_pool(before, name)
    told = {
        key: [
            resource_pool_claim
            for pools in (after.pools, before.pools)
            for resource_pool_claim in assign(after.claims[key], pools)
        ]
        for key in unassigned(after, spaces)
    }
    return distinct(with_claims(after, dict(zip(told, chosen, strict=True))) for chosen in _chosen([*told.values()]))


def _chosen(told: Sequence[Sequence[ResourcePoolClaim]]) -> Iterator[Sequence[ResourcePoolClaim]]:
    """One of its variants for each claim, in every combination; of very many only those where all are told the same."""
    if prod(map(len, told)) <= MOST_WORLDS:
        yield from product(*told)
        return
    for place in range(max(map(len, told))):
        yield [variants[min(place, len(variants) - 1)] for variants in told]


def _settled(world: PoolWorld, pool: ResourcePool) -> tuple[WorldOutcome, ...]:
    return tuple(WorldOutcome(pool_world) for pool_world in settle(world, pools=(pool.metadata.name,)))


def _fault(pool: ResourcePool) -> AmountFault | None:
    """The first amount that is none."""
    faults: list[AmountFault] = []
    ref = ObjectRef("ResourcePool", pool.metadata.name)
    readable(pool.spec.quota.hard, ref, "spec.quota.hard", faults)
    readable(pool.spec.defaults, ref, "spec.defaults", faults)
    return faults[0] if faults else None


def _generation(pool: ResourcePool, generation: int) -> ManagedMetadata:
    return structs.replace(pool.metadata, generation=generation)
