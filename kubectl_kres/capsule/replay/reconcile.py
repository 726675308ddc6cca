"""One reconcile of a pool, from its namespaces to its status, and such passes until nothing changes any more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.quota_admission import QuotaRequest, request_of
from kubectl_kres.admission.quota.usage_drift import status_after
from kubectl_kres.capsule import model
from kubectl_kres.capsule.replay.world import (
    PoolWorld,
    distinct_worlds,
    with_claims,
    with_pool,
    with_quotas,
    without_quotas,
)
from kubectl_kres.capsule.rules import assignment, conditions
from kubectl_kres.capsule.rules.allocation import (
    Allocation,
    AmountFault,
    Amounts,
    ClaimCandidate,
    ClaimKey,
    ClaimShare,
    ClaimTurn,
    allocate,
    key_of,
    queue_key,
    readable,
    select_used_claims,
    sort_queue,
    texts,
    uid_of,
)
from kubectl_kres.capsule.rules.managed_quota import managed_quota, quota_refusal, sync_fault
from kubectl_kres.capsule.rules.webhooks import disassociate, refuse_pool, wants_release
from kubectl_kres.model.kinds import KINDS
from kubectl_kres.model.objects import ObjectRef, ResourceQuota, ResourceQuotaStatus
from kubectl_kres.quantity import parse

_COUNT = "count/"


def recount_quota(world: PoolWorld, quota: ResourceQuota) -> ResourceQuota:
    """Return the quota with the status that the quota controller gives it. Without ``hard`` it has none."""
    if not quota.spec.hard:
        return structs.replace(quota, status=ResourceQuotaStatus())
    objects = world.objects.get(quota.metadata.namespace)
    if objects is None:
        return _set_unused_status(quota)
    try:
        requests = _requests(objects, quota, world.server)
        return structs.replace(quota, status=status_after(quota, requests, world.server))
    except Unparsable:
        return _set_unused_status(quota)


def _set_unused_status(quota: ResourceQuota) -> ResourceQuota:
    """With the use that it has; a resource that is new to it counts as unused."""
    hard, used = quota.spec.hard or {}, quota.status.used or {}
    return structs.replace(quota, status=ResourceQuotaStatus(dict(hard), {name: used.get(name, "0") for name in hard}))


def _requests(objects: tuple[Any, ...], quota: ResourceQuota, server: Server) -> dict[str, list[QuotaRequest]]:
    """Return what each object counts for, by resource; a resource that is named in the quota has objects, if
    only none.
    """
    named = (name.removeprefix(_COUNT) for name in quota.spec.hard or () if name.startswith(_COUNT))
    quota_requests: dict[str, list[QuotaRequest]] = {
        resource: [] for resource in (*(kind.qualified_name for kind in KINDS), *named)
    }
    for item in objects:
        request = request_of(item, server)
        quota_requests.setdefault(request.resource, []).append(request)
    return quota_requests


class Reconciled(NamedTuple):
    """A reconcile: the world after it, the allocation that it computed, and what could not be read."""

    world: PoolWorld
    allocation: Allocation
    faults: tuple[AmountFault, ...]


def reconcile(world: PoolWorld, name: str) -> Reconciled:
    """Return the world after the pool controller has looked at one pool once. ``world.pools`` must hold it.

    A pool that lists a claim whose name its status may not hold keeps its old status; the rest is written.
    Source: capsule internal/controllers/resourcepools/pool_controller.go reconcile.
    """
    faults: list[AmountFault] = []
    pool = world.pools[name]
    spaces = tuple(assignment.selected_namespaces(pool, world.namespaces.values()))
    queue = _queue(world, pool, spaces, faults)
    world = _clean_namespaces(world, pool, spaces, queue)
    allocation = _allocate_pool(pool, queue, faults)
    world = with_claims(
        world, {key_of(claim_turn.candidate.claim): _claim_with_turn(claim_turn) for claim_turn in allocation.turns}
    )
    world, message = _with_quotas(world, pool, spaces, allocation.shares)
    if not message:
        world = with_claims(world, _set_bound_conditions(world, pool, allocation.turns))
    if listable(allocation.shares):
        status = _status(pool, spaces, allocation, message)
        world = with_pool(world, structs.replace(pool, status=status)) if status != pool.status else world
        world = _written_back(world, name, allocation)
    return Reconciled(world, allocation, tuple(faults))


def listable(shares: Iterable[ClaimShare]) -> bool:
    """Return whether a pool's status can hold these claims: no dot in a name, at most 63 characters."""
    return all(assignment.is_writable(share.name) for share in shares)


def shares_of(pool: model.ResourcePool, faults: list[AmountFault] | None = None) -> list[ClaimShare]:
    """Return what the pool's status says is allocated, by namespace and within it in the order of allocation."""
    ref = ObjectRef("ResourcePool", pool.metadata.name)
    return [
        ClaimShare(
            pool_claim.uid or f"{space}/{pool_claim.name}",
            space,
            pool_claim.name,
            readable(pool_claim.claims, ref, f"status.claims[{space}][{pool_claim.name}]", faults),
        )
        for space, pool_claims in sorted((pool.status.claims or {}).items())
        for pool_claim in pool_claims
    ]


def _queue(
    world: PoolWorld, pool: model.ResourcePool, spaces: Iterable[str], faults: list[AmountFault]
) -> list[ClaimCandidate]:
    """Return the claims that take part, in their order; an amount that is none is left out."""
    inside, result = frozenset(spaces), []
    for claim in world.claims.values():
        meta = claim.metadata
        if assignment.belongs_to_pool(claim, pool) and meta.namespace in inside and not wants_release(claim):
            ref = ObjectRef("ResourcePoolClaim", meta.name, meta.namespace)
            result.append(ClaimCandidate(claim, readable(claim.spec.claim, ref, "spec.claim", faults)))
    return sort_queue(result)


def _allocate_pool(pool: model.ResourcePool, queue: Sequence[ClaimCandidate], faults: list[AmountFault]) -> Allocation:
    """Return the allocation of a pool. A claim that is not in the queue any more holds nothing."""
    ref = ObjectRef("ResourcePool", pool.metadata.name)
    hard = readable(pool.spec.quota.hard, ref, "spec.quota.hard", faults)
    present = {candidate.uid for candidate in queue}
    shares = [share for share in shares_of(pool, faults) if share.uid in present]
    return allocate(hard, shares, queue, ordered=pool.spec.config.ordered_queue, lowered=truncated_in_sum(hard))


def truncated_in_sum(hard: Amounts) -> frozenset[str]:
    """Return the resources whose amount the controller changes while it adds up. The server keeps a large one, as 100Ti
    or 1Pi, in arbitrary precision, which copies share; status.allocation.hard is such a copy of spec.quota.hard.

    Source: capsule api/v1beta2/resourcepool_func.go CalculateAvailableResources; recorded from 0.14.0.
    """
    return frozenset(name for name, amount in hard.items() if parse(str(amount)).scale is None)


def _written_back(world: PoolWorld, name: str, allocation: Allocation) -> PoolWorld:
    """Return the pool's spec with the amounts that became less: the controller patches it so, unless its own webhook
    refuses to go below what is claimed.
    """
    pool = world.pools[name]
    hard, ref = pool.spec.quota.hard or {}, ObjectRef("ResourcePool", name)
    before = readable(hard, ref, "spec.quota.hard", None)
    changed = {
        name: str(allocation.hard[name]) for name, amount in before.items() if allocation.hard[name].nano != amount.nano
    }
    if not changed or pool.metadata.deletion_timestamp:
        return world
    quota = structs.replace(pool.spec.quota, hard={**hard, **changed})
    new = structs.replace(pool, spec=structs.replace(pool.spec, quota=quota))
    if refuse_pool(pool, new):
        return world
    generation = pool.metadata.generation + 1
    return with_pool(world, structs.replace(new, metadata=structs.replace(pool.metadata, generation=generation)))


def _clean_namespaces(
    world: PoolWorld, pool: model.ResourcePool, spaces: Sequence[str], queue: Sequence[ClaimCandidate]
) -> PoolWorld:
    """Without the quotas of namespaces that left; claims that are listed but take no part any more are let go."""
    name, present = model.quota_name(pool.metadata.name), {candidate.uid for candidate in queue}
    gone = [(space, name) for space in pool.status.namespaces or () if space not in spaces]
    leaving: dict[ClaimKey, model.ResourcePoolClaim] = {}
    for share in shares_of(pool):
        claim = world.claims.get((share.namespace, share.name))
        if share.uid not in present and claim is not None and uid_of(claim) == share.uid:
            leaving[key_of(claim)] = disassociate(claim, pool)
    return with_claims(without_quotas(world, gone), leaving)


def _claim_with_turn(claim_turn: ClaimTurn) -> model.ResourcePoolClaim:
    """Return the claim with what its turn says: claimable or exhausted."""
    claim = claim_turn.candidate.claim
    generation = claim.metadata.generation
    if claim_turn.allocated:
        return _set_condition(claim, conditions.claimable(generation))
    reason = "QueueExhausted" if claim_turn.result == "queue" else "PoolExhausted"
    return _set_condition(claim, conditions.exhausted(reason, claim_turn.message(), generation))


def _set_condition(claim: model.ResourcePoolClaim, condition: model.CapsuleCondition) -> model.ResourcePoolClaim:
    """Return the claim with one condition written; the very same if nothing is new."""
    capsule_conditions = conditions.set_condition(claim.status.conditions, condition)
    if capsule_conditions is claim.status.conditions and claim.status.condition is None:
        return claim
    return structs.replace(claim, status=structs.replace(claim.status, conditions=capsule_conditions, condition=None))


def _with_quotas(
    world: PoolWorld, pool: model.ResourcePool, spaces: Sequence[str], shares: Sequence[ClaimShare]
) -> tuple[PoolWorld, str]:
    """Return the managed quotas as the API server takes them, counted; and what it says of the first that it
    refuses.
    """
    message, written, name = "", dict[ClaimKey, ResourceQuota](), model.quota_name(pool.metadata.name)
    by_space: dict[str, list[ClaimShare]] = {}
    for share in shares:
        by_space.setdefault(share.namespace, []).append(share)
    for space in spaces:
        stored = world.quotas.get((space, name))
        wanted = managed_quota(pool, space, by_space.get(space, ()), stored)
        refusal = quota_refusal(wanted, stored)
        if refusal is None:
            written[space, name] = recount_quota(world, wanted)
        else:
            message = message or sync_fault(refusal)
    return with_quotas(world, written), message


def _set_bound_conditions(
    world: PoolWorld, pool: model.ResourcePool, turns: Sequence[ClaimTurn]
) -> dict[ClaimKey, model.ResourcePoolClaim]:
    """Return the claims with their Bound condition: waiting, unused, or needed for what is used in the namespace."""
    hard, name = tuple(pool.spec.quota.hard or ()), model.quota_name(pool.metadata.name)
    holders: dict[str, list[ClaimCandidate]] = {}
    for claim_turn in turns:
        if claim_turn.allocated:
            holders.setdefault(claim_turn.candidate.claim.metadata.namespace, []).append(claim_turn.candidate)
    needed: set[str] = set()
    for space, candidates in holders.items():
        ref = ObjectRef("ResourceQuota", name, space)
        used = readable(world.quotas[space, name].status.used, ref, "status.used", None)
        needed |= {claim_candidate.uid for claim_candidate in select_used_claims(used, hard, candidates)}
    resource_pool_claims: dict[ClaimKey, model.ResourcePoolClaim] = {}
    for claim_turn in turns:
        claim = world.claims[key_of(claim_turn.candidate.claim)]
        generation, used_now = claim.metadata.generation, claim_turn.candidate.uid in needed
        condition = (
            conditions.bound(generation, used=used_now) if claim_turn.allocated else conditions.not_bound(generation)
        )
        resource_pool_claims[key_of(claim)] = _set_condition(claim, condition)
    return resource_pool_claims


def _status(
    pool: model.ResourcePool, spaces: Sequence[str], allocation: Allocation, message: str
) -> model.ResourcePoolStatus:
    """Return what the controller writes into the pool. ``claims`` stays an empty map once there was one."""
    pool_claims: dict[str, tuple[model.PoolClaim, ...]] = {}
    for share in allocation.shares:
        pool_claim = model.PoolClaim(share.name, share.namespace, share.uid, texts(share.amounts))
        pool_claims[share.namespace] = (*pool_claims.get(share.namespace, ()), pool_claim)
    exhaustions = {
        name: model.PoolExhaustion(_unless_zero(exhausted.available), _unless_zero(exhausted.requesting))
        for name, exhausted in sorted(allocation.exhausted.items())
    }
    generation = pool.metadata.generation
    capsule_conditions = conditions.set_condition(pool.status.conditions, conditions.ready(message))
    return model.ResourcePoolStatus(
        observed_generation=generation,
        namespaces=tuple(spaces) or None,
        namespace_count=len(spaces),
        claim_count=len(allocation.shares),
        claims=pool_claims if pool_claims or pool.status.claims is not None else None,
        allocation=model.PoolAllocation(texts(allocation.hard), texts(allocation.used), texts(allocation.available)),
        exhaustions=exhaustions or None,
        conditions=conditions.set_condition(
            capsule_conditions, conditions.pool_exhausted(generation, exhausted=bool(exhaustions))
        ),
    )


def _unless_zero(quantity: object) -> str | None:
    text = str(quantity)
    return None if text == "0" else text


#: So many worlds are followed where messages are random; of more only the first, in the order of the messages.
MOST_WORLDS = 64
#: Reconciles of pools after which one whose hard only becomes less is taken as it is.
_MOST_LOOKS = 1000


class _Task(NamedTuple):
    """A world with what its controllers have still to look at. ``looks``: how often pools were reconciled."""

    world: PoolWorld
    claims: tuple[ClaimKey, ...]
    pools: tuple[str, ...]
    looks: int = 0


def settle_world(world: PoolWorld, claims: Iterable[ClaimKey] = (), pools: Iterable[str] = ()) -> tuple[PoolWorld, ...]:
    """Return every world at rest that this one can lead to, once its controllers look at these claims and pools.

    Assignments come before reconciles, in the order given: claims that became assignable together are served in the
    order of the queue. A reconcile that gives or takes a share leads to another one, as the controller's writes do.
    """
    tasks, rest = [_Task(world, tuple(claims), tuple(pools))], list[PoolWorld]()
    while tasks:
        task = tasks.pop()
        if task.claims:
            tasks += _assign_first_claim(task, MOST_WORLDS - len(tasks) - len(rest))
        elif task.pools:
            tasks.append(_reconcile_first_pool(task))
        else:
            rest.append(task.world)
    return distinct_worlds(rest)


def pools_of(world: PoolWorld, claims: Sequence[model.ResourcePoolClaim | None]) -> tuple[str, ...]:
    """Return the pools that an event of a claim wakes: those that the claim has an owner reference to, before or
    after.
    """
    owners = {
        owner_reference
        for claim in claims
        if claim is not None
        for owner_reference in claim.metadata.owner_references or ()
    }
    return tuple(
        name for name, pool in world.pools.items() if any(assignment.refers_to_pool(owner, pool) for owner in owners)
    )


def unassigned_claims(world: PoolWorld, namespaces: Iterable[str]) -> tuple[ClaimKey, ...]:
    """Return the claims without a pool in some namespaces, in the order of the queue."""
    spaces = frozenset(namespaces)
    resource_pool_claims = [
        claim for (space, _), claim in world.claims.items() if space in spaces and not assignment.is_assigned(claim)
    ]
    return tuple(key_of(claim) for claim in sorted(resource_pool_claims, key=queue_key))


def _assign_first_claim(task: _Task, maximum: int) -> list[_Task]:
    """Return the first claim looked at; a task for each message that it can get. Last in the list is followed first."""
    key, rest = task.claims[0], task.claims[1:]
    claim = task.world.claims.get(key)
    if claim is None:
        return [task._replace(claims=rest)]
    resource_pool_claims = assignment.assign(claim, task.world.pools)[: max(maximum, 1)]
    return [
        task._replace(
            world=with_claims(task.world, {key: resource_pool_claim}),
            claims=rest,
            pools=_add_names(task.pools, pools_of(task.world, (claim, resource_pool_claim))),
        )
        for resource_pool_claim in reversed(resource_pool_claims)
    ]


def _reconcile_first_pool(task: _Task) -> _Task:
    name, rest = task.pools[0], task.pools[1:]
    before = task.world
    pool = before.pools.get(name)
    if pool is None:
        return task._replace(claims=(), pools=rest)
    reconciled = reconcile(before, name)
    world, now = reconciled.world, reconciled.world.pools[name]
    old = before.claims
    changed = [
        resource_pool_claim
        for key, claim in world.claims.items()
        if old.get(key) is not claim
        for resource_pool_claim in (old.get(key), claim)
    ]
    moved = changed or now is not pool or world.quotas != before.quotas
    lowered = now.spec != pool.spec and task.looks < _MOST_LOOKS
    again = (name,) if moved and (lowered or not reconciled.allocation.settled) else ()
    others = (other for other in pools_of(world, changed) if other != name)
    return _Task(world, _list_requeued_claims(world, pool, now), _add_names(rest, (*again, *others)), task.looks + 1)


def _list_requeued_claims(
    world: PoolWorld, before: model.ResourcePool, now: model.ResourcePool
) -> tuple[ClaimKey, ...]:
    """A change of a pool's namespaces makes claims without a pool be looked at, in the old and the new ones."""
    old, new = before.status.namespaces or (), now.status.namespaces or ()
    return unassigned_claims(world, (*old, *new)) if old != new else ()


def _add_names(names: Iterable[str], additions: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*names, *additions)))
