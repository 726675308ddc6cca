"""The answer of ``claims``: each claim's state, its position in the queue, what is short, and what about it does not
fit together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.reports.claim.claim_notes import notes_of
from kubectl_kres.capsule.reports.common.amount_lists import (
    amount,
    amount_texts,
    parse_amounts,
    texts,
)
from kubectl_kres.capsule.reports.common.claim_state import (
    POOL_EXISTS,
    STUCK,
    WAITING,
    ClaimStanding,
    ClaimState,
    claim_standing_of,
)
from kubectl_kres.capsule.reports.common.pool_index import ClaimStates, PoolIndex, short
from kubectl_kres.capsule.reports.unblock.actions import UnblockOption
from kubectl_kres.capsule.rules.allocation import Amounts
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.quantity import Quantity
from kubectl_kres.record import Record, Sentence
from kubectl_kres.reports.common.explanation import FailedRead, LastEdit


class Amount(Record, frozen=True):
    """One resource that a claim asks for.

    available: what the pool has left at the claim's turn; absent: not known, or the pool has no such resource
    (``offered`` False). short_by: how much is missing; absent: nothing. closed_by_amount: the earlier claim's amount
    that closes the resource in an ordered queue.
    """

    name: str
    requested: str
    available: str | None = None
    short_by: str | None = None
    closed_by_amount: str | None = None
    offered: bool = True


class QueuePlace(Record, frozen=True):
    """A place in a pool's queue: ``length`` claims wait. ``ordered``: nobody behind gets what one ahead waits for."""

    position: int
    length: int
    ordered: bool = False
    ahead: tuple[ObjectRef, ...] = ()


class QuotaLine(Record, frozen=True):
    """One resource of the managed quota: what claims and defaults add up to, what it says, what is in use.

    over: more is in use than it says.
    """

    name: str
    hard: str
    used: str | None = None
    claimed: str | None = None
    default: str | None = None
    over: bool = False


class ManagedQuota(Record, frozen=True):
    """``capsule-pool-<pool>`` of the namespace. ``missing``: it was looked for and is not there. ``note``: what a use
    beyond it means.
    """

    subject: ObjectRef
    lines: tuple[QuotaLine, ...] = ()
    missing: bool = False
    note: str = ""


class VerbEffect(Record, frozen=True):
    """Whether a verb (change, delete, release) is allowed now, the server's refusal if not, and what would follow."""

    verb: str
    allowed: bool
    message: str = ""
    effect: str = ""


class ClaimReport(Record, frozen=True):
    """A claim. ``reason``: why, in our words; ``message``: the controller's; ``rule``: the code of what keeps it from
    its share, empty where nothing does.

    requested: what it claims. amounts: each resource, with what is there. fixes: what would unblock it, the smallest
    first; in a list only where few claims wait. notes: what does not fit together. legacy: Capsule before 0.13.
    predicted: it comes from a file, and this is what the controller would make of it, or with ``certain`` False may.
    """

    subject: ObjectRef
    state: ClaimState
    reason: str
    pool: str = ""
    wanted_pool: str = ""
    requested: Mapping[str, str] = {}
    amounts: tuple[Amount, ...] = ()
    queue: QueuePlace | None = None
    message: str = ""
    created: str = ""
    fixes: tuple[UnblockOption, ...] = ()
    allowed_actions: tuple[VerbEffect, ...] = ()
    quota: ManagedQuota | None = None
    notes: tuple[Sentence | str, ...] = ()
    edits: Mapping[str, LastEdit] = {}
    legacy: bool = False
    predicted: bool = False
    certain: bool = True
    rule: str = ""
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True

    @property
    def is_waiting(self) -> bool:
        """Return whether it does not have what it asks for, and will not get it by itself."""
        return self.state in STUCK

    @property
    def missing_amounts(self) -> Mapping[str, str]:
        """Return what is missing, by resource."""
        return {amount.name: amount.short_by for amount in self.amounts if amount.short_by is not None}


#: Claims ahead that are named.
_NAMED = 10
_NO_SUCH_POOL = "the pool that it names does not exist"
_SHORT = frozenset({*WAITING, "failed"})


class Claims:
    """Makes the reports of many claims of one context."""

    def __init__(self, context: PoolIndex) -> None:
        self.index = context

    def report(self, claim: ResourcePoolClaim) -> ClaimReport:
        """Return one row: without ways, verbs and quota, which ``capsule.reports.claim.claim_detail`` adds."""
        context, meta = self.index, claim.metadata
        pool = context.pool_of(claim)
        result = context.states().get((meta.namespace, meta.name)) or claim_standing_of(claim, pool)
        expected = claim.spec.pool
        if result.state == "pending" and expected and context.pools_known and expected not in context.pools:
            reason = f"{_NO_SUCH_POOL}, which its controller has not said yet"
            result = result._replace(state="failed", reason=reason, rule=POOL_EXISTS)
        ref = ObjectRef("ResourcePoolClaim", meta.name, meta.namespace)
        requested = parse_amounts(claim.spec.claim)
        amounts = tuple(self._amounts(requested, pool, result)) if result.state in _SHORT else ()
        if result.state == "failed" and all(amount.offered for amount in amounts):
            amounts = ()
        return ClaimReport(
            ref,
            result.state,
            result.reason,
            rule=result.rule,
            pool=claim.status.pool.name if claim.status.pool is not None else "",
            wanted_pool=claim.spec.pool,
            requested=amount_texts(requested)
            if len(requested) == len(claim.spec.claim or ())
            else texts(claim.spec.claim),
            amounts=amounts,
            queue=self._queue_position(claim, pool) if result.state in WAITING else None,
            message=result.message,
            created=meta.creation_timestamp or "",
            notes=notes_of(context, claim, requested, pool, result),
            legacy=result.old,
        )

    def _queue_position(self, claim: ResourcePoolClaim, pool: ResourcePool | None) -> QueuePlace | None:
        """None where others may wait that were not read."""
        position = self.index.place_of(claim)
        if pool is None or not position or not self.index.claims_known(pool):
            return None
        queue = self.index.waiting_claims(pool.metadata.name)
        return QueuePlace(position, len(queue), pool.spec.config.ordered_queue)

    def claims_before(self, report: ClaimReport) -> tuple[ObjectRef, ...]:
        """Return the claims before one that has a place, as many as are named."""
        if report.queue is None:
            return ()
        queue = self.index.waiting_claims(report.pool)
        return tuple(_ref(standings) for standings in queue[: min(report.queue.position - 1, _NAMED)])

    def _amounts(
        self, requested: Amounts, pool: ResourcePool | None, claim_standing: ClaimStanding
    ) -> Iterator[Amount]:
        room = self.index.room(pool) if pool is not None else None
        for name in sorted(requested):
            yield _amount(name, requested[name], room, claim_standing)


def _amount(
    name: str, requested: Quantity, room: Mapping[str, Quantity] | None, claim_standing: ClaimStanding
) -> Amount:
    """From the pool, else from the controller's message."""
    behind = claim_standing.queued.get(name)
    if room is not None:
        left = room.get(name)
        if left is None:
            return Amount(name, str(requested), offered=False)
        return Amount(name, str(requested), str(left), _missing_amount(requested, left), behind)
    text = claim_standing.available.get(name)
    left = amount(text) if text is not None else None
    if left is None:
        return Amount(name, str(requested), closed_by_amount=behind)
    return Amount(name, str(requested), str(left), _missing_amount(requested, left), behind)


def _missing_amount(requested: Quantity, left: Quantity) -> str | None:
    """Return what is missing. Of a resource that is used up even a request of 0 is not served, so that anything is
    missing.
    """
    if not short(requested, left):
        return None
    return str(requested - left) if requested > left else "more than 0"


def _ref(standings: ClaimStates) -> ObjectRef:
    meta = standings.claim.metadata
    return ObjectRef("ResourcePoolClaim", meta.name, meta.namespace)
