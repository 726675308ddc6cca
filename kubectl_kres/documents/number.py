"""Numbers as kubectl sends them after Go has decoded and printed them."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any

import msgspec

_INT64 = range(-(1 << 63), 1 << 63)
_INTEGER = re.compile(r"-?[0-9]{1,19}")


class Number(str):
    """Text of a JSON number that no int64 holds, as Go prints it: ``0.5``, ``1e+21``.

    It is a str, so that a quantity can be parsed from it, and keeps its type, so that it is told from a string.
    """

    __slots__ = ()


def from_int(value: int) -> int | Number:
    """The integer, or above an int64 the text of the float64 that Go decodes it to. Raises OverflowError."""
    return value if value in _INT64 else from_float(float(value))


def from_float(value: float) -> int | Number:
    """An integer where Go prints the float64 as one (``1.0``, ``1e3``), else its text.

    Raises OverflowError for infinities and NaN, which JSON does not have.
    Source: encoding/json floatEncoder; apimachinery util/json, which decodes to int64 where the text is an integer.
    """
    if not math.isfinite(value):
        raise OverflowError(value)
    text = repr(value)
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        text = format(Decimal(text), "f").removesuffix(".0")
        if _INTEGER.fullmatch(text) and int(text) in _INT64:
            return int(text)
    return Number(text.replace("e-0", "e-"))


def from_json(text: str) -> int | Number:
    """The value of a JSON number. Raises OverflowError where a float64 cannot hold it, as Go's decoder does."""
    if _INTEGER.fullmatch(text):
        return from_int(int(text))
    return from_float(float(text))


def json_of(value: Any) -> str:
    """Return the JSON of values of a file, numbers as Go prints them and half a surrogate pair as an escape."""
    try:
        return msgspec.json.encode(value, enc_hook=lambda number: msgspec.Raw(number.encode())).decode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
