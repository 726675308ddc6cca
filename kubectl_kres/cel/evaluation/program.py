"""One expression: compiled once, evaluated often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.cel.base.errors import EvalError, NotComputed
from kubectl_kres.cel.base.state import PER_CALL, State
from kubectl_kres.cel.base.types import Type
from kubectl_kres.cel.evaluation.check import check
from kubectl_kres.cel.evaluation.environment import Environment
from kubectl_kres.cel.evaluation.evaluate import plan
from kubectl_kres.cel.syntax.parse import parse


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
