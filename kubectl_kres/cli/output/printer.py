"""Standard output: colour or not, how wide, and the names of objects."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable

from kubectl_kres.cli.output.progress import Progress
from kubectl_kres.render.text.escape import plain
from kubectl_kres.reports.common.subject import Subject

#: Formats that are one document.
DOCUMENTS = ("json", "yaml")

#: Used where the output does not go to a terminal.
WIDTH = 80

#: No line is longer.
_UNBROKEN = 1 << 20


def colored(choice: str) -> bool:
    """Whether to colour: ``always``, ``never``, or ``auto``, which asks the terminal and the environment."""
    if choice != "auto":
        return choice == "always"
    return is_terminal() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def width(*, wide: bool) -> int:
    """Columns that lines are broken to: those of the terminal, 80 if there is none. ``wide``: they are not broken."""
    if wide:
        return _UNBROKEN
    return shutil.get_terminal_size((WIDTH, 24)).columns if is_terminal() else WIDTH


def is_terminal() -> bool:
    """Whether standard output is one."""
    return sys.stdout is not None and sys.stdout.isatty()


def same_terminal() -> bool:
    """Whether standard output and standard error are one terminal, so that whoever reads one has read the other."""
    out, err = sys.stdout, sys.stderr
    if out is None or err is None or not (out.isatty() and err.isatty()):
        return False
    return os.path.sameopenfile(out.fileno(), err.fileno())


def speaks_unicode() -> bool:
    """Whether standard output takes more than ASCII, as far as the user or the terminal says.

    Python writes UTF-8 where the locale is C; who sets LC_ALL to it, or PYTHONIOENCODING, wants ASCII all the same.
    """
    encoding = os.environ.get("PYTHONIOENCODING", "").partition(":")[0]
    if os.environ.get("LC_ALL") in {"C", "POSIX"} or (encoding and "utf" not in encoding.lower()):
        return False
    return sys.stdout is not None and "utf" in (sys.stdout.encoding or "").lower()


def put(lines: Iterable[str]) -> None:
    """Lines on standard output, with no progress in between."""
    Progress.wipe()
    if isinstance(lines, list):
        lines = ["\n".join(lines)] if lines else []
    for line in lines:
        sys.stdout.write(f"{line}\n")


def named(subject: Subject) -> str:
    """``pod/web`` or ``deployment.apps/web``, as kubectl takes it again."""
    kind = subject.kind
    return plain(f"{kind.names[1]}{f'.{kind.group}' if kind.group else ''}/{subject.ref.name}")
