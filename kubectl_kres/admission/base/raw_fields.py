"""Reading an object as sent: what a field holds, or its Go type's empty value if it is absent, null or of another type.

An object with a field of a wrong type never gets as far as validation: the decoder refuses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.model.raw import Raw


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
