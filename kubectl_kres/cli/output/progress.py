"""How far a read has come, shown on a terminal if it takes long."""

from __future__ import annotations

import sys
import time
from typing import ClassVar

from kubectl_kres.cli.output.exit_codes import say

#: Seconds of silence, and between two updates.
_SILENT = 0.5
_EVERY = 0.1
#: Seconds between two words about a server that asks to wait, and those of a wait that is worth none.
_AGAIN, _BRIEF = 15.0, 0.5


class Progress:
    """One line on stderr that is written over and, in the end, wiped out. Threads may share it."""

    #: The one whose line stands on the terminal now.
    _standing: ClassVar[Progress | None] = None

    def __init__(self) -> None:
        self._shown = False
        self._began = time.monotonic()
        self._next = self._began + _SILENT
        self._terminal = sys.stderr is not None and sys.stderr.isatty()

    @classmethod
    def wipe(cls) -> None:
        """Make room for what is printed next, which may go to the same terminal."""
        if cls._standing is not None:
            cls._standing.clear()

    def read(self, what: str, count: int, remaining: int = 0) -> None:
        """So many objects were read. ``remaining``: how many follow; 0: the server does not say."""
        if self._terminal:
            of = f" of about {count + remaining:,}" if remaining else ""
            passed = time.monotonic() - self._began
            self.show(f"reading {what}: {count:,}{of}" + (f", {count / passed:,.0f}/s" if passed > 0 else ""))

    def show(self, text: str) -> None:
        """Show ``text`` instead of what was shown, if it is time."""
        now = time.monotonic()
        if self._terminal and now >= self._next:
            self._next = now + _EVERY
            self._shown = True
            Progress._standing = self
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Leave nothing on the terminal."""
        if self._shown:
            self._shown = False
            Progress._standing = None
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class WaitingNotice:
    """Says that the server asks to wait, once in a while: at once, since nothing else moves meanwhile."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, code: int, seconds: float) -> None:
        """A wait of so many seconds begins."""
        now = time.monotonic()
        if now < self._next or seconds < _BRIEF:
            return
        self._next = now + _AGAIN
        if sys.stderr is not None and sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        say(f"the server is busy ({code}) and asks to wait {seconds:g} s between tries; reading goes on")
