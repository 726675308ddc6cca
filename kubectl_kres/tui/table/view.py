"""The rows of a table that are seen, in order, whatever happens to rows, filter and sort."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Generic

from kubectl_kres.tui.table.row_filter import Faces, RowFilter
from kubectl_kres.tui.table.row_order import Rank, RowKey, RowKeys, RowOrder, Slots, pack_slots, remove_slots
from kubectl_kres.tui.table.row_slots import Row, RowSlots
from kubectl_kres.tui.table.row_texts import Matcher

#: From one row of so many on that changed, all are ordered and filtered anew.
_PART = 12
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
        self._slots: RowSlots[Row] = RowSlots(faces.text)
        self._filter = RowFilter(faces)
        #: That of the keys, that of the lines as they are, and that of the next ones.
        self._by_key = self._order = self._next = RowOrder(self._slots.keys)
        #: All by key, all in order, and those of them that are seen: one list where they do not differ.
        self._base = self._line = self._seen_slots = pack_slots()
        #: What is to be done: all rows anew; some to take in, with the slots of those that have one; ranks to look at
        #: again; another order to apply.
        self._anew: dict[RowKey, Row] | None = None
        self._dirty: dict[RowKey, tuple[int | None, Row]] = {}
        self._is_stale = self._unordered = False

    @property
    def keys(self) -> RowKeys:
        return RowKeys(self._seen_slots, self._slots.keys)

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
        return slot, self._slots.rows[slot] if slot is not None else _GONE

    def pairs(self) -> Iterator[tuple[RowKey, Row]]:
        """Yield all rows, each with its key: in the order of keys, but what came last at the end."""
        if self._anew is not None:
            yield from self._anew.items()
            return
        keys, rows, dirty = self._slots.keys, self._slots.rows, self._dirty
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
        self._filter.choose(matcher, faults=faults)

    def sort(self, rank: Rank | None, *, reverse: bool = False) -> None:
        """Order by a rank of rows, which is asked for anew; None: by key."""
        if rank == self._next.rank and reverse == self._next.reverse:
            self._is_stale = True
            return
        self._next = RowOrder(self._slots.keys, rank, reverse=reverse)
        self._unordered = True

    def rank_rows(self, ranks: Iterable[Rank]) -> None:
        """Ranks that a row keeps as long as it is that row: they are asked for once, by ``read``."""
        self._slots.rank_rows(ranks)

    def settle(self) -> bool:
        """Brings ``keys`` up to date; whether there was anything to do."""
        anew = self._anew is not None
        if not (anew or self._dirty or self._is_stale or self._unordered or self._filter.is_stale):
            return False
        if anew or self._slots.free > self._count:
            self._number()
        elif self._unordered or len(self._dirty) * _PART > self._count:
            self._take_in()
        elif self._dirty:
            self._work_in()
        if self._unordered or self._is_stale:
            self._order = self._next
            self._unordered = self._update_ranks() or self._unordered
        if self._unordered:
            self._line, self._filter.narrows = self._order.sort_slots(self._base), False
        if self._unordered or self._filter.is_stale:
            self._seen_slots = self._let_through(self._seen_slots if self._filter.narrows else self._line)
        self._dirty = {}
        self._is_stale = self._unordered = False
        self._filter.settled()
        return True

    def line_of(self, key: RowKey) -> int | None:
        """Return the line of a key in what is seen."""
        slot = self._by_key.slot(self._base, key)
        return self._order.stands(self._seen_slots, slot) if slot is not None else None

    @property
    def texts_current(self) -> bool:
        """Whether the texts of all rows, as they are now, are ready to be searched, and the ranks that they keep."""
        return self._slots.texts.all_current and self.ready

    @property
    def ready(self) -> bool:
        """The same, but that texts may be of a moment ago."""
        return self._slots.ready

    def read(self, maximum: int) -> None:
        """Make the texts, then the ranks, of some more rows ready."""
        self._slots.read(maximum)

    def age(self) -> None:
        """The texts of all rows may be others by now: they are made anew by ``read``."""
        self._slots.texts.age()

    @property
    def is_filtered(self) -> bool:
        return self._filter.has_text

    def rematch(self) -> None:
        """Has the filter look again at all rows."""
        self._filter.look_again()

    @property
    def pending_changes(self) -> int:
        """Return how many changes the next ``settle`` will work in."""
        return len(self._dirty)

    def _update_ranks(self) -> bool:
        """Look at the ranks that the order goes by; whether they are others than before."""
        by = self._order
        rank_values = self._slots.prepared_ranks(by.rank)
        if by.rank is None or rank_values is None:
            return by.read(self._slots.rows)
        rank_values.extend(map(by.rank, islice(self._slots.rows, len(rank_values), None)))
        before, by.ranks = by.ranks, rank_values.values
        return before is not by.ranks

    def _number(self) -> None:
        """Give each row a slot."""
        rows = dict(self.pairs()) if self._anew is None else self._anew
        self._slots.renew(rows)
        self._anew, self._count = None, len(rows)
        self._base = pack_slots(range(len(rows)))
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

    def _take_in(self) -> None:
        """Many changes, or some before all is ordered anyway."""
        removed, changed, new = self._sorted_out()
        if removed:
            leaving = set(removed)
            self._base = pack_slots([slot for slot in self._base if slot not in leaving])
        came = self._slots.store(removed, changed, new)
        if len(came) * _PART > len(self._base):
            self._base = pack_slots(sorted([*self._base, *came], key=self._slots.keys.__getitem__))
        else:
            self._base = self._by_key.insert_slots(self._base, came)
        if self._dirty:
            self._unordered = True

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
        came = self._slots.store(removed, changed, new)
        prepared = self._slots.prepared_ranks(by.rank)
        if prepared is not None and len(prepared) == len(self._slots.rows):
            by.ranks = prepared.values
        elif by.rank is not None:
            by.ranks = by.ranks if isinstance(by.ranks, list) else list(by.ranks)
            by.ranks += [None] * (len(self._slots.keys) - len(by.ranks))
            for slot in (*changed, *came):
                by.ranks[slot] = by.rank(self._slots.rows[slot])
        self._base = self._by_key.insert_slots(base, came)
        self._line = by.insert_slots(line, [*moved, *came]) if not plain else self._base
        self._seen_slots = (
            by.insert_slots(seen, self._let_through(pack_slots([*changed, *came]))) if not whole else self._line
        )

    def _visible_positions(self, *groups: Iterable[int]) -> list[int]:
        """Return where slots stand in what is seen."""
        positions = (self._order.stands(self._seen_slots, slot) for group in groups for slot in group)
        return [line_index for line_index in positions if line_index is not None]

    def _let_through(self, slots: Slots) -> Slots:
        return self._filter.let_through(slots, self._slots)
