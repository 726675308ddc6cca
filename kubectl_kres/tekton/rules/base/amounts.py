"""Quantities and durations in Tekton's objects: as the webhook writes them back, and divided by steps.

It also computes the deadline that a TaskRun's pod gets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from kubectl_kres.quantity import Quantity, from_json, parse, quantity_of

#: Names that are divided in whole bytes; all others in thousandths.
WHOLE = frozenset({"memory", "ephemeral-storage"})

#: The names that Tekton takes from LimitRanges, in its order.
NAMES = ("cpu", "memory", "ephemeral-storage")

_MILLI = 10**6


def read(values: Mapping[str, Any] | None) -> dict[str, Quantity] | None:
    """Return a resource list of a stored object, not rounded to thousandths; None for an absent or empty one.

    The defaulting webhook writes the object anew, and the controller reads what it wrote. Raises QuantityError.
    """
    if not values:
        return None
    return {name: parse(str(from_json(value))) for name, value in values.items()}


def share(quantity: Quantity, name: str, number: int) -> Quantity:
    """Return the part of one step among ``number``, in the notation of the whole; what is left over is lost.

    Source: tasklevel.go computeAverageRequests, transformer.go getDefaultStepContainerRequest.
    """
    if name in WHOLE:
        return quantity_of(_divide_toward_zero(quantity.whole_value(), number), quantity.format)
    return Quantity(_divide_toward_zero(quantity.milli_value(), number) * _MILLI, quantity.format, -3)


def division_loss(quantity: Quantity, part: Quantity, number: int) -> Quantity:
    """Return what ``number`` shares lack to the whole."""
    return Quantity(quantity.nano - part.nano * number, quantity.format)


def _divide_toward_zero(number: int, by: int) -> int:
    """As Go divides: towards zero."""
    return number // by if number >= 0 else -(-number // by)


_UNITS = {"ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "µs": Fraction(1, 10**6), "μs": Fraction(1, 10**6),
          "ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60), "h": Fraction(3600)}  # fmt: skip
_NUMBER = re.compile(r"([0-9]*)(?:\.([0-9]*))?")
_UNIT = re.compile(r"[^0-9.]*")

#: The deadline of a pod that never times out.
NEVER = 2147483647

#: No duration is longer, in seconds.
_LONGEST = Fraction(2**63, 10**9)

#: A text beyond this is no duration that anybody wrote.
_MOST_LETTERS = 100


def fault(text: str) -> str:
    """Return what Go says of a text that is no duration; empty for one. Source: time.ParseDuration."""
    result = _parse_duration(text)
    return result if isinstance(result, str) else ""


def seconds(text: str) -> Fraction | None:
    """``1h30m`` in seconds; None for a text that is no duration."""
    result = _parse_duration(text)
    return result if isinstance(result, Fraction) else None


def go_text(length: Fraction) -> str:
    """Seconds as Go writes them: ``1h30m0s``, ``1.5s``, ``20ms``."""
    mark, rest = ("-", -length) if length < 0 else ("", length)
    if not rest:
        return "0s"
    for unit in ("ns", "µs", "ms"):
        if rest < 1000 * _UNITS[unit] <= 1:
            return f"{mark}{_decimal(rest / _UNITS[unit])}{unit}"
    minutes, left = divmod(rest, 60)
    hours, minutes = divmod(int(minutes), 60)
    parts = (f"{hours}h{minutes}m", f"{minutes}m", "")[0 if hours else 1 if minutes else 2]
    return f"{mark}{parts}{_decimal(left)}s"


@lru_cache(maxsize=256)
def deadline(timeout: str | None, minutes: int) -> int:
    """``activeDeadlineSeconds`` of the pod: one and a half times the timeout, of which ``minutes`` is the default.

    Source: pkg/pod/pod.go Build; a timeout of zero is none.
    """
    fraction = Fraction(minutes * 60) if timeout is None else seconds(timeout)
    if fraction is None:
        fraction = Fraction(minutes * 60)
    return NEVER if not fraction else int(fraction * 3 / 2)


def _parse_duration(text: str) -> Fraction | str:
    """Return the seconds, or what is wrong."""
    wrong = f'time: invalid duration "{text}"'
    rest = text[1:] if text[:1] in {"+", "-"} else text
    if rest == "0":
        return Fraction(0)
    if not rest or len(text) > _MOST_LETTERS:
        return wrong
    total = Fraction(0)
    while rest:
        number = _NUMBER.match(rest)
        if number is None or not (number[1] or number[2]):
            return wrong
        rest = rest[number.end() :]
        unit = _UNIT.match(rest)
        name = unit[0] if unit is not None else ""
        if not name:
            return f'time: missing unit in duration "{text}"'
        if name not in _UNITS:
            return f'time: unknown unit "{name}" in duration "{text}"'
        rest = rest[len(name) :]
        total += Fraction(f"{number[1] or 0}.{number[2] or 0}") * _UNITS[name]
        if total >= _LONGEST:
            return wrong
    return -total if text.startswith("-") else total


def _decimal(number: Fraction) -> str:
    whole, part = divmod(number, 1)
    digits = f"{int(part * 10**9):09d}".rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)
