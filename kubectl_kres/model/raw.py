"""An object as sent, and decoded into its struct."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

#: Lists of texts; null in a list is the empty value of what it holds.
_TEXTS = frozenset({"values", "namespaces", "scopes", "accessModes", "finalizers"})

#: An object, or a part of one, as JSON or YAML has it.
Raw = Mapping[str, Any]

#: Fields whose values are quantities by resource name, where null is zero.
_QUANTITIES = frozenset({
    *("limits", "requests", "overhead", "hard", "used"),
    *("default", "defaultRequest", "max", "maxLimitRequestRatio", "min"),
})  # fmt: skip


_PLAIN = frozenset({str, int, float, bool})


def decoded(raw: Raw, struct: type[T]) -> T:
    """The struct. As on the server, a null field is an absent one, and null in a list an empty item.

    Raises msgspec.ValidationError for a wrong type.
    """
    return msgspec.convert(_without_nulls(raw), struct)


def _without_nulls(value: Any) -> Any:
    if type(value) in _PLAIN:  # most are; to ask what is no mapping for it takes long
        return value
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {key: _of_field(key, item) for key, item in value.items() if item is not None}


def _of_field(key: str, value: Any) -> Any:
    if key in _QUANTITIES and isinstance(value, Mapping):
        return value
    if isinstance(value, list):
        blank: Any = "" if key in _TEXTS else {}
        return [blank if item is None else _without_nulls(item) for item in value]
    return _without_nulls(value)
