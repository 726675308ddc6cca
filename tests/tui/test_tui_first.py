"""The first frame comes before what takes time, fits the terminal, and leaves it as it was."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import termios

import pytest
from tui.test_tui_process import terminal

from kubectl_kres.tui.splash import frame_lines

pytestmark = pytest.mark.one_in(3)

__all__ = ["terminal"]

_DEADLINE = 30.0
HEAVY = ("textual", "kubectl_kres.reports", "kubectl_kres.admission", "kubectl_kres.cluster", "urllib3", "yaml")


def test_nothing_heavy_is_loaded_before_it():
    code = f"import sys, kubectl_kres.cli.commands.tui; print([one for one in {HEAVY!r} if one in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=_DEADLINE, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.thorough
def test_it_is_the_first_that_is_written(terminal):
    screen = terminal("tui", "quotas", "--demo")
    screen.read_until(b"overview > quotas")
    assert b"from demo  read-only" in screen.seen
    assert screen.seen.startswith(b"\x1b[?1049h")
    screen.read_until(b"best-effort")
    os.write(screen.master, b"\x03")
    assert screen.ended() == 0


def test_what_is_typed_meanwhile_counts_and_the_terminal_is_as_it_was(terminal):
    screen = terminal("tui", "--demo")
    before = termios.tcgetattr(screen.master)
    screen.read_until(b"ctrl-c quit")
    os.write(screen.master, b":quotas\r")
    screen.read_until(b"best-effort")
    os.write(screen.master, b"\x03")
    assert screen.ended() == 0
    assert termios.tcgetattr(screen.master) == before


@pytest.mark.thorough
def test_an_error_is_said_after_it_has_gone(terminal):
    screen = terminal("tui", "podz", "--demo")
    before = termios.tcgetattr(screen.master)
    assert screen.ended() == 2
    head, _, said = screen.seen.rpartition(b"\x1b[?1049l")
    assert b"\x1b[?1049h" in head
    assert b'no screen "podz"' in said
    assert termios.tcgetattr(screen.master) == before


@pytest.mark.thorough
def test_a_terminal_without_positions_gets_none(terminal):
    screen = terminal("tui", "podz", "--demo", TERM="dumb")
    assert screen.ended() == 2
    assert b"\x1b" not in screen.seen


@pytest.mark.parametrize("size", [(80, 24), (200, 50), (50, 15), (49, 15), (10, 3)])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_it_fits(size, ascii_only):
    said = frame_lines("context \x1b]0;bad\x07" + "x" * 300, "pods", size, ascii_only=ascii_only)
    lines = re.findall(r"\x1b\[(\d+);1H([^\x1b]*)", said)
    assert bool(lines) == (size >= (50, 15))
    assert all(1 <= int(at) <= size[1] and len(text) < size[0] for at, text in lines)
    assert "\x07" not in said
    assert not ascii_only or said.replace("\ufffd", "?").isascii()
