"""What the refusal by a full quota compares: what is in use and what is asked for, with the quota's hard."""

from __future__ import annotations

from typing import NamedTuple

from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.quantity import Quantity, parse


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
    if not finding.used:
        return None
    return Overrun(parse(finding.used), parse(finding.asked), parse(finding.limit))


def asking_less(resource: str, found: Overrun) -> str:
    """The end of a sentence; empty where nothing is left, and for a pod, which cannot be less than one."""
    left = found.hard - found.used
    return "" if left.nano <= 0 or resource in {"pods", "count/pods"} else f", or ask for at most {left} in total"
