"""What one evaluation knows, and what it may cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.cel.base.errors import CostExceeded, NotComputed

#: What the server allows one expression, and one policy with one object.
PER_CALL, PER_POLICY = 1_000_000, 10_000_000


class State:
    """What one evaluation knows. ``most``: the cost after which this program gives up; the server's is fixed."""

    __slots__ = ("cost", "lookup", "most", "variables")

    def __init__(self, lookup: Mapping[str, Any], most: int = PER_CALL) -> None:
        self.lookup: Mapping[str, Any] = lookup
        self.variables: dict[str, Any] = {}
        self.cost, self.most = 0, most

    def charge(self, amount: int) -> None:
        """Raises CostExceeded, or NotComputed where this program stops before the server would."""
        self.cost += amount
        if self.cost > self.most:
            if self.most >= PER_CALL:
                raise CostExceeded
            raise NotComputed("an expression that costs too much to follow")


Step = Callable[[State], Any]
