"""Stopped and continued, as by ``kill -TSTP`` and ``fg``: the screen is drawn anew."""

from __future__ import annotations

import os
import select
import signal
import sys
from time import monotonic

import pytest

pytestmark = pytest.mark.thorough

pty = pytest.importorskip("pty", reason="a terminal is needed")

PROGRAM = "from kubectl_kres.cli.main import entry; import sys; sys.argv[0] = 'kubectl-kres'; sys.exit(entry())"
SECONDS = 60.0 * float(os.environ.get("PATIENCE", "1"))


def _read(terminal: int, until: bytes = b"", silence: float = 2.0) -> bytes:
    """What is written until a text is there, or else until nothing comes any more."""
    said, end = b"", monotonic() + SECONDS
    while monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 1.0 if until else silence)
        if ready:
            said += os.read(terminal, 1 << 16)
        if (until and until in said) or (not until and not ready):
            break
    return said


def test_after_a_stop_the_screen_is_drawn_anew():
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS="100", LINES="30")
        os.execv(sys.executable, [sys.executable, "-c", PROGRAM, "tui", "--demo"])
    try:
        first = _read(terminal, b"checkout") + _read(terminal)
        assert b"checkout" in first
        os.kill(child, signal.SIGTSTP)
        _, status = os.waitpid(child, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        _read(terminal, silence=0.5)
        os.kill(child, signal.SIGCONT)
        again = _read(terminal, b"checkout")
        assert b"checkout" in again
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)
