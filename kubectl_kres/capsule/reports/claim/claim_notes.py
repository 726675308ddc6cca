"""What of a claim does not fit together: its status and its pool's, names and amounts that nobody could serve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.capsule.model import PoolClaim, ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.reports.common.amount_lists import amount_texts, faults, parse_amounts, texts
from kubectl_kres.capsule.reports.common.claim_state import HELD, WAITING, ClaimStanding
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.rules.allocation import Amounts, amounts_equal
from kubectl_kres.capsule.rules.assignment import is_writable
from kubectl_kres.capsule.rules.webhooks import wants_release
from kubectl_kres.record import Sentence

AmountTexts = Mapping[str, str]


class UnwritableClaimName(Sentence, frozen=True):
    """No pool's status can list a claim of that name."""

    name: str


class NegativeAmounts(Sentence, frozen=True):
    """Amounts below zero, which raise what others can take."""

    amounts: AmountTexts


class AboutToRelease(Sentence, frozen=True):
    """It carries the annotation for its release."""


class OldWord(Sentence, frozen=True):
    """The generation that the controller speaks of, which is not the newest one."""

    generation: int


class OtherPool(Sentence, frozen=True):
    """The pool that the spec names, and the one that the controller speaks of."""

    named: str
    said: str


class ClaimBeingDeleted(Sentence, frozen=True):
    """``since``: RFC 3339."""

    since: str


class PoolBeingDeleted(Sentence, frozen=True):
    """The claim is deleted with its pool, or let go of."""

    pool: str
    with_claim: bool


class NotServed(Sentence, frozen=True):
    """The pool that the claim waits for does not serve its namespace any more."""

    pool: str
    namespace: str


class NotListed(Sentence, frozen=True):
    """The status of the pool does not list a claim that holds something."""

    pool: str


class ListedWhileWaiting(Sentence, frozen=True):
    """The status of the pool lists a claim that waits, with these amounts."""

    pool: str
    amounts: AmountTexts


class HeldAfterFailure(Sentence, frozen=True):
    """What a claim that failed still holds of the pool."""

    pool: str
    amounts: AmountTexts


class HeldBefore(Sentence, frozen=True):
    """What it holds, which is not what it asks for now."""

    amounts: AmountTexts


class CountedWrong(Sentence, frozen=True):
    """Resources of the pool that Capsule counts wrong, as there is so much of them."""

    pool: str
    resources: tuple[str, ...]


class CutOff(Sentence, frozen=True):
    """Resources of the pool whose sums the API server cuts off."""

    pool: str
    resources: tuple[str, ...]


class NeverEnough(Sentence, frozen=True):
    """What the pool has in total where the claim asks for more."""

    pool: str
    hard: AmountTexts


def notes_of(
    context: PoolIndex,
    claim: ResourcePoolClaim,
    requested: Amounts,
    pool: ResourcePool | None,
    claim_standing: ClaimStanding,
) -> tuple[Sentence | str, ...]:
    """Return what does not fit together; empty for nearly all. ``requested``: what of its amounts parses."""
    return (
        *_own_contradictions(claim, requested, claim_standing),
        *(_contradictions_with_pool(context, claim, requested, pool, claim_standing) if pool is not None else ()),
    )


def unwritable(name: str) -> bool:
    """Return whether a pool's status cannot list a claim of that name, though it is legal for the claim."""
    return not is_writable(name)


def _own_contradictions(
    claim: ResourcePoolClaim, requested: Amounts, claim_standing: ClaimStanding
) -> Iterator[Sentence | str]:
    meta, status = claim.metadata, claim.status
    if unwritable(meta.name):
        yield UnwritableClaimName(meta.name)
    if len(requested) != len(claim.spec.claim or ()):
        yield from faults(claim.spec.claim, "spec.claim")
    negative = {name: value for name, value in requested.items() if value.nano < 0}
    if negative:
        yield NegativeAmounts(amount_texts(negative))
    if wants_release(claim):
        yield AboutToRelease()
    generations = (condition.observed_generation for condition in status.conditions or ())
    seen = max(generations, default=0) if meta.generation > 1 else 0
    if seen and seen < meta.generation:
        yield OldWord(seen)
    pool_ref = status.pool
    if pool_ref is not None and claim_standing.state in HELD | WAITING and claim.spec.pool not in {"", pool_ref.name}:
        yield OtherPool(claim.spec.pool, pool_ref.name)
    if meta.deletion_timestamp:
        yield ClaimBeingDeleted(meta.deletion_timestamp)


def _contradictions_with_pool(
    context: PoolIndex, claim: ResourcePoolClaim, requested: Amounts, pool: ResourcePool, claim_standing: ClaimStanding
) -> Iterator[Sentence]:
    """Against the pool, which knows the claim by its UID."""
    name, space, state = pool.metadata.name, claim.metadata.namespace, claim_standing.state
    entry = context.entry(pool, claim)
    if pool.metadata.deletion_timestamp:
        yield PoolBeingDeleted(name, with_claim=state in WAITING or pool.spec.config.delete_bound_resources)
    if state in WAITING and space not in context.spaces(pool):
        yield NotServed(name, space)
    if state in HELD and entry is None and not unwritable(claim.metadata.name):
        yield NotListed(name)
    if state in WAITING and entry is not None:
        yield ListedWhileWaiting(name, texts(entry.claims))
    if state == "failed" and entry is not None:
        yield HeldAfterFailure(name, texts(entry.claims))
    if state in HELD and entry is not None and not _has_claimed_amounts(entry, claim, requested):
        yield HeldBefore(texts(entry.claims))
    if names := context.lowered_resources(pool) & requested.keys():
        yield CountedWrong(name, tuple(sorted(names)))
    if names := context.truncated_amounts(pool) & requested.keys():
        yield CutOff(name, tuple(sorted(names)))
    hard = context.hard(pool)
    never = [each for each, value in requested.items() if each in hard and value.nano > hard[each].nano]
    if never and not entry:
        yield NeverEnough(name, amount_texts({each: hard[each] for each in never}))


def _has_claimed_amounts(entry: PoolClaim, claim: ResourcePoolClaim, requested: Amounts) -> bool:
    """Return whether it holds what it asks for now; the same text is the rule, and saves the parsing."""
    return entry.claims == claim.spec.claim or amounts_equal(parse_amounts(entry.claims), requested)
