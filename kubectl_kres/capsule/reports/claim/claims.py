"""The answer of ``claims``: each claim's state, its place in the queue, and what is short.

What of a claim does not fit together: its status and its pool's, names and amounts that nobody could serve.

The answer of ``claims``: structs that the text, JSON and screens are made from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.capsule.model import PoolClaim, ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.reports.common.amount_lists import (
    amount,
    amount_texts,
    faults,
    parse_amounts,
    sentence,
    texts,
)
from kubectl_kres.capsule.reports.common.claim_state import (
    HELD,
    POOL_EXISTS,
    STUCK,
    WAITING,
    ClaimStanding,
    claim_standing_of,
)
from kubectl_kres.capsule.reports.common.pool_index import ClaimStates, PoolIndex, short
from kubectl_kres.capsule.reports.unblock.actions import UnblockOption
from kubectl_kres.capsule.rules.allocation import Amounts, amounts_equal
from kubectl_kres.capsule.rules.assignment import LONGEST_NAME, is_writable
from kubectl_kres.capsule.rules.webhooks import wants_release
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.quantity import Quantity
from kubectl_kres.reports.common.explanation import FailedRead, LastEdit
from kubectl_kres.reports.common.parts import ClaimState, Record
from kubectl_kres.reports.common.resource_lists import join_words


class Amount(Record, frozen=True):
    """One resource that a claim asks for.

    available: what the pool has left at the claim's turn; absent: not known, or the pool has no such resource
    (``offered`` False). lacks: how much is missing; absent: nothing. behind: the earlier claim's amount that closes the
    resource in an ordered queue.
    """

    name: str
    requested: str
    available: str | None = None
    lacks: str | None = None
    behind: str | None = None
    offered: bool = True


class QueuePlace(Record, frozen=True):
    """A place in a pool's queue: ``of`` claims wait. ``ordered``: nobody behind gets what one ahead waits for."""

    place: int
    of: int
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
    said: str = ""
    follows: str = ""


class ClaimReport(Record, frozen=True):
    """A claim. ``because``: why, in our words; ``message``: the controller's; ``rule``: the code of what keeps it from
    its share, empty where nothing does.

    asks: what it claims. amounts: each resource, with what is there. ways: what would unblock it, the smallest first;
    in a list only where few claims wait. notes: what does not fit together. old: Capsule before 0.13.
    predicted: it comes from a file, and this is what the controller would make of it, or with ``certain`` False may.
    """

    subject: ObjectRef
    state: ClaimState
    because: str
    pool: str = ""
    wanted_pool: str = ""
    asks: Mapping[str, str] = {}
    amounts: tuple[Amount, ...] = ()
    place: QueuePlace | None = None
    message: str = ""
    created: str = ""
    ways: tuple[UnblockOption, ...] = ()
    may: tuple[VerbEffect, ...] = ()
    quota: ManagedQuota | None = None
    notes: tuple[str, ...] = ()
    edits: Mapping[str, LastEdit] = {}
    old: bool = False
    predicted: bool = False
    certain: bool = True
    rule: str = ""
    unseen: tuple[FailedRead, ...] = ()
    complete: bool = True

    @property
    def is_waiting(self) -> bool:
        """Return whether it does not have what it asks for, and will not get it by itself."""
        return self.state in STUCK

    @property
    def missing_amounts(self) -> Mapping[str, str]:
        """Return what is missing, by resource."""
        return {amount.name: amount.lacks for amount in self.amounts if amount.lacks is not None}


def notes_of(
    context: PoolIndex,
    claim: ResourcePoolClaim,
    requested: Amounts,
    pool: ResourcePool | None,
    claim_standing: ClaimStanding,
) -> tuple[str, ...]:
    """Return a sentence each; empty for nearly all. ``requested``: what of its amounts parses."""
    return (
        *_of_itself(claim, requested, claim_standing),
        *(_pool_remarks(context, claim, requested, pool, claim_standing) if pool is not None else ()),
    )


def unwritable(name: str) -> bool:
    """Return whether a pool's status cannot list a claim of that name, though it is legal for the claim."""
    return not is_writable(name)


def _of_itself(claim: ResourcePoolClaim, requested: Amounts, claim_standing: ClaimStanding) -> Iterator[str]:
    name = claim.metadata.name
    if unwritable(name):
        yield (
            f'the name "{name}" {"has a dot" if "." in name else f"is longer than {LONGEST_NAME}"}: its pool cannot '
            "write its status any more, and every later change of the pool is lost; create it under another name"
        )
    if len(requested) != len(claim.spec.claim or ()):
        yield from faults(claim.spec.claim, "spec.claim")
    negative = {name: value for name, value in requested.items() if value.nano < 0}
    if negative:
        yield f"it claims less than nothing ({sentence(amount_texts(negative))}): that raises what others can take"
    if wants_release(claim):
        yield "it carries the annotation for its release; the controller is about to let it go"
    now = claim.metadata.generation
    seen = (
        max((condition.observed_generation for condition in claim.status.conditions or ()), default=0) if now > 1 else 0
    )
    if seen and seen < now:
        yield f"what the controller says is about generation {seen} of it, and it has changed since"
    pool_ref = claim.status.pool
    if pool_ref is not None and claim_standing.state in HELD | WAITING and claim.spec.pool not in {"", pool_ref.name}:
        yield (
            f"its spec names pool {claim.spec.pool}, and what the controller says is of pool {pool_ref.name}: it has "
            "not looked yet, or an older word of it was written over the new one"
        )
    if claim.metadata.deletion_timestamp:
        yield f"it is being deleted, since {claim.metadata.deletion_timestamp}"


def _pool_remarks(
    context: PoolIndex, claim: ResourcePoolClaim, requested: Amounts, pool: ResourcePool, claim_standing: ClaimStanding
) -> Iterator[str]:
    """Against the pool, which knows the claim by its UID."""
    name, space = pool.metadata.name, claim.metadata.namespace
    served = space in context.spaces(pool)
    entry = context.entry(pool, claim)
    if pool.metadata.deletion_timestamp:
        fate = (
            "deleted with it"
            if claim_standing.state in WAITING or pool.spec.config.delete_bound_resources
            else "let go of"
        )
        yield f"pool {name} is being deleted, and the claim is {fate}"
    if claim_standing.state in WAITING and not served:
        yield f"what the controller says is stale: pool {name} no longer serves namespace {space}"
    if claim_standing.state in HELD and entry is None and not unwritable(claim.metadata.name):
        yield f"the status of pool {name} does not list it as allocated: the two are written one after the other"
    if claim_standing.state in WAITING and entry is not None:
        yield f"the status of pool {name} lists it as allocated, with {sentence(texts(entry.claims))}"
    if claim_standing.state == "failed" and entry is not None:
        yield f"it still holds {sentence(texts(entry.claims))} of pool {name}"
    if claim_standing.state in HELD and entry is not None and not _has_claimed_amounts(entry, claim, requested):
        yield f"it holds {sentence(texts(entry.claims))}; what it asks for now is not decided yet"
    if names := context.lowered_resources(pool) & requested.keys():
        counted = join_words(sorted(names))
        yield f"not certain: Capsule counts {counted} of pool {name} wrong, since there is so much of it"
    if names := context.truncated_amounts(pool) & requested.keys():
        much = join_words(sorted(names))
        yield f"not certain: pool {name} has so much {much} that the API server cuts sums off (at 2^63-1)"
    hard = context.hard(pool)
    never = (
        [name for name, value in requested.items() if name in hard and value.nano > hard[name].nano]
        if not entry
        else []
    )
    if never:
        too_little = sentence(amount_texts({each: hard[each] for each in never}))
        yield (
            f"pool {name} has less in total than it asks for ({too_little}): "
            "it waits forever unless one of the two changes"
        )


def _has_claimed_amounts(entry: PoolClaim, claim: ResourcePoolClaim, requested: Amounts) -> bool:
    """Return whether it holds what it asks for now; the same text is the rule, and saves the parsing."""
    return entry.claims == claim.spec.claim or amounts_equal(parse_amounts(entry.claims), requested)


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
            asks=amount_texts(requested) if len(requested) == len(claim.spec.claim or ()) else texts(claim.spec.claim),
            amounts=amounts,
            place=self._queue_position(claim, pool) if result.state in WAITING else None,
            message=result.message,
            created=meta.creation_timestamp or "",
            notes=notes_of(context, claim, requested, pool, result),
            old=result.old,
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
        if report.place is None:
            return ()
        queue = self.index.waiting_claims(report.pool)
        return tuple(_ref(standings) for standings in queue[: min(report.place.place - 1, _NAMED)])

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
        return Amount(name, str(requested), behind=behind)
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
