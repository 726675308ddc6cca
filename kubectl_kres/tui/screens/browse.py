"""The screen of every list: a table with the columns of its specification, and details of the selected row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any

from textual.app import ComposeResult
from textual.timer import Timer

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.overview import short_ref
from kubectl_kres.render.text.line import Line, tone_lines, wrap_text
from kubectl_kres.store.store import Changes, ReadRequest
from kubectl_kres.tui.keys import BY_ID
from kubectl_kres.tui.lists.list_registry import select_columns
from kubectl_kres.tui.lists.list_spec import Listing, changed_rows, format_namespaces, name_count, nothing_there
from kubectl_kres.tui.lists.timeline import history_lines
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.rbac_hints import gap_lines
from kubectl_kres.tui.screens.pane import NO_LIMITS, Copy, FrameChanged, OpenPlace, StatusRemark, TablePane, sort_line
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.table.row_texts import RowText, Selector
from kubectl_kres.tui.table.strips import safe_text
from kubectl_kres.tui.table.view import Faces, RowKey
from kubectl_kres.tui.whatif import number_of_fix
from kubectl_kres.tui.widgets.header_footer import count_text, gap_count
from kubectl_kres.tui.widgets.lines import Lines

#: Seconds that rows are made for in one go, at first and later, and between two such goes, for keys and painting.
_FIRST, _SLICE, _BREATH = 0.15, 0.015, 0.005
#: Rows whose texts are made ready between two looks at the clock, for a filter to come.
_READ = 200
#: Changes of rows that are not seen, from which they are worked in.
_UNSEEN = 2_000
#: From so many rows on, order and filter follow changes twice a second only.
_MANY = 20_000
_PATIENCE = 0.5
#: Seconds between two times that all rows are made anew, at the least; and how many times as long as it took.
_OFTEN, _REST = 0.2, 5
#: Cells that the detail needs beside the table: the same whichever way the screen came to its width.
_BESIDE = 72
#: Lines that are left to the detail below a long table, and lines of the screen below which there is none.
_BELOW, _BARE = 8, 9

#: Keys of a list that mean something where it has no rows.
_WITHOUT_ROWS = frozenset({"timeline"})


class Browse(TablePane):
    """Rows are made a slice of time after the other, so that no key waits for a long list."""

    def __init__(self, session: Session, location: Location, listing: Listing) -> None:
        super().__init__(session, location)
        self.listing = listing
        faces = Faces(self._text, listing.labels, self._fault)
        self.table = Table(self._columns(location.namespace), faces, sign=listing.row_mark)
        self.table.anchored = True
        if session.what_if is not None:
            change = session.what_if
            self.table.differs = lambda row: change.is_changed(listing.ref(row))
        self.detail = Lines()
        self._making: Iterator[tuple[RowKey, Any]] | None = None
        self._made_rows: dict[RowKey, Any] = {}
        self._preparing: Iterator[Any] | None = None
        self._rows_to_add: list[Any] = []
        self._costly: set[str] = set()
        self._described: Any | None = None
        self._faults = False
        #: Whether the order is the list's own, which nobody has changed.
        self._by_default = listing.worst_first or bool(listing.first_by)
        if self._by_default and (column := self._first_column()) is not None:
            self.table.sort(column)
            self._costly = {column.id} if listing.ready is not None else set()
        #: All rows are to be made anew: at first they are.
        self._reorder, self._last_order = True, 0.0
        #: Seconds that it took to make all rows, the last time.
        self._took = 0.0
        #: When the order last went by what was computed.
        self._ordered = 0.0
        self._pending: Timer | None = None
        self._aging: Timer | None = None
        self._fill_timer: Timer | None = None
        #: Rows tell of each other, and it is long ago that all were looked at.
        self._aged = False
        self._more_reads: dict[str, dict[ReadRequest, None]] = {}
        #: Namespace and change of the store for which that is known.
        self._reads_known_at: tuple[str, int] | None = None
        #: Width and height of the table, as far as its rows decide them.
        self._shape: tuple[int, int] = (0, 0)

    def _first_column(self) -> Column | None:
        """Return the column by which rows stand until another order is chosen."""
        by = self.listing.first_by or "state"
        return next((column for column in self.table.columns if column.id == by), None)

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
        """The detail beside the table if all columns fit beside it, else below: more width never shows less.

        Below, rows take what they need and the detail has the rest.
        """
        width, height = self.size
        full = self.table.full_width
        beside = full + _BESIDE <= width
        bare = height < _BARE and not beside
        rows = len(self.table.view.keys) or 1
        whole = max(full, min(self.table.whole_width, width - _BESIDE))
        shape = (whole, 0) if beside else (0, 0 if bare else min(rows + 1, height - min(_BELOW, height // 2)))
        if (beside, bare, shape) == (self.has_class("beside"), self.has_class("bare"), self._shape):
            return
        self._shape = shape
        self.set_class(beside, "beside")
        self.set_class(bare, "bare")
        self.table.styles.width = shape[0] or "1fr"
        self.table.styles.height = shape[1] or "1fr"

    def reads(self) -> Iterable[ReadRequest]:
        # What was needed once stays needed, else it would be dropped and then be needed again.
        reads = self._more_reads.setdefault(self._namespace, dict.fromkeys(self.listing.reads(self._namespace)))
        asked = self._namespace, self.session.store.changes
        if self.listing.more_reads is not None and asked != self._reads_known_at:
            self._reads_known_at = asked
            reads.update(dict.fromkeys(self.listing.more_reads(self.session, self._namespace)))
        return reads

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
        if self.listing.row is None or moved or self._reorder:
            self._remake()
        else:
            # Rows have followed, unseen; none of them has been measured.
            self.table.measure_widths()
            self._settle_now()
            self._recompute()
            self._show()
        if self._aged:
            self._redraw_rows()
        self.table.focus()

    def apply_changes(self, changes: Changes) -> None:
        """Take in what changed: single rows where that is enough, else all of them anew."""
        if changes.kinds & set(self.listing.kinds):
            if self._row_by_row(changes):
                self._update(changes)
            else:
                self._reorder = True
        if self._reorder and self._making is None and perf_counter() - self._last_order >= self._patience:
            self._remake()
        self._go_on(_SLICE)
        if self.table.anchored:
            # Rows that come first may arrive last, or come to be first once all of them have been looked at; then the
            # cursor stays on its row.
            self.table.anchored = self._finds_order or any(self.session.unread_requests(self.reads()))

    @property
    def _patience(self) -> float:
        """Return the seconds for which rows stay as they are: the longer, the longer it takes to make them all anew."""
        return max(_PATIENCE if self.table.view.count > _MANY else _OFTEN, _REST * self._took)

    def _row_by_row(self, changes: Changes) -> bool:
        """Return whether rows can follow these changes without being made anew, all of them."""
        listing, kinds = self.listing, changes.kinds
        alone = kinds & set(listing.kinds) == {listing.kinds[0]}
        return listing.row is not None and (alone or listing.prepare is not None)

    def apply_hidden_changes(self, changes: Changes) -> None:
        """Rows follow their objects, unseen; where they cannot, all are made anew when the screen is entered."""
        if not changes.kinds & set(self.listing.kinds):
            return
        self._aged = self._aged or self.listing.late is not None
        if self._making is not None or not self._row_by_row(changes):
            self._making, self._preparing, self._made_rows, self._reorder = None, None, {}, True
        if self.listing.row is not None:
            view = self.table.view
            view.update(*changed_rows(self.listing, self.session, changes, self._namespace))
            if view.pending_changes > _UNSEEN:
                view.settle()

    def mark_withheld(self) -> None:
        self._reorder = True

    @property
    def sums(self) -> bool:
        return self.listing.sums

    @property
    def has_work(self) -> bool:
        return self._finds_order or self._fill_timer is not None

    @property
    def _finds_order(self) -> bool:
        """Return whether rows may come to stand elsewhere without any change."""
        return self._reorder or any((self._making, self._preparing, self._rows_to_add, self._pending, self._aging))

    def refresh_sums(self) -> None:
        self._reorder = True

    def _update(self, changes: Changes) -> None:
        changed, gone = changed_rows(self.listing, self.session, changes, self._namespace)
        if self._making is not None:
            self._made_rows.update(changed)
            for key in gone:
                self._made_rows.pop(key, None)
        if changed or gone:
            rows = iter(changed.values())
            if self._costly and not self._prepare_rows(rows, perf_counter() + _SLICE):
                self._rows_to_add += rows
            self.table.update(changed, gone)
            self._settle()
        if self._aging is None and (self.listing.late is not None or changes.kinds & set(self.listing.kinds[1:])):
            self._aging = self.set_timer(_PATIENCE, self._redraw_rows)
        if changes.reads:
            self.table.measure_widths()
            self._show()

    def _redraw_rows(self) -> None:
        """Draw again what is seen: what rows say depends on objects of other kinds, or on other rows, too."""
        self._aging, self._aged = None, False
        late = self.listing.late
        if late is not None and late(self.session):
            self._aging = self.set_timer(_PATIENCE, self._redraw_rows)
        elif late is not None:
            self.table.view.age()
            self._recompute()
        self.table.refresh()
        self._show()

    def _settle(self) -> None:
        if self.table.view.count > _MANY:
            # By itself, so that no key waits for this and for what led to it.
            if self._pending is None:
                due = self._last_order + _PATIENCE - perf_counter()
                self._pending = self.set_timer(max(_BREATH, due), self._settle_now)
            self.table.refresh_changed()
            return
        self._settle_now()

    def _settle_now(self) -> None:
        if self._pending is not None:
            self._pending.stop()
            self._pending = None
        self._last_order = perf_counter()
        if self._by_default and 0 < self.listing.worst_most < self.table.view.count:
            # Each of many changes would have to find its place by what is worst.
            self._by_default, self._costly = False, set()
            self.table.sort(None)
        self.table.settle()
        self._arrange()
        row = self.table.row
        if row is None or row is not self._described:
            self._show()
        else:
            self.post_message(FrameChanged())

    def _remake(self) -> None:
        """All rows anew, as many as there is time for; the rest later."""
        self._reorder, self._made_rows, self._took = False, {}, 0.0
        self._making = self.listing.rows(self.session, self._namespace)
        self._go_on(_FIRST)

    def _go_on(self, seconds: float) -> None:
        """Make rows, computes what is costly about them, then their texts, for so many seconds; the rest in a moment,
        while nobody types. Texts that are there already are only made anew now and again.
        """
        end, view = perf_counter() + seconds, self.table.view
        if self._making is not None:
            self._make_rows(end)
        if self._rows_to_add and self._preparing is None and end - self._ordered > _PATIENCE:
            self._preparing, self._rows_to_add = iter(self._rows_to_add), []
        if self._preparing is not None:
            self._prepare(end)
        reads = not view.texts_current and self._making is None and not self._has_loading_rows
        if reads:
            self._read(end)
        left = self._making is not None or self._preparing is not None or (reads and not view.ready)
        if left and self._fill_timer is None and self.is_mounted:
            self._fill_timer = self.set_timer(_BREATH, self._go_again)

    @property
    def _has_loading_rows(self) -> bool:
        """Return whether what rows say of each other will be something else in a moment, since they are still read."""
        return self.listing.late is not None and any(self.session.unread_requests(self.listing.reads(self._namespace)))

    def _go_again(self) -> None:
        self._fill_timer = None
        if self.display and not self.screen.has_class("typing"):
            self._go_on(_SLICE)

    def _read(self, end: float) -> None:
        """Make texts ready until then. The filter looks again at those that may have changed."""
        view = self.table.view
        while not view.texts_current and perf_counter() < end:
            view.read(_READ)
        if view.texts_current and self._filter and self.listing.late is not None:
            view.rematch()
            self._settle_now()

    def _make_rows(self, end: float) -> None:
        """Make rows until then. Older rows stay until all new ones are there."""
        assert self._making is not None
        fresh: dict[RowKey, Any] = {}
        began = perf_counter()
        for key, row in self._making:
            if key:
                fresh[key] = row
            if perf_counter() > end:
                break
        else:
            self._making = None
            self._last_order = perf_counter()
        self._took += perf_counter() - began
        self._made_rows.update(fresh)
        if self._making is None:
            self.table.replace(self._made_rows)
            self._made_rows = {}
            self._recompute()
            self._show()
        else:
            self.table.update(fresh)
            self._settle()

    def _prepare(self, end: float) -> None:
        assert self._preparing is not None
        if self._prepare_rows(self._preparing, end):
            self._preparing = None
        if self._preparing is None or perf_counter() - self._ordered > _PATIENCE:
            column = self.table.sorted_by
            if column is not None:
                self.table.sort(column, reverse=self.table.reverse)
            self.apply()
            self._last_order = self._ordered = perf_counter()

    def _prepare_rows(self, rows: Iterator[Any], end: float) -> bool:
        """Computes what is costly about rows until then; whether that was all of them."""
        prepare, ready = self.listing.prepare, self.listing.ready
        assert prepare is not None
        assert ready is not None
        for row in rows:
            for what in self._costly:
                if not ready(row, what):
                    prepare(row, what)
            if perf_counter() > end:
                return False
        return True

    def _text(self, row: Any) -> RowText:
        if self.listing.words is not None:
            return self.listing.words(row)
        return " ".join(column.text(row) for column in self.table.columns)

    def _fault(self, row: Any) -> bool:
        ready = self.listing.ready
        if self.listing.fault is not None:
            return self.listing.fault(row)
        return (ready is None or ready(row, "fault")) and bool(self.listing.row_mark(row)[0])

    @property
    def fields(self) -> Mapping[str, Callable[[Any], str]]:
        columns = {column.id: column.text for column in self.table.columns if column.searched}
        return {**columns, **self.listing.fields}

    @property
    def selector(self) -> Selector:
        return self.session.setting.selector

    def apply(self) -> None:
        self.table.filter(self.matched(), faults=self._faults)
        self._show()

    def _show(self) -> None:
        """The detail of the row, or why there is none; and the lines around."""
        row = self._described = self.table.row
        self._give_room()
        self.set_class(not self.table.view.keys and not self.has_class("absent"), "nothing")
        self._arrange()
        self.table.empty = () if self.table.view.keys else [("quiet", self._empty_reason())]
        if row is not None and self.table.view.keys:
            history = partial(history_lines, self.session, (self.listing.ref(row),) if self.listing.has_history else ())
            self.detail.entitle(short_ref(self.listing.ref(row)))
            self.detail.put(lambda width: self.listing.detail(self.session, row, width), history, keep=True)
        else:
            self.detail.entitle("")
            self.detail.put(self._reasons if self.has_class("absent") else self._gaps)
        self.post_message(FrameChanged())

    def _give_room(self) -> None:
        """To the reasons all of it, where there are no rows to choose from."""
        empty = not self.table.view.rows and not self._is_reading
        if empty == self.has_class("absent"):
            return
        focused = self.table.has_focus or self.detail.has_focus
        self.set_class(empty, "absent")
        if focused:
            (self.detail if empty else self.table).focus()

    @property
    def _is_reading(self) -> bool:
        """Return whether there may be rows in a moment."""
        if self._making is not None or any(self.session.unread_requests(self.reads())):
            return True
        # A screen is entered before it is asked what it needs.
        return self.session.is_undecided(next(iter(self.reads())))

    @property
    def awaits_rows(self) -> bool:
        coming = self._making is not None or self._reorder or self.session.is_reading(self.reads())
        return not self.table.view.rows and (coming or self.session.is_undecided(next(iter(self.reads()))))

    def _reasons(self, width: int) -> Iterator[Line]:
        """Return why there is nothing to see."""
        if reason := self._empty_reason():
            yield from tone_lines("quiet", wrap_text(reason, width, rest="  "))
        if self.listing.empty is not None and not self._is_reading:
            yield from self.listing.empty(self.session, self._namespace, width)
        yield from self._gaps(width)

    def _gaps(self, width: int) -> Iterator[Line]:
        """Yield what could not be read."""
        yield from gap_lines(self.session, self.reads(), width)

    def _empty_reason(self) -> str:
        """Return why no row is seen, in a sentence; empty where that is not known."""
        hidden, namespace_text = len(self.table.view.rows), f" in {self._namespace}" if self._namespace else ""
        if hidden and self._filter:
            hide = "hides" if not self._faults else "and ctrl-z (faults only) hide"
            return f'filter "{safe_text(self._filter)}" {hide} {hidden} rows (esc)'
        if hidden and self._faults:
            return f"none of {hidden} rows has a fault (ctrl-z shows all)"
        if self._is_reading:
            return f"reading {self.listing.id}{namespace_text}"
        return nothing_there(self.session, self.listing, next(iter(self.reads())), self._namespace)

    def status(self) -> Line:
        shown, rows = len(self.table.view.keys), len(self.table.view.rows)
        is_known = self.session.store.covered(next(iter(self.reads()))).is_known
        if self.has_class("absent") and is_known:
            # What is not there has no order.
            return [("", f"no {self.listing.several or self.listing.id}"), *gap_count(self.session, self.reads())]
        so_far = self._making is not None or self._preparing is not None
        count = count_text(self.session, self.reads(), shown, rows, so_far=so_far)
        faults = "  faults only" if self._faults else ""
        marked = f"  {len(self.table.marked)} marked" if self.table.marked else ""
        order = "" if self.has_class("absent") else sort_line(self.table, worst_first=self.listing.worst_first)
        spread = format_namespaces(self.table.view.keys) if self._filters_many_namespaces else ""
        text = f"{name_count(self.session, self.listing, self._namespace, count)}{order}{faults}{marked}{spread}"
        return [("", text), *gap_count(self.session, self.reads())]

    @property
    def _filters_many_namespaces(self) -> bool:
        """Return whether rows of several namespaces are chosen by a field."""
        return "=" in self._filter and not self._namespace and self.listing.scoped

    @property
    def runbook(self) -> str:
        return self.listing.runbook

    def command(self) -> str:
        return self.listing.command(self.session, self._namespace)

    def hints(self) -> Sequence[str]:
        if self.has_class("absent"):
            return ("command", "help", "kinds", *(key for key in self.listing.hints if key in _WITHOUT_ROWS))
        return ("filter", "command", "help", *self.listing.hints)

    @property
    def filters(self) -> bool:
        """Return whether rows may come: what is typed before they do chooses among them."""
        return self.session.store.covered(next(iter(self.reads()))).state != "absent"

    def act(self, action: str) -> bool:
        key = BY_ID.get(action)
        if self.has_class("absent") and key is not None and key.group == "lists":
            self.post_message(StatusRemark(f"there are no rows: {key.shown} does nothing here"))
            return True
        match action:
            case "no-limits" if "limits" in self.fields:
                self.filter("" if self._filter == NO_LIMITS else NO_LIMITS)
            case "faults":
                self._faults = not self._faults
                self._compute(self.table.sorted_by)
                self.apply()
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
                self._filter, self._faults = "", False
                self._compute(self.table.sorted_by)
                self.apply()
            case "pane" | "pane-back":
                on_table = self.table.has_focus and not self.has_class("bare")
                (self.detail if on_table else self.table).focus()
            case _:
                return super().act(action) or self._act_on_row(action)
        self.post_message(FrameChanged())
        return True

    def ref_of_row(self) -> ObjectRef | None:
        return self.listing.ref(self.table.row) if self.table.row is not None else None

    def owner(self) -> Location | None:
        row = self.table.row
        return self.listing.owner(row) if self.listing.owner is not None and row is not None else None

    def value_here(self) -> tuple[ObjectRef | None, str, str]:
        """Return the number of the first fix, where there is one."""
        row = self.table.row
        return (number_of_fix(self.listing.remedies(row)) if row is not None else None) or super().value_here()

    def marked_values(self) -> Mapping[ObjectRef | None, tuple[ObjectRef | None, str, str]]:
        """Return the number of the first fix of each marked row that is still there, else its object."""
        rows = (self.table.view.rows.get(key) for key in sorted(self.table.marked))
        return {
            (ref := self.listing.ref(row)): number_of_fix(self.listing.remedies(row)) or (ref, "", "")
            for row in rows
            if row is not None
        }

    def is_fault(self, row: Any) -> bool:
        """Return whether the row has a mark, which is found out first where that is costly."""
        prepare, ready = self.listing.prepare, self.listing.ready
        if prepare is not None and ready is not None and not ready(row, "fault"):
            prepare(row, "fault")
        return super().is_fault(row)

    def _act_on_row(self, action: str) -> bool:
        if (row := self.table.row) is None:
            return False
        ref = self.listing.ref(row)
        match action:
            case "copy":
                self.post_message(Copy(ref.name, "name"))
            case "copy-ns" if ref.namespace:
                self.post_message(Copy(ref.namespace, "namespace"))
            case "namespace" if ref.namespace or ref.kind == "Namespace":
                self.post_message(OpenPlace(Location("pods", namespace=ref.namespace or ref.name)))
            case "explain" if ref.kind in BY_KIND:
                self.post_message(OpenPlace(Location("object", ref=ref, tab="text")))
            case _ if action in self.listing.tabs:
                self.post_message(OpenPlace(Location("object", ref=ref, tab=action)))
            case "owner" if (location := self.owner()) is not None:
                self.post_message(OpenPlace(location))
            case _:
                return False
        return True

    def toggle(self, column: Column) -> None:
        """Sort by a column. What is costly to compute is computed first, or while the user looks on."""
        by, self._by_default = self.table.sorted_by, False
        if self.listing.worst_first and column.id == "state" and by is not None and by.id == "state":
            # From the worst to the names and back.
            self._compute(None)
            self.table.anchored = self.table.line == 0
            self.table.sort(None)
            self.post_message(FrameChanged())
            return
        self._compute(column)
        super().toggle(column)

    def _compute(self, column: Column | None, seconds: float = _FIRST) -> None:
        """Make ready what is costly about rows to sort or choose by, the rest of it while the user looks on."""
        ready = self.listing.ready
        if ready is not None:
            self._costly = {"fault"} if self._faults else set()
            if column is not None:
                self._costly.add(column.id)
            rows = [row for _, row in self.table.view.pairs()] if self._costly else []
            self._preparing, self._rows_to_add = iter(rows), []
            self._prepare(perf_counter() + seconds)

    def _recompute(self) -> None:
        """The same for rows that came since, or say something else now."""
        if self._costly:
            self._compute(self.table.sorted_by, 0.0)

    def on_table_moved(self, event: Table.Moved) -> None:
        event.stop()
        self._show()

    def on_table_opened(self, event: Table.Opened) -> None:
        event.stop()
        row = self.table.view.rows.get(event.key)
        location = self.listing.opens(row) if row is not None else None
        if location is not None:
            self.post_message(OpenPlace(location))

    def on_table_gone(self, event: Table.Gone) -> None:
        event.stop()
        self.post_message(StatusRemark(f"{event.key[-1]} was deleted", "warn"))
