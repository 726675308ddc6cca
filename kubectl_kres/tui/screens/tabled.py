"""A screen with a table: its rows are filtered and sorted, its columns picked, and all of it saved as CSV."""

from __future__ import annotations

from kubectl_kres.tui.columns import Column
from kubectl_kres.tui.keys import SORTS
from kubectl_kres.tui.matching import Matcher, Selector, matcher
from kubectl_kres.tui.place import Place
from kubectl_kres.tui.save import as_csv
from kubectl_kres.tui.screens.pane import Pane, Say, Told
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table import Table

#: Keys with which a column is picked, and the one that sorts by it.
_PICKS = frozenset({"column-left", "column-right", "sort-column"})


class TablePane(Pane):
    """``table`` is made by the screen itself. ``sortable``: its order is not itself what it says."""

    sortable = True
    table: Table

    def __init__(self, session: Session, place: Place) -> None:
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

    def matched(self) -> Matcher:
        """What the filter means; that it means nothing is said."""
        found = matcher(self._filter, self.selector)
        if found.fault:
            self.post_message(Say(found.fault, "warn"))
        return found

    def apply(self) -> None:
        """Shows what the filter lets through."""
        self.table.filter(self.matched())
        self.post_message(Told())

    def act(self, action: str) -> bool:
        table = self.table
        if action in SORTS or action in _PICKS:
            return self.sortable and self._sort(action)
        match action:
            case "wide":
                table.wide = not table.wide
                table.settle()
            case "up" if self._filter:
                self.filter("")
            case _:
                return super().act(action)
        self.post_message(Told())
        return True

    def _sort(self, action: str) -> bool:
        """Sorts by the column that a key means, or picks one; False if there is no such column."""
        table, shown = self.table, self.table.shown
        if action in SORTS:
            known = {column.id: column for column in table.columns}
            chosen = next((known[one] for one in SORTS[action] if one in known), None)
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
