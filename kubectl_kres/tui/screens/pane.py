"""The base of screens: location, needs, status texts and messages, with a table that is filtered, sorted and saved as
CSV.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

from textual.message import Message
from textual.widget import Widget

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.line import Line, Tone
from kubectl_kres.store.store import Changes, ReadRequest
from kubectl_kres.tui.keys import SORTS
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.save import as_csv
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_order import RowKey
from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.table.row_texts import Matcher, Selector, matcher
from kubectl_kres.tui.widgets.lines import Lines

#: The filter that a key of its own sets.
NO_LIMITS = "limits=none"


class OpenPlace(Message):
    """Go to a place."""

    def __init__(self, location: Location, *, fresh: bool = False) -> None:
        super().__init__()
        self.location, self.fresh = location, fresh


class StatusRemark(Message):
    """A remark for the status line; an empty one takes back what stands there."""

    def __init__(self, text: str, tone: Tone = "") -> None:
        super().__init__()
        self.text, self.tone = text, tone


class Copy(Message):
    """A text for the clipboard, and what it is."""

    def __init__(self, text: str, what: str) -> None:
        super().__init__()
        self.text, self.what = text, what


class FrameChanged(Message):
    """What the lines around the screen say has changed."""


class PlaceOnScreen(NamedTuple):
    """Where a user is on a screen: the row under the cursor, None where nobody has moved it, and the filter."""

    row: RowKey | None
    filter: str


class Pane(Widget):
    """A screen. It gets the session and sends messages; it does not know the app."""

    #: The groups of keys that mean something on the screen.
    KEY_GROUPS: ClassVar[tuple[str, ...]] = ("everywhere",)

    def __init__(self, session: Session, location: Location) -> None:
        super().__init__()
        self.session, self.location = session, location

    def reads(self) -> Iterable[ReadRequest]:
        """Return what must be read; asked again after each change."""
        return ()

    def apply_changes(self, changes: Changes) -> None:
        """The store changed, or time passed."""

    def apply_hidden_changes(self, changes: Changes) -> None:
        """The store changed while the screen is hidden: what it holds must not outlive its objects."""

    @property
    def sums(self) -> bool:
        """Return whether pods have to be added up for it."""
        return False

    @property
    def busy(self) -> bool:
        """Return whether more of what it shows is still to come."""
        return self.has_work or any(self.session.unread_requests(self.reads()))

    @property
    def has_work(self) -> bool:
        """Return whether more of what it shows is to be computed, of what has been read: ``apply_changes`` goes on."""
        return False

    def refresh_sums(self) -> None:
        """Sum of pods are new."""

    def on_lines_copied(self, event: Lines.Copied) -> None:
        event.stop()
        self.post_message(Copy(event.command, "command"))

    @property
    def main_widget(self) -> Widget | None:
        """What is chosen from, or read where nothing is: the first one that takes keys."""
        return next((child for child in self.query("*") if child.can_focus and child.display), None)

    def focus_main(self) -> None:
        """The keys go to what is chosen from."""
        if (target := self.main_widget) is not None:
            target.focus()

    def enter(self, location: Location) -> None:
        """The screen is shown, perhaps for another namespace than before."""
        self.location = location

    @property
    def place(self) -> PlaceOnScreen | None:
        """Return where the user is on the screen; None: where it begins."""
        return None

    def return_to(self, place: PlaceOnScreen) -> None:
        """The screen was made anew, on other objects: be where the user was, once that is there."""

    def mark_withheld(self) -> None:
        """Something changed without its notice, since the screen was held still; it will be entered again."""

    def act(self, action: str) -> bool:
        """Do what a key says; False if it means nothing here."""
        if action == "mark" and (focused := self.screen.focused) is not None and hasattr(focused, "action_page"):
            focused.action_page(1)
            return True
        if action == "no-limits":
            self.post_message(OpenPlace(Location("pods", self.session.namespace, filter=NO_LIMITS)))
        return action == "no-limits"

    def ref_of_row(self) -> ObjectRef | None:
        """Return the object under the cursor, or the one that the screen is about; None where there is none."""
        return self.location.ref

    def owner(self) -> Location | None:
        """Return what the object under the cursor belongs to, or the one that the screen is about."""
        return None

    def value_here(self) -> tuple[ObjectRef | None, str, str]:
        """Return the object whose number is under the cursor, its name there and the number; empty: the object's
        first.
        """
        return self.ref_of_row(), "", ""

    def marked_values(self) -> Mapping[ObjectRef | None, tuple[ObjectRef | None, str, str]]:
        """Return the same by object for each marked row; empty: none is."""
        return {}

    def command(self) -> str:
        """Return what prints the same."""
        return ""

    def status(self) -> Line:
        """Return what is shown, in a line."""
        return ()

    def hints(self) -> Sequence[str]:
        """Keys for the footer."""
        return ()

    def breadcrumb(self) -> str:
        return self.location.title

    @property
    def runbook(self) -> str:
        """Return the name of the page on what to do about what the screen shows; empty: there is none."""
        return ""

    def shown_text(self) -> str:
        """Return what is shown, for help on its words."""
        texts: list[str] = []
        for table in (table for table in self.query(Table) if table.display):
            columns, rows = table.visible_columns, (table.view.rows[key] for key in table.seen_keys())
            texts.append("  ".join(column.head for column in columns))
            texts += ["  ".join(column.text(row) for column in columns) for row in rows]
        texts += [lines.text for lines in self.query(Lines) if lines.display]
        return "\n".join(texts)

    def filter(self, text: str) -> None:
        """Hide what does not match."""

    @property
    def filter_summary(self) -> str:
        return ""

    @property
    def filters(self) -> bool:
        """Return whether there is anything to filter."""
        return False

    @property
    def awaits_rows(self) -> bool:
        """Return whether there is no row yet to choose from, and may be in a moment."""
        return False

    @property
    def has_table(self) -> bool:
        """Return whether what is shown can be saved as a table."""
        return False

    def table_csv(self) -> str | None:
        """Return the table as CSV; None if there is none."""
        return None


#: Seconds that rows are looked at for a fault at one key.
_SEARCH = 0.25
#: Keys with which a column is picked, and the one that sorts by it.
PICKS = frozenset({"column-left", "column-right", "sort-column"})


class TablePane(Pane):
    """``table`` is made by the screen itself. ``sortable``: its order is not itself what it says."""

    KEY_GROUPS: ClassVar[tuple[str, ...]] = ("everywhere", "lists")
    sortable = True
    table: Table

    def __init__(self, session: Session, location: Location) -> None:
        super().__init__(session, location)
        self._filter = ""

    def filter(self, text: str) -> None:
        self._filter = text
        self.apply()

    @property
    def place(self) -> PlaceOnScreen | None:
        row = self.table.cursor if self.table.line else None
        return PlaceOnScreen(row, self._filter) if row is not None or self._filter else None

    def return_to(self, place: PlaceOnScreen) -> None:
        self.table.returns_to = place.row
        if place.filter:
            self.call_after_refresh(self.filter, place.filter)

    @property
    def filters(self) -> bool:
        return True

    @property
    def filter_summary(self) -> str:
        return self._filter

    @property
    def selector(self) -> Selector | None:
        """Return what makes a test of ``-l app=web``; None where rows have no labels."""
        return None

    @property
    def fields(self) -> Mapping[str, Callable[[Any], str]]:
        """Return what makes a text of a row for each name that ``name=value`` may ask for."""
        return {}

    def matched(self) -> Matcher:
        """Return what the filter means; that it means nothing is said."""
        texts = matcher(self._filter, self.selector, self.fields)
        if texts.fault:
            self.post_message(StatusRemark(texts.fault, "warn"))
        return texts

    def apply(self) -> None:
        """Show what the filter lets through."""
        self.table.filter(self.matched())
        self.post_message(FrameChanged())

    def act(self, action: str) -> bool:
        table = self.table
        if action in SORTS or action in PICKS:
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
        self.post_message(FrameChanged())
        return True

    def is_fault(self, row: Any) -> bool:
        """Return whether the row has a mark."""
        return bool(self.table.row_sign(row))

    def to_fault(self, by: int) -> None:
        """Put the cursor on the next row with a fault, 1 down or -1 up; after the last one the first."""
        keys, rows, line = self.table.view.keys, self.table.view.rows, self.table.line
        end = perf_counter() + _SEARCH
        for step in range(1, len(keys) + 1):
            index = (line + by * step) % len(keys)
            row = rows.get(keys[index])
            if row is not None and self.is_fault(row):
                if index == line:
                    self.post_message(StatusRemark("there is no other fault"))
                self.table.go(index)
                return
            if perf_counter() > end:
                self.table.go(index)
                self.post_message(StatusRemark(f"no fault in {step:,} rows; once more looks further"))
                return
        self.post_message(StatusRemark("there is no fault"))

    def _sort(self, action: str) -> bool:
        """Sorts by the column that a key means, or picks one; False if there is no such column."""
        table, shown = self.table, self.table.visible_columns
        if action in SORTS:
            columns_by_id = {column.id: column for column in table.columns}
            chosen = next((columns_by_id[name] for name in SORTS[action] if name in columns_by_id), None)
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
        """Sort by a column; if it does already, the other way round. A cursor that stands on the first row stays
        there, one that was moved on its object.
        """
        self.table.anchored = self.table.line == 0
        self.table.toggle(column)
        self.post_message(FrameChanged())

    def on_table_headed(self, event: Table.Headed) -> None:
        event.stop()
        if self.sortable:
            self.toggle(event.column)

    @property
    def has_table(self) -> bool:
        return True

    def table_csv(self) -> str | None:
        return as_csv(self.table) if self.has_table else None


def sort_line(table: Table, *, worst_first: bool = False) -> str:
    """By which column rows are sorted, for those who do not see the arrow; ``worst_first``: by the state that is so."""
    column = table.sorted_by
    if column is None:
        return ""
    if worst_first and column.id == "state" and not table.reverse:
        return f"  sort {column.head}, worst first"
    return f"  sort {column.head} {'down' if table.reverse else 'up'}"
