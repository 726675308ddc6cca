"""The base of all reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import Struct


class Record(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Base of all reports: camel case in JSON, what is empty left out.

    ``TRANSIENT``: fields that only say when something was, how often, or how long it takes yet. Not
    ``ORDERED``: its place among others only says when it was.
    """

    TRANSIENT: ClassVar[frozenset[str]] = frozenset()
    ORDERED: ClassVar[bool] = True

    def steady(self) -> tuple[Any, ...]:
        """The fields that make it another report if they change."""
        fields = (field for field in self.__struct_fields__ if field not in self.TRANSIENT)
        return tuple(steady(getattr(self, field)) for field in fields)


def steady(value: Any) -> Any:
    """A value to compare two answers by: reports in it without their transient fields."""
    if isinstance(value, Record):
        return type(value), value.steady()
    if isinstance(value, tuple | list):
        unordered = value and isinstance(value[0], Record) and not value[0].ORDERED
        return (frozenset if unordered else tuple)(steady(item) for item in value)
    if isinstance(value, Mapping):
        return {key: steady(item) for key, item in value.items()}
    return value
