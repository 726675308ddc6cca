"""Field errors in the API server's words: path, reason and detail, and how a list of them reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from msgspec import Struct

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


def quote(value: object) -> str:
    """A value as Go's JSON encoder prints it: quoted, with ``<``, ``>`` and ``&`` escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def invalid(
    field: str, value: object, detail: str, rule: str = "", *, resource: str = "", bound: str = ""
) -> FieldError:
    shown = quote(value) if isinstance(value, (str, list, tuple, dict, type(None))) else quote(str(value))
    compared = str(value) if bound else ""
    return FieldError(field, _INVALID, f"Invalid value: {shown}: {detail}", rule, resource, compared, bound)


def number(field: str, value: int, detail: str, rule: str = "") -> FieldError:
    """Of a value that is a number: it is shown without quotes."""
    return FieldError(field, _INVALID, f"Invalid value: {value}: {detail}", rule)


def required(field: str, detail: str = "", rule: str = "", *, resource: str = "") -> FieldError:
    return FieldError(field, _REQUIRED, f"Required value: {detail}" if detail else "Required value", rule, resource)


def forbidden(field: str, detail: str, rule: str = "") -> FieldError:
    return FieldError(field, _FORBIDDEN, f"Forbidden: {detail}", rule)


def duplicate(field: str, value: str, rule: str = "") -> FieldError:
    return FieldError(field, "FieldValueDuplicate", f"Duplicate value: {quote(value)}", rule)


def not_supported(
    field: str, value: str, supported: Sequence[str], rule: str = "", *, in_order: bool = False
) -> FieldError:
    """``in_order``: one of the few places where the server does not sort what it supports."""
    shown = ", ".join(map(quote, supported if in_order else sorted(supported)))
    return FieldError(
        field, "FieldValueNotSupported", f"Unsupported value: {quote(value)}: supported values: {shown}", rule
    )


def not_found(field: str, value: str, detail: str, rule: str = "") -> FieldError:
    return FieldError(field, "FieldValueNotFound", f"Not found: {quote(value)}: {detail}", rule)


def joined(texts: Iterable[str]) -> str:
    """One text as it is, several in brackets; equal texts once. The server's order is arbitrary, ours is sorted.

    Source: apimachinery util/errors Aggregate.
    """
    distinct = sorted(set(texts))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"
