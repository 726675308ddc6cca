"""What a rule is."""

from __future__ import annotations

from msgspec import Struct


class CataloguedRule(Struct, frozen=True):
    """What a rule does, in one sentence, and where the real system does it. ``gate``: it needs this feature gate."""

    title: str
    source: str
    gate: str = ""
