"""Standard output: colour, width, names of objects, and the progress line that gives way to it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from typing import ClassVar

from kubectl_kres.cli.output.exit_codes import print_stderr
from kubectl_kres.render.text.line import sanitize_text
from kubectl_kres.reports.common.explanation import Subject

#: Formats that are one document.
DOCUMENTS = ("json", "yaml")

#: Used where the output does not go to a terminal.
WIDTH = 80

#: No line is longer.
_UNBROKEN = 1 << 20


def wants_color(choice: str) -> bool:
    """Return whether to colour: ``always``, ``never``, or ``auto``, which asks the terminal and the environment."""
    if choice != "auto":
        return choice == "always"
    return is_terminal() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def width(*, wide: bool) -> int:
    """Columns that lines are broken to: those of the terminal, 80 if there is none. ``wide``: they are not broken."""
    if wide:
        return _UNBROKEN
    if not is_terminal():
        return WIDTH
    import shutil  # it brings all kinds of archives

    return shutil.get_terminal_size((WIDTH, 24)).columns


def is_terminal() -> bool:
    """Return whether standard output is one."""
    return sys.stdout is not None and sys.stdout.isatty()


def same_terminal() -> bool:
    """Return whether standard output and standard error are one terminal, so that whoever reads one has read the
    other.
    """
    out, err = sys.stdout, sys.stderr
    if out is None or err is None or not (out.isatty() and err.isatty()):
        return False
    return os.path.sameopenfile(out.fileno(), err.fileno())


def speaks_unicode() -> bool:
    """Return whether standard output takes more than ASCII, as far as the user or the terminal says.

    Python writes UTF-8 where the locale is C; who sets LC_ALL to it, or PYTHONIOENCODING, wants ASCII all the same.
    """
    encoding = os.environ.get("PYTHONIOENCODING", "").partition(":")[0]
    if os.environ.get("LC_ALL") in {"C", "POSIX"} or (encoding and "utf" not in encoding.lower()):
        return False
    return sys.stdout is not None and "utf" in (sys.stdout.encoding or "").lower()


def print_lines(lines: Iterable[str]) -> None:
    """Lines on standard output, with no progress in between."""
    Progress.clear_line()
    if isinstance(lines, list):
        lines = ["\n".join(lines)] if lines else []
    for line in lines:
        sys.stdout.write(f"{line}\n")


def qualified_name(subject: Subject) -> str:
    """``pod/web`` or ``deployment.apps/web``, as kubectl takes it again."""
    kind = subject.kind
    return sanitize_text(f"{kind.names[1]}{f'.{kind.group}' if kind.group else ''}/{subject.ref.name}")


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
        self._is_visible = False
        self._began = time.monotonic()
        self._next = self._began + _SILENT
        self._terminal = sys.stderr is not None and sys.stderr.isatty()

    @classmethod
    def clear_line(cls) -> None:
        """Make room for what is printed next, which may go to the same terminal."""
        if cls._standing is not None:
            cls._standing.clear()

    def read(self, what: str, count: int, remaining: int = 0) -> None:
        """So many objects were read. ``remaining``: how many follow; 0: the server does not say."""
        if self._terminal:
            total_text = f" of about {count + remaining:,}" if remaining else ""
            passed = time.monotonic() - self._began
            self.show(f"reading {what}: {count:,}{total_text}" + (f", {count / passed:,.0f}/s" if passed > 0 else ""))

    def show(self, text: str) -> None:
        """Show ``text`` instead of what was shown, if it is time."""
        now = time.monotonic()
        if self._terminal and now >= self._next:
            self._next = now + _EVERY
            self._is_visible = True
            Progress._standing = self
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Leave nothing on the terminal."""
        if self._is_visible:
            self._is_visible = False
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
        print_stderr(f"the server is busy ({code}) and asks to wait {seconds:g} s between tries; reading goes on")
