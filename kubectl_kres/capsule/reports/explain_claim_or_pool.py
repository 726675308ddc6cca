"""The explanations of claims and pools: why one is where it is, step by step, and one pass of the controller over a
pool's claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import structs

from kubectl_kres.capsule.model import CapsuleCondition, ResourcePool, ResourcePoolClaim, quota_name
from kubectl_kres.capsule.reports.claim.claim_detail import claim_detail
from kubectl_kres.capsule.reports.claim.claims import ClaimReport, Claims
from kubectl_kres.capsule.reports.common.amount_lists import parse_amounts
from kubectl_kres.capsule.reports.common.claim_state import HELD
from kubectl_kres.capsule.reports.common.needs import is_whole, unseen_of_pool
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex, shares
from kubectl_kres.capsule.reports.pool.pool_report import PoolReport, report_unreadable_pool, unread_pool_names
from kubectl_kres.capsule.reports.pool.pools import pool_report
from kubectl_kres.capsule.reports.simulate import build_prediction
from kubectl_kres.capsule.reports.unblock.actions import ref_of
from kubectl_kres.capsule.rules.allocation import (
    ClaimCandidate,
    ClaimTurn,
    Comparison,
    TurnResult,
    allocate,
    key_of,
    sort_queue,
)
from kubectl_kres.capsule.rules.assignment import belongs_to_pool, steps
from kubectl_kres.capsule.rules.conditions import lines, normalize_message
from kubectl_kres.capsule.rules.managed_quota import terms_of
from kubectl_kres.capsule.rules.webhooks import choose, wants_release
from kubectl_kres.errors import UsageError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.provenance.journal import Check, Derive, Source
from kubectl_kres.record import Record
from kubectl_kres.reports.common.explanation import FailedRead, Subject
from kubectl_kres.reports.common.resource_lists import scope_words
from kubectl_kres.reports.pod.manifest_source import missing_error
from kubectl_kres.store.store import Store
from kubectl_kres.wording import join_some


class PoolOption(Record, frozen=True):
    """A pool that serves the claim's namespace, as the choice sees it: by its status, and by names before amounts.

    verdict: room, full, lacking or either (see ``capsule.rules.choice``), by ``rule``. named: the claim names it now.
    scopes:
    what its quotas count, in words; empty: everything.
    """

    pool: str
    verdict: str
    missing_resources: tuple[str, ...] = ()
    short_resources: tuple[str, ...] = ()
    named: bool = False
    scopes: tuple[str, ...] = ()
    rule: str = ""


class Compared(Record, frozen=True):
    """One resource in the turn of a claim: what is requested and what is left, or the earlier claim that blocks it."""

    resource: str
    requested: str
    free: str
    missing: bool = False
    closed_by: ObjectRef | None = None


class QueueTurn(Record, frozen=True):
    """How a pass goes for one claim: kept, taken, changed, pool (too little) or queue (behind another).

    ``rule``: which rule says so. ``is_subject``: it is the one that was asked about.
    """

    position: int
    subject: ObjectRef
    result: str
    created: str = ""
    compared: tuple[Compared, ...] = ()
    is_subject: bool = False
    rule: str = ""


class StoredCondition(Record, frozen=True):
    """A condition in the controller's words. computed: what it would say now, where that is something else."""

    type: str
    status: str
    reason: str
    message: str
    since: str = ""
    computed: str = ""


class ClaimExplanation(Record, frozen=True):
    """Why a claim is where it is. chosen: how it came to its pool, or why to none. checks: of the claim controller.

    turns: the pass over the pool's claims as it would go now, up to this one. sums: how the managed quota adds up.
    """

    claim: ClaimReport
    chosen: str = ""
    options: tuple[PoolOption, ...] = ()
    checks: tuple[Check, ...] = ()
    turns: tuple[QueueTurn, ...] = ()
    conditions: tuple[StoredCondition, ...] = ()
    sums: tuple[Derive, ...] = ()


class QuotaSums(Record, frozen=True):
    """How one managed quota adds up."""

    subject: ObjectRef
    sums: tuple[Derive, ...] = ()


class PoolExplanation(Record, frozen=True):
    """Why a pool is as it is. turns: the pass over all of its claims. bounds: what its hard may not go below, and why.

    deletion_effects: what becomes of its claims if it is deleted.
    """

    pool: PoolReport
    turns: tuple[QueueTurn, ...] = ()
    conditions: tuple[StoredCondition, ...] = ()
    quotas: tuple[QuotaSums, ...] = ()
    bounds: tuple[str, ...] = ()
    deletion_effects: tuple[str, ...] = ()


#: What decides a turn, by its result.
_RULES: Mapping[TurnResult, str] = {
    "kept": "capsule/kept",
    "taken": "capsule/room",
    "changed": "capsule/changed",
    "pool": "capsule/room",
    "queue": "capsule/queue",
}


def turns_of(context: PoolIndex, pool: ResourcePool) -> tuple[ClaimTurn, ...]:
    """Return the claims of a pass, in the order of the controller."""
    spaces = context.spaces(pool)
    taking_part = [
        ClaimCandidate(standings.claim, parse_amounts(standings.claim.spec.claim))
        for standings in context.claims_of_pool(pool.metadata.name)
        if standings.claim.metadata.namespace in spaces
        and belongs_to_pool(standings.claim, pool)
        and not wants_release(standings.claim)
    ]
    allocation = allocate(
        context.hard(pool), shares(pool), sort_queue(taking_part), ordered=pool.spec.config.ordered_queue
    )
    return allocation.turns


def shown_turns(turns: tuple[ClaimTurn, ...], claim: ResourcePoolClaim | None = None) -> Iterator[QueueTurn]:
    """Yield the turns to report; for a claim those up to its own."""
    own_key = key_of(claim) if claim is not None else None
    for index, claim_turn in enumerate(turns, 1):
        resource_pool_claim = claim_turn.candidate.claim
        key = key_of(resource_pool_claim)
        yield QueueTurn(
            index,
            ref_of(key),
            claim_turn.result,
            resource_pool_claim.metadata.creation_timestamp or "",
            tuple(map(_build_compared, claim_turn.comparisons())),
            is_subject=key == own_key,
            rule=_RULES[claim_turn.result],
        )
        if key == own_key:
            return


def _build_compared(comparison: Comparison) -> Compared:
    closed = ref_of(comparison.by) if comparison.by is not None else None
    return Compared(comparison.resource, str(comparison.requested), str(comparison.room), comparison.missing, closed)


def explain_claim(context: PoolIndex, claim: ResourcePoolClaim) -> ClaimExplanation:
    """Return the explanation of a claim, without the parts that need a pool or claims that could not be read."""
    report = claim_detail(Claims(context), claim)
    pool = context.pool_of(claim)
    served = pool is not None and context.claims_known(pool) and claim.metadata.namespace in context.spaces(pool)
    turns = turns_of(context, pool) if pool is not None and served else ()
    mine = next((claim_turn for claim_turn in turns if key_of(claim_turn.candidate.claim) == key_of(claim)), None)
    options = tuple(_options(context, claim)) if context.pools_known and report.state not in HELD else ()
    return ClaimExplanation(
        report,
        _format_pool_origin(context, claim, report, options),
        options,
        tuple(_checks(context, claim)) if pool is not None or context.pools_known else (),
        tuple(shown_turns(turns, claim)) if mine is not None else (),
        tuple(conditions_of(_conditions(claim), mine)),
        terms_of(pool, [share for share in shares(pool) if share.namespace == claim.metadata.namespace])
        if pool
        else (),
    )


def _options(context: PoolIndex, claim: ResourcePoolClaim) -> Iterator[PoolOption]:
    choice = choose(claim.metadata.namespace, parse_amounts(claim.spec.claim), context.pools.values())
    for option in choice.options:
        scopes = scope_words(context.pools[option.pool].spec.quota)
        named = option.pool == claim.spec.pool
        yield PoolOption(option.pool, option.verdict, option.missing, option.short, named, scopes, "capsule/choice")


def _format_pool_origin(
    context: PoolIndex, claim: ResourcePoolClaim, report: ClaimReport, options: tuple[PoolOption, ...]
) -> str:
    """Return how the claim came to its pool. Whether a pool was written by the user or chosen, nothing in the claim
    says.
    """
    name, expected = report.pool, claim.spec.pool
    if name and name != expected:
        return f"it is in pool {name} still, and names {expected or 'none'} now"
    if expected:
        edit = report.edits.get("spec.pool")
        by = f", written by {edit.manager}" if edit is not None else ""
        return f"it names pool {expected}{by}; where a claim names none, one is chosen when it is written"
    if not context.pools_known:
        return "it names no pool; which pools serve its namespace could not be read"
    fitting = [option.pool for option in options if not option.missing_resources]
    if fitting:
        return f"it names no pool; {join_some(fitting)} would be chosen if it were written again, as by an annotation"
    return "it names no pool, and none that serves its namespace has all the resources that it names"


def _checks(context: PoolIndex, claim: ResourcePoolClaim) -> Iterator[Check]:
    """Yield the checks of the claim controller in their order, up to the first that refuses."""
    meta = claim.metadata
    source = Source("ResourcePoolClaim", meta.name, meta.namespace, "spec.pool")
    for step in steps(claim, context.pools):
        yield Check("spec", step.rule, not step.fault, message=" or ".join(step.fault), source=source)


def _conditions(claim: ResourcePoolClaim) -> tuple[CapsuleCondition, ...]:
    if claim.status.conditions is None and claim.status.condition is not None:
        return (claim.status.condition,)
    return claim.status.conditions or ()


def conditions_of(
    capsule_conditions: tuple[CapsuleCondition, ...], claim_turn: ClaimTurn | None = None
) -> Iterator[StoredCondition]:
    """Return the stored conditions; Exhausted also with what the controller would write now, if that differs."""
    for capsule_condition in capsule_conditions:
        computed = ""
        if capsule_condition.type == "Exhausted" and claim_turn is not None:
            now = claim_turn.message() if not claim_turn.allocated else ""
            before = capsule_condition.message if capsule_condition.status == "True" else ""
            computed = (now or "resource claimable from pool") if lines(now) != lines(before) else ""
        yield StoredCondition(
            capsule_condition.type,
            capsule_condition.status,
            capsule_condition.reason,
            normalize_message(capsule_condition),
            capsule_condition.last_transition_time or "",
            computed,
        )


def pool_conditions(pool: ResourcePool) -> tuple[StoredCondition, ...]:
    """Return the conditions of a pool."""
    return tuple(conditions_of(pool.status.conditions or ()))


KINDS = ("ResourcePool", "ResourcePoolClaim")


class Explaining:
    """The explanations of claims and pools of one store; what they share is computed once."""

    def __init__(self, store: Store) -> None:
        self._store, self._prediction = store, build_prediction(store)
        self._index = PoolIndex(self._prediction.store)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return the assumptions about objects of files."""
        return self._prediction.assumptions

    def explain(self, subject: Subject) -> ClaimExplanation | PoolExplanation:
        """Return the explanation. Raises NotFound or Forbidden for a failed read, UsageError if no server stores it."""
        ref = subject.ref
        if self._store.get(ref.kind, ref.name, ref.namespace) is None:
            if ref.kind == "ResourcePool" and ref.name in unread_pool_names(self._index):
                return PoolExplanation(report_unreadable_pool(self._index, ref.name))
            raise missing_error(self._store, subject)
        if ref in self._prediction.refused:
            raise UsageError(f"{ref}: {self._prediction.refused[ref]}")
        item: Any = self._prediction.store.get(ref.kind, ref.name, ref.namespace)
        if ref.kind == "ResourcePool":
            return explain_pool(self._index, item)
        claim_explanation = explain_claim(self._index, item)
        return structs.replace(claim_explanation, claim=self._prediction.add_prediction(ref, claim_explanation.claim))


def unseen_in(value: ClaimExplanation | PoolExplanation) -> tuple[FailedRead, ...]:
    """Return the failed reads of an explanation."""
    return value.claim.unread if isinstance(value, ClaimExplanation) else value.pool.unread


def negative(value: ClaimExplanation | PoolExplanation) -> bool:
    """Return whether a claim waits, or a pool does not serve all of its claims."""
    if isinstance(value, ClaimExplanation):
        return value.claim.is_waiting
    return value.pool.exhausted or value.pool.ready is False


def explain_pool(context: PoolIndex, pool: ResourcePool) -> PoolExplanation:
    """Return the explanation of a pool; with the pass over its claims only if all of them were read."""
    failed_reads = unseen_of_pool(context, pool)
    report = structs.replace(pool_report(context, pool), unread=failed_reads, complete=is_whole(failed_reads))
    turns = turns_of(context, pool) if context.claims_known(pool) else ()
    return PoolExplanation(
        report,
        tuple(shown_turns(turns)),
        pool_conditions(pool),
        tuple(_quotas(context, pool)),
        tuple(_bounds(context, pool)),
        tuple(_list_deletion_effects(pool, len(report.queue or ()), report.claims)),
    )


def _quotas(context: PoolIndex, pool: ResourcePool) -> Iterator[QuotaSums]:
    claim_shares = shares(pool)
    for space in sorted(context.spaces(pool)):
        ref = ObjectRef("ResourceQuota", quota_name(pool.metadata.name), space)
        yield QuotaSums(
            ref, terms_of(pool, [claim_share for claim_share in claim_shares if claim_share.namespace == space])
        )


def _bounds(context: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    """Yield the lower bounds of the pool: the webhook refuses a hard below what claims hold."""
    taken = {name: amount for name, amount in context.allocated_amounts(pool).items() if amount.nano > 0}
    for name, amount in sorted(taken.items()):
        yield f"{name} may be lowered to {amount}, which claims hold, and not be removed"
    free = sorted(context.hard(pool).keys() - taken.keys())
    if free:
        yield f"{join_some(free)} may be lowered or removed: no claim holds any"
    if pool.status.namespaces:
        yield "scopes may not change: Kubernetes refuses that for a quota, and the pool would fail"


def _list_deletion_effects(pool: ResourcePool, waiting: int, number: int) -> Iterator[str]:
    """Yield the effects of a deletion, which is never refused. The garbage collector follows owner references."""
    if pool.spec.config.delete_bound_resources:
        yield f"all of its claims are deleted ({number} allocated, {waiting} waiting), also those in use"
    else:
        if number:
            yield f"{number} allocated claim{'s are' if number != 1 else ' is'} kept, without a pool, and Ready=False"
        if waiting:
            yield f"{waiting} waiting claim{'s are' if waiting != 1 else ' is'} deleted by the garbage collector"
    spaces = len(pool.status.namespaces or ())
    if spaces:
        yield f"its quota goes in {spaces} namespace{'s' * (spaces != 1)}: nothing limits these resources there then"
