"""Durations as Go writes them, and the deadline that a TaskRun's pod gets."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

_UNITS = {"ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "µs": Fraction(1, 10**6), "ms": Fraction(1, 1000),
          "s": Fraction(1), "m": Fraction(60), "h": Fraction(3600)}  # fmt: skip
_PART = re.compile(r"(\d{1,12}(?:\.\d{0,12})?|\.\d{1,12})(ns|us|µs|ms|s|m|h)")
_WHOLE = re.compile(rf"[+]?(?:{_PART.pattern})+")

#: The deadline of a pod that never times out.
NEVER = 2147483647


def seconds(text: str) -> Fraction | None:
    """``1h30m`` in seconds; None for a text that is no duration."""
    if text == "0":
        return Fraction(0)
    if len(text) > 100 or not _WHOLE.fullmatch(text):
        return None
    return sum((Fraction(number) * _UNITS[unit] for number, unit in _PART.findall(text)), Fraction(0))


@lru_cache(maxsize=256)
def deadline(timeout: str | None, minutes: int) -> int:
    """``activeDeadlineSeconds`` of the pod: one and a half times the timeout, of which ``minutes`` is the default.

    Source: pkg/pod/pod.go Build; a timeout of zero is none.
    """
    found = Fraction(minutes * 60) if timeout is None else seconds(timeout)
    if found is None:
        found = Fraction(minutes * 60)
    return NEVER if not found else int(found * 3 / 2)
