"""The screen of every list: a table with the columns of its specification, and details of the selected row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from textual.app import ComposeResult

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.overview import short_ref
from kubectl_kres.render.text.line import Line
from kubectl_kres.store.store import Changes, ReadRequest
from kubectl_kres.tui.keys import BY_ID
from kubectl_kres.tui.lists.list_registry import select_columns
from kubectl_kres.tui.lists.list_spec import Listing
from kubectl_kres.tui.lists.timeline import history_lines
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.browse import status
from kubectl_kres.tui.screens.browse.layout import Layout, choose_layout
from kubectl_kres.tui.screens.browse.reads import ListReads
from kubectl_kres.tui.screens.browse.rows import ListedRows
from kubectl_kres.tui.screens.pane import NO_LIMITS, Copy, FrameChanged, OpenPlace, StatusRemark, TablePane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_filter import Faces
from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.table.row_texts import RowText, Selector
from kubectl_kres.tui.whatif import number_of_fix
from kubectl_kres.tui.widgets.lines import Lines

#: Keys of a list that mean something where it has no rows.
_WITHOUT_ROWS = frozenset({"timeline"})


class Browse(TablePane):
    """The class ``absent``: there is no row, and none is to come; ``nothing``: none is seen, though there may be."""

    def __init__(self, session: Session, location: Location, listing: Listing) -> None:
        super().__init__(session, location)
        self.listing = listing
        faces = Faces(self._text, listing.search.labels, self._fault)
        self.table = Table(self._columns(location.namespace), faces, sign=listing.row_mark)
        self.table.anchored = True
        if session.what_if is not None:
            change = session.what_if
            self.table.differs = lambda row: change.is_changed(listing.subject.ref(row))
        self.detail = Lines()
        #: The row that the detail is about.
        self._described: Any | None = None
        self._faults = False
        self._layout = Layout()
        self._reads = ListReads(session, listing.source)
        self.rows = ListedRows(
            self, self.table, listing, session, self._namespace, on_change=self._show, on_order=self._show_order
        )

    def _columns(self, namespace: str) -> Sequence[Column]:
        setting, listing = self.session.setting, self.listing
        own_columns = setting.columns.get(listing.id, ())
        columns = select_columns(listing, namespace, own_columns) if own_columns else listing.columns(namespace)
        return [column for column in columns if setting.live or not column.live]

    def compose(self) -> ComposeResult:
        yield self.table
        yield self.detail

    def on_mount(self) -> None:
        self.enter(self.location)

    def on_resize(self) -> None:
        self._arrange()

    def _arrange(self) -> None:
        layout = choose_layout(self.table, self.size)
        if layout == self._layout:
            return
        self._layout = layout
        self.set_class(layout.beside, "beside")
        self.set_class(layout.bare, "bare")
        self.table.styles.width = layout.width or "1fr"
        self.table.styles.height = layout.height or "1fr"

    # What is read, and what comes of it

    def reads(self) -> Iterable[ReadRequest]:
        return self._reads.requests(self._namespace)

    @property
    def _namespace(self) -> str:
        return self.location.namespace if self.listing.scoped else ""

    def enter(self, location: Location) -> None:
        moved = location.namespace != self.location.namespace
        super().enter(location)
        if moved:
            self.table.change_columns(self._columns(location.namespace))
        if location.filter and location.filter != self._filter:
            self.filter(location.filter)
        self.rows.enter(self._namespace, moved=moved)
        self.table.focus()

    def apply_changes(self, changes: Changes) -> None:
        self.rows.follow(changes)
        if self.table.anchored:
            # Rows that come first may arrive last, or come to be first once all of them have been looked at; then the
            # cursor stays on its row.
            self.table.anchored = self.rows.find_order or self._reads.are_unread(self._namespace)

    def apply_hidden_changes(self, changes: Changes) -> None:
        self.rows.follow_unseen(changes)

    def mark_withheld(self) -> None:
        self.rows.making.is_due = True

    @property
    def sums(self) -> bool:
        return self.listing.sums

    def refresh_sums(self) -> None:
        self.rows.making.is_due = True

    @property
    def has_work(self) -> bool:
        return self.rows.have_work

    @property
    def _are_coming(self) -> bool:
        """Return whether there may be rows in a moment."""
        reads, namespace = self._reads, self._namespace
        return self.rows.making.is_under_way or reads.are_unread(namespace) or reads.is_undecided(namespace)

    @property
    def awaits_rows(self) -> bool:
        making, reads, namespace = self.rows.making, self._reads, self._namespace
        coming = making.is_under_way or making.is_due or reads.are_under_way(namespace)
        return not self.table.view.rows and (coming or reads.is_undecided(namespace))

    # What is shown

    def _show_order(self) -> None:
        """Rows stand in their places: the detail of the row under the cursor where that is another one."""
        self._arrange()
        row = self.table.row
        if row is None or row is not self._described:
            self._show()
        else:
            self.post_message(FrameChanged())

    def _show(self) -> None:
        """The detail of the row, or why there is none; and the lines around."""
        row = self._described = self.table.row
        self._give_room()
        is_absent, is_seen = self.has_class("absent"), bool(self.table.view.keys)
        self.set_class(not is_seen and not is_absent, "nothing")
        self._arrange()
        self.table.empty = () if is_seen else [("quiet", status.why_empty(self._state()))]
        if row is not None and is_seen:
            subject = self.listing.subject
            history = partial(history_lines, self.session, (subject.ref(row),) if subject.has_history else ())
            self.detail.entitle(short_ref(subject.ref(row)))
            self.detail.put(lambda width: self.listing.detail(self.session, row, width), history, keep=True)
        else:
            self.detail.entitle("")
            lines = status.reason_lines if is_absent else status.unread_lines
            self.detail.put(lambda width: lines(self._state(), width))
        self.post_message(FrameChanged())

    def _give_room(self) -> None:
        """To the reasons all of it, where there are no rows to choose from."""
        empty = not self.table.view.rows and not self._are_coming
        if empty == self.has_class("absent"):
            return
        focused = self.table.has_focus or self.detail.has_focus
        self.set_class(empty, "absent")
        if focused:
            (self.detail if empty else self.table).focus()

    def _state(self) -> status.ListState:
        so_far = self.rows.making.is_under_way or self.rows.costly.are_under_way
        return status.ListState(
            self.session, self.listing, self.table, self._reads, self._namespace, self._filter, self._faults,
            self._are_coming, so_far,
        )  # fmt: skip

    def status(self) -> Line:
        return status.status_line(self._state())

    @property
    def runbook(self) -> str:
        return self.listing.wording.runbook

    def command(self) -> str:
        return self.listing.command(self.session, self._namespace)

    def hints(self) -> Sequence[str]:
        if self.has_class("absent"):
            return ("command", "help", "kinds", *(key for key in self.listing.hints if key in _WITHOUT_ROWS))
        return ("filter", "command", "help", *self.listing.hints)

    # Which rows are seen, and in which order

    def _text(self, row: Any) -> RowText:
        if self.listing.search.words is not None:
            return self.listing.search.words(row)
        return " ".join(column.text(row) for column in self.table.columns)

    def _fault(self, row: Any) -> bool:
        costly = self.listing.costly
        if costly is not None and costly.fault is not None:
            return costly.fault(row)
        return self.rows.costly.is_ready(row, "fault") and bool(self.listing.row_mark(row)[0])

    @property
    def fields(self) -> Mapping[str, Callable[[Any], str]]:
        columns = {column.id: column.text for column in self.table.columns if column.searched}
        return {**columns, **self.listing.search.fields}

    @property
    def selector(self) -> Selector:
        return self.session.setting.selector

    @property
    def filters(self) -> bool:
        """Return whether rows may come: what is typed before they do chooses among them."""
        return self._reads.coverage(self._namespace).state != "absent"

    def apply(self) -> None:
        self.table.filter(self.matched(), faults=self._faults)
        self._show()

    def _choose_faults(self, *, faults: bool) -> None:
        self._faults = faults
        self.rows.compute(self.table.sorted_by, faults=faults)
        self.apply()

    def toggle(self, column: Column) -> None:
        """Sort by a column. What is costly to compute is computed first, or while the user looks on."""
        by = self.table.sorted_by
        if self.listing.order.is_worst_first and column.id == "state" and by is not None and by.id == "state":
            # From the worst to the names and back.
            self.rows.choose_order(None, faults=self._faults)
            self.table.anchored = self.table.line == 0
            self.table.sort(None)
            self.post_message(FrameChanged())
            return
        self.rows.choose_order(column, faults=self._faults)
        super().toggle(column)

    def is_fault(self, row: Any) -> bool:
        """Return whether the row has a mark, which is found out first where that is costly."""
        self.rows.costly.prepare(row, "fault")
        return super().is_fault(row)

    # Keys, and the row that they are about

    def act(self, action: str) -> bool:
        key = BY_ID.get(action)
        if self.has_class("absent") and key is not None and key.group == "lists":
            self.post_message(StatusRemark(f"there are no rows: {key.shown} does nothing here"))
            return True
        match action:
            case "no-limits" if "limits" in self.fields:
                self.filter("" if self._filter == NO_LIMITS else NO_LIMITS)
            case "faults":
                self._choose_faults(faults=not self._faults)
            case "copy" if self.detail.has_focus and (command := self.detail.command_here()):
                self.post_message(Copy(command, "command"))
            case "mark" if self.table.row is None:
                self.post_message(StatusRemark("there is no row to mark"))
            case "mark":
                self.table.mark()
            case "up" if self.table.marked:
                self.table.marked.clear()
                self.table.refresh()
            case "up" if self._filter or self._faults:
                self._filter = ""
                self._choose_faults(faults=False)
            case "pane" | "pane-back":
                on_table = self.table.has_focus and not self.has_class("bare")
                (self.detail if on_table else self.table).focus()
            case _:
                return super().act(action) or self._act_on_row(action)
        self.post_message(FrameChanged())
        return True

    def _act_on_row(self, action: str) -> bool:
        if (row := self.table.row) is None:
            return False
        ref = self.listing.subject.ref(row)
        match action:
            case "copy":
                self.post_message(Copy(ref.name, "name"))
            case "copy-ns" if ref.namespace:
                self.post_message(Copy(ref.namespace, "namespace"))
            case "namespace" if ref.namespace or ref.kind == "Namespace":
                self.post_message(OpenPlace(Location("pods", namespace=ref.namespace or ref.name)))
            case "explain" if ref.kind in BY_KIND:
                self.post_message(OpenPlace(Location("object", ref=ref, tab="text")))
            case _ if action in self.listing.subject.tabs:
                self.post_message(OpenPlace(Location("object", ref=ref, tab=action)))
            case "owner" if (location := self.owner()) is not None:
                self.post_message(OpenPlace(location))
            case _:
                return False
        return True

    def ref_of_row(self) -> ObjectRef | None:
        return self.listing.subject.ref(self.table.row) if self.table.row is not None else None

    def owner(self) -> Location | None:
        return self.listing.subject.owner(self.table.row) if self.table.row is not None else None

    def value_here(self) -> tuple[ObjectRef | None, str, str]:
        """Return the number of the first fix, where there is one."""
        row = self.table.row
        return (number_of_fix(self.listing.subject.remedies(row)) if row is not None else None) or super().value_here()

    def marked_values(self) -> Mapping[ObjectRef | None, tuple[ObjectRef | None, str, str]]:
        """Return the number of the first fix of each marked row that is still there, else its object."""
        subject = self.listing.subject
        rows = (self.table.view.rows.get(key) for key in sorted(self.table.marked))
        return {
            (ref := subject.ref(row)): number_of_fix(subject.remedies(row)) or (ref, "", "")
            for row in rows
            if row is not None
        }

    def on_table_moved(self, event: Table.Moved) -> None:
        event.stop()
        self._show()

    def on_table_opened(self, event: Table.Opened) -> None:
        event.stop()
        row = self.table.view.rows.get(event.key)
        location = self.listing.subject.opens(row) if row is not None else None
        if location is not None:
            self.post_message(OpenPlace(location))

    def on_table_gone(self, event: Table.Gone) -> None:
        event.stop()
        self.post_message(StatusRemark(f"{event.key[-1]} was deleted", "warn"))
