"""What one evaluation knows, and what it may cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.policies.cel.base.errors import CostExceeded, NotComputed

#: What the server allows one expression, and one policy with one object.
PER_CALL, PER_POLICY = 1_000_000, 10_000_000


class EvaluationState:
    """What one evaluation knows. ``most``: the cost after which this program gives up; the server's is fixed."""

    __slots__ = ("cost", "lookup", "most", "parts", "variables")

    def __init__(self, lookup: Mapping[str, Any], most: int = PER_CALL) -> None:
        self.lookup: Mapping[str, Any] = lookup
        self.variables: dict[str, Any] = {}
        self.cost, self.most = 0, most
        self.parts = _PARTS_FOLLOWED if most < PER_CALL else _PARTS

    def charge(self, amount: int) -> None:
        """Raises CostExceeded, or NotComputed where this program stops before the server would."""
        self.cost += amount
        if self.cost > self.most:
            if self.most >= PER_CALL:
                raise CostExceeded
            raise NotComputed("an expression that costs too much to follow")

    def weigh(self, value: Any) -> None:
        """Count the parts of a list or map, which the cost does not: one list may hold another many times over.

        Raises NotComputed where they are too many to look at.
        """
        waiting = [value]
        while waiting:
            result = waiting.pop()
            items = result.values() if type(result) is dict else result
            self.parts -= len(result)
            if self.parts < 0:
                raise NotComputed("an expression that makes too large a value")
            waiting.extend(item for item in items if type(item) in CONTAINERS and item)


CONTAINERS = frozenset({list, dict})
#: Parts of lists and maps that one evaluation may look at.
_PARTS_FOLLOWED, _PARTS = 100_000, 10_000_000

Step = Callable[[EvaluationState], Any]
