"""What scripts, benchmarks and tests import of the package is there, also where ``make test`` does not run them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from architecture.modules import ROOT, trees

FOLDERS = ("bench", "docs", "release", "scripts", "tests")
#: Files of a system that only a copy of the package has.
TOY = ROOT / "tests/architecture/toy"


def _bound(statements: list[ast.stmt]) -> Iterator[str]:
    """The names that a module binds."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name
            continue
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
        for block in ("body", "orelse", "finalbody"):
            yield from _bound(getattr(statement, block, []))


def _missing(tree: ast.Module, package: dict[str, set[str]]) -> Iterator[str]:
    """The names that a module imports and that are not in the package. ``package``: module to what it binds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "kubectl_kres":
            module = str(node.module)
            for alias in node.names:
                if f"{module}.{alias.name}" not in package and alias.name not in package.get(module, ()):
                    yield f"{module}.{alias.name}"
        elif isinstance(node, ast.Import):
            names = (alias.name for alias in node.names if alias.name.partition(".")[0] == "kubectl_kres")
            yield from (name for name in names if name not in package)


@pytest.fixture(scope="module")
def package() -> dict[str, set[str]]:
    named = {
        path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): tree for path, tree in trees().items()
    }
    return {module: {*_bound(tree.body)} for module, tree in named.items()}


def _modules() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (path for path in sorted((ROOT / folder).rglob("*.py")) if TOY not in path.parents)


def test_what_is_imported_is_there(package: dict[str, set[str]]):
    found = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in _modules()
        for name in _missing(ast.parse(path.read_text(encoding="utf-8")), package)
    }
    assert found == set()


@pytest.mark.parametrize(
    "text", ["from kubectl_kres.quantity import parsed", "import kubectl_kres.nothing", "from kubectl_kres import gone"]
)
def test_a_name_that_is_gone_is_found(text: str, package: dict[str, set[str]]):
    assert [*_missing(ast.parse(text), package)]
