"""Why a claim is where it is: the choice of its pool, the checks, the queue, the conditions and the managed quota."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.model import CapsuleCondition, ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.reports.claim.claim_detail import claim_detail
from kubectl_kres.capsule.reports.claim.claim_report import ClaimReport
from kubectl_kres.capsule.reports.claim.claims import Claims
from kubectl_kres.capsule.reports.common.amount_lists import parsed
from kubectl_kres.capsule.reports.common.claim_state import HELD
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.common.pool_room import shares
from kubectl_kres.capsule.reports.explain.claim_or_pool import ClaimExplanation, PoolOption, Says
from kubectl_kres.capsule.reports.explain.queue_turns import shown_turns, turns_of
from kubectl_kres.capsule.rules.allocation import ClaimTurn, key_of
from kubectl_kres.capsule.rules.assignment import steps
from kubectl_kres.capsule.rules.choice import choose
from kubectl_kres.capsule.rules.conditions import lines, told
from kubectl_kres.capsule.rules.managed import terms_of
from kubectl_kres.provenance.journal import Check, Source
from kubectl_kres.reports.common.resource_lists import listed
from kubectl_kres.reports.common.scope_words import scope_words


def explain_claim(scene: PoolIndex, claim: ResourcePoolClaim) -> ClaimExplanation:
    """What needs the pool, or the claims of others, is left out where these could not be read."""
    report = claim_detail(Claims(scene), claim)
    pool = scene.pool_of(claim)
    served = pool is not None and scene.claims_known(pool) and claim.metadata.namespace in scene.spaces(pool)
    turns = turns_of(scene, pool) if pool is not None and served else ()
    mine = next((turn for turn in turns if key_of(turn.candidate.claim) == key_of(claim)), None)
    options = tuple(_options(scene, claim)) if scene.pools_known and report.state not in HELD else ()
    return ClaimExplanation(
        report,
        _chosen(scene, claim, report, options),
        options,
        tuple(_checks(scene, claim)) if pool is not None or scene.pools_known else (),
        tuple(shown_turns(turns, claim)) if mine is not None else (),
        tuple(conditions_of(_conditions(claim), mine)),
        terms_of(pool, [share for share in shares(pool) if share.namespace == claim.metadata.namespace])
        if pool
        else (),
    )


def _options(scene: PoolIndex, claim: ResourcePoolClaim) -> Iterator[PoolOption]:
    choice = choose(claim.metadata.namespace, parsed(claim.spec.claim), scene.pools.values())
    for option in choice.options:
        scopes = scope_words(scene.pools[option.pool].spec.quota)
        named = option.pool == claim.spec.pool
        yield PoolOption(option.pool, option.verdict, option.missing, option.short, named, scopes, "capsule/choice")


def _chosen(scene: PoolIndex, claim: ResourcePoolClaim, report: ClaimReport, options: tuple[PoolOption, ...]) -> str:
    """How the claim came to its pool. Whether a pool was written by the user or chosen, nothing in the claim says."""
    name, wanted = report.pool, claim.spec.pool
    if name and name != wanted:
        return f"it is in pool {name} still, and names {wanted or 'none'} now"
    if wanted:
        edit = report.edits.get("spec.pool")
        by = f", written by {edit.manager}" if edit is not None else ""
        return f"it names pool {wanted}{by}; where a claim names none, one is chosen when it is written"
    if not scene.pools_known:
        return "it names no pool; which pools serve its namespace could not be read"
    fitting = [option.pool for option in options if not option.missing]
    if fitting:
        return f"it names no pool; {listed(fitting)} would be chosen if it were written again, as by an annotation"
    return "it names no pool, and none that serves its namespace has all the resources that it names"


def _checks(scene: PoolIndex, claim: ResourcePoolClaim) -> Iterator[Check]:
    """The checks of the claim controller in their order, up to the first that refuses."""
    meta = claim.metadata
    source = Source("ResourcePoolClaim", meta.name, meta.namespace, "spec.pool")
    for step in steps(claim, scene.pools):
        yield Check("spec", step.rule, not step.fault, message=" or ".join(step.fault), source=source)


def _conditions(claim: ResourcePoolClaim) -> tuple[CapsuleCondition, ...]:
    if claim.status.conditions is None and claim.status.condition is not None:
        return (claim.status.condition,)
    return claim.status.conditions or ()


def conditions_of(capsule_conditions: tuple[CapsuleCondition, ...], turn: ClaimTurn | None = None) -> Iterator[Says]:
    """Conditions as they are; Exhausted also as it would be written now, where that is something else."""
    for capsule_condition in capsule_conditions:
        computed = ""
        if capsule_condition.type == "Exhausted" and turn is not None:
            now = turn.message() if not turn.allocated else ""
            before = capsule_condition.message if capsule_condition.status == "True" else ""
            computed = (now or "resource claimable from pool") if lines(now) != lines(before) else ""
        yield Says(
            capsule_condition.type,
            capsule_condition.status,
            capsule_condition.reason,
            told(capsule_condition),
            capsule_condition.last_transition_time or "",
            computed,
        )


def pool_conditions(pool: ResourcePool) -> tuple[Says, ...]:
    """The conditions of a pool."""
    return tuple(conditions_of(pool.status.conditions or ()))
