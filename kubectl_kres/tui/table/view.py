"""Which rows of a table are seen and in which order: rows by key, a filter, a sort."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar, overload

from kubectl_kres.tui.table.matching import EVERYTHING, Matcher, RowLabels
from kubectl_kres.tui.table.row_texts import RowText, RowTexts
from kubectl_kres.tui.table.sorted_rows import Rank, RowKey, RowOrder, Slots, left, packed

__all__ = ["Faces", "Rank", "RowKey", "RowKeys", "View"]

Row = TypeVar("Row")
#: From one row of so many on that changed, all are ordered and filtered anew.
_PART = 12


class Faces(NamedTuple):
    """How a view looks at a row: its text to search, its labels, and whether it has a fault."""

    text: Callable[[Any], RowText]
    labels: Callable[[Any], RowLabels]
    fault: Callable[[Any], bool]


class RowKeys(Sequence[RowKey]):
    """The keys of some slots, looked up only where they are asked for."""

    def __init__(self, slots: Slots, keys: Sequence[RowKey]) -> None:
        self._slots, self._keys = slots, keys

    def __len__(self) -> int:
        return len(self._slots)

    @overload
    def __getitem__(self, at: int) -> RowKey: ...
    @overload
    def __getitem__(self, at: slice) -> list[RowKey]: ...
    def __getitem__(self, at: int | slice) -> RowKey | list[RowKey]:
        if isinstance(at, slice):
            return [self._keys[slot] for slot in self._slots[at]]
        return self._keys[self._slots[at]]

    def __iter__(self) -> Iterator[RowKey]:
        return map(self._keys.__getitem__, self._slots)


class View(Generic[Row]):
    """Rows by key. ``keys``: those that are seen, in order, as of the last ``settle``.

    Without a sort rows stand in the order of their keys; a sort is stable over that. Each row has a number, its slot:
    what is known of it stands at that place of a list, and orders are lists of slots, since both are quick to go
    through. What changed is worked into these lists by ``settle``; until then they are as they were.
    """

    def __init__(self, faces: Faces) -> None:
        self.rows: dict[RowKey, Row] = {}
        self._faces = faces
        self._matcher, self._faults = EVERYTHING, False
        self._keys: list[RowKey] = []
        self._held: list[Row] = []
        self._texts = RowTexts(faces.text)
        #: Slots without a row, which keep what they last had.
        self._free: list[int] = []
        #: By rank those of the first slots, as far as they were read.
        self._ahead: dict[Rank, list[Any]] = {}
        #: That of the keys, that of the lines as they are, and that of the next ones.
        self._by_key = self._by = self._next = RowOrder(self._keys)
        #: All by key, all in order, and those of them that are seen: one list where they do not differ.
        self._base = self._line = self._seen = packed()
        #: What is to be done: rows to take in, or all of them; ranks to look at again; orders and filters to apply.
        self._dirty: dict[RowKey, None] = {}
        self._anew = self._again = self._unordered = self._unfiltered = False
        self._narrowed = False

    @property
    def keys(self) -> RowKeys:
        return RowKeys(self._seen, self._keys)

    def replace(self, rows: Mapping[RowKey, Row]) -> None:
        """All rows anew."""
        self.rows = dict(rows)
        self._dirty.clear()
        self._anew = True

    def update(self, changed: Mapping[RowKey, Row], gone: Iterable[RowKey] = ()) -> None:
        """Rows that came or changed, and rows that went; what is in both is gone."""
        self.rows.update(changed)
        self._dirty.update(dict.fromkeys(changed))
        for key in gone:
            if self.rows.pop(key, None) is not None:
                self._dirty[key] = None

    def filter(self, matcher: Matcher, *, faults: bool = False) -> None:
        """See only what matches; ``faults``: and has a fault."""
        # What the wider filter hid, the narrower one hides too.
        narrower = matcher.narrows(self._matcher) and faults == self._faults
        self._narrowed = narrower and (self._narrowed or not self._unfiltered)
        self._matcher, self._faults = matcher, faults
        self._unfiltered = True

    def sort(self, rank: Rank | None, *, reverse: bool = False) -> None:
        """Order by a rank of rows, which is asked for anew; None: by key."""
        if rank == self._next.rank and reverse == self._next.reverse:
            self._again = True
            return
        self._next = RowOrder(self._keys, rank, reverse=reverse)
        self._unordered = True

    def foresee(self, ranks: Iterable[Rank]) -> None:
        """Ranks that a row keeps as long as it is that row: they are asked for once, by ``read``."""
        self._ahead = {rank: self._ahead.get(rank, []) for rank in ranks}

    def settle(self) -> bool:
        """Brings ``keys`` up to date; whether there was anything to do."""
        if not (self._anew or self._dirty or self._again or self._unordered or self._unfiltered):
            return False
        if self._anew or len(self._free) > len(self.rows):
            self._number()
        elif self._unordered or len(self._dirty) * _PART > len(self.rows):
            self._take_in()
        elif self._dirty:
            self._work_in()
        if self._unordered or self._again:
            self._by = self._next
            self._unordered = self._ranked() or self._unordered
        if self._unordered:
            self._line, self._narrowed = self._by.arranged(self._base), False
        if self._unordered or self._unfiltered:
            self._seen = self._matching(self._seen if self._narrowed else self._line)
        self._dirty = {}
        self._anew = self._again = self._unordered = self._unfiltered = self._narrowed = False
        return True

    def place(self, key: RowKey) -> int | None:
        """The line of a key in what is seen."""
        slot = self._by_key.slot(self._base, key)
        return self._by.stands(self._seen, slot) if slot is not None else None

    @property
    def whole(self) -> bool:
        """Whether the texts of all rows are ready to be searched, and the ranks that they keep."""
        return self._texts.whole and all(len(known) == len(self._held) for known in self._ahead.values())

    def read(self, most: int) -> None:
        """Makes the texts, then the ranks, of some more rows ready."""
        if not self._texts.whole:
            self._texts.read(self._held, most)
            return
        for rank, known in self._ahead.items():
            if len(known) < len(self._held):
                known.extend(map(rank, islice(self._held, len(known), len(known) + most)))
                return

    def _ranked(self) -> bool:
        """Looks at the ranks that the order goes by; whether they are others than before."""
        by = self._by
        known = self._ahead.get(by.rank) if by.rank is not None else None
        if by.rank is None or known is None:
            return by.read(self._held)
        known.extend(map(by.rank, islice(self._held, len(known), None)))
        before, by.ranks = by.ranks, known
        return before is not known

    def _number(self) -> None:
        """Gives each row a slot."""
        self._keys[:] = sorted(self.rows)
        self._held = list(map(self.rows.__getitem__, self._keys))
        self._base, self._free = packed(range(len(self._keys))), []
        self._texts.renew(len(self._keys))
        self._ahead = {rank: [] for rank in self._ahead}
        self._unordered = True

    def _sorted_out(self) -> tuple[list[int], list[int], list[RowKey]]:
        """The slots of rows that went and of rows that changed, and the keys of those that came."""
        gone, changed, new = list[int](), list[int](), list[RowKey]()
        for key in self._dirty:
            slot = self._by_key.slot(self._base, key)
            if slot is None:
                if key in self.rows:
                    new.append(key)
            else:
                (changed if key in self.rows else gone).append(slot)
        return gone, changed, new

    def _hold(self, gone: Iterable[int], changed: Iterable[int], new: Iterable[RowKey]) -> list[int]:
        """Puts rows at their slots; the slots of those that came."""
        self._free.extend(gone)
        for slot in changed:
            self._put(slot, self.rows[self._keys[slot]])
        return [self._entered(key) for key in new]

    def _entered(self, key: RowKey) -> int:
        row = self.rows[key]
        if self._free:
            slot = self._free.pop()
            self._keys[slot] = key
            self._put(slot, row)
        else:
            slot = len(self._keys)
            self._keys.append(key)
            self._held.append(row)
            self._texts.add()
            for rank, known in self._ahead.items():
                if len(known) == slot:
                    known.append(rank(row))
        return slot

    def _put(self, slot: int, row: Row) -> None:
        """Another row at a slot."""
        self._held[slot] = row
        self._texts.drop(slot)
        for rank, known in self._ahead.items():
            if slot < len(known):
                known[slot] = rank(row)

    def _take_in(self) -> None:
        """Many changes, or some before all is ordered anyway."""
        gone, changed, new = self._sorted_out()
        if gone:
            leaving = set(gone)
            self._base = packed([slot for slot in self._base if slot not in leaving])
        came = self._hold(gone, changed, new)
        if len(came) * _PART > len(self._base):
            self._base = packed(sorted([*self._base, *came], key=self._keys.__getitem__))
        else:
            self._base = self._by_key.entered(self._base, came)
        if self._dirty:
            self._unordered, self._narrowed = True, False

    def _work_in(self) -> None:
        """Few changes: each is taken out of the lists where it stood, and put in where it belongs."""
        by, plain, whole = self._by, self._line is self._base, self._seen is self._line
        gone, changed, new = self._sorted_out()
        ranks = {slot: by.rank(self.rows[self._keys[slot]]) for slot in changed} if by.rank is not None else {}
        moved = [slot for slot, rank in ranks.items() if rank != by.ranks[slot]]
        # Where they stood is found by what was.
        base = left(self._base, [self._by_key.find(self._base, slot) for slot in gone])
        line = left(self._line, [by.find(self._line, slot) for slot in (*gone, *moved)]) if not plain else base
        seen = left(self._seen, self._places(gone, changed)) if not whole else line
        came = self._hold(gone, changed, new)
        if by.rank is not None and by.rank not in self._ahead:
            by.ranks += [None] * (len(self._keys) - len(by.ranks))
            for slot in (*changed, *came):
                by.ranks[slot] = by.rank(self._held[slot])
        self._base = self._by_key.entered(base, came)
        self._line = by.entered(line, [*moved, *came]) if not plain else self._base
        self._seen = by.entered(seen, self._matching(packed([*changed, *came]))) if not whole else self._line

    def _places(self, *groups: Iterable[int]) -> list[int]:
        """Where slots stand in what is seen."""
        places = (self._by.stands(self._seen, slot) for group in groups for slot in group)
        return [place for place in places if place is not None]

    def _matching(self, slots: Slots) -> Slots:
        """Those that the filter lets through."""
        rows, faces = self._held, self._faces
        if self._matcher.on == "labels" and self._matcher.labels is not None:
            fits = self._matcher.labels
            slots = packed([slot for slot in slots if fits(faces.labels(rows[slot]))])
        elif self._matcher.test is not None:
            self._texts.read(rows)
            slots = packed(self._texts.matching(slots, self._matcher))
        return packed([slot for slot in slots if faces.fault(rows[slot])]) if self._faults else slots
