"""What a run of the program leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Result(NamedTuple):
    code: int
    out: str
    err: str


Kres = Callable[..., Result]
