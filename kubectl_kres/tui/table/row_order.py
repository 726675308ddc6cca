"""Orders of rows, which are kept as rows change instead of being sorted again: lines of slots, the numbers of rows."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, overload

#: Namespace and name, or whatever else sorts.
RowKey = tuple[str, ...]
#: Slots, the numbers that rows have in a view, as few bytes as they can be.
Slots: TypeAlias = "array[int]"
#: What a row sorts by; None comes last, whichever way the sort goes.
Rank = Callable[[Any], Any]


class RowOrder:
    """An order of slots.

    By rank, rows of equal rank by key; without a rank by key alone, which ``reverse`` turns round. ``keys`` and
    ``ranks`` are by slot and belong to the view as much as to this.
    """

    def __init__(self, keys: list[RowKey], rank: Rank | None = None, *, reverse: bool = False) -> None:
        self.keys, self.rank, self.reverse = keys, rank, reverse
        self.ranks: list[Any] | array[float] = []

    @property
    def is_default(self) -> bool:
        """Return whether it is that of the keys."""
        return self.rank is None and not self.reverse

    def read(self, rows: Iterable[Any]) -> bool:
        """Take the ranks of all rows anew; whether any of them is another one than before."""
        if self.rank is None:
            return False
        before, self.ranks = self.ranks, list(map(self.rank, rows))
        return before != self.ranks

    def sort_slots(self, slots: Slots) -> Slots:
        """Slots that are in the order of their keys, in this order."""
        if self.rank is None:
            return slots[::-1] if self.reverse else slots
        ranks = self.ranks
        known = slots if None not in ranks else [slot for slot in slots if ranks[slot] is not None]
        numbers = pack_slots(sorted(known, key=ranks.__getitem__, reverse=self.reverse))
        if known is not slots:
            numbers.extend(slot for slot in slots if ranks[slot] is None)
        return numbers

    def slot(self, line: Slots, key: RowKey) -> int | None:
        """Return the slot of a key in a line that is in the order of keys; None: it has none."""
        line_index = bisect_left(line, key, key=self.keys.__getitem__)
        return line[line_index] if line_index < len(line) and self.keys[line[line_index]] == key else None

    def find(self, line: Slots, slot: int) -> int:
        """Return where a slot stands in a line of slots, or would stand."""
        keys = self.keys
        if self.is_default:
            return bisect_left(line, keys[slot], key=keys.__getitem__)
        low, high = 0, len(line)
        while low < high:
            middle = (low + high) // 2
            if self._is_before(line[middle], slot):
                low = middle + 1
            else:
                high = middle
        return low

    def stands(self, line: Slots, slot: int) -> int | None:
        """Return where a slot stands in a line of slots; None: it does not."""
        line_index = self.find(line, slot)
        return line_index if line_index < len(line) and line[line_index] == slot else None

    def _is_before(self, number: int, other: int) -> bool:
        keys = self.keys
        if self.rank is None:
            return keys[number] > keys[other] if self.reverse else keys[number] < keys[other]
        rank, its = self.ranks[number], self.ranks[other]
        if rank == its:
            return keys[number] < keys[other]
        if rank is None or its is None:
            return its is None
        return bool(rank > its if self.reverse else rank < its)

    def insert_slots(self, line: Slots, slots: Iterable[int]) -> Slots:
        """Return the line with more slots in it, each at its place."""
        coming = self.sort_slots(pack_slots(sorted(slots, key=self.keys.__getitem__)))
        if not coming:
            return line
        numbers, index = pack_slots(), 0
        for slot in coming:
            line_index = self.find(line, slot)
            numbers += line[index:line_index]
            numbers.append(slot)
            index = line_index
        numbers += line[index:]
        return numbers


def remove_slots(line: Slots, indexes: Iterable[int]) -> Slots:
    """Return the line without those that stand at some places."""
    numbers, index = pack_slots(), 0
    for line_index in sorted(indexes):
        numbers += line[index:line_index]
        index = line_index + 1
    if not index:
        return line
    numbers += line[index:]
    return numbers


def pack_slots(slots: Iterable[int] = ()) -> Slots:
    """Return the slots as a line."""
    return array("I", slots)


class RowKeys(Sequence[RowKey]):
    """The keys of some slots, looked up only where they are asked for."""

    def __init__(self, slots: Slots, keys: Sequence[RowKey]) -> None:
        self._slots, self._keys = slots, keys

    def __len__(self) -> int:
        return len(self._slots)

    @overload
    def __getitem__(self, index: int) -> RowKey: ...
    @overload
    def __getitem__(self, index: slice) -> list[RowKey]: ...
    def __getitem__(self, index: int | slice) -> RowKey | list[RowKey]:
        if isinstance(index, slice):
            return [self._keys[slot] for slot in self._slots[index]]
        return self._keys[self._slots[index]]

    def __iter__(self) -> Iterator[RowKey]:
        return map(self._keys.__getitem__, self._slots)
