"""How many more objects of one cost there is room for."""

from __future__ import annotations

from kubectl_kres.admission.outcome import QuotaCharge
from kubectl_kres.quantity import parse


def room_for(charge: QuotaCharge) -> int | None:
    """How often the charge still fits the quota; None if it costs nothing."""
    rooms = [
        (parse(charge.hard[name]).nano - parse(charge.used[name]).nano) // parse(asked).nano
        for name, asked in charge.requested.items()
        if parse(asked).nano > 0
    ]
    return max(0, min(rooms)) if rooms else None
