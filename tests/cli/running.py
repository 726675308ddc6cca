"""What a run of the program leaves behind."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple


class Result(NamedTuple):
    code: int
    out: str
    err: str


Kres = Callable[..., Result]


@contextmanager
def ended(process: subprocess.Popen[Any]) -> Iterator[None]:
    """A program that has not ended by then is killed, so that a failed test does not wait for it."""
    try:
        yield
    finally:
        process.kill()


def written(terminal: int) -> bytes:
    """All that programs write on a terminal until the last of them has ended; ``terminal``: its other end."""
    found = b""
    try:
        while piece := os.read(terminal, 1 << 16):
            found += piece
    except OSError:
        pass  # how Linux says that nobody has it open any more
    os.close(terminal)
    return found


#: What stands in quotes, and what joins commands: the same in all shells.
_QUOTED = re.compile(r"'[^']*'|\"[^\"`$]*\"")
_JOINED = re.compile(r" (?:&&|\|\|?|>|<) |\\\\$|(?<= )~(?=/)")


def is_plain(line: str) -> bool:
    """Whether a command means the same in sh, bash and zsh: no pattern, comment or expansion stands outside quotes."""
    return re.search(r"[][*?~^!#(){}<>;&|`$\\]", _JOINED.sub(" ", _QUOTED.sub("", line))) is None
