"""Ordinals of objects that a StatefulSet makes, by rows: what is true of many in a row is said once.

A user writes how many there are. What it costs to look at them depends on how many differ from their neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping


def length(ordinals: range) -> int:
    """Return how many there are; ``len`` refuses numbers that no server takes, and users write."""
    return max(0, ordinals.stop - ordinals.start)


def overlap(ordinals: range, others: range) -> range:
    """Return the ordinals that are in both."""
    return range(max(ordinals.start, others.start), min(ordinals.stop, others.stop))


def free_rows(taken: Iterable[range], ordinals: range) -> Iterator[range]:
    """Yield the ordinals that are in none of some rows, which come the lowest first."""
    first = ordinals.start
    for item in taken:
        if item.stop <= first or not item:
            continue
        if item.start >= ordinals.stop:
            break
        if item.start > first:
            yield range(first, item.start)
        first = item.stop
    if first < ordinals.stop:
        yield range(first, ordinals.stop)


class Names:
    """Names of objects: those that end with an ordinal by what stands before it, as rows of ordinals; all others as
    they are. Never changed; equal if the same names are in it.
    """

    __slots__ = ("_hash", "others", "rows")

    def __init__(self, rows: Mapping[str, tuple[range, ...]], others: frozenset[str]) -> None:
        self.rows, self.others = rows, others
        self._hash: int | None = None

    @classmethod
    def of(cls, names: Iterable[str] = ()) -> Names:
        rows: dict[str, list[int]] = {}
        others: set[str] = set()
        for name in names:
            base, ordinal = _split(name)
            if ordinal is None:
                others.add(name)
            else:
                rows.setdefault(base, []).append(ordinal)
        merged = {base: merged_rows(range(item, item + 1) for item in ordinals) for base, ordinals in rows.items()}
        return cls(merged, frozenset(others))

    def __contains__(self, name: str) -> bool:
        base, ordinal = _split(name)
        return name in self.others if ordinal is None else any(ordinal in row for row in self.rows.get(base, ()))

    def __iter__(self) -> Iterator[str]:
        yield from self.others
        yield from (f"{base}-{ordinal}" for base, rows in self.rows.items() for row in rows for ordinal in row)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Names) and (self.rows, self.others) == (other.rows, other.others)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((frozenset(self.rows.items()), self.others))
        return self._hash

    def missing(self, base: str, ordinals: range) -> Iterator[range]:
        """Yield the ordinals with which no name is there."""
        yield from free_rows(self.rows.get(base, ()), ordinals)

    def with_row(self, base: str, ordinals: range) -> Names:
        """With a name for each of some ordinals."""
        return self._replace(base, merged_rows((*self.rows.get(base, ()), ordinals)))

    def without_row(self, base: str, ordinals: range) -> Names:
        """Without those of some ordinals."""
        return self._replace(
            base, tuple(left for row in self.rows.get(base, ()) for left in free_rows((ordinals,), row))
        )

    def with_name(self, name: str) -> Names:
        base, ordinal = _split(name)
        if ordinal is None:
            return Names(self.rows, self.others | {name})
        return self.with_row(base, range(ordinal, ordinal + 1))

    def without_name(self, name: str) -> Names:
        base, ordinal = _split(name)
        if ordinal is None:
            return Names(self.rows, self.others - {name})
        return self.without_row(base, range(ordinal, ordinal + 1))

    def _replace(self, base: str, rows: tuple[range, ...]) -> Names:
        others = {key: value for key, value in self.rows.items() if key != base}
        return Names({**others, base: rows} if rows else others, self.others)


def _split(name: str) -> tuple[str, int | None]:
    """Return what stands before the ordinal of a name, and the ordinal; None: it ends with none."""
    base, _, tail = name.rpartition("-")
    is_ordinal = tail.isascii() and tail.isdecimal() and len(tail) <= 10 and (tail == "0" or tail[0] != "0")
    return (base, int(tail)) if is_ordinal else (name, None)


def merged_rows(rows: Iterable[range]) -> tuple[range, ...]:
    """Return the same ordinals in as few rows as possible, the lowest first."""
    result: list[range] = []
    for row in sorted((row for row in rows if row), key=lambda row: row.start):
        if result and row.start <= result[-1].stop:
            result[-1] = range(result[-1].start, max(row.stop, result[-1].stop))
        else:
            result.append(row)
    return tuple(result)
