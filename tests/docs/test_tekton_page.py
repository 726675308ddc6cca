"""Every console example of the page on Tekton is what the program prints; KRES_GOLDEN=write rewrites them."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from kubectl_kres.cli.main import entry

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tekton.md"
EXAMPLE = re.compile(r"```console\n\$ kubectl kres (?P<command>[^\n]*)\n(?P<output>.*?)```", re.DOTALL)


@pytest.mark.parametrize("command", [match["command"] for match in EXAMPLE.finditer(PAGE.read_text())])
def test_example(command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.argv", ["kubectl-kres"])
    assert entry(shlex.split(command)) == 0
    printed, text = capsys.readouterr().out, PAGE.read_text()
    if os.environ.get("KRES_GOLDEN") == "write":
        match = next(one for one in EXAMPLE.finditer(text) if one["command"] == command)
        PAGE.write_text(text[: match.start("output")] + printed + text[match.end("output") :])
    shown = {match["command"]: match["output"] for match in EXAMPLE.finditer(PAGE.read_text())}
    assert shown[command] == printed


def test_all_files_of_examples_are_shown():
    text = PAGE.read_text()
    files = [path.relative_to(ROOT) for path in (PAGE.parent / "examples" / "tekton").iterdir()]
    assert len(files) == 5
    assert [str(file) for file in files if str(file) not in text] == []
