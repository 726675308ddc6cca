"""An explanation in at most five lines."""

from __future__ import annotations

from kubectl_kres.render.verdict.brief import Brief, with_remedies
from kubectl_kres.render.verdict.headline import at_maximum, headline
from kubectl_kres.reports.common.explanation import Explanation


def brief(explanation: Explanation, more: str) -> Brief:
    """``more``: the command that gives the whole answer."""
    tone, word, text = headline(explanation)
    if explanation.remedies:
        return with_remedies(Brief(tone, word, text, next=more), explanation.remedies)
    reach = explanation.autoscaled
    short = reach is not None and reach.fits < reach.most
    return Brief(
        tone, word, text, remedy=explanation.note, warning=at_maximum(reach) if reach is not None and short else ""
    )
