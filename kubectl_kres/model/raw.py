"""An object as sent, and decoded into its struct.

A field holds what is there, or its Go type's empty value if it is absent, null or of another type: an object with a
field of a wrong type never gets as far as validation, since the decoder refuses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from kubectl_kres.errors import UsageError


def mapping(raw: Raw, key: str) -> Raw:
    """The object at a key; empty if there is none."""
    value = raw.get(key)
    return value if isinstance(value, Mapping) else {}


def pointer(raw: Raw, key: str) -> Raw | None:
    """The object at a key; None if there is none, which is not the same as an empty one."""
    value = raw.get(key)
    return value if isinstance(value, Mapping) else None


def items(raw: Raw, key: str) -> list[Raw]:
    """The objects in the list at a key; null among them is an empty one."""
    value = raw.get(key)
    return [item if isinstance(item, Mapping) else {} for item in value] if isinstance(value, list | tuple) else []


def text(raw: Raw, key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def texts(raw: Raw, key: str) -> list[str]:
    """The texts in the list at a key; null among them is an empty one."""
    value = raw.get(key)
    return [item if isinstance(item, str) else "" for item in value] if isinstance(value, list | tuple) else []


def integer(raw: Raw, key: str) -> int | None:
    """The number at a key; None if there is none."""
    value: Any = raw.get(key)
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else None


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


class WrongType(UsageError, msgspec.ValidationError):
    """A value of an object is of another type than its field.

    It is the library's own error for those who look for that, and an error of ours for everybody else: where nobody
    looks for it, a run ends with one line about the input.
    """


def decoded(raw: Raw, struct: type[T]) -> T:
    """The struct. As on the server, a null field is an absent one, and null in a list an empty item.

    Raises WrongType.
    """
    return converted(_without_nulls(raw), struct)


def converted(value: Any, struct: type[T]) -> T:
    """Return the struct of values without nulls. Raises WrongType, which names the object if it can."""
    try:
        return msgspec.convert(value, struct)
    except msgspec.ValidationError as error:
        metadata = mapping(value, "metadata") if isinstance(value, Mapping) else {}
        name = "/".join(filter(None, (text(value, "kind"), text(metadata, "name")))) if metadata else ""
        raise WrongType(f"{name}: {error}" if name else str(error)) from error


def _without_nulls(value: Any) -> Any:
    if type(value) in _PLAIN:  # most are; to ask what is no mapping for it takes long
        return value
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: item if type(item) in _PLAIN else _of_field(key, item) for key, item in value.items() if item is not None
    }


def _of_field(key: str, value: Any) -> Any:
    if key in _QUANTITIES and isinstance(value, Mapping):
        return value
    if isinstance(value, list):
        blank: Any = "" if key in _TEXTS else {}
        return [blank if item is None else _without_nulls(item) for item in value]
    return _without_nulls(value)


def on_wire(item: msgspec.Struct) -> dict[str, Any]:
    """An object as the server would write it. Numbers of a file, which are a kind of text, are texts."""
    try:
        raw: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(item, enc_hook=str))
    except UnicodeEncodeError:
        import json  # noqa: PLC0415 - only for half a surrogate pair, which a file can hold and which is no UTF-8

        raw = json.loads(json.dumps(msgspec.to_builtins(item, enc_hook=str)))
    return raw
