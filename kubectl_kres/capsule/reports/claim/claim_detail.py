"""One claim in full: its row, the managed quota, what may be done to it, and what would unblock it."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from msgspec import structs

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim, ResourcePoolClaimSpec, quota_name
from kubectl_kres.capsule.reports.claim.claims import ClaimReport, Claims, ManagedQuota, QuotaLine, VerbEffect
from kubectl_kres.capsule.reports.common.amount_lists import parse_amounts
from kubectl_kres.capsule.reports.common.claim_state import HELD, WAITING, ClaimStanding
from kubectl_kres.capsule.reports.common.needs import is_whole, unread_of_claim
from kubectl_kres.capsule.reports.common.pool_index import STAYS, PoolIndex, excess_usage
from kubectl_kres.capsule.reports.common.tenancy import version_remarks
from kubectl_kres.capsule.reports.unblock.options import unblock_options
from kubectl_kres.capsule.rules.allocation import Amounts, add_amounts
from kubectl_kres.capsule.rules.webhooks import refuse_claim, refuse_deletion
from kubectl_kres.model.objects import ObjectRef, ResourceQuota
from kubectl_kres.reports.common.explanation import LastEdit
from kubectl_kres.reports.common.last_editor import last_edit
from kubectl_kres.wording import join_some

_VANISHES = "only a claim in use can be released; Capsule takes the annotation off and does nothing else"

#: Waiting claims whose remedies a list has, and claims of a pool up to which they are looked for.
_FEW, _LARGE = 10, 300


def claim_detail(claims: Claims, claim: ResourcePoolClaim) -> ClaimReport:
    """Return what could not be read is in ``unread``; without the pool the claim and its quota still say what
    they say.
    """
    context, meta = claims.index, claim.metadata
    claim_standing = context.states()[meta.namespace, meta.name]
    report = claims.report(claim)
    failed_reads = unread_of_claim(context, claim)
    queue_place = (
        structs.replace(report.queue, ahead=claims.claims_before(report)) if report.queue is not None else None
    )
    return structs.replace(
        report,
        queue=queue_place,
        notes=(*report.notes, *version_remarks(context.store, "pools")),
        fixes=unblock_options(context, claim, claim_standing),
        # What versions before 0.13 refuse is another matter, which nothing here was recorded from.
        allowed_actions=()
        if claim_standing.old
        else _list_permissions(
            claim, claim_standing, holds=report.state == "failed" and _is_listed_by_pool(context, claim)
        ),
        quota=find_managed_quota(context, claim),
        edits=_edits(claim),
        unread=failed_reads,
        complete=is_whole(failed_reads),
    )


def with_fixes(claims: Claims, reports: Sequence[ClaimReport]) -> list[ClaimReport]:
    """Return the rows of a list, with what would unblock each where few claims wait; of many that would take too
    long.
    """
    context = claims.index
    waiting = {report.subject for report in reports if report.is_waiting}
    if len(waiting) > _FEW:
        return list(reports)
    result = []
    for report in reports:
        ref = report.subject
        claim = context.store.get(ref.kind, ref.name, ref.namespace) if ref in waiting else None
        if claim is None or len(context.claims_of_pool(report.pool or report.wanted_pool)) > _LARGE:
            result.append(report)
        else:
            state = context.states()[ref.namespace, ref.name]
            result.append(structs.replace(report, fixes=unblock_options(context, claim, state)))
    return result


def find_managed_quota(context: PoolIndex, claim: ResourcePoolClaim) -> ManagedQuota | None:
    """Return the quota that a claim's pool keeps in its namespace; None where the claim has no pool, or nothing is
    known.
    """
    space = claim.metadata.namespace
    name = claim.status.pool.name if claim.status.pool is not None else claim.spec.pool
    if not name:
        return None
    ref = ObjectRef("ResourceQuota", quota_name(name), space)
    quota, pool = context.quota(name, space), context.pools.get(name)
    if quota is not None:
        over = excess_usage(quota)
        note = f"more is in use than it allows: {STAYS.format(join_some(sorted(over)))}" if over else ""
        return ManagedQuota(ref, tuple(_lines(quota, _held_in(context, name, space), pool, over)), note=note)
    return ManagedQuota(ref, missing=True) if context.quotas_known(name, space) else None


def _held_in(context: PoolIndex, pool: str, space: str) -> Amounts:
    """Return what the claims of a namespace hold, by the pool's status, or by their own where the pool is not known."""
    known = context.pools.get(pool)
    if known is not None:
        return add_amounts(
            parse_amounts(pool_claim.claims) for pool_claim in (known.status.claims or {}).get(space, ())
        )
    return add_amounts(
        parse_amounts(standings.claim.spec.claim)
        for standings in context.claims_of_pool(pool)
        if standings.claim.metadata.namespace == space and standings.standing.state in HELD
    )


def _lines(
    quota: ResourceQuota, claimed: Amounts, pool: ResourcePool | None, over: Container[str]
) -> Iterator[QuotaLine]:
    hard, used = parse_amounts(quota.spec.hard), parse_amounts(quota.status.used)
    defaults = parse_amounts(pool.spec.defaults) if pool is not None else {}
    for name in sorted(hard):
        yield QuotaLine(
            name,
            str(hard[name]),
            str(used[name]) if name in used else None,
            str(claimed[name]) if name in claimed else None,
            str(defaults[name]) if name in defaults else None,
            name in over,
        )


def _is_listed_by_pool(context: PoolIndex, claim: ResourcePoolClaim) -> bool:
    """Return whether the status of the claim's pool lists it."""
    pool = context.pool_of(claim)
    return pool is not None and context.entry(pool, claim) is not None


def _edits(claim: ResourcePoolClaim) -> Mapping[str, LastEdit]:
    """Return who last changed what is asked for, and of which pool."""
    fields = [*(f"spec.claim[{name}]" for name in sorted(claim.spec.claim or ())), "spec.pool"]
    last_edits = {field: last_edit(claim.metadata.managed_fields, field) for field in fields}
    return {field: edit for field, edit in last_edits.items() if edit is not None}


def _list_permissions(
    claim: ResourcePoolClaim, claim_standing: ClaimStanding, *, holds: bool = False
) -> tuple[VerbEffect, VerbEffect, VerbEffect]:
    """Change, delete, release. The webhooks go by the Bound condition, which lags behind the pods by a reconcile.

    ``holds``: its pool lists it, whatever its own conditions say.
    """
    other = structs.replace(claim, spec=ResourcePoolClaimSpec(claim.spec.pool, {"changed": "1"}))
    change, deletion = refuse_claim(other, claim), refuse_deletion(claim)
    return (
        VerbEffect(
            "change",
            change is None,
            change.message if change else "",
            "" if change else _format_change_effect(claim_standing),
        ),
        VerbEffect(
            "delete",
            deletion is None,
            deletion.message if deletion else "",
            "" if deletion else _format_deletion_effect(claim_standing, holds=holds),
        ),
        VerbEffect("release", claim_standing.state == "in use", effect=_format_release_effect(claim_standing)),
    )


def _format_change_effect(claim_standing: ClaimStanding) -> str:
    if claim_standing.state in HELD:
        return (
            "less, or more that fits, is taken over at once; more that does not fit costs it all that it holds; "
            "another pool loses it: no pool would count it"
        )
    if claim_standing.state in WAITING:
        return "keeps its place in the queue, and may name another pool"
    return "a change of its spec makes the controller look at it again; an annotation does not"


def _format_deletion_effect(claim_standing: ClaimStanding, *, holds: bool) -> str:
    if holds or claim_standing.state in HELD:
        return "what it holds is free at once, for whoever waits first"
    return "it holds nothing; claims behind it move up" if claim_standing.state in WAITING else "it holds nothing"


def _format_release_effect(claim_standing: ClaimStanding) -> str:
    if claim_standing.state != "in use":
        return _VANISHES
    return (
        "what it holds is free at once; its pods keep running, the quota of its namespace falls below their use; "
        "Capsule re-evaluates it only after a spec change (0.13.0 to 0.13.5 take the annotation off instead)"
    )
