"""Progress: nothing at first, nothing off a terminal, and nothing left behind."""

from __future__ import annotations

import io
import sys

import pytest

from kubectl_kres.cli.output import printer
from kubectl_kres.cli.output.printer import Progress


class Terminal(io.StringIO):
    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize(
    ("terminal", "times", "shown"),
    [
        (True, [0.0, 0.4], ""),
        (True, [0.0, 0.6], "\r\x1b[Kread 1\r\x1b[K"),
        (True, [0.6, 0.65, 0.75], "\r\x1b[Kread 0\r\x1b[Kread 2\r\x1b[K"),
        (False, [0.6, 5.0], ""),
    ],
)
def test_progress(terminal: bool, times: list[float], shown: str, monkeypatch):
    now = 100.0
    monkeypatch.setattr(printer.time, "monotonic", lambda: now)
    stream = Terminal(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    one = Progress()
    for count, time in enumerate(times):
        now = 100.0 + time
        one.show(f"read {count}")
    one.clear()
    one.clear()
    assert stream.getvalue() == shown


@pytest.mark.parametrize(
    ("remaining", "after", "shown"),
    [
        (97_500, 2.0, "reading pods: 2,500 of about 100,000, 1,250/s"),
        (0, 2.0, "reading pods: 2,500, 1,250/s"),
        (97_500, 0.2, ""),
    ],
)
def test_what_is_read_how_many_of_how_many_and_how_fast(remaining: int, after: float, shown: str, monkeypatch):
    now = 100.0
    monkeypatch.setattr(printer.time, "monotonic", lambda: now)
    stream = Terminal(terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)
    one = Progress()
    now += after
    one.read("pods", 2_500, remaining)
    assert stream.getvalue() == (f"\r\x1b[K{shown}" if shown else "")
    Progress.clear_line()
    Progress.clear_line()
    assert stream.getvalue() == (f"\r\x1b[K{shown}\r\x1b[K" if shown else "")
