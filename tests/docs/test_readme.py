"""Every console example of the README is what the program prints."""

import os
import re
import shlex
from pathlib import Path

import pytest

from kubectl_kres.cli.main import entry

README = Path(__file__).parents[2] / "README.md"
EXAMPLE = re.compile(r"```console\n\$ (?P<command>[^\n]*)\n(?P<output>.*?)```", re.DOTALL)


def run(command, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["kubectl-kres"])
    entry(shlex.split(command)[2:])
    return capsys.readouterr().out


@pytest.mark.parametrize("command", [match["command"] for match in EXAMPLE.finditer(README.read_text())])
def test_example(command, capsys, monkeypatch):
    printed = run(command, capsys, monkeypatch)
    text = README.read_text()
    if os.environ.get("KRES_GOLDEN") == "write":
        match = next(one for one in EXAMPLE.finditer(text) if one["command"] == command)
        README.write_text(text[: match.start("output")] + printed + text[match.end("output") :])
    shown = {match["command"]: match["output"] for match in EXAMPLE.finditer(README.read_text())}
    assert shown[command] == printed
