"""How many more objects of one cost there is room for, and what one more than is wanted would lack."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_kres.admission.base.outcome import Finding, Outcome, QuotaCharge
from kubectl_kres.admission.quota.quota_admission import charges
from kubectl_kres.admission.request.new_pod import quota_request
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Spare, Verdict
from kubectl_kres.reports.pod.verdict import word_of


def room_for(charge: QuotaCharge) -> int | None:
    """How often the charge still fits the quota; None if it costs nothing."""
    rooms = [
        (parse(charge.hard[name]).nano - parse(charge.used[name]).nano) // parse(asked).nano
        for name, asked in charge.requested.items()
        if parse(asked).nano > 0
    ]
    return max(0, min(rooms)) if rooms else None


def pods_in_a_row(outcome: Outcome, analysis: Analysis) -> int | None:
    """How many pods in a row are admitted where each ends as ``outcome``; None: as many as one likes."""
    claims = analysis.claims
    if outcome.refusal is not None or outcome.draft is None:
        return 0
    costs = charges(quota_request(analysis.start.pod, outcome.draft), analysis.known.policies.quotas)
    rooms = [room_for(cost) for cost in costs]
    if claims is not None:
        # Pods whose claims are there come first.
        more = least(room_for(cost) for cost in claims.charges)
        rooms.append(None if more is None else claims.ready + more)
    return least(rooms)


def least(counts: Iterable[int | None]) -> int | None:
    """The smallest count, where None is any number."""
    known = [count for count in counts if count is not None]
    return min(known) if known else None


def spare_of(verdict: Verdict) -> tuple[Spare, ...]:
    """Empty unless the verdict is ``full``."""
    if word_of(verdict) != "full":
        return ()
    text = verdict.message
    return tuple(
        Spare(text := finding.text or text, finding.resource, str(short_by(finding) or ""), finding.source)
        for finding in verdict.findings
    )


def short_by(finding: Finding) -> Quantity | None:
    """By how much a quota is short; None for what is refused for another reason."""
    if finding.rule != "quota/exceeded":
        return None
    used, asked, limit = parse(finding.used), parse(finding.asked), parse(finding.limit)
    return asked + used - limit
