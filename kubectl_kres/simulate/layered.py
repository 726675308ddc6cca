"""A mapping that is never changed in place, of which thousands of versions differ in one entry each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

#: Entries beside those that versions have in common; with more of them there is a new common part.
_MOST = 64


class LayeredMapping(Mapping[K, V]):
    """Entries that versions have in common, and few of its own. One more entry costs no copy of all others."""

    __slots__ = ("_common", "_own")

    def __init__(self, common: Mapping[K, V], own: Mapping[K, V] | None = None) -> None:
        self._common, self._own = common, own or {}

    def with_entry(self, key: K, value: V) -> LayeredMapping[K, V]:
        """Return the mapping with an entry; one in the place of another keeps its place."""
        own = {**self._own, key: value}
        return LayeredMapping(self._common, own) if len(own) <= _MOST else LayeredMapping({**self._common, **own})

    def __getitem__(self, key: K) -> V:
        return self._own[key] if key in self._own else self._common[key]

    def __contains__(self, key: object) -> bool:
        return key in self._own or key in self._common

    def __iter__(self) -> Iterator[K]:
        yield from self._common
        yield from (key for key in self._own if key not in self._common)

    def __len__(self) -> int:
        return len(self._common) + sum(key not in self._common for key in self._own)
