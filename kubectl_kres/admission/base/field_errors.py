"""Faults of single fields, in the words of the API server.

Source: apimachinery util/validation/field/errors.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from kubectl_kres.go_text import as_json, quote

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


def invalid_field(field: str, detail: str, rule: str = "") -> FieldError:
    """Of a value that is not shown."""
    return FieldError(field, _INVALID, f"Invalid value: {detail}", rule)


def required(field: str, detail: str = "", rule: str = "", *, resource: str = "") -> FieldError:
    return FieldError(field, _REQUIRED, f"Required value: {detail}" if detail else "Required value", rule, resource)


def forbidden(field: str, detail: str, rule: str = "") -> FieldError:
    return FieldError(field, _FORBIDDEN, f"Forbidden: {detail}", rule)


def too_long(field: str, maximum: int, rule: str = "") -> FieldError:
    return FieldError(field, "FieldValueTooLong", f"Too long: may not be more than {maximum} bytes", rule)


def too_many(field: str, number: int, maximum: int, rule: str = "") -> FieldError:
    """``maximum`` is more than one."""
    return FieldError(field, "FieldValueTooMany", f"Too many: {number}: must have at most {maximum} items", rule)


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
