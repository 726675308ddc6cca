"""An order of rows that is kept: places are found by halving, and few changes are worked in without sorting again."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

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
        self.ranks: list[Any] = []

    @property
    def plain(self) -> bool:
        """Whether it is that of the keys."""
        return self.rank is None and not self.reverse

    def read(self, rows: Iterable[Any]) -> bool:
        """Takes the ranks of all rows anew; whether any of them is another one than before."""
        if self.rank is None:
            return False
        before, self.ranks = self.ranks, list(map(self.rank, rows))
        return before != self.ranks

    def arranged(self, slots: Slots) -> Slots:
        """Slots that are in the order of their keys, in this order."""
        if self.rank is None:
            return slots[::-1] if self.reverse else slots
        ranks = self.ranks
        known = slots if None not in ranks else [slot for slot in slots if ranks[slot] is not None]
        numbers = packed(sorted(known, key=ranks.__getitem__, reverse=self.reverse))
        if known is not slots:
            numbers.extend(slot for slot in slots if ranks[slot] is None)
        return numbers

    def slot(self, line: Slots, key: RowKey) -> int | None:
        """The slot of a key in a line that is in the order of keys; None: it has none."""
        place = bisect_left(line, key, key=self.keys.__getitem__)
        return line[place] if place < len(line) and self.keys[line[place]] == key else None

    def find(self, line: Slots, slot: int) -> int:
        """Where a slot stands in a line of slots, or would stand."""
        keys = self.keys
        if self.plain:
            return bisect_left(line, keys[slot], key=keys.__getitem__)
        low, high = 0, len(line)
        while low < high:
            middle = (low + high) // 2
            if self._before(line[middle], slot):
                low = middle + 1
            else:
                high = middle
        return low

    def stands(self, line: Slots, slot: int) -> int | None:
        """Where a slot stands in a line of slots; None: it does not."""
        place = self.find(line, slot)
        return place if place < len(line) and line[place] == slot else None

    def _before(self, number: int, other: int) -> bool:
        keys = self.keys
        if self.rank is None:
            return keys[number] > keys[other] if self.reverse else keys[number] < keys[other]
        rank, its = self.ranks[number], self.ranks[other]
        if rank == its:
            return keys[number] < keys[other]
        if rank is None or its is None:
            return its is None
        return bool(rank > its if self.reverse else rank < its)

    def entered(self, line: Slots, slots: Iterable[int]) -> Slots:
        """The line with more slots in it, each at its place."""
        coming = self.arranged(packed(sorted(slots, key=self.keys.__getitem__)))
        if not coming:
            return line
        numbers, at = packed(), 0
        for slot in coming:
            place = self.find(line, slot)
            numbers += line[at:place]
            numbers.append(slot)
            at = place
        numbers += line[at:]
        return numbers


def left(line: Slots, places: Iterable[int]) -> Slots:
    """The line without those that stand at some places."""
    numbers, at = packed(), 0
    for place in sorted(places):
        numbers += line[at:place]
        at = place + 1
    if not at:
        return line
    numbers += line[at:]
    return numbers


def packed(slots: Iterable[int] = ()) -> Slots:
    """The slots as a line."""
    return array("I", slots)
