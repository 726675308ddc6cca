"""Rows by slot, the number that each has in a view, with what is known of it: quicker to go through than by key."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, Generic, TypeVar

from kubectl_kres.tui.table.row_order import Rank, RowKey
from kubectl_kres.tui.table.row_texts import RowText, RowTexts

Row = TypeVar("Row")


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


class RowSlots(Generic[Row]):
    """``keys``, ``rows``, ``texts``: by slot. A slot whose row went keeps what it last had until another row has it."""

    def __init__(self, text: Callable[[Any], RowText]) -> None:
        self.keys: list[RowKey] = []
        self.rows: list[Row] = []
        self.texts = RowTexts(text)
        self._free: list[int] = []
        #: By rank those of the first slots, as far as they were read.
        self._ranks: dict[Rank, PreparedRanks] = {}

    @property
    def free(self) -> int:
        """Return how many slots have no row."""
        return len(self._free)

    def renew(self, rows: Mapping[RowKey, Row]) -> None:
        """Other rows: slots are in the order of keys then."""
        self.keys[:] = sorted(rows)
        self.rows = list(map(rows.__getitem__, self.keys))
        self._free = []
        self.texts.renew(len(self.keys))
        self._ranks = {rank: PreparedRanks() for rank in self._ranks}

    def store(self, gone: Iterable[int], changed: Mapping[int, Row], new: Mapping[RowKey, Row]) -> list[int]:
        """Put rows at their slots; the slots of those that came."""
        self._free.extend(gone)
        for slot, row in changed.items():
            self._replace(slot, row)
        return [self._add(key, row) for key, row in new.items()]

    def _add(self, key: RowKey, row: Row) -> int:
        if self._free:
            slot = self._free.pop()
            self.keys[slot] = key
            self._replace(slot, row)
        else:
            slot = len(self.keys)
            self.keys.append(key)
            self.rows.append(row)
            self.texts.add()
            for rank, rank_values in self._ranks.items():
                if len(rank_values) == slot:
                    rank_values.extend([rank(row)])
        return slot

    def _replace(self, slot: int, row: Row) -> None:
        self.rows[slot] = row
        self.texts.drop(slot)
        for rank, rank_values in self._ranks.items():
            if slot < len(rank_values):
                rank_values.replace(slot, rank(row))

    # What is made ready before anyone asks for it

    def rank_rows(self, ranks: Iterable[Rank]) -> None:
        """Ranks that a row keeps as long as it is that row: they are asked for once, by ``read``."""
        self._ranks = {rank: self._ranks.get(rank, PreparedRanks()) for rank in ranks}

    def prepared_ranks(self, rank: Rank | None) -> PreparedRanks | None:
        """Return those that are known of a rank, None where none are kept."""
        return self._ranks.get(rank) if rank is not None else None

    @property
    def ready(self) -> bool:
        """Return whether texts and ranks of all rows are; texts may be of a moment ago."""
        return self.texts.all_made and all(len(rank_values) == len(self.rows) for rank_values in self._ranks.values())

    def read(self, maximum: int) -> None:
        """Make the texts, then the ranks, of some more rows ready."""
        if not self.texts.all_current:
            self.texts.read(self.rows, maximum)
            return
        for rank, rank_values in self._ranks.items():
            if len(rank_values) < len(self.rows):
                rank_values.extend(map(rank, islice(self.rows, len(rank_values), len(rank_values) + maximum)))
                return
