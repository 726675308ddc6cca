"""Progress: nothing at first, nothing off a terminal, and nothing left behind."""

from __future__ import annotations

import io
import sys

import pytest

from kubectl_kres.cli.output import progress
from kubectl_kres.cli.output.progress import Progress


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
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    stream = Terminal(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    one = Progress()
    for count, time in enumerate(times):
        now = 100.0 + time
        one.show(f"read {count}")
    one.clear()
    one.clear()
    assert stream.getvalue() == shown
