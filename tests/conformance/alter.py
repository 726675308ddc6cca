"""Every small change that can be made to a recorded value: what a comparison must notice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def alterations(value: Any) -> Iterator[Any]:
    """Copies of a value, each with one leaf changed, one element or key dropped, or one put into an empty place."""
    match value:
        case bool():
            yield not value
        case int():
            yield value + 1
        case str():
            yield f"{value}x"
        case None:
            yield "x"
        case Mapping():
            yield from _of_mapping(value)
        case list():
            yield from _of_list(value)
        case _:
            raise TypeError(f"no JSON value: {value!r}")


def _of_mapping(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if not value:
        yield {"x": "x"}
    for key, item in value.items():
        yield {other: kept for other, kept in value.items() if other != key}
        for altered in alterations(item):
            yield {**value, key: altered}


def _of_list(value: list[Any]) -> Iterator[list[Any]]:
    if not value:
        yield ["x"]
    for place, item in enumerate(value):
        yield [*value[:place], *value[place + 1 :]]
        for altered in alterations(item):
            yield [*value[:place], altered, *value[place + 1 :]]
