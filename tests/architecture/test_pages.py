"""The pages of commands keep nothing of their answers: what they know is given to them when they are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from architecture.modules import trees

#: Methods that change the list, set or dictionary that they belong to.
_CHANGING = {"append", "extend", "insert", "add", "update", "setdefault", "pop", "clear", "remove", "discard"}


def _pages() -> Iterator[tuple[str, ast.ClassDef]]:
    """All pages, by the name of their base."""
    for name, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any(
                ast.unparse(base).rpartition(".")[2] == "Page" for base in node.bases
            ):
                yield name, node


def _changes(method: ast.AST) -> Iterator[str]:
    """What a method changes of its object, or of an attribute of it."""
    for node in ast.walk(method):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            yield ast.unparse(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
            yield ast.unparse(node.func.value)


def test_pages_change_nothing_of_themselves_after_they_were_made():
    found = [*_pages()]
    assert len(found) > 10
    changed = [
        (name, page.name, method.name, target)
        for name, page in found
        for method in page.body
        if isinstance(method, ast.FunctionDef) and method.name != "__init__"
        for target in _changes(method)
        if target.partition(".")[0] == "self"
    ]
    assert changed == []
