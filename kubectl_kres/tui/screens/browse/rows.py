"""The rows of a list on its table: made, computed and put in order a slice of time after the other."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from textual.timer import Timer
from textual.widget import Widget

from kubectl_kres.store.store import Changes
from kubectl_kres.tui.lists.list_spec import Listing, changed_rows
from kubectl_kres.tui.screens.browse.costly_values import CostlyValues
from kubectl_kres.tui.screens.browse.row_making import RowMaking
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_table import Table

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


class ListedRows:
    """No key waits for a long list: what is not done within a slice is done in a moment, while nobody types.

    ``pane``: whose timers run, and which shows the table. ``on_change``: called when rows, or what they say, have
    changed; ``on_order``: when they stand in their places.
    """

    def __init__(
        self,
        pane: Widget,
        table: Table,
        listing: Listing,
        session: Session,
        namespace: str,
        *,
        on_change: Callable[[], None],
        on_order: Callable[[], None],
    ) -> None:
        self._pane, self._table, self._listing, self._session = pane, table, listing, session
        self._on_change, self._on_order = on_change, on_order
        #: Of which rows are; empty: all.
        self.namespace = namespace
        self.making = RowMaking(session, listing.source)
        self.costly = CostlyValues(listing.costly)
        #: Whether the order is the list's own, which nobody has changed.
        self._by_default = bool(listing.order.column)
        #: When rows were last put in order, and when they will be, at the next one of these.
        self._ordered_at = 0.0
        self._next_order: Timer | None = None
        self._next_look: Timer | None = None
        self._next_step: Timer | None = None
        #: Rows tell of each other, and it is long ago that all were looked at.
        self._aged = False
        column = next((column for column in table.columns if column.id == listing.order.column), None)
        if column is not None:
            table.sort(column)
            self.costly.want(column.id)

    # What is still to come

    @property
    def find_order(self) -> bool:
        """Return whether rows may come to stand elsewhere without any change."""
        making, costly = self.making, self.costly
        return making.is_due or making.is_under_way or costly.are_left or bool(self._next_order or self._next_look)

    @property
    def have_work(self) -> bool:
        return self.find_order or self._next_step is not None

    @property
    def _patience(self) -> float:
        """Return the seconds for which rows stay as they are: the longer, the longer it takes to make them all anew.

        Where most are still to come, the next look comes sooner, and at once where there is none yet.
        """
        count = self._table.view.count
        reading = self._session.is_reading(self._listing.source.reads(self.namespace))
        rest = (bool(count) if reading else _REST) * self.making.took
        return max(_PATIENCE if count > _MANY else _OFTEN, rest)

    # As objects come and change

    def enter(self, namespace: str, *, moved: bool) -> None:
        """The list is shown, perhaps for another namespace than before."""
        self.namespace = namespace
        if self._listing.source.row is None or moved or self.making.is_due:
            self._remake()
        else:
            # Rows have followed, unseen; none of them has been measured.
            self._table.measure_widths()
            self._order_now()
            self._compute_again()
            self._on_change()
        if self._aged:
            self._look_again()

    def follow(self, changes: Changes) -> None:
        """Take in what changed: single rows where that is enough, else all of them anew."""
        if changes.kinds & set(self._listing.source.kinds):
            if self._can_follow(changes):
                self._follow(changes)
            else:
                self.making.is_due = True
        making = self.making
        if making.is_due and not making.is_under_way and perf_counter() - self._ordered_at >= self._patience:
            self._remake()
        self._step(_SLICE)

    def follow_unseen(self, changes: Changes) -> None:
        """Rows follow their objects, unseen; where they cannot, all are made anew when the screen is entered."""
        source = self._listing.source
        if not changes.kinds & set(source.kinds):
            return
        self._aged = self._aged or source.late is not None
        if self.making.is_under_way or not self._can_follow(changes):
            self.making.drop()
            self.costly.drop()
        if source.row is not None:
            view = self._table.view
            view.update(*changed_rows(source, self._session, changes, self.namespace))
            if view.pending_changes > _UNSEEN:
                view.settle()

    def _can_follow(self, changes: Changes) -> bool:
        """Return whether rows can follow these changes without being made anew, all of them."""
        source, kinds = self._listing.source, changes.kinds
        alone = kinds & set(source.kinds) == {source.kinds[0]}
        return source.row is not None and (alone or self._listing.costly is not None)

    def _follow(self, changes: Changes) -> None:
        source = self._listing.source
        changed, gone = changed_rows(source, self._session, changes, self.namespace)
        self.making.follow(changed, gone)
        if changed or gone:
            self.costly.follow(changed.values(), perf_counter() + _SLICE)
            self._table.update(changed, gone)
            self._order()
        if self._next_look is None and (source.late is not None or changes.kinds & set(source.kinds[1:])):
            self._next_look = self._pane.set_timer(_PATIENCE, self._look_again)
        if changes.reads:
            self._table.measure_widths()
            self._on_change()

    def _look_again(self) -> None:
        """Draw again what is seen: what rows say depends on objects of other kinds, or on other rows, too."""
        self._next_look, self._aged = None, False
        late = self._listing.source.late
        if late is not None and late(self._session):
            self._next_look = self._pane.set_timer(_PATIENCE, self._look_again)
        elif late is not None:
            self._table.view.age()
            self._compute_again()
        self._table.refresh()
        self._on_change()

    # The order

    def choose_order(self, column: Column | None, *, faults: bool) -> None:
        """Somebody sorts by a column, None: by name; make ready what that takes."""
        self._by_default = False
        self.compute(column, faults=faults)

    def _order(self) -> None:
        if self._table.view.count > _MANY:
            # By itself, so that no key waits for this and for what led to it.
            if self._next_order is None:
                due = self._ordered_at + _PATIENCE - perf_counter()
                self._next_order = self._pane.set_timer(max(_BREATH, due), self._order_now)
            self._table.refresh_changed()
            return
        self._order_now()

    def _order_now(self) -> None:
        if self._next_order is not None:
            self._next_order.stop()
            self._next_order = None
        self._ordered_at = perf_counter()
        if self._by_default and 0 < self._listing.order.most < self._table.view.count:
            # Each of many changes would have to find its place by what is worst.
            self._by_default = False
            self.costly.want()
            self._table.sort(None)
        self._table.settle()
        self._on_order()

    # What is done between keys

    def _remake(self) -> None:
        """All rows anew, as many as there is time for; the rest later."""
        self.making.begin(self.namespace)
        self._step(_FIRST)

    def _step(self, seconds: float) -> None:
        """Make rows, compute what is costly about them, then their texts, for so many seconds; the rest in a moment,
        while nobody types. Texts that are there already are only made anew now and again.
        """
        end, view = perf_counter() + seconds, self._table.view
        if self.making.is_under_way:
            self._make(end)
        if self.costly.step(end):
            self._sort()
        reads = not view.texts_current and not self.making.is_under_way and not self._are_loading
        if reads:
            self._read(end)
        left = self.making.is_under_way or self.costly.are_under_way or (reads and not view.ready)
        if left and self._next_step is None and self._pane.is_mounted:
            self._next_step = self._pane.set_timer(_BREATH, self._step_again)

    def _step_again(self) -> None:
        self._next_step = None
        if self._pane.display and not self._pane.screen.has_class("typing"):
            self._step(_SLICE)

    @property
    def _are_loading(self) -> bool:
        """Return whether what rows say of each other will be something else in a moment, since they are still read."""
        source = self._listing.source
        return source.late is not None and any(self._session.unread_requests(source.reads(self.namespace)))

    def _make(self, end: float) -> None:
        """Make rows until then. Older rows stay until all new ones are there."""
        rows, are_all = self.making.make(end)
        if not are_all:
            self._table.update(rows)
            self._order()
            return
        self._ordered_at = perf_counter()
        self._table.replace(rows)
        self._compute_again()
        self._on_change()

    def compute(self, column: Column | None, *, faults: bool, seconds: float = _FIRST) -> None:
        """Make ready what is costly about rows to sort or choose by, the rest of it while the user looks on."""
        self.costly.want(*(["fault"] if faults else []), *([column.id] if column is not None else []))
        self._compute_all(perf_counter() + seconds)

    def _compute_again(self) -> None:
        """The same for rows that came since, or say something else now."""
        if self.costly.wanted:
            self._compute_all(perf_counter())

    def _compute_all(self, end: float) -> None:
        if self._listing.costly is not None:
            self.costly.begin([row for _, row in self._table.view.pairs()] if self.costly.wanted else [])
            if self.costly.step(end):
                self._sort()

    def _sort(self) -> None:
        """Sort and choose by what was computed."""
        table = self._table
        if table.sorted_by is not None:
            table.sort(table.sorted_by, reverse=table.reverse)
        table.view.rematch()
        table.settle()
        self._on_change()
        self._ordered_at = self.costly.sorted_at = perf_counter()

    def _read(self, end: float) -> None:
        """Make texts ready until then. The filter looks again at those that may have changed."""
        view = self._table.view
        while not view.texts_current and perf_counter() < end:
            view.read(_READ)
        if view.texts_current and view.is_filtered and self._listing.source.late is not None:
            view.rematch()
            self._order_now()
