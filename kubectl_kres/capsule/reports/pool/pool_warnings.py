"""What is wrong with a pool: what selects nothing, what contradicts its status, what nobody can ever get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from kubectl_kres.capsule.model import ResourcePool
from kubectl_kres.capsule.reports.claim.claim_notes import unwritable
from kubectl_kres.capsule.reports.common.amount_lists import amount_texts, faults, parse_amounts, whole_number_texts
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex, allocated_claims, excess_usage
from kubectl_kres.capsule.reports.common.tenancy import version_remarks
from kubectl_kres.capsule.rules.allocation import add_amounts
from kubectl_kres.capsule.rules.assignment import fault, fits, is_active, is_empty, is_usable, is_writable
from kubectl_kres.capsule.rules.conditions import READY, find
from kubectl_kres.quantity import ZERO
from kubectl_kres.record import Sentence
from kubectl_kres.reports.common.resource_lists import scope_words
from kubectl_kres.store.store import ReadRequest

AmountTexts = Mapping[str, str]


class BeingDeleted(Sentence, frozen=True):
    """It serves no namespace any more. ``since``: RFC 3339."""

    since: str


class ReconcileFailed(Sentence, frozen=True):
    """Nothing tries again by itself. ``message``: the controller's."""

    message: str


class NoStatus(Sentence, frozen=True):
    """Its controller has not seen it, or is not running."""


class UnwritableName(Sentence, frozen=True):
    """No status of a claim can hold its name."""


class UnwritableClaims(Sentence, frozen=True):
    """Claims whose names its status cannot hold, as ``namespace/name``."""

    claims: tuple[str, ...]


class LoweredAmounts(Sentence, frozen=True):
    """Amounts as large as Capsule cannot count: it lowers them. ``whole``: the same without a suffix."""

    hard: AmountTexts
    whole: AmountTexts


class TruncatedAmounts(Sentence, frozen=True):
    """Resources whose sums the API server cuts off."""

    resources: tuple[str, ...]


class OldGeneration(Sentence, frozen=True):
    """The generations of status and spec."""

    status: int
    spec: int


class OldHard(Sentence, frozen=True):
    """The hard that the status counts with, and that of the spec."""

    status: AmountTexts
    spec: AmountTexts


class WrongSums(Sentence, frozen=True):
    """What claims hold as the status says, and what those that it lists hold."""

    status: AmountTexts
    listed: AmountTexts


class AbsentClaims(Sentence, frozen=True):
    """Claims that the status lists and that do not exist, as ``namespace/name``."""

    claims: tuple[str, ...]


class MovedClaims(Sentence, frozen=True):
    """Claims that the status lists and that are in another pool now, as ``namespace/name``."""

    claims: tuple[str, ...]


class Overdrawn(Sentence, frozen=True):
    """By how much claims hold more than the pool has."""

    amounts: AmountTexts


class NotShared(Sentence, frozen=True):
    """What claims hold of resources that the pool does not share out any more."""

    amounts: AmountTexts


class Overused(Sentence, frozen=True):
    """What is in use where that is more than the pool has."""

    amounts: AmountTexts


class OverusedNamespace(Sentence, frozen=True):
    """What a namespace uses where that is more than its quota allows now."""

    namespace: str
    amounts: AmountTexts


class NoSelectors(Sentence, frozen=True):
    """It has none, and so no namespaces."""


class EmptySelector(Sentence, frozen=True):
    """It selects nothing here, other than elsewhere. ``path``: the selector's."""

    path: str


class FaultySelector(Sentence, frozen=True):
    """It is skipped. ``fault``: why."""

    path: str
    fault: str


class UselessSelector(Sentence, frozen=True):
    """It matches no namespace."""

    path: str


class OverlappingPool(Sentence, frozen=True):
    """Another pool that limits the same resources in the same namespaces. ``scopes``: what both together count."""

    pool: str
    resources: tuple[str, ...]
    namespaces: tuple[str, ...]
    scopes: tuple[str, ...] = ()


class NothingToClaim(Sentence, frozen=True):
    """Resources whose hard is 0."""

    resources: tuple[str, ...]


class Unlimited(Sentence, frozen=True):
    """Resources that the quotas of these namespaces do not name, as no claim and no default gives any."""

    resources: tuple[str, ...]
    namespaces: tuple[str, ...]


class NamespaceNote(Sentence, frozen=True):
    """What is wrong with a namespace of a pool: its status does not list it, or lists it although it does not exist,
    is being deleted, or is not selected any more. Of a pool that may not be read: no quota there, or it is not known.
    """

    kind: Literal["not-listed", "absent", "deleted", "not-selected", "no-quota", "quota-unknown"]


def warnings_of(context: PoolIndex, pool: ResourcePool) -> tuple[Sentence | str, ...]:
    """Return what is wrong, the gravest first."""
    return (
        *_broken_status(pool),
        *([] if is_writable(pool.metadata.name) else [UnwritableName()]),
        *_unusual_amounts(context, pool),
        *_stale(context, pool),
        *_overdrawn(context, pool),
        *_selectors(context, pool),
        *_overlaps(context, pool),
        *_unservable(context, pool),
        *_unlimited(context, pool),
        *version_remarks(context.store, "pools"),
    )


def _broken_status(pool: ResourcePool) -> Iterator[Sentence | str]:
    ready = find(pool.status.conditions, READY)
    if pool.metadata.deletion_timestamp:
        yield BeingDeleted(pool.metadata.deletion_timestamp)
    if ready is not None and ready.status == "False":
        yield ReconcileFailed(ready.message)
    if not pool.status.conditions and not pool.status.observed_generation:
        yield NoStatus()
    yield from faults(pool.spec.quota.hard, "spec.quota.hard")
    yield from faults(pool.spec.defaults, "spec.defaults")


def _unusual_amounts(context: PoolIndex, pool: ResourcePool) -> Iterator[Sentence]:
    """Recorded from Capsule 0.14.0: a pool of 1Pi with one claim of 1Ti ended at 98Ti, after 309 edits of its own."""
    claims = tuple(
        f"{standings.claim.metadata.namespace}/{standings.claim.metadata.name}"
        for standings in context.claims_of_pool(pool.metadata.name)
        if unwritable(standings.claim.metadata.name)
    )
    if claims:
        yield UnwritableClaims(claims)
    if names := context.lowered_resources(pool):
        hard = {name: context.hard(pool)[name] for name in sorted(names)}
        yield LoweredAmounts(amount_texts(hard), whole_number_texts(hard))
    if names := context.truncated_amounts(pool):
        yield TruncatedAmounts(tuple(sorted(names)))


def _stale(context: PoolIndex, pool: ResourcePool) -> Iterator[Sentence]:
    """Yield where the status is not what the spec, or the rest of the status, says."""
    meta, status = pool.metadata, pool.status
    if not status.conditions:
        return
    if status.observed_generation and meta.generation > status.observed_generation:
        yield OldGeneration(status.observed_generation, meta.generation)
    hard, quantities = context.hard(pool), parse_amounts(status.allocation.hard)
    if quantities != hard:
        yield OldHard(amount_texts(quantities), amount_texts(hard))
    used, taken = parse_amounts(status.allocation.used), context.allocated_amounts(pool)
    odd = {name: used.get(name, ZERO) for name in taken if name in quantities and used.get(name, ZERO) != taken[name]}
    if odd:
        yield WrongSums(amount_texts(odd), amount_texts({name: taken[name] for name in odd}))
    listed = [(space, claim.name) for space, claim in allocated_claims(pool)]
    if context.claims_known(pool):
        absent = tuple(f"{space}/{name}" for space, name in listed if (space, name) not in context.states())
        if absent:
            yield AbsentClaims(absent)
    moved = tuple(
        f"{space}/{claim.name}"
        for space, claim in allocated_claims(pool)
        if context.pool_named(space, claim) not in {"", meta.name}
    )
    if moved:
        yield MovedClaims(moved)


def _overdrawn(context: PoolIndex, pool: ResourcePool) -> Iterator[Sentence]:
    over = {name: -room for name, room in context.room(pool).items() if room < ZERO}
    if over:
        yield Overdrawn(amount_texts(over))
    stray = add_amounts(parse_amounts(pool_claim.claims) for _, pool_claim in allocated_claims(pool))
    stray = {name: value for name, value in stray.items() if name not in context.hard(pool) and value}
    if stray:
        yield NotShared(amount_texts(stray))
    name = pool.metadata.name
    uses = [quota for space in sorted(context.spaces(pool)) if (quota := context.quota(name, space)) is not None]
    used = add_amounts(parse_amounts(quota.status.used) for quota in uses)
    excess = {name: used[name] for name, hard in context.hard(pool).items() if name in used and used[name] > hard}
    if excess:
        yield Overused(amount_texts(excess))
    for quota in uses:
        over = excess_usage(quota)
        if over:
            yield OverusedNamespace(quota.metadata.namespace, amount_texts(over))


def _selectors(context: PoolIndex, pool: ResourcePool) -> Iterator[Sentence]:
    selectors = pool.spec.selectors or ()
    if not selectors:
        yield NoSelectors()
    is_known = context.store.covered(ReadRequest("Namespace")).is_known
    spaces = [namespace for namespace in context.store.all("Namespace") if is_active(namespace)] if is_known else []
    for index, selector in enumerate(selectors):
        path = f"spec.selectors[{index}]"
        if is_empty(selector):
            yield EmptySelector(path)
        elif wrong := fault(selector):
            yield FaultySelector(path, wrong)
        elif (
            is_known
            and is_usable(selector)
            and not any(fits(selector, space.metadata.labels or {}) for space in spaces)
        ):
            yield UselessSelector(path)


def _overlaps(context: PoolIndex, pool: ResourcePool) -> Iterator[Sentence]:
    mine = context.spaces(pool)
    for name, other in sorted(context.pools.items()):
        shared = mine & context.spaces(other)
        both = sorted(context.hard(pool).keys() & context.hard(other).keys())
        if name != pool.metadata.name and shared and both:
            scopes = dict.fromkeys((*scope_words(pool.spec.quota), *scope_words(other.spec.quota)))
            yield OverlappingPool(name, tuple(both), tuple(sorted(shared)), tuple(scopes))


def _unservable(context: PoolIndex, pool: ResourcePool) -> Iterator[Sentence]:
    nothing = tuple(sorted(name for name, hard in context.hard(pool).items() if hard <= ZERO))
    if nothing:
        yield NothingToClaim(nothing)


def _unlimited(context: PoolIndex, pool: ResourcePool) -> Iterator[Sentence]:
    """Namespaces whose quota does not name a resource of the pool at all."""
    defaults = parse_amounts(pool.spec.defaults)
    claims = pool.status.claims or {}
    free: dict[tuple[str, ...], list[str]] = {}
    for name in sorted(context.hard(pool).keys() - defaults.keys()):
        spaces = (
            space
            for space in sorted(context.spaces(pool))
            if not any(parse_amounts(pool_claim.claims).get(name) for pool_claim in claims.get(space, ()))
        )
        free.setdefault(tuple(spaces), []).append(name)
    yield from (Unlimited(tuple(names), spaces) for spaces, names in free.items() if spaces)
