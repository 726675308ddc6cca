"""An object as sent, and decoded into its struct."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

#: An object, or a part of one, as JSON or YAML has it.
Raw = Mapping[str, Any]

#: Fields whose values are quantities by resource name, where null is zero.
_QUANTITIES = frozenset({
    *("limits", "requests", "overhead", "hard", "used"),
    *("default", "defaultRequest", "max", "maxLimitRequestRatio", "min"),
})  # fmt: skip


def decoded(raw: Raw, struct: type[T]) -> T:
    """The struct. As on the server, a null field is an absent one. Raises msgspec.ValidationError for a wrong type."""
    return msgspec.convert(_without_nulls(raw), struct)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: item if key in _QUANTITIES and isinstance(item, Mapping) else _without_nulls(item)
        for key, item in value.items()
        if item is not None
    }
