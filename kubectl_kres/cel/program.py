"""One expression: compiled once, evaluated often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.cel.check import check
from kubectl_kres.cel.environment import Environment
from kubectl_kres.cel.errors import EvalError, NotComputed
from kubectl_kres.cel.evaluate import plan
from kubectl_kres.cel.parse import parse
from kubectl_kres.cel.state import PER_CALL, State
from kubectl_kres.cel.types import Type


class Program:
    """What can be evaluated. ``kind`` is the static type of the result."""

    def __init__(self, source: str, environment: Environment) -> None:
        try:
            node = parse(source, environment.version)
            self.kind: Type = check(source, node, environment)
            self._step = plan(node, environment)
        except RecursionError:
            raise NotComputed("an expression nested too deeply") from None
        self.source = source

    def evaluate(self, lookup: Mapping[str, Any], most: int = PER_CALL) -> tuple[Any, int]:
        """The value and its cost. ``lookup``: variables; one that is callable is asked each time.

        Raises EvalError, CostExceeded, NotComputed.
        """
        state = State(lookup, most)
        try:
            value = self._step(state)
        except RecursionError:
            raise NotComputed("an expression nested too deeply") from None
        except (OverflowError, MemoryError, ValueError, TypeError, AttributeError) as error:
            raise EvalError("no such overload") from error
        return value, state.cost


def compile_expression(source: str, environment: Environment) -> Program:
    """Raises CompileError with cel-go's words, or NotComputed."""
    return Program(source, environment)
