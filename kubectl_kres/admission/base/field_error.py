"""Field errors in the API server's words: path, reason and detail, and how a list of them reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from msgspec import Struct

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
            "\v": "\\v"}  # fmt: skip

_INVALID, _REQUIRED, _FORBIDDEN = "FieldValueInvalid", "FieldValueRequired", "FieldValueForbidden"


class FieldError(Struct, frozen=True):
    """One fault that validation found. ``text`` is what follows the path, ``rule`` the code of the rule that refused.

    ``resource``, ``value`` and ``bound`` are given where a quantity was held against another one.
    Source: apimachinery util/validation/field/errors.go.
    """

    field: str
    reason: str
    text: str
    rule: str = ""
    resource: str = ""
    value: str = ""
    bound: str = ""

    def __str__(self) -> str:
        return f"{self.field}: {self.text}"


def quote(text: str) -> str:
    """The text as Go's strconv.Quote prints it, which is what ``%q`` does."""
    return f'"{"".join(map(_shown, text))}"'


def as_json(value: object) -> str:
    """A value as Go's JSON encoder prints it, with ``<``, ``>`` and ``&`` escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _shown(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    if char.isprintable():
        return char
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def invalid(
    field: str, value: object, detail: str, rule: str = "", *, resource: str = "", bound: str = "", typed: bool = False
) -> FieldError:
    """``typed``: the value is of a string type of its own in Go, which the server prints as JSON, as lists and maps."""
    plain = (isinstance(value, str) and not typed) or not isinstance(value, (str, list, tuple, dict, type(None)))
    shown = quote(str(value)) if plain else as_json(value)
    compared = str(value) if bound else ""
    return FieldError(field, _INVALID, f"Invalid value: {shown}: {detail}", rule, resource, compared, bound)


def number(field: str, value: int, detail: str, rule: str = "") -> FieldError:
    """Of a value that is a number or a boolean: it is shown without quotes."""
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    return FieldError(field, _INVALID, f"Invalid value: {shown}: {detail}", rule)


def omitted(field: str, detail: str, rule: str = "") -> FieldError:
    """Of a value that is not shown."""
    return FieldError(field, _INVALID, f"Invalid value: {detail}", rule)


def required(field: str, detail: str = "", rule: str = "", *, resource: str = "") -> FieldError:
    return FieldError(field, _REQUIRED, f"Required value: {detail}" if detail else "Required value", rule, resource)


def forbidden(field: str, detail: str, rule: str = "") -> FieldError:
    return FieldError(field, _FORBIDDEN, f"Forbidden: {detail}", rule)


def too_long(field: str, most: int, rule: str = "") -> FieldError:
    return FieldError(field, "FieldValueTooLong", f"Too long: may not be more than {most} bytes", rule)


def too_many(field: str, number: int, most: int, rule: str = "") -> FieldError:
    """``most`` is more than one."""
    return FieldError(field, "FieldValueTooMany", f"Too many: {number}: must have at most {most} items", rule)


def duplicate(field: str, value: str | int, rule: str = "", *, typed: bool = False) -> FieldError:
    shown = as_json(value) if typed else quote(str(value))
    return FieldError(field, "FieldValueDuplicate", f"Duplicate value: {shown}", rule)


def not_supported(
    field: str, value: str, supported: Sequence[str], rule: str = "", *, in_order: bool = False, typed: bool = True
) -> FieldError:
    """``in_order``: one of the few places where the server does not sort what it supports.

    ``typed``: see ``invalid``; most choices are.
    """
    shown = ", ".join(map(quote, supported if in_order else sorted(supported)))
    text = f"Unsupported value: {as_json(value) if typed else quote(value)}: supported values: {shown}"
    return FieldError(field, "FieldValueNotSupported", text, rule)


def not_found(field: str, value: str, detail: str = "", rule: str = "") -> FieldError:
    return FieldError(field, "FieldValueNotFound", f"Not found: {quote(value)}{detail and f': {detail}'}", rule)


def joined(texts: Iterable[str]) -> str:
    """One text as it is, several in brackets; equal texts once. The server's order is arbitrary, ours is sorted.

    Source: apimachinery util/errors Aggregate.
    """
    distinct = sorted(set(texts))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"
