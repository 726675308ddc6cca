"""A rule of the catalogue."""

from __future__ import annotations

from msgspec import Struct


class CataloguedRule(Struct, frozen=True):
    """What a rule does, in one sentence, and where the real system does it. ``gate``: it needs this feature gate.

    ``by_hand``: what there is to do about its refusals where no edit can be computed. ``refuses`` False: it sets, sums
    up or supposes something. Of Kubernetes' own both stand in ``reports.remedies.pod_remedy``.
    """

    title: str
    source: str
    gate: str = ""
    by_hand: str = ""
    refuses: bool = True


class CodeAdvice(Struct, frozen=True):
    """What to do about refusals by some rules, in a clause, and the name of the runbook; empty: there is none."""

    text: str
    runbook: str = ""


#: What stands for a source where something could not be known and was supposed.
SUPPOSED = "assumed, and named in the answer"
