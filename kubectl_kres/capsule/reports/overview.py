"""What overview and timeline have of pools and claims: their areas, and what conditions say happened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.reports.claim.claim_detail import claim_detail
from kubectl_kres.capsule.reports.claim.claims import ClaimReport, Claims
from kubectl_kres.capsule.reports.common.claim_state import WAITING
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.pool.pool_report import PoolReport, PoolUse
from kubectl_kres.capsule.reports.pool.pools import pool_report
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.provenance.journal import Source
from kubectl_kres.reports.common.explanation import Fact
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.resource_lists import NEARLY_FULL
from kubectl_kres.reports.common.system import Severity, TimelineEvent
from kubectl_kres.reports.overview import AreaInput, AreaMaker, AreaWithRemedies, OverviewArea, Problem, parts_of
from kubectl_kres.reports.waiting import WaitingObject

#: States of claims from the worst on.
CLAIM_STATES: Mapping[str, Severity] = {
    "failed": "bad",
    "lost": "bad",
    "exhausted": "bad",
    "unassigned": "warn",
    "queued": "warn",
    "pending": "warn",
    "released": "warn",
    "allocated": "",
    "in use": "",
}
#: States of pools from the worst on.
POOL_STATES: Mapping[str, Severity] = {
    "over-claimed": "bad",
    "failing": "bad",
    "exhausted": "warn",
    "nearly full": "warn",
    "ok": "",
}
#: Claims of a pool up to which it is computed what would unblock one.
FEW = 60


def claim_severity(report: ClaimReport) -> Severity:
    """Return the severity of a claim's state; a served claim with a note is a warning."""
    return CLAIM_STATES[report.state] or ("warn" if report.notes else "")


def state_since(claim: ResourcePoolClaim, report: ClaimReport) -> str:
    """Return when the condition that decides came to be as it is; else when the claim was created."""
    decides = "Exhausted" if report.state in WAITING else "Ready"
    result = {condition.type: condition.last_transition_time for condition in claim.status.conditions or ()}
    return result.get(decides) or report.created


def waits_for_pool(claim: ResourcePoolClaim, report: ClaimReport) -> WaitingObject:
    """Return that a claim waits for its pool, with its place in the queue and what is missing."""
    place, pool = report.queue, ObjectRef("ResourcePool", report.pool or report.wanted_pool)
    position, length = (place.position, place.length) if place is not None else (0, 0)
    closed = tuple(amount.name for amount in report.amounts if amount.closed_by_amount is not None)
    missing, since = report.missing_amounts, state_since(claim, report)
    return WaitingObject(report.subject, pool, position, length, missing, closed, report.reason, since)


def _claims(context: AreaInput) -> AreaWithRemedies:
    index = PoolIndex(context.store)
    making = Claims(index)
    rows = [
        (claim, making.report(claim)) for claim in context.store.all("ResourcePoolClaim", context.namespace or None)
    ]
    counts: dict[str, int] = {}
    for _, report in rows:
        counts[report.state] = counts.get(report.state, 0) + 1
    problems = [_claim(claim, report) for claim, report in rows if claim_severity(report)]
    order = list(CLAIM_STATES)
    problems.sort(key=lambda problem: (problem.severity != "bad", order.index(problem.state)))
    parts = parts_of(counts, CLAIM_STATES)
    area = OverviewArea("claims", "ResourcePoolClaim", len(rows), parts, problems=tuple(problems[: context.listed]))

    def remedies(problem: Problem) -> tuple[Remedy, ...]:
        claim = context.store.get("ResourcePoolClaim", problem.subject.name, problem.subject.namespace)
        if claim is None or len(index.claims_of_pool(claim.spec.pool)) > FEW:
            return ()
        options = claim_detail(making, claim).fixes
        return tuple(
            Remedy(option.text, commands=tuple(deed.command for deed in option.actions if deed.command))
            for option in options
        )

    return AreaWithRemedies(area, remedies)


def _claim(claim: ResourcePoolClaim, report: ClaimReport) -> Problem:
    behind = tuple(amount.name for amount in report.amounts if amount.closed_by_amount is not None)
    return Problem(
        "claims",
        report.subject,
        claim_severity(report),
        report.state,
        short_by=report.missing_amounts,
        closed_resources=behind if report.state == "queued" else (),
        reason=report.reason if not report.missing_amounts and report.state != "queued" else "",
        since=state_since(claim, report) if report.is_waiting else "",
    )


def tight_use(report: PoolReport) -> PoolUse | None:
    """Return the resource with the least left in proportion."""
    return max(report.uses, key=lambda use: (use.is_exceeded, use.wanted is not None, use.percent or 0), default=None)


def pool_state(report: PoolReport) -> str:
    """Return a word of ``POOL_STATES``."""
    if any(use.is_exceeded for use in report.uses):
        return "over-claimed"
    if report.ready is False:
        return "failing"
    if report.exhausted or report.queue:
        return "exhausted"
    return "nearly full" if any((use.percent or 0) >= NEARLY_FULL for use in report.uses) else "ok"


def _pools(context: AreaInput) -> AreaWithRemedies:
    index = PoolIndex(context.store)
    reports = [pool_report(index, pool) for pool in context.store.all("ResourcePool")]
    counts: dict[str, int] = {}
    problems: list[Problem] = []
    serving = 0
    for report in reports:
        state = pool_state(report)
        elsewhere = bool(context.namespace) and context.namespace not in {space.name for space in report.namespaces}
        serving += not elsewhere
        if not elsewhere:
            counts[state] = counts.get(state, 0) + 1
        if POOL_STATES[state]:
            problems.append(replace(_pool(report, state), elsewhere=elsewhere))
    problems.sort(key=lambda problem: list(POOL_STATES).index(problem.state))
    parts = parts_of(counts, POOL_STATES)
    return AreaWithRemedies(
        OverviewArea("pools", "ResourcePool", serving, parts, problems=tuple(problems[: context.listed]))
    )


def _pool(report: PoolReport, state: str) -> Problem:
    use, waiting = tight_use(report), len(report.queue or ())
    severity = POOL_STATES[state]
    if use is None:
        return Problem("pools", report.subject, severity, state, waiting=waiting)
    return Problem(
        "pools",
        report.subject,
        severity,
        state,
        use.name,
        str(use.claimed),
        str(use.hard),
        use.percent,
        waiting=waiting,
    )


AREAS = (
    AreaMaker("claims", ("ResourcePoolClaim", "ResourcePool"), _claims),
    AreaMaker("pools", ("ResourcePool", "ResourcePoolClaim", "Namespace"), _pools, everywhere=True),
)


#: What is no trouble, and what passes by itself. Source: Capsule's pkg/api/meta/conditions.go.
_SEVERITIES: Mapping[str, Severity] = {
    "NoExhaustions": "",
    "InUse": "",
    "Unused": "",
    "QueueExhausted": "warn",
}


def timeline_events(item: ResourcePool | ResourcePoolClaim) -> Iterator[TimelineEvent]:
    """Yield a condition with what it says; that all is well with the object itself is left out.

    Of a claim that holds nothing ``Bound`` repeats what ``Exhausted`` says.
    """
    source = Source(item.kind, item.metadata.name, item.metadata.namespace)
    for condition in item.status.conditions or ():
        wanted = condition.status != "True" if condition.type == "Ready" else condition.reason != "Failed"
        if wanted and not (isinstance(item, ResourcePool) and condition.reason == "NoExhaustions"):
            field_source = source.at_path(f"status.conditions[{condition.type}]")
            fact = Fact(condition.reason, condition.message, field_source, condition.last_transition_time or "")
            yield TimelineEvent(fact, _SEVERITIES.get(condition.reason, "bad"))
