"""The syntax tree of an expression, and its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubectl_kres.policies.cel.base.types import Type


class SyntaxNode:
    """A part of an expression; ``offset`` is where its errors point to, ``type`` what the checker found."""

    __slots__ = ("offset", "type")

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.type: Type | None = None


class Literal(SyntaxNode):
    """A value written down."""

    __slots__ = ("kind", "value")

    def __init__(self, offset: int, kind: Type, value: Any) -> None:
        super().__init__(offset)
        self.kind, self.value = kind, value


class Ident(SyntaxNode):
    """A name; the checker may find that a chain of selections is one name."""

    __slots__ = ("name",)

    def __init__(self, offset: int, name: str) -> None:
        super().__init__(offset)
        self.name = name


class Select(SyntaxNode):
    """``operand.field``; with ``test`` what ``has()`` asks, with ``optional`` ``operand.?field``."""

    __slots__ = ("field", "operand", "optional", "resolved", "test")

    def __init__(
        self, offset: int, operand: SyntaxNode, field: str, *, test: bool = False, optional: bool = False
    ) -> None:
        super().__init__(offset)
        self.operand, self.field, self.test, self.optional = operand, field, test, optional
        self.resolved: str | None = None


class Call(SyntaxNode):
    """A function or an operator (``_+_``); ``target`` is what a method is called on."""

    __slots__ = ("args", "function", "overloads", "target")

    def __init__(self, offset: int, function: str, args: list[SyntaxNode], target: SyntaxNode | None = None) -> None:
        super().__init__(offset)
        self.function, self.args, self.target = function, args, target
        self.overloads: tuple[Any, ...] = ()


class ListNode(SyntaxNode):
    """``[a, ?b]``; ``optional`` holds the positions with a question mark."""

    __slots__ = ("items", "optional")

    def __init__(self, offset: int, items: list[SyntaxNode], optional: frozenset[int] = frozenset()) -> None:
        super().__init__(offset)
        self.items, self.optional = items, optional


class Entry(SyntaxNode):
    """One ``key: value`` of a map (``key`` a node) or a message (a name)."""

    __slots__ = ("key", "optional", "value")

    def __init__(self, offset: int, key: Any, value: SyntaxNode, *, optional: bool) -> None:
        super().__init__(offset)
        self.key, self.value, self.optional = key, value, optional


class MapNode(SyntaxNode):
    """``{key: value}``."""

    __slots__ = ("entries",)

    def __init__(self, offset: int, entries: list[Entry]) -> None:
        super().__init__(offset)
        self.entries = entries


class Message(SyntaxNode):
    """``Name{field: value}``."""

    __slots__ = ("entries", "name")

    def __init__(self, offset: int, name: str, entries: list[Entry]) -> None:
        super().__init__(offset)
        self.name, self.entries = name, entries


class Loop(SyntaxNode):
    """A macro that runs over a list or a map: all, exists, map, filter and the rest."""

    __slots__ = ("body", "condition", "kind", "over", "variables")

    def __init__(
        self,
        offset: int,
        kind: str,
        over: SyntaxNode,
        variables: tuple[str, ...],
        body: SyntaxNode,
        condition: SyntaxNode | None,
    ) -> None:
        super().__init__(offset)
        self.kind, self.over, self.variables, self.body, self.condition = kind, over, variables, body, condition


class OptMap(SyntaxNode):
    """``optional.optMap(v, expr)`` and optFlatMap."""

    __slots__ = ("body", "flat", "operand", "variable")

    def __init__(self, offset: int, operand: SyntaxNode, variable: str, body: SyntaxNode, *, flat: bool) -> None:
        super().__init__(offset)
        self.operand, self.variable, self.body, self.flat = operand, variable, body, flat


def children(node: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield the parts of a node."""
    if isinstance(node, Select):
        yield node.operand
    elif isinstance(node, Call):
        yield from ([] if node.target is None else [node.target])
        yield from node.args
    elif isinstance(node, ListNode):
        yield from node.items
    elif isinstance(node, MapNode | Message):
        for entry in node.entries:
            yield from (part for part in (entry.key, entry.value) if isinstance(part, SyntaxNode))
    elif isinstance(node, Loop):
        yield from (part for part in (node.over, node.condition, node.body) if part is not None)
    elif isinstance(node, OptMap):
        yield from (node.operand, node.body)


def walk_nodes(node: SyntaxNode) -> Iterator[SyntaxNode]:
    yield node
    for child in children(node):
        yield from walk_nodes(child)
