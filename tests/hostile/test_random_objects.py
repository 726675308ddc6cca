"""Random objects of files: whatever is in them, a run ends with a documented code and no traceback.

KRES_FUZZ: how many files are tried; without it a fixed number that takes some seconds. KRES_FUZZ_SEED: the first one.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hostile.random_objects import text

from kubectl_kres.cli.main import entry

COUNT = int(os.environ.get("KRES_FUZZ", "") or 400)
FIRST = int(os.environ.get("KRES_FUZZ_SEED", "") or 0)

#: Each with the file behind its last flag.
COMMANDS = (
    "explain --offline -f",
    "diff --offline -f",
    "check --offline -f",
    "qos --offline -f",
    "simulate --offline -f",
    "explain --demo -f",
    "check --demo -f",
    "simulate --demo -n shop -f",
    "quota --demo --fit deploy/cart -n shop -f",
    "quota --demo -n shop --recount -f",
    "explain --offline -o json -f",
    "qos --offline --cgroup v2 -f",
)
DOCUMENTED = frozenset(range(5))


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("part", range(4))
def test_random_objects_end_with_a_documented_code(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """The seeds of a part; what ends otherwise is written out, so that it can be tried again."""
    file = tmp_path / "objects.json"
    wrong = []
    for seed in range(FIRST + part, FIRST + COUNT, 4):
        file.write_text(text(seed), encoding="utf-8")
        command = COMMANDS[seed // 4 % len(COMMANDS)]
        monkeypatch.setattr(sys, "argv", ["/usr/bin/kubectl-kres", *command.split(), str(file)])
        code = entry()
        out, said = capsys.readouterr()
        if code not in DOCUMENTED or "Traceback" in said or "Expected `" in out + said:
            wrong.append((seed, command, code, said.strip().splitlines()[-4:-1]))
    assert wrong == [], "\n".join(map(str, wrong))
