"""The visible rows of a table and their order, which is kept as rows change instead of being sorted again."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, overload

from kubectl_kres.tui.table.row_texts import EVERYTHING, Matcher, RowLabels, RowText, RowTexts

__all__ = ["Faces", "Rank", "RowKey", "RowKeys", "RowOrder", "Slots", "View", "pack_slots", "remove_slots"]


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


class PreparedRanks:
    """The ranks of the first slots. As long as all are numbers with fractions they are packed: so many objects would
    take four times the room, and leave holes where each changes.
    """

    def __init__(self) -> None:
        self.values: list[Any] | array[float] = array("d")

    def __len__(self) -> int:
        return len(self.values)

    def extend(self, ranks: Iterable[Any]) -> None:
        """Take those of the next slots."""
        more = list(ranks)
        if isinstance(self.values, array) and not all(type(rank) is float for rank in more):
            self.values = list(self.values)
        self.values.extend(more)

    def replace(self, slot: int, rank: Any) -> None:
        """Take another one of a slot."""
        if isinstance(self.values, array) and type(rank) is not float:
            self.values = list(self.values)
        self.values[slot] = rank


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
    def __getitem__(self, index: int) -> RowKey: ...
    @overload
    def __getitem__(self, index: slice) -> list[RowKey]: ...
    def __getitem__(self, index: int | slice) -> RowKey | list[RowKey]:
        if isinstance(index, slice):
            return [self._keys[slot] for slot in self._slots[index]]
        return self._keys[self._slots[index]]

    def __iter__(self) -> Iterator[RowKey]:
        return map(self._keys.__getitem__, self._slots)


#: In the place of a row that has gone.
_GONE: Any = object()


class RowsByKey(Mapping[RowKey, Row]):
    """The rows of a view by key, as of the last change of them."""

    def __init__(self, view: View[Row]) -> None:
        self._view = view

    def __getitem__(self, key: RowKey) -> Row:
        return self._view.row(key)

    def __len__(self) -> int:
        return self._view.count

    def __iter__(self) -> Iterator[RowKey]:
        return (key for key, _ in self._view.pairs())


class View(Generic[Row]):
    """Rows by key. ``keys``: those that are seen, in order, as of the last ``settle``.

    Without a sort rows stand in the order of their keys; a sort is stable over that. Each row has a number, its slot:
    what is known of it stands at that place of a list, and orders are lists of slots, since both are quick to go
    through. What changed is worked into these lists by ``settle``; until then they are as they were. There is no table
    of rows by key: a key is found in the order of keys, by halving.
    """

    def __init__(self, faces: Faces) -> None:
        self._count = 0
        self._faces = faces
        self._matcher, self._faults = EVERYTHING, False
        self._keys: list[RowKey] = []
        self._rows: list[Row] = []
        self._texts = RowTexts(faces.text)
        #: Slots without a row, which keep what they last had.
        self._free: list[int] = []
        #: By rank those of the first slots, as far as they were read.
        self._prepared_ranks: dict[Rank, PreparedRanks] = {}
        #: That of the keys, that of the lines as they are, and that of the next ones.
        self._by_key = self._order = self._next = RowOrder(self._keys)
        #: All by key, all in order, and those of them that are seen: one list where they do not differ.
        self._base = self._line = self._seen_slots = pack_slots()
        #: What is to be done: all rows anew; some to take in, with the slots of those that have one; ranks to look at
        #: again; orders and filters to apply.
        self._anew: dict[RowKey, Row] | None = None
        self._dirty: dict[RowKey, tuple[int | None, Row]] = {}
        self._is_stale = self._unordered = self._unfiltered = False
        self._narrowed = False

    @property
    def keys(self) -> RowKeys:
        return RowKeys(self._seen_slots, self._keys)

    @property
    def rows(self) -> Mapping[RowKey, Row]:
        return RowsByKey(self)

    @property
    def count(self) -> int:
        """Return how many rows there are."""
        return len(self._anew) if self._anew is not None else self._count

    def row(self, key: RowKey) -> Row:
        """Raises KeyError."""
        if (row := self._find_row(key)[1]) is _GONE:
            raise KeyError(key)
        return row

    def _find_row(self, key: RowKey) -> tuple[int | None, Row]:
        """Return the slot of a key, if it has one, and its row, or ``_GONE``."""
        if self._anew is not None:
            return None, self._anew.get(key, _GONE)
        waiting = self._dirty.get(key)
        if waiting is not None:
            return waiting
        slot = self._by_key.slot(self._base, key)
        return slot, self._rows[slot] if slot is not None else _GONE

    def pairs(self) -> Iterator[tuple[RowKey, Row]]:
        """Yield all rows, each with its key: in the order of keys, but what came last at the end."""
        if self._anew is not None:
            yield from self._anew.items()
            return
        keys, rows, dirty = self._keys, self._rows, self._dirty
        for slot in self._base:
            key = keys[slot]
            row = dirty[key][1] if key in dirty else rows[slot]
            if row is not _GONE:
                yield key, row
        for key, (index, row) in dirty.items():
            if index is None and row is not _GONE:
                yield key, row

    def replace(self, rows: dict[RowKey, Row]) -> None:
        """All rows anew. The dictionary is the view's from now on."""
        self._anew = rows
        self._dirty.clear()

    def update(self, changed: Mapping[RowKey, Row], gone: Iterable[RowKey] = ()) -> None:
        """Rows that came or changed, and rows that went; what is in both is gone."""
        if self._anew is not None:
            self._anew.update(changed)
            for key in gone:
                self._anew.pop(key, None)
            return
        for key, row in changed.items():
            slot, before = self._find_row(key)
            self._count += before is _GONE
            self._dirty[key] = slot, row
        for key in gone:
            slot, before = self._find_row(key)
            if before is not _GONE:
                self._count -= 1
                self._dirty[key] = slot, _GONE

    def filter(self, matcher: Matcher, *, faults: bool = False) -> None:
        """See only what matches; ``faults``: and has a fault."""
        # What the wider filter hid, the narrower one hides too; faults come to be known.
        narrower = matcher.is_narrower(self._matcher) and not faults and not self._faults
        self._narrowed = narrower and (self._narrowed or not self._unfiltered)
        self._matcher, self._faults = matcher, faults
        self._unfiltered = True

    def sort(self, rank: Rank | None, *, reverse: bool = False) -> None:
        """Order by a rank of rows, which is asked for anew; None: by key."""
        if rank == self._next.rank and reverse == self._next.reverse:
            self._is_stale = True
            return
        self._next = RowOrder(self._keys, rank, reverse=reverse)
        self._unordered = True

    def rank_rows(self, ranks: Iterable[Rank]) -> None:
        """Rank that a row keeps as long as it is that row: they are asked for once, by ``read``."""
        self._prepared_ranks = {rank: self._prepared_ranks.get(rank, PreparedRanks()) for rank in ranks}

    def settle(self) -> bool:
        """Brings ``keys`` up to date; whether there was anything to do."""
        anew = self._anew is not None
        if not (anew or self._dirty or self._is_stale or self._unordered or self._unfiltered):
            return False
        if anew or len(self._free) > self._count:
            self._number()
        elif self._unordered or len(self._dirty) * _PART > self._count:
            self._take_in()
        elif self._dirty:
            self._work_in()
        if self._unordered or self._is_stale:
            self._order = self._next
            self._unordered = self._update_ranks() or self._unordered
        if self._unordered:
            self._line, self._narrowed = self._order.sort_slots(self._base), False
        if self._unordered or self._unfiltered:
            self._seen_slots = self._filter_slots(self._seen_slots if self._narrowed else self._line)
        self._dirty = {}
        self._is_stale = self._unordered = self._unfiltered = self._narrowed = False
        return True

    def line_of(self, key: RowKey) -> int | None:
        """Return the line of a key in what is seen."""
        slot = self._by_key.slot(self._base, key)
        return self._order.stands(self._seen_slots, slot) if slot is not None else None

    @property
    def texts_current(self) -> bool:
        """Whether the texts of all rows, as they are now, are ready to be searched, and the ranks that they keep."""
        return self._texts.all_current and self.ready

    @property
    def ready(self) -> bool:
        """The same, but that texts may be of a moment ago."""
        return self._texts.all_made and all(
            len(rank_values) == len(self._rows) for rank_values in self._prepared_ranks.values()
        )

    def read(self, maximum: int) -> None:
        """Make the texts, then the ranks, of some more rows ready."""
        if not self._texts.all_current:
            self._texts.read(self._rows, maximum)
            return
        for rank, rank_values in self._prepared_ranks.items():
            if len(rank_values) < len(self._rows):
                rank_values.extend(map(rank, islice(self._rows, len(rank_values), len(rank_values) + maximum)))
                return

    def age(self) -> None:
        """The texts of all rows may be others by now: they are made anew by ``read``."""
        self._texts.age()

    @property
    def is_filtered(self) -> bool:
        return self._matcher is not EVERYTHING

    def rematch(self) -> None:
        """Has the filter look again at all rows."""
        self._unfiltered, self._narrowed = True, False

    @property
    def pending_changes(self) -> int:
        """Return how many changes the next ``settle`` will work in."""
        return len(self._dirty)

    def _update_ranks(self) -> bool:
        """Look at the ranks that the order goes by; whether they are others than before."""
        by = self._order
        rank_values = self._prepared_ranks.get(by.rank) if by.rank is not None else None
        if by.rank is None or rank_values is None:
            return by.read(self._rows)
        rank_values.extend(map(by.rank, islice(self._rows, len(rank_values), None)))
        before, by.ranks = by.ranks, rank_values.values
        return before is not by.ranks

    def _number(self) -> None:
        """Give each row a slot."""
        rows = dict(self.pairs()) if self._anew is None else self._anew
        self._keys[:] = sorted(rows)
        self._rows = list(map(rows.__getitem__, self._keys))
        self._anew, self._count = None, len(rows)
        self._base, self._free = pack_slots(range(len(self._keys))), []
        self._texts.renew(len(self._keys))
        self._prepared_ranks = {rank: PreparedRanks() for rank in self._prepared_ranks}
        self._unordered = True

    def _sorted_out(self) -> tuple[list[int], dict[int, Row], dict[RowKey, Row]]:
        """Return the slots of rows that went, those of rows that changed with them, and rows that came."""
        removed, changed, new = list[int](), dict[int, Row](), dict[RowKey, Row]()
        for key, (slot, row) in self._dirty.items():
            if slot is None:
                if row is not _GONE:
                    new[key] = row
            elif row is _GONE:
                removed.append(slot)
            else:
                changed[slot] = row
        return removed, changed, new

    def _store_rows(self, gone: Iterable[int], changed: Mapping[int, Row], new: Mapping[RowKey, Row]) -> list[int]:
        """Put rows at their slots; the slots of those that came."""
        self._free.extend(gone)
        for slot, row in changed.items():
            self._replace_row(slot, row)
        return [self._add_row(key, row) for key, row in new.items()]

    def _add_row(self, key: RowKey, row: Row) -> int:
        if self._free:
            slot = self._free.pop()
            self._keys[slot] = key
            self._replace_row(slot, row)
        else:
            slot = len(self._keys)
            self._keys.append(key)
            self._rows.append(row)
            self._texts.add()
            for rank, rank_values in self._prepared_ranks.items():
                if len(rank_values) == slot:
                    rank_values.extend([rank(row)])
        return slot

    def _replace_row(self, slot: int, row: Row) -> None:
        """Another row at a slot."""
        self._rows[slot] = row
        self._texts.drop(slot)
        for rank, rank_values in self._prepared_ranks.items():
            if slot < len(rank_values):
                rank_values.replace(slot, rank(row))

    def _take_in(self) -> None:
        """Many changes, or some before all is ordered anyway."""
        removed, changed, new = self._sorted_out()
        if removed:
            leaving = set(removed)
            self._base = pack_slots([slot for slot in self._base if slot not in leaving])
        came = self._store_rows(removed, changed, new)
        if len(came) * _PART > len(self._base):
            self._base = pack_slots(sorted([*self._base, *came], key=self._keys.__getitem__))
        else:
            self._base = self._by_key.insert_slots(self._base, came)
        if self._dirty:
            self._unordered, self._narrowed = True, False

    def _work_in(self) -> None:
        """Few changes: each is taken out of the lists where it stood, and put in where it belongs."""
        by, plain, whole = self._order, self._line is self._base, self._seen_slots is self._line
        removed, changed, new = self._sorted_out()
        ranks = {slot: by.rank(row) for slot, row in changed.items()} if by.rank is not None else {}
        moved = [slot for slot, rank in ranks.items() if rank != by.ranks[slot]]
        # Where they stood is found by what was.
        base = remove_slots(self._base, [self._by_key.find(self._base, slot) for slot in removed])
        line = (
            remove_slots(self._line, [by.find(self._line, slot) for slot in (*removed, *moved)]) if not plain else base
        )
        seen = remove_slots(self._seen_slots, self._visible_positions(removed, changed)) if not whole else line
        came = self._store_rows(removed, changed, new)
        prepared = self._prepared_ranks.get(by.rank) if by.rank is not None else None
        if prepared is not None and len(prepared) == len(self._rows):
            by.ranks = prepared.values
        elif by.rank is not None:
            by.ranks = by.ranks if isinstance(by.ranks, list) else list(by.ranks)
            by.ranks += [None] * (len(self._keys) - len(by.ranks))
            for slot in (*changed, *came):
                by.ranks[slot] = by.rank(self._rows[slot])
        self._base = self._by_key.insert_slots(base, came)
        self._line = by.insert_slots(line, [*moved, *came]) if not plain else self._base
        self._seen_slots = (
            by.insert_slots(seen, self._filter_slots(pack_slots([*changed, *came]))) if not whole else self._line
        )

    def _visible_positions(self, *groups: Iterable[int]) -> list[int]:
        """Return where slots stand in what is seen."""
        positions = (self._order.stands(self._seen_slots, slot) for group in groups for slot in group)
        return [line_index for line_index in positions if line_index is not None]

    def _filter_slots(self, slots: Slots) -> Slots:
        """Return those that the filter lets through."""
        rows, faces = self._rows, self._faces
        if self._matcher.on == "labels" and self._matcher.labels is not None:
            fits = self._matcher.labels
            slots = pack_slots([slot for slot in slots if fits(faces.labels(rows[slot]))])
        elif self._matcher.on == "rows" and self._matcher.rows is not None:
            fits_row = self._matcher.rows
            slots = pack_slots([slot for slot in slots if fits_row(rows[slot])])
        elif self._matcher.test is not None:
            self._texts.read(rows)
            slots = pack_slots(self._texts.matching(slots, self._matcher))
        return pack_slots([slot for slot in slots if faces.fault(rows[slot])]) if self._faults else slots
