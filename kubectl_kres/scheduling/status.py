"""What a plugin says of a node, or of a pod before any node was looked at."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Code = Literal["Unschedulable", "UnschedulableAndUnresolvable", "Error"]

#: No other pod has to go for it, and none could: preemption does not look at the node.
UNRESOLVABLE: Code = "UnschedulableAndUnresolvable"
UNSCHEDULABLE: Code = "Unschedulable"


class Shortage(Struct, frozen=True, omit_defaults=True):
    """A resource of which a node has too little: CPU in thousandths, all others in units, bytes for memory.

    Source: noderesources/fit.go InsufficientResource.
    """

    resource: str
    requested: int
    used: int
    capacity: int

    @property
    def lacking(self) -> int:
        """How much more would have to be free."""
        return self.requested - (self.capacity - self.used)


class Rejection(Struct, frozen=True, omit_defaults=True):
    """Why a plugin rejects a pod. ``about``: the taint, the label, the claim or the selector that decides.

    Source: kube-scheduler framework/interface.go Status.
    """

    plugin: str
    code: Code
    reasons: tuple[str, ...]
    shortages: tuple[Shortage, ...] = ()
    about: str = ""

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)


class UncomputedFilter(Exception):
    """A filter depends on what is not computed here; the text says on what."""
