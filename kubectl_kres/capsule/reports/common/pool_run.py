"""Trials of a pool's next reconciles after a change: claims removed, an amount changed, or the pool raised."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

from kubectl_kres.capsule.model import ResourcePool
from kubectl_kres.capsule.reports.common.amount_lists import parse_amounts
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex, shares
from kubectl_kres.capsule.rules.allocation import (
    Allocation,
    Amounts,
    ClaimCandidate,
    ClaimKey,
    ClaimShare,
    ClaimTurn,
    allocate,
    key_of,
    sort_queue,
)
from kubectl_kres.quantity import ZERO

#: Passes after which a pool is taken as it is; two are the rule.
_PASSES = 8


class Trial:
    """A pool as it stands: what it has, who holds what, and who waits in which order. Never changed, only replaced."""

    def __init__(
        self, hard: Amounts, shares: Sequence[ClaimShare], queue: Sequence[ClaimCandidate], *, ordered: bool
    ) -> None:
        self.hard, self.shares, self.queue, self.ordered = hard, shares, queue, ordered

    def _copy_with(
        self,
        *,
        hard: Amounts | None = None,
        shares: Sequence[ClaimShare] | None = None,
        queue: Sequence[ClaimCandidate] | None = None,
    ) -> Trial:
        return Trial(
            self.hard if hard is None else hard,
            self.shares if shares is None else shares,
            self.queue if queue is None else queue,
            ordered=self.ordered,
        )

    @cached_property
    def _allocation(self) -> Allocation:
        return allocate(self.hard, self.shares, self.queue, ordered=self.ordered)

    @cached_property
    def _turns_by_claim(self) -> Mapping[ClaimKey, ClaimTurn]:
        return {key_of(claim_turn.candidate.claim): claim_turn for claim_turn in self._allocation.turns}

    @cached_property
    def _holders(self) -> frozenset[ClaimKey]:
        return frozenset((share.namespace, share.name) for share in self.shares)

    def settle(self) -> Trial:
        """Return the pool after its controller has come to rest."""
        now = self
        for _ in range(_PASSES):
            allocation = now._allocation
            if allocation.settled:
                break
            pairs = {(share.namespace, share.name) for share in allocation.shares}
            waiting = [claim_candidate for claim_candidate in now.queue if key_of(claim_candidate.claim) not in pairs]
            now = now._copy_with(shares=allocation.shares, queue=waiting)
        return now

    @property
    def size(self) -> int:
        """Return how many claims a pass goes through."""
        return len(self.shares) + len(self.queue)

    def without_claim(self, keys: Iterable[ClaimKey]) -> Trial:
        """Return the claims leave one after the other, each settled; those that only wait should come first."""
        now, room = self, self.room()
        for key in keys:
            left = [share for share in now.shares if (share.namespace, share.name) != key]
            waiting = [claim_candidate for claim_candidate in now.queue if key_of(claim_candidate.claim) != key]
            if len(left) < len(now.shares):
                gone = [share.amounts for share in now.shares if (share.namespace, share.name) == key]
                room = {
                    name: nano + sum(quantities[name].nano for quantities in gone if name in quantities)
                    for name, nano in room.items()
                }
            now = now._copy_with(shares=left, queue=waiting)
            # Of many that leave few make a difference, and a pass goes through all claims.
            if any(fits(claim_candidate.requested, room) for claim_candidate in waiting):
                now = now.settle()
                room = now.room()
        return now

    def room(self) -> dict[str, int]:
        """Return what is left, in billionths."""
        result = {name: quantity.nano for name, quantity in self.hard.items()}
        for share in self.shares:
            for name, quantity in share.amounts.items():
                if name in result:
                    result[name] -= quantity.nano
        return result

    def with_request(self, key: ClaimKey, requested: Amounts) -> Trial:
        """Return the trial with another request of a waiting claim, in its old place."""
        queue = [
            ClaimCandidate(claim_candidate.claim, requested)
            if key_of(claim_candidate.claim) == key
            else claim_candidate
            for claim_candidate in self.queue
        ]
        return self._copy_with(queue=queue).settle()

    def with_more_hard(self, more: Amounts) -> Trial:
        """Return the trial with more to share out."""
        hard = {name: self.hard.get(name, ZERO) + more.get(name, ZERO) for name in {**self.hard, **more}}
        return self._copy_with(hard=hard).settle()

    def with_claim(self, candidate: ClaimCandidate) -> Trial:
        """A claim comes, in the place that its creation gives it."""
        return self._copy_with(queue=sort_queue([*self.queue, candidate])).settle()

    def holds(self, key: ClaimKey) -> bool:
        """Return whether a claim is allocated."""
        return key in self._holders

    def find_turn(self, key: ClaimKey) -> ClaimTurn | None:
        """Return how it goes for a claim that waits; None: it does not."""
        return self._turns_by_claim.get(key)


def fits(requested: Amounts, room: Mapping[str, int]) -> bool:
    """Return whether a pass would serve it if no queue held it up: room that is used up serves not even a claim
    for 0.
    """
    return all(
        (left := room.get(name)) and left >= requested_amounts.nano for name, requested_amounts in requested.items()
    )


def build_trial(context: PoolIndex, pool: ResourcePool) -> Trial:
    """Return the pool as its status and the claims that were read say; at rest if the controller is.

    A share of a claim that is gone, or was made anew under its name, is no share: the controller takes it away first.
    """
    queue = [
        ClaimCandidate(standings.claim, parse_amounts(standings.claim.spec.claim))
        for standings in context.waiting_claims(pool.metadata.name)
    ]
    claim_shares = [share for share in shares(pool) if not context.is_gone(pool, share)]
    return Trial(context.hard(pool), claim_shares, queue, ordered=pool.spec.config.ordered_queue)


def amounts_by_claim(trial: Trial) -> Mapping[ClaimKey, Amounts]:
    """Return who holds what."""
    return {(share.namespace, share.name): share.amounts for share in trial.shares}


def waiting_in(trial: Trial, but: Collection[ClaimKey] = ()) -> tuple[ClaimKey, ...]:
    """Return who waits, in order, without some."""
    return tuple(key for claim_candidate in trial.queue if (key := key_of(claim_candidate.claim)) not in but)
