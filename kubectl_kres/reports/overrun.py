"""What the refusal by a full quota compares: what is in use and what is asked for, with the quota's hard."""

from __future__ import annotations

import re
from typing import NamedTuple

from kubectl_kres.admission.outcome import Finding
from kubectl_kres.quantity import Quantity, parse

_OBSERVED = re.compile(r"used (\S+) \+ (\S+)")


class Overrun(NamedTuple):
    """Amounts of one resource; ``asked`` is what the request adds."""

    used: Quantity
    asked: Quantity
    hard: Quantity

    @property
    def after(self) -> Quantity:
        """What would be in use."""
        return self.used + self.asked

    @property
    def lack(self) -> Quantity:
        """By how much that is more than the quota allows."""
        return self.after - self.hard


def overrun(finding: Finding) -> Overrun | None:
    """None for a finding that does not say what is in use."""
    texts = _OBSERVED.fullmatch(finding.observed)
    return Overrun(parse(texts[1]), parse(texts[2]), parse(finding.bound)) if texts is not None else None


def asking_less(resource: str, found: Overrun) -> str:
    """The end of a sentence; empty where nothing is left, and for a pod, which cannot be less than one."""
    left = found.hard - found.used
    return "" if left.nano <= 0 or resource in {"pods", "count/pods"} else f", or ask for at most {left} in all"
