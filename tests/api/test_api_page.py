"""The page and the notebook: what they show runs, and says what is written beside it."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCKS = re.findall(r"```python\n(.*?)```", (DOCS / "python.md").read_text(), re.DOTALL)


def test_the_notebook_runs(capsys: pytest.CaptureFixture[str]):
    book = json.loads((DOCS / "examples" / "notebook.ipynb").read_text())
    assert book["nbformat"] == 4
    names: dict[str, Any] = {}
    shown: list[Any] = []
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            shown.append(ran("".join(cell["source"]), names))
    assert {name: outcome for name, (outcome, _) in shown[1].items()}["checkout"] == "refused"
    assert "requests.memory" in capsys.readouterr().out
    assert "exceeded quota: small" in shown[-1][0]


def ran(source: str, names: dict[str, Any]) -> Any:
    """Runs a cell; the value of its last line, as a notebook shows it."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last is not None else None


def test_the_first_block_runs(capsys: pytest.CaptureFixture[str]):
    names: dict[str, Any] = {}
    exec(BLOCKS[0], names)
    assert capsys.readouterr().out == f"{names['answer']}\n"
    for line, comment in re.findall(r"^(answer\.outcome) +# (.*)$", BLOCKS[0], re.MULTILINE):
        assert repr(eval(line, names)) == comment


def test_all_blocks_are_python():
    assert len(BLOCKS) == 4
    for block in BLOCKS:
        ast.parse(block)
