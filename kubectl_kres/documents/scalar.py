"""YAML scalars as kubectl sends them: typed by YAML 1.1 as go-yaml v2 has it, and numbers as Go prints them."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec

_INT64 = range(-(1 << 63), 1 << 63)
_INTEGER_TEXT = re.compile(r"-?[0-9]{1,19}")


class Number(str):
    """Text of a JSON number that no int64 holds, as Go prints it: ``0.5``, ``1e+21``.

    It is a str, so that a quantity can be parsed from it, and keeps its type, so that it is reported from a string.
    """

    __slots__ = ()


def from_int(value: int) -> int | Number:
    """Return the integer, or above an int64 the text of the float64 that Go decodes it to. Raises OverflowError."""
    return value if value in _INT64 else from_float(float(value))


def from_float(value: float) -> int | Number:
    """Return an integer where Go prints the float64 as one (``1.0``, ``1e3``), else its text.

    Raises OverflowError for infinities and NaN, which JSON does not have.
    Source: encoding/json floatEncoder; apimachinery util/json, which decodes to int64 where the text is an integer.
    """
    if not math.isfinite(value):
        raise OverflowError(value)
    text = repr(value)
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        text = format(Decimal(text), "f").removesuffix(".0")
        if _INTEGER_TEXT.fullmatch(text) and int(text) in _INT64:
            return int(text)
    return Number(text.replace("e-0", "e-"))


def from_json(text: str) -> int | Number:
    """Return the value of a JSON number. Raises OverflowError where a float64 cannot hold it, as Go's decoder does."""
    if _INTEGER_TEXT.fullmatch(text):
        return from_int(int(text))
    return from_float(float(text))


def json_of(value: Any) -> str:
    """Return the JSON of values of a file, numbers as Go prints them and half a surrogate pair as an escape."""
    try:
        return msgspec.json.encode(value, enc_hook=lambda number: msgspec.Raw(number.encode())).decode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))


Scalar = str | int | bool | Number | None

_PREFIX = "tag:yaml.org,2002:"


def _cases(*words: str) -> tuple[str, ...]:
    return tuple(form for word in words for form in (word, word.capitalize(), word.upper()))


#: go-yaml v2.4.3 resolve.go; unlike YAML 1.1 no case variants beyond these three.
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(_cases("y", "yes", "true", "on"), True),
    **dict.fromkeys(_cases("n", "no", "false", "off"), False),
    **dict.fromkeys(("", "~", *_cases("null"))),
}
_NOT_FINITE = frozenset(
    (".nan", ".NaN", ".NAN", *(sign + word for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")))
)
_INTEGER = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<x>[0-9a-fA-F]+)|0[bB](?P<b>[01]+)|0[oO]?(?P<o>[0-7]+)|(?P<d>0|[1-9][0-9]*))"
)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
#: Behind a leading point underscores count only between digits, as in Go's own literals; elsewhere go-yaml drops them.
_POINT = re.compile(r"\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?")
_BASES = {"x": 16, "b": 2, "o": 8, "d": 10}


def resolve(text: str, *, plain: bool, tag: str = "") -> Scalar:
    """Return the JSON value of a scalar; ``plain`` if it stands without quotes, ``tag`` as written, if any.

    Timestamps and base-60 numbers stay strings. Tags that are not YAML's own make strings. Raises ValueError with the
    reason where kubectl refuses it.
    Source: go-yaml v2.4.3 resolve.go resolve; sigs.k8s.io/yaml convertToJSONableObject.
    """
    if not tag or tag == "!":
        return _implicit(text) if plain and tag != "!" else text
    match tag.removeprefix(_PREFIX) if tag.startswith(_PREFIX) else "":
        case "binary":
            return _binary(text)
        case "int" | "float" | "bool" | "null" as wanted:
            return _check_type(text, wanted)
    return text


def key(value: object) -> str:
    """Return the JSON key that a value makes. Raises ValueError for null and for whatever is no scalar."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int):
        return str(value)
    word = "null" if value is None else "a map or a list"
    raise ValueError(f"a key must be text, not {word}")


def _implicit(text: str) -> Scalar:
    if text in _WORDS:
        return _WORDS[text]
    if text in _NOT_FINITE:
        raise ValueError(f"{text} is a number that JSON does not have; quote it if it is text")
    if text[0] in "+-.0123456789":
        result = _number(text.replace("_", "") if text[0] != "." or _POINT.fullmatch(text) else text)
        return text if result is None else result
    return text


def _number(text: str) -> int | Number | None:
    try:
        whole = _INTEGER.fullmatch(text)
        if whole and whole.lastgroup and len(text) < 70:
            value = int(whole["sign"] + whole[whole.lastgroup], _BASES[whole.lastgroup])
            if -(1 << 63) <= value < 1 << 64:
                return from_int(value)
        return from_float(float(text)) if _FLOAT.fullmatch(text) else None
    except OverflowError:
        return None


def _binary(text: str) -> str:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
    except binascii.Error as error:
        raise ValueError("!!binary value contains invalid base64 data") from error


def _check_type(text: str, expected: str) -> Scalar:
    value = _implicit(text)
    match value:
        case None:
            name = "null"
        case bool():
            name = "bool"
        case int() | Number():
            name = "int" if _INTEGER.fullmatch(text.replace("_", "")) else "float"
        case _:
            name = "str"
    if name == expected or (expected == "float" and name == "int"):
        return value
    raise ValueError(f"cannot decode !!{name} `{text}` as a !!{expected}")
