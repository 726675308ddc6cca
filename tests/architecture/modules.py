"""The package's modules as files and as syntax trees."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "kubectl_kres"


@cache
def modules() -> dict[str, str]:
    """Path from the repository's root to source text, of every module of the package."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))
    }


@cache
def trees() -> dict[str, ast.Module]:
    """The same, parsed."""
    return {name: ast.parse(text, name) for name, text in modules().items()}
