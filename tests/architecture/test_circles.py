"""No module imports itself by a detour: layers forbid a circle between packages, this one within a package, too.

Imports inside functions count: one that is deferred only because it would close a circle hides that circle. What is
left of them defers something: a module that is not loaded with their own anyway.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

import pytest
from architecture.modules import trees


class Import(NamedTuple):
    """A statement, and whether it stands in a function."""

    statement: ast.Import | ast.ImportFrom
    is_deferred: bool

    def modules(self, names: Collection[str]) -> set[str]:
        """The modules among ``names`` that it imports."""
        if isinstance(self.statement, ast.Import):
            return {alias.name for alias in self.statement.names} & {*names}
        base = self.statement.module or ""
        members = {f"{base}.{alias.name}" for alias in self.statement.names}
        return ((members & {*names}) | ({base} if members - {*names} else set())) & {*names}


def _imports(statements: list[ast.stmt], *, is_deferred: bool = False) -> Iterator[Import]:
    """The imports that ever run: those of type checkers do not."""
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield Import(statement, is_deferred)
        elif isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from _imports(statement.orelse, is_deferred=is_deferred)
        else:
            inside = is_deferred or isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
            for block in ("body", "orelse", "finalbody"):
                yield from _imports(getattr(statement, block, []), is_deferred=inside)
            for part in (*getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
                yield from _imports(part.body, is_deferred=inside)


def _named(files: Mapping[str, ast.Module]) -> dict[str, ast.Module]:
    """The trees by the names of their modules. ``files``: by path from the root."""
    return {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): tree for path, tree in files.items()}


def _graph(files: Mapping[str, ast.Module], *, deferred: bool = True) -> dict[str, set[str]]:
    """Module to the modules of ``files`` that it imports; ``deferred`` False: that are loaded with it."""
    named = _named(files)
    return {
        module: {
            name
            for each in _imports(tree.body)
            if deferred or not each.is_deferred
            for name in each.modules(named.keys())
        }
        - {module}
        for module, tree in named.items()
    }


def _loaded_with(module: str, graph: Mapping[str, set[str]]) -> set[str]:
    """The modules that are loaded once a module is, itself included; of each the packages around it."""
    loaded: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in loaded:
            loaded.add(name)
            waiting += [*graph.get(name, ()), *filter(None, [name.rpartition(".")[0]])]
    return loaded


def test_no_module_imports_itself_by_a_detour():
    graph = _graph(trees())
    assert len(graph) > 500
    assert sum(map(len, graph.values())) > 2000
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("a circle of imports: " + " <- ".join(error.args[1]))


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import p.c\nexcept ImportError:\n    pass",
        "def f():\n    import p.c",
        "class A:\n    def f(self, x):\n        match x:\n            case 1:\n                from p import c",
    ],
)
def test_a_circle_is_found(text: str):
    texts = {"p/__init__.py": "", "p/a.py": "from p import b", "p/b.py": text, "p/c.py": "from p.a import name"}
    with pytest.raises(CycleError):
        TopologicalSorter(_graph({path: ast.parse(text) for path, text in texts.items()})).prepare()


def _undeferred(files: Mapping[str, ast.Module]) -> list[tuple[str, int]]:
    """The imports inside functions, by module and line, of what is loaded with their modules anyway."""
    graph, named = _graph(files, deferred=False), _named(files)
    return [
        (module, each.statement.lineno)
        for module, tree in named.items()
        for each in _imports(tree.body)
        if each.is_deferred and (modules := each.modules(named.keys())) and modules <= _loaded_with(module, graph)
    ]


def test_imports_inside_functions_defer_something():
    assert _undeferred(trees()) == []


def test_an_import_that_defers_nothing_is_found():
    texts = {
        "p/__init__.py": "",
        "p/a.py": "from p import b\ndef f():\n    import p.c\n    import p.d",
        "p/b.py": "import p.c",
        "p/c.py": "",
        "p/d.py": "",
    }
    assert _undeferred({path: ast.parse(text) for path, text in texts.items()}) == [("p.a", 3)]


def test_imports_that_do_not_run_are_no_circle():
    texts = {
        "p/__init__.py": "",
        "p/a.py": "from p import b",
        "p/b.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import p.a",
    }
    TopologicalSorter(_graph({path: ast.parse(text) for path, text in texts.items()})).prepare()
