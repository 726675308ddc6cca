"""Pools with what they have left, claims, namespaces and managed quotas of a store, looked up once for many answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

from kubectl_kres.capsule.model import POOL_LABEL, PoolClaim, ResourcePool, ResourcePoolClaim, quota_name
from kubectl_kres.capsule.replay.reconcile import truncated_in_sum
from kubectl_kres.capsule.reports.common.amount_lists import parse_amounts
from kubectl_kres.capsule.reports.common.claim_state import WAITING, ClaimStanding, claim_standing_of
from kubectl_kres.capsule.rules.allocation import (
    Amounts,
    ClaimShare,
    claimed_amounts,
    queue_key,
    remaining_amounts,
    uid_of,
)
from kubectl_kres.capsule.rules.assignment import belongs_to_pool
from kubectl_kres.model.objects import Namespace, ResourceQuota
from kubectl_kres.quantity import Quantity
from kubectl_kres.store.store import ReadRequest, Store

T = TypeVar("T")


def allocated_claims(pool: ResourcePool) -> Iterator[tuple[str, PoolClaim]]:
    """Yield the claims that a pool's status lists as allocated, with their namespaces, in the order of their
    allocation.
    """
    for space, claims in (pool.status.claims or {}).items():
        yield from ((space, claim) for claim in claims)


def shares(pool: ResourcePool) -> list[ClaimShare]:
    """Return the same as the allocation takes them."""
    return [
        ClaimShare(
            pool_claim.uid or f"{space}/{pool_claim.name}", space, pool_claim.name, parse_amounts(pool_claim.claims)
        )
        for space, pool_claim in allocated_claims(pool)
    ]


#: What follows where more is in use than a quota allows.
STAYS = "existing objects stay; new ones that count towards {} are refused until usage drops below the limit"


def excess_usage(quota: ResourceQuota) -> dict[str, Quantity]:
    """Return what is in use beyond a quota, by its spec; empty: nothing."""
    hard, used = parse_amounts(quota.spec.hard), parse_amounts(quota.status.used)
    return {name: amount for name, amount in used.items() if name in hard and amount > hard[name]}


def hard_of(pool: ResourcePool) -> dict[str, Quantity]:
    """Return what the pool shares out, as its spec says now; the status takes it over in the next reconcile."""
    return parse_amounts(pool.spec.quota.hard)


def short(requested: Quantity, room: Quantity | None) -> bool:
    """Return whether a pool refuses: it has no such resource, nothing left of it (even for 0), or less than is asked
    for.

    Source: the pool controller's comparison of available with the request.
    """
    return room is None or not room.nano or room < requested


#: Half of the largest amount that the API server keeps, in billionths.
_HALF = 2**62 * 10**9


class ClaimStates(NamedTuple):
    """A claim with its state."""

    claim: ResourcePoolClaim
    standing: ClaimStanding


class PoolSums(NamedTuple):
    """``hard`` = ``taken`` + ``room``."""

    hard: Amounts
    taken: Amounts
    room: Amounts


class PoolIndex:
    """What all answers about pools and claims look at."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.pools: Mapping[str, ResourcePool] = {
            resource_pool.metadata.name: resource_pool for resource_pool in store.all("ResourcePool")
        }

    @cached_property
    def pools_known(self) -> bool:
        """Return whether a pool that is not here does not exist."""
        return self.store.covered(ReadRequest("ResourcePool")).is_known

    @cached_property
    def claims(self) -> Sequence[ClaimStates]:
        """All claims that were read, with their states."""
        return self._remembered("claims with states", self._list_claims)

    def _list_claims(self) -> Sequence[ClaimStates]:
        return [
            ClaimStates(claim, claim_standing_of(claim, self.pool_of(claim)))
            for claim in self.store.all("ResourcePoolClaim")
        ]

    def _remembered(self, name: str, make: Callable[[], T]) -> T:
        """Return what is made of all claims, the same for each index of a store: each refused workload has its own."""
        return self.store.memo(name, ("ResourcePool", "ResourcePoolClaim"), None, make)

    def pool_of(self, claim: ResourcePoolClaim) -> ResourcePool | None:
        """Return the pool that a claim is in, else the one that it names."""
        status = claim.status.pool
        if status is not None and status.name:
            pool = self.pools.get(status.name)
            if pool is not None and (not status.uid or not pool.metadata.uid or status.uid == pool.metadata.uid):
                return pool
            return None
        return self.pools.get(claim.spec.pool)

    @cached_property
    def _waiting_queues(self) -> Mapping[str, Sequence[ClaimStates]]:
        return self._remembered("queues of pools", self._sort_queues)

    def _sort_queues(self) -> Mapping[str, Sequence[ClaimStates]]:
        result: dict[str, list[ClaimStates]] = {}
        for claim in self.claims:
            status = claim.claim.status.pool
            if status is not None and claim.standing.state in WAITING:
                pool = self.pool_of(claim.claim)
                # A pool of that name with another UID is another pool.
                here = (
                    claim.claim.metadata.namespace in self.spaces(pool)
                    if pool is not None
                    else status.name not in self.pools
                )
                if here:
                    result.setdefault(status.name, []).append(claim)
        for queue in result.values():
            queue.sort(key=lambda standings: queue_key(standings.claim))
        return result

    def waiting_claims(self, pool: str) -> Sequence[ClaimStates]:
        """Return the queue of a pool, in its order, as far as claims were read; without those whose namespace
        has left.
        """
        return self._waiting_queues.get(pool, ())

    def claims_of_pool(self, pool: str) -> Sequence[ClaimStates]:
        """Return the claims whose status or, without one, whose spec names the pool."""
        return self._by_pool.get(pool, ())

    @cached_property
    def _by_pool(self) -> Mapping[str, Sequence[ClaimStates]]:
        return self._remembered("claims of pools", self._group_by_pool)

    def _group_by_pool(self) -> Mapping[str, Sequence[ClaimStates]]:
        result: dict[str, list[ClaimStates]] = {}
        for claim in self.claims:
            status = claim.claim.status.pool
            result.setdefault(status.name if status is not None else claim.claim.spec.pool, []).append(claim)
        return result

    @cached_property
    def _queue_positions(self) -> Mapping[tuple[str, str], int]:
        return {
            (standings.claim.metadata.namespace, standings.claim.metadata.name): index
            for queue in self._waiting_queues.values()
            for index, standings in enumerate(queue, 1)
        }

    def place_of(self, claim: ResourcePoolClaim) -> int:
        """Return the place in the queue, from 1 on; 0: it is in none."""
        return self._queue_positions.get((claim.metadata.namespace, claim.metadata.name), 0)

    def spaces(self, pool: ResourcePool) -> frozenset[str]:
        """Return the namespaces in a pool's status."""
        space = self._namespaces_by_pool.get(pool.metadata.name)
        if space is None:
            space = self._namespaces_by_pool[pool.metadata.name] = frozenset(pool.status.namespaces or ())
        return space

    @cached_property
    def _namespaces_by_pool(self) -> dict[str, frozenset[str]]:
        return {}

    def claims_known(self, pool: ResourcePool) -> bool:
        """Return whether all claims of the pool's namespaces were read."""
        name, covered = pool.metadata.name, self.store.covered
        if name not in self._known_claims_by_pool:
            self._known_claims_by_pool[name] = all(
                covered(ReadRequest("ResourcePoolClaim", space)).is_known for space in self.spaces(pool)
            )
        return self._known_claims_by_pool[name]

    @cached_property
    def _known_claims_by_pool(self) -> dict[str, bool]:
        return {}

    def hard(self, pool: ResourcePool) -> Amounts:
        """Return what a pool has in total."""
        return self._pool_sums(pool).hard

    def allocated_amounts(self, pool: ResourcePool) -> Amounts:
        """Return what the claims that its status lists hold, by the resources of ``hard``."""
        return self._pool_sums(pool).taken

    def room(self, pool: ResourcePool) -> Amounts:
        """Return what a pool has left; below zero where claims hold more than there is."""
        return self._pool_sums(pool).room

    def _pool_sums(self, pool: ResourcePool) -> PoolSums:
        name = pool.metadata.name
        if name not in self._sums_by_pool:
            hard = hard_of(pool)
            taken = claimed_amounts(hard, shares(pool))
            self._sums_by_pool[name] = PoolSums(hard, taken, remaining_amounts(hard, taken))
        return self._sums_by_pool[name]

    @cached_property
    def _sums_by_pool(self) -> dict[str, PoolSums]:
        return {}

    def truncated_amounts(self, pool: ResourcePool) -> frozenset[str]:
        """Return the resources of which the pool has so much that a sum may be more than the API server keeps: what it
        reads back is then less than what was added up.
        """
        name = pool.metadata.name
        if name not in self._truncated_amounts:
            status = pool.status.allocation
            lists = (pool.spec.quota.hard, pool.spec.defaults, status.hard, status.used, status.available)
            waits = {name: amount.requesting for name, amount in (pool.status.exhaustions or {}).items()}
            self._truncated_amounts[name] = frozenset(
                name
                for mapping in (*lists, waits)
                for name, amount in parse_amounts(mapping).items()
                if abs(amount.nano) > _HALF
            )
        return self._truncated_amounts[name]

    @cached_property
    def _truncated_amounts(self) -> dict[str, frozenset[str]]:
        return {}

    def lowered_resources(self, pool: ResourcePool) -> frozenset[str]:
        """Return the resources of which Capsule itself takes hard down while it adds up, so that nothing is as
        it says.
        """
        name = pool.metadata.name
        if name not in self._lowered_by_pool:
            self._lowered_by_pool[name] = truncated_in_sum(self.hard(pool))
        return self._lowered_by_pool[name]

    @cached_property
    def _lowered_by_pool(self) -> dict[str, frozenset[str]]:
        return {}

    def entry(self, pool: ResourcePool, claim: ResourcePoolClaim) -> PoolClaim | None:
        """Return the claim as the pool's status lists it, which knows it by its UID; None: it holds nothing there."""
        return self._entries.get((pool.metadata.name, claim.metadata.namespace, uid_of(claim)))

    @cached_property
    def _entries(self) -> Mapping[tuple[str, str, str], PoolClaim]:
        return {
            (name, space, pool_claim.uid or f"{space}/{pool_claim.name}"): pool_claim
            for name, pool in self.pools.items()
            for space, pool_claim in allocated_claims(pool)
        }

    def is_gone(self, pool: ResourcePool, share: ClaimShare) -> bool:
        """Return whether the claim of a share is gone, whoever may have its name now, or has left the pool."""
        claim = self._by_key.get((share.namespace, share.name))
        if claim is None:
            return self.claims_known(pool)
        anew = bool(claim.metadata.uid) and claim.metadata.uid != share.uid
        return anew or (claim.status.conditions is not None and not belongs_to_pool(claim, pool))

    @cached_property
    def _by_key(self) -> Mapping[tuple[str, str], ResourcePoolClaim]:
        return {(claim.claim.metadata.namespace, claim.claim.metadata.name): claim.claim for claim in self.claims}

    def pool_named(self, space: str, pool_claim: PoolClaim) -> str:
        """Return the pool that a claim which a pool's status lists is in by its own; empty: none, or it could not be
        read.
        """
        claim = self._by_key.get((space, pool_claim.name))
        if claim is None or claim.status.pool is None or claim.metadata.uid != pool_claim.uid:
            return ""
        return claim.status.pool.name

    def states(self) -> Mapping[tuple[str, str], ClaimStanding]:
        """State by namespace and name."""
        return self._states

    @cached_property
    def _states(self) -> Mapping[tuple[str, str], ClaimStanding]:
        return {(claim.claim.metadata.namespace, claim.claim.metadata.name): claim.standing for claim in self.claims}

    def quota(self, pool: str, namespace: str) -> ResourceQuota | None:
        """Return the managed quota of a pool in a namespace; None: not there, or not read."""
        resource_quota: ResourceQuota | None = self.store.get("ResourceQuota", quota_name(pool), namespace)
        return resource_quota

    def quotas_known(self, pool: str, namespace: str) -> bool:
        """Return whether a managed quota that is not here does not exist."""
        wide = self.store.covered(ReadRequest("ResourceQuota", label_selector=POOL_LABEL, required=False))
        return wide.is_known or self.store.covered(ReadRequest("ResourceQuota", namespace, quota_name(pool))).is_known

    def namespace(self, name: str) -> Namespace | None:
        """None: not there, or not read."""
        namespace: Namespace | None = self.store.get("Namespace", name)
        return namespace
