"""The figures of the house: few files, none long, not too much of them imports."""

from __future__ import annotations

import ast

from architecture.modules import modules, trees

FILES, LINES, IMPORTS = 620, 600, 0.068


def test_files_are_few_and_short():
    lines = {path: len(text.splitlines()) for path, text in modules().items()}
    assert len(lines) <= FILES
    assert {path: count for path, count in lines.items() if count > LINES} == {}


def test_imports_are_a_small_part():
    total = sum(len(text.splitlines()) for text in modules().values())
    imports = sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )
    assert imports / total < IMPORTS
