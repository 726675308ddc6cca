"""One pass of a pool's controller over its claims as things stand, turn by turn, with each comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.reports.common.amount_lists import parsed
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.common.pool_room import shares
from kubectl_kres.capsule.reports.explain.claim_or_pool import Compared, QueueTurn
from kubectl_kres.capsule.reports.unblock.actions import ref_of
from kubectl_kres.capsule.rules.allocation import (
    ClaimCandidate,
    ClaimTurn,
    Comparison,
    TurnResult,
    allocate,
    in_order,
    key_of,
)
from kubectl_kres.capsule.rules.assignment import belongs
from kubectl_kres.capsule.rules.leaving import wants_release

#: What decides a turn, by its result.
_RULES: Mapping[TurnResult, str] = {
    "kept": "capsule/kept",
    "taken": "capsule/room",
    "changed": "capsule/changed",
    "pool": "capsule/room",
    "queue": "capsule/queue",
}


def turns_of(scene: PoolIndex, pool: ResourcePool) -> tuple[ClaimTurn, ...]:
    """All claims that take part, in the order in which they are looked at."""
    spaces = scene.spaces(pool)
    taking_part = [
        ClaimCandidate(standings.claim, parsed(standings.claim.spec.claim))
        for standings in scene.of_pool(pool.metadata.name)
        if standings.claim.metadata.namespace in spaces
        and belongs(standings.claim, pool)
        and not wants_release(standings.claim)
    ]
    allocation = allocate(scene.hard(pool), shares(pool), in_order(taking_part), ordered=pool.spec.config.ordered_queue)
    return allocation.turns


def shown_turns(turns: tuple[ClaimTurn, ...], claim: ResourcePoolClaim | None = None) -> Iterator[QueueTurn]:
    """The turns as they are reported; with a claim those up to its own."""
    own = key_of(claim) if claim is not None else None
    for place, turn in enumerate(turns, 1):
        resource_pool_claim = turn.candidate.claim
        key = key_of(resource_pool_claim)
        yield QueueTurn(
            place,
            ref_of(key),
            turn.result,
            resource_pool_claim.metadata.creation_timestamp or "",
            tuple(map(_compared, turn.comparisons())),
            own=key == own,
            rule=_RULES[turn.result],
        )
        if key == own:
            return


def _compared(comparison: Comparison) -> Compared:
    closed = ref_of(comparison.by) if comparison.by is not None else None
    return Compared(comparison.resource, str(comparison.asked), str(comparison.room), comparison.missing, closed)
