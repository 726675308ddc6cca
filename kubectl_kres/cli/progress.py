"""How far a read has come, shown on a terminal if it takes long."""

from __future__ import annotations

import sys
import time

#: Seconds of silence, and between two updates.
_SILENT = 0.5
_EVERY = 0.1


class Progress:
    """One line on stderr that is written over and, in the end, wiped out. Threads may share it."""

    def __init__(self) -> None:
        self._shown = False
        self._next = time.monotonic() + _SILENT
        self._terminal = sys.stderr is not None and sys.stderr.isatty()

    def show(self, text: str) -> None:
        """Show ``text`` instead of what was shown, if it is time."""
        now = time.monotonic()
        if self._terminal and now >= self._next:
            self._next = now + _EVERY
            self._shown = True
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Leave nothing on the terminal."""
        if self._shown:
            self._shown = False
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
