"""What one pod more than is wanted would lack."""

from __future__ import annotations

from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.explanation import Spare, Verdict
from kubectl_kres.reports.pod.verdict import word_of


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
