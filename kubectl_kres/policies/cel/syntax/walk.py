"""The parts of a syntax tree."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.policies.cel.syntax.ast import Call, ListNode, Loop, MapNode, Message, OptMap, Select, SyntaxNode


def children(node: SyntaxNode) -> Iterator[SyntaxNode]:
    """The parts of a node."""
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


def every(node: SyntaxNode) -> Iterator[SyntaxNode]:
    yield node
    for child in children(node):
        yield from every(child)
