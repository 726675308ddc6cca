"""What the tests of random servers have in common: the small server of the commands, and a run of the program."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest
from cli.conftest import api

from kubectl_kres.cli.main import entry
from kubectl_kres.cluster.transport import deadline as backoff

#: Seconds of CPU that a run and its server may take.
MOST = 30.0


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """The program's code, output and errors; it ends in time."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(backoff, "FIRST", 0.02)
    monkeypatch.setattr(backoff, "LONGEST", 0.05)

    def start(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["/usr/bin/kubectl-kres", *words])
        began = process_time()
        code = entry()
        out, err = capsys.readouterr()
        assert process_time() - began < MOST, words
        return code, out, err

    return start
