"""No module imports itself by a detour: layers forbid a circle between packages, this one within a package, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

import pytest
from architecture.modules import trees


def _when_imported(statements: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run when the module is imported: those of functions and of type checkers do not."""
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from _when_imported(statement.orelse)
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            for block in ("body", "orelse", "finalbody"):
                yield from _when_imported(getattr(statement, block, []))
            for handler in getattr(statement, "handlers", []):
                yield from _when_imported(handler.body)


def _graph(files: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Module to the modules of ``files`` that it imports. ``files``: path from the root to tree."""
    names = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in files}
    graph: dict[str, set[str]] = {}
    for module, path in names.items():
        wanted: set[str] = set()
        for statement in _when_imported(files[path].body):
            if isinstance(statement, ast.Import):
                wanted |= {alias.name for alias in statement.names}
                continue
            base = statement.module or ""
            members = {f"{base}.{alias.name}" for alias in statement.names}
            wanted |= members & names.keys()
            if members - names.keys():
                wanted.add(base)
        graph[module] = wanted & names.keys()
    return graph


def test_no_module_imports_itself_by_a_detour():
    graph = _graph(trees())
    assert len(graph) > 500
    assert sum(map(len, graph.values())) > 2000
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("a circle of imports: " + " <- ".join(error.args[1]))


def test_a_circle_is_found():
    texts = {
        "p/__init__.py": "",
        "p/a.py": "from p import b",
        "p/b.py": "try:\n    import p.c\nexcept ImportError:\n    pass",
        "p/c.py": "from p.a import name",
    }
    with pytest.raises(CycleError):
        TopologicalSorter(_graph({path: ast.parse(text) for path, text in texts.items()})).prepare()


def test_imports_that_do_not_run_are_no_circle():
    texts = {
        "p/__init__.py": "",
        "p/a.py": "from p import b",
        "p/b.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import p.a\ndef f():\n    import p.a",
    }
    TopologicalSorter(_graph({path: ast.parse(text) for path, text in texts.items()})).prepare()
