"""What is looked at after the types: constant arguments that cannot work, literals of mixed types.

Source: cel-go cel/validator.go, ext/formatting.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kubectl_kres.policies.cel.base.types import DYN, Type, substitute
from kubectl_kres.policies.cel.libraries.regex import compile_pattern
from kubectl_kres.policies.cel.libraries.regex_tree import BadPattern
from kubectl_kres.policies.cel.libraries.strings import CLAUSES, FormatFault, format_string, wrong_clause
from kubectl_kres.policies.cel.libraries.times import parse_duration, parse_timestamp
from kubectl_kres.policies.cel.syntax.ast import Call, ListNode, Literal, MapNode, SyntaxNode
from kubectl_kres.policies.cel.syntax.walk import children, every


class Literals:
    """Of one checked tree; ``report`` takes a node and a text."""

    def __init__(self, bound: Mapping[Type, Type], report: Callable[[SyntaxNode, str], None]) -> None:
        self.bound, self.report = bound, report

    def validate(self, root: SyntaxNode) -> None:
        nodes = list(every(root))
        for node in nodes:
            if isinstance(node, Call):
                self._constants(node)
        self._mixed(root, exempt=False)
        for node in nodes:
            if isinstance(node, Call) and node.function == "format" and node.target is not None:
                self._format(node)

    def _constants(self, node: Call) -> None:
        first = node.args[0] if node.args else None
        if not isinstance(first, Literal) or not isinstance(first.value, str):
            return
        wrong = False
        if node.function == "duration":
            wrong = parse_duration(first.value) is None
        elif node.function == "timestamp":
            wrong = parse_timestamp(first.value) is None
        elif node.function == "matches":
            wrong = _bad_pattern(first.value)
        if wrong:
            self.report(first, f"invalid {node.function} argument")

    def _kind(self, node: SyntaxNode) -> Type:
        return substitute(self.bound, node.type or DYN, free_to_dyn=True)

    def _mixed(self, node: SyntaxNode, *, exempt: bool) -> None:
        if not exempt and isinstance(node, ListNode):
            self._same([(item, index in node.optional) for index, item in enumerate(node.items)], first_only=True)
        if not exempt and isinstance(node, MapNode):
            self._same([(entry.key, False) for entry in node.entries])
            self._same([(entry.value, entry.optional) for entry in node.entries])
        inside = exempt or (isinstance(node, Call) and node.function == "format")
        for child in children(node):
            self._mixed(child, exempt=inside)

    def _same(self, items: Sequence[tuple[SyntaxNode, bool]], *, first_only: bool = False) -> None:
        first: Type | None = None
        for node, optional in items:
            kind = self._kind(node)
            kind = kind.params[0] if optional and kind.params else kind
            if first is None:
                first = kind
            elif not _equivalent(first, kind):
                self.report(node, f"expected type '{first}' but found '{kind}'")
                if first_only:
                    return

    def _format(self, node: Call) -> None:
        text, args = node.target, node.args[0] if len(node.args) == 1 else None
        if not isinstance(text, Literal) or not isinstance(text.value, str) or not isinstance(args, ListNode):
            return
        items = args.items

        def formatted(letter: str, _precision: int | None, index: int) -> str:
            bad = self._unformattable(letter, items[index])
            if bad is not None:
                raise FormatFault(wrong_clause(letter, _runtime_name(self._kind(bad))), index)
            return ""

        try:
            used = format_string(text.value, len(items), formatted)[1]
        except FormatFault as fault:
            place = node if fault.index is None else items[fault.index]
            self.report(place, fault.message)
            return
        if len(items) > used:
            told = f"too many arguments supplied to string.format (expected {used}, got {len(items)})"
            self.report(node, told)

    def _unformattable(self, letter: str, node: SyntaxNode) -> SyntaxNode | None:
        """The part that the clause does not take; None: all fits, as far as is known."""
        kind = self._kind(node)
        if kind != DYN and _runtime_name(kind) not in CLAUSES[letter][0]:
            return node
        if letter == "s":
            parts: list[Any] = []
            if isinstance(node, ListNode):
                parts = node.items
            elif isinstance(node, MapNode):
                parts = [part for entry in node.entries for part in (entry.key, entry.value)]
            return next((bad for part in parts if (bad := self._unformattable("s", part)) is not None), None)
        return None


def _runtime_name(kind: Type) -> str:
    return {"null": "null_type", "timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration"}.get(
        kind.name, kind.name
    )


def _equivalent(value: Type, other: Type) -> bool:
    """Of the same kind with the same parameters; dyn is only like dyn."""
    return (
        value.kind == other.kind
        and value.name == other.name
        and len(value.params) == len(other.params)
        and all(_equivalent(a, b) for a, b in zip(value.params, other.params, strict=True))
    )


def _bad_pattern(text: str) -> bool:
    try:
        compile_pattern(text)
    except BadPattern:
        return True
    return False
