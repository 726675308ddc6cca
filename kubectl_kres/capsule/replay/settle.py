"""Until nothing changes any more: claims that have to be assigned, pools that have to be reconciled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.replay.reconcile import reconcile
from kubectl_kres.capsule.replay.world import PoolWorld, distinct, with_claims
from kubectl_kres.capsule.rules.allocation import ClaimKey, key_of, place
from kubectl_kres.capsule.rules.assignment import assign, is_assigned, owns

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


def settle(world: PoolWorld, claims: Iterable[ClaimKey] = (), pools: Iterable[str] = ()) -> tuple[PoolWorld, ...]:
    """Every world at rest that this one can lead to, once its controllers look at these claims and pools.

    Assignments come before reconciles, in the order given: claims that became assignable together are served in the
    order of the queue. A reconcile that gives or takes a share leads to another one, as the controller's writes do.
    """
    tasks, rest = [_Task(world, tuple(claims), tuple(pools))], list[PoolWorld]()
    while tasks:
        task = tasks.pop()
        if task.claims:
            tasks += _assigned(task, MOST_WORLDS - len(tasks) - len(rest))
        elif task.pools:
            tasks.append(_reconciled(task))
        else:
            rest.append(task.world)
    return distinct(rest)


def pools_of(world: PoolWorld, claims: Sequence[ResourcePoolClaim | None]) -> tuple[str, ...]:
    """The pools that an event of a claim wakes: those that the claim has an owner reference to, before or after."""
    owners = {
        owner_reference
        for claim in claims
        if claim is not None
        for owner_reference in claim.metadata.owner_references or ()
    }
    return tuple(name for name, pool in world.pools.items() if any(owns(owner, pool) for owner in owners))


def unassigned(world: PoolWorld, namespaces: Iterable[str]) -> tuple[ClaimKey, ...]:
    """The claims without a pool in some namespaces, in the order of the queue."""
    spaces = frozenset(namespaces)
    resource_pool_claims = [
        claim for (space, _), claim in world.claims.items() if space in spaces and not is_assigned(claim)
    ]
    return tuple(key_of(claim) for claim in sorted(resource_pool_claims, key=place))


def _assigned(task: _Task, most: int) -> list[_Task]:
    """The first claim looked at; a task for each message that it can get. Last in the list is followed first."""
    key, rest = task.claims[0], task.claims[1:]
    claim = task.world.claims.get(key)
    if claim is None:
        return [task._replace(claims=rest)]
    resource_pool_claims = assign(claim, task.world.pools)[: max(most, 1)]
    return [
        task._replace(
            world=with_claims(task.world, {key: resource_pool_claim}),
            claims=rest,
            pools=_more(task.pools, pools_of(task.world, (claim, resource_pool_claim))),
        )
        for resource_pool_claim in reversed(resource_pool_claims)
    ]


def _reconciled(task: _Task) -> _Task:
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
    return _Task(world, _requeued(world, pool, now), _more(rest, (*again, *others)), task.looks + 1)


def _requeued(world: PoolWorld, before: ResourcePool, now: ResourcePool) -> tuple[ClaimKey, ...]:
    """A change of a pool's namespaces makes claims without a pool be looked at, in the old and the new ones."""
    old, new = before.status.namespaces or (), now.status.namespaces or ()
    return unassigned(world, (*old, *new)) if old != new else ()


def _more(names: Iterable[str], added: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*names, *added)))
