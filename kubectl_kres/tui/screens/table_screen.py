"""A screen with a table: its rows are filtered and sorted, its columns picked, and all of it saved as CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, ClassVar

from kubectl_kres.tui.keys import SORTS
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.save import as_csv
from kubectl_kres.tui.screens.pane import Pane, Say, Told
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.matching import Matcher, Selector, matcher
from kubectl_kres.tui.table.row_table import Table

#: Seconds that rows are looked at for a fault at one key.
_SEARCH = 0.25
#: Keys with which a column is picked, and the one that sorts by it.
_PICKS = frozenset({"column-left", "column-right", "sort-column"})


class TablePane(Pane):
    """``table`` is made by the screen itself. ``sortable``: its order is not itself what it says."""

    KEY_GROUPS: ClassVar[tuple[str, ...]] = ("everywhere", "lists")
    sortable = True
    table: Table

    def __init__(self, session: Session, place: Location) -> None:
        super().__init__(session, place)
        self._filter = ""

    def filter(self, text: str) -> None:
        self._filter = text
        self.apply()

    @property
    def filters(self) -> bool:
        return True

    @property
    def filtered(self) -> str:
        return self._filter

    @property
    def selector(self) -> Selector | None:
        """What makes a test of ``-l app=web``; None where rows have no labels."""
        return None

    @property
    def fields(self) -> Mapping[str, Callable[[Any], str]]:
        """What makes a text of a row for each name that ``name=value`` may ask for."""
        return {}

    def matched(self) -> Matcher:
        """What the filter means; that it means nothing is said."""
        texts = matcher(self._filter, self.selector, self.fields)
        if texts.fault:
            self.post_message(Say(texts.fault, "warn"))
        return texts

    def apply(self) -> None:
        """Shows what the filter lets through."""
        self.table.filter(self.matched())
        self.post_message(Told())

    def act(self, action: str) -> bool:
        table = self.table
        if action in SORTS or action in _PICKS:
            return self.sortable and self._sort(action)
        match action:
            case "fault-next" | "fault-previous":
                self.to_fault(1 if action == "fault-next" else -1)
            case "wide":
                table.wide = not table.wide
                table.settle()
            case "up" if self._filter:
                self.filter("")
            case _:
                return super().act(action)
        self.post_message(Told())
        return True

    def is_fault(self, row: Any) -> bool:
        """Whether the row has a mark."""
        return bool(self.table.mark(row))

    def to_fault(self, by: int) -> None:
        """Puts the cursor on the next row with a fault, 1 down or -1 up; after the last one the first."""
        keys, rows, line = self.table.view.keys, self.table.view.rows, self.table.line
        end = perf_counter() + _SEARCH
        for step in range(1, len(keys) + 1):
            place = (line + by * step) % len(keys)
            row = rows.get(keys[place])
            if row is not None and self.is_fault(row):
                if place == line:
                    self.post_message(Say("there is no other fault"))
                self.table.go(place)
                return
            if perf_counter() > end:
                self.table.go(place)
                self.post_message(Say(f"no fault in {step:,} rows; once more looks further"))
                return
        self.post_message(Say("there is no fault"))

    def _sort(self, action: str) -> bool:
        """Sorts by the column that a key means, or picks one; False if there is no such column."""
        table, shown = self.table, self.table.shown
        if action in SORTS:
            known = {column.id: column for column in table.columns}
            chosen = next((known[name] for name in SORTS[action] if name in known), None)
        elif action == "sort-column":
            chosen = shown[table.picked - 1] if 0 < table.picked <= len(shown) else None
        else:
            table.picked = (table.picked - 2 if action == "column-left" else table.picked) % max(1, len(shown)) + 1
            table.refresh()
            return True
        if chosen is not None:
            self.toggle(chosen)
        return chosen is not None

    def toggle(self, column: Column) -> None:
        """Sorts by a column; if it does already, the other way round."""
        self.table.toggle(column)
        self.post_message(Told())

    def on_table_headed(self, event: Table.Headed) -> None:
        event.stop()
        if self.sortable:
            self.toggle(event.column)

    @property
    def tabular(self) -> bool:
        return True

    def table_csv(self) -> str | None:
        return as_csv(self.table) if self.tabular else None


def sort_line(table: Table) -> str:
    """By which column rows are sorted, for those who do not see the arrow."""
    column = table.sorted_by
    return f"  sort {column.head} {'down' if table.reverse else 'up'}" if column is not None else ""
