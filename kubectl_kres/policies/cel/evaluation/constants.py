"""What a server works out while it plans an expression: conversions of constants, constant patterns, ``in`` of nothing.

A fault there refuses the policy. Source: cel-go interpreter/decorators.go, apiserver pkg/cel/library/regex.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.policies.cel.base.errors import EvalError, InstantiationError
from kubectl_kres.policies.cel.base.state import EvaluationState, Step
from kubectl_kres.policies.cel.libraries.regex import compile_pattern
from kubectl_kres.policies.cel.libraries.regex_tree import BadPattern
from kubectl_kres.policies.cel.syntax.ast import Call, ListNode, Literal, MapNode, SyntaxNode
from kubectl_kres.policies.cel.syntax.walk import children

_CONVERSIONS = frozenset(
    {"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"}
)  # fmt: skip
_PATTERNS = frozenset({"find", "findAll"})
_NOTHING: Mapping[str, Any] = {}


def check_constants(root: SyntaxNode, planned: Callable[[SyntaxNode], Step]) -> None:
    """Raises InstantiationError with the server's words."""
    _is_constant(root, planned)


def _is_constant(node: SyntaxNode, planned: Callable[[SyntaxNode], Step]) -> bool:
    """Whether the server knows the value before it has seen an object; parts are looked at in its order."""
    constant = [_is_constant(child, planned) for child in children(node)]
    if isinstance(node, Literal):
        return True
    if isinstance(node, ListNode | MapNode):
        return all(constant)
    if not isinstance(node, Call):
        return False
    if node.function in _PATTERNS and node.target is not None:
        _check_pattern(node.args[0])
        return False
    if node.function == "@in" and isinstance(node.args[1], ListNode):
        return not node.args[1].items
    if node.function in _CONVERSIONS and node.target is None and constant == [True]:
        try:
            planned(node)(EvaluationState(_NOTHING))
        except EvalError as error:
            raise InstantiationError(error.message) from None
        return True
    return False


def _check_pattern(node: SyntaxNode) -> None:
    if isinstance(node, Literal) and isinstance(node.value, str):
        try:
            compile_pattern(node.value)
        except BadPattern as fault:
            raise InstantiationError(str(fault)) from None
