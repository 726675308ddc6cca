"""Rules about claims on resource pools: KRES105 can never be allocated, KRES106 waits for others."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.reports.claim.claims import Claims
from kubectl_kres.capsule.reports.common.claim_state import STUCK, WAITING
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.check.context import CheckContext, Rule, exceeds_pool
from kubectl_kres.reports.check.finding import Diagnostic

#: States from which nothing but an edit leads.
_ENDED = frozenset({"failed", "unassigned"})


def find_claim_never(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the claims that ask for more than their pool has, and those that no pool takes."""
    for claim, claim_standing in context.pools.claims:
        if claim_standing.state not in STUCK:
            continue
        reason_text = (
            exceeds_pool(context.pools, claim)
            if claim_standing.state in WAITING
            else claim_standing.reason
            if claim_standing.state in _ENDED
            else ""
        )
        if reason_text:
            meta = claim.metadata
            yield Diagnostic(
                ObjectRef("ResourcePoolClaim", meta.name, meta.namespace), {"why": reason_text}, "spec.claim"
            )


CLAIM_NEVER = Rule(
    code="KRES105",
    title="a claim can never be allocated",
    severity="error",
    reason="The claim never gets anything, and in an ordered queue those behind it for the same resource wait.",
    remedy="Ask for less, or raise the pool's spec.quota.hard.",
    message="it can never be allocated: {why}",
    find=find_claim_never,
    scope="cluster",
)


def find_claim_waits(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the claims in a queue that the pool could serve if others gave way."""
    reports = Claims(context.pools)
    for claim, claim_standing in context.pools.claims:
        if claim_standing.state not in WAITING or exceeds_pool(context.pools, claim):
            continue
        report = reports.report(claim)
        behind = [amount.name for amount in report.amounts if amount.behind is not None]
        lacks = [f"{amount} of {name}" for name, amount in report.missing_amounts.items()]
        reason = f"it lacks {' and '.join(lacks)}" if lacks else f"earlier claims wait for {' and '.join(behind)}"
        if lacks or behind:
            yield Diagnostic(
                report.subject, {"state": claim_standing.state, "pool": report.pool, "why": reason}, "spec.claim"
            )


CLAIM_WAITS = Rule(
    code="KRES106",
    title="a claim waits",
    severity="warning",
    reason="Its namespace has less than it asked for until other claims are released or the pool grows.",
    remedy="Its answer names the smallest changes that unblock it.",
    message="{state} in pool {pool}: {why}",
    find=find_claim_waits,
    scope="cluster",
)

RULES = (
    CLAIM_NEVER,
    CLAIM_WAITS,
)
