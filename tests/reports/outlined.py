"""The line of an object as its whole explanation has it: what the line that is made alone must be."""

from __future__ import annotations

from msgspec import structs

from kubectl_kres.reports.explanation import Explanation
from kubectl_kres.reports.outline import Outline
from kubectl_kres.reports.verdict import word_of


def outline_of(found: Explanation) -> Outline:
    first, *more = ("",) if word_of(found.verdict) in {"admitted", "full"} else found.remedies
    remedy = f"{first} (and {len(more)} more)" if more else first
    verdict = structs.replace(found.verdict, message="", causes=(), others=())
    quality = found.qos.name if found.qos is not None else ""
    return Outline(found.subject, verdict, quality, remedy, found.unseen, found.complete)
