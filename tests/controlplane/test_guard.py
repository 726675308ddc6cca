"""A guarded command ends with its pipe, by signal, or by itself."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import guard
import pytest


def start(log: Path, script: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, guard.__file__, str(log), "/bin/sh", "-c", script]
    return subprocess.Popen(command, stdin=subprocess.PIPE)


def test_passes_output_and_code_on(tmp_path: Path) -> None:
    with start(tmp_path / "log", "echo out; echo err >&2; exit 3") as process:
        assert process.wait(30) == 3
    assert (tmp_path / "log").read_text() == "out\nerr\n"


@pytest.mark.parametrize("how", ["pipe", "signal"])
def test_kills_what_would_not_end(tmp_path: Path, how: str) -> None:
    ready = tmp_path / "ready"
    subprocess.run(["mkfifo", ready], check=True)
    with start(tmp_path / "log", f"trap '' TERM INT HUP; echo > {ready}; while :; do sleep 0.01; done") as process:
        ready.read_text()
        if how == "pipe":
            process.stdin.close()
        else:
            process.send_signal(signal.SIGTERM)
        assert process.wait(30) == (-signal.SIGKILL & 0xFF)
