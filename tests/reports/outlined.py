"""The line of an object as its whole explanation has it: what the line that is made alone must be."""

from __future__ import annotations

from kubectl_kres.reports.explanation import Explanation
from kubectl_kres.reports.outline import Outline


def outline_of(found: Explanation) -> Outline:
    allowed = found.verdict.allowed
    first, *more = ("",) if allowed is True else found.remedies
    remedy = f"{first} (and {len(more)} more)" if more else first
    quality = found.qos.name if found.qos is not None else ""
    return Outline(found.subject, allowed, quality, remedy, found.unseen, found.complete)
