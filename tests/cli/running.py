"""What a run of the program leaves behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple


class Result(NamedTuple):
    code: int
    out: str
    err: str


Kres = Callable[..., Result]


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
