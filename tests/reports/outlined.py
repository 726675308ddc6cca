"""The line of an object as its whole explanation has it: what the line that is made alone must be."""

from __future__ import annotations

from msgspec import structs

from kubectl_kres.reports.explanation import Explanation
from kubectl_kres.reports.outline import Outline


def outline_of(found: Explanation) -> Outline:
    """Without what mends it, which a list says without trying it."""
    verdict = structs.replace(found.verdict, message="", causes=(), others=())
    quality = found.qos.name if found.qos is not None else ""
    return Outline(found.subject, verdict, quality, "", found.unseen, found.complete)


def without_remedy(outline: Outline) -> Outline:
    return structs.replace(outline, remedy="")
