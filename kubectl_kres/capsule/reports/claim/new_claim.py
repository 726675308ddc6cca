"""What one more claim on a pool would meet: too little, an ordered queue that is closed, or a claim to grow instead."""

from __future__ import annotations

from typing import NamedTuple

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.reports.common.amount_lists import parsed
from kubectl_kres.capsule.reports.common.claim_state import HELD
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.common.pool_room import shares, short
from kubectl_kres.capsule.reports.common.pool_run import trial_of
from kubectl_kres.capsule.reports.unblock.actions import ref_of
from kubectl_kres.capsule.rules.allocation import ClaimCandidate, allocate
from kubectl_kres.capsule.rules.amounts import Amounts, added
from kubectl_kres.model.meta import ManagedMetadata, ObjectRef


class Prospect(NamedTuple):
    """lacks: what the pool has too little of. closed: resources that earlier claims wait for, in an ordered queue.

    behind: the claims that close them, where claims were read.
    """

    lacks: Amounts
    closed: tuple[str, ...] = ()
    behind: tuple[ObjectRef, ...] = ()

    @property
    def waits(self) -> bool:
        """Whether such a claim would not be allocated at once."""
        return bool(self.lacks or self.closed)


class Growth(NamedTuple):
    """A claim that is allocated and unused, with its amounts if it asked for the missing ones, too."""

    claim: ObjectRef
    amounts: Amounts


def prospect(scene: PoolIndex, pool: ResourcePool, space: str, asks: Amounts) -> Prospect:
    """Of a claim that is created now, and so goes to the end of the queue.

    Where the claims of others were not read, the pool's status still says what is waited for.
    """
    room = scene.room(pool)
    lacks = {
        name: amount - room[name] if name in room and amount > room[name] else amount
        for name, amount in asks.items()
        if short(amount, room.get(name))
    }
    if not pool.spec.config.ordered_queue:
        return Prospect(lacks)
    if not scene.claims_known(pool):
        return Prospect(lacks, tuple(sorted(asks.keys() & (pool.status.exhaustions or {}).keys())))
    claim = ResourcePoolClaim(ManagedMetadata(namespace=space))
    turn = trial_of(scene, pool).joined(ClaimCandidate(claim, asks)).turn((space, ""))
    if turn is None or turn.result != "queue":
        return Prospect(lacks)
    behind = dict.fromkeys(ref_of(comparison.by) for comparison in turn.comparisons() if comparison.by is not None)
    return Prospect(lacks, turn.short, tuple(behind))


def growth(scene: PoolIndex, pool: ResourcePool, space: str, more: Amounts) -> Growth | None:
    """A claim of the namespace that may be edited, and that gets ``more`` at once if it is: whoever holds something is
    asked before those who wait. None: there is none.
    """
    if pool.metadata.deletion_timestamp:
        return None
    claim_shares = shares(pool)
    for claim, standing in scene.of_pool(pool.metadata.name):
        entry = scene.entry(pool, claim)
        if (
            claim.metadata.namespace != space
            or standing.state not in HELD - {"in use"}
            or standing.old
            or entry is None
        ):
            continue
        now = parsed(claim.spec.claim)
        wanted = added((now, more))
        after = allocate(
            scene.hard(pool), claim_shares, [ClaimCandidate(claim, wanted)], ordered=pool.spec.config.ordered_queue
        )
        if after.turns[0].result == "changed":
            return Growth(ref_of((space, claim.metadata.name)), {name: wanted[name] for name in more})
    return None
