"""The first screen: the worst problems with remedies, counts of each area, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter

from textual import events
from textual.app import ComposeResult
from textual.containers import Container

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.overview import describe_problem
from kubectl_kres.render.text.line import Line, size
from kubectl_kres.render.verdict.remedy import not_copied, to_copy
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.store.store import Changes, ReadRequest
from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.overview.areas import Areas
from kubectl_kres.tui.screens.overview.area_rows import AREA_COLUMNS, AreaRows, needed_width, wrapped
from kubectl_kres.tui.screens.overview.first_steps import first_steps
from kubectl_kres.tui.screens.overview.fixes import fix_lines, past_lines, remedies_of
from kubectl_kres.tui.screens.overview.layout import Parts, choose_layout, is_wide, left_width
from kubectl_kres.tui.screens.overview.notice import FACES, Notice, ref_of
from kubectl_kres.tui.screens.overview.problem_rows import nothing_wrong, problem_columns, problem_rows
from kubectl_kres.tui.screens.overview.strip import CountedArea, strip_lines
from kubectl_kres.tui.screens.pane import Copy, FrameChanged, OpenPlace, StatusRemark, TablePane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.row_order import RowKey
from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.whatif import number_of_fix
from kubectl_kres.tui.widgets.lines import Lines

#: A drawing is followed by a rest of so many times what it took: keys come first.
_REST = 10
#: Seconds at a time for what is computed between keys.
_SLICE = 0.012
#: Cells of the status line that are no text.
_STATUS = 6


class OverviewPane(TablePane):
    """What is worst, a line a problem; what mends the one under the cursor; the areas, as a strip where room is short.

    What costs much is computed between keys.
    """

    sortable = False

    def __init__(self, session: Session, location: Location) -> None:
        super().__init__(session, location)
        self.strip, self.fixes, self.both = Lines(id="strip"), Lines(id="fixes"), Container(id="both")
        self.steps = Lines(first_steps, id="steps")
        self.steps.entitle("first steps")
        self.strip.can_focus = self.steps.can_focus = False
        self.worst = Table(problem_columns(""), FACES, sign=lambda row: row.mark, id="worst")
        self.areas = Table(AREA_COLUMNS, FACES, sign=lambda row: row.mark, id="areas")
        self.areas.entitle("areas")
        self.worst.cursor_needs_focus = self.areas.cursor_needs_focus = True
        #: The one that keys are about.
        self.table = self.worst
        if session.what_if is not None:
            change = session.what_if
            self.worst.differs = lambda row: (ref := ref_of(row)) is not None and change.is_changed(ref)
        self._areas = Areas(session)
        self._counted_areas: list[CountedArea] = []
        self._needs_update, self._rested = False, 0.0
        #: Whether the areas have the keys because nothing was wrong.
        self._focus_moved = False
        self._greets = False
        #: The line whose remedies are shown.
        self._reported: Notice | None = None

    def compose(self) -> ComposeResult:
        yield self.strip
        with self.both:
            yield self.worst
            yield self.fixes
            yield self.areas
        yield self.steps

    def on_mount(self) -> None:
        # Its lines are broken for a new width only once it has that width.
        self.watch(self.strip, "virtual_size", self._arrange, init=False)
        self.enter(self.location)

    def on_resize(self) -> None:
        # Where the areas stand decides how their lines are broken.
        self._draw()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if not self.is_attached:
            return  # the screen was left while the focus was on its way
        if isinstance(event.widget, Table):
            self.table = event.widget
        self._arrange()
        self.post_message(FrameChanged())

    def _arrange(self) -> None:
        # The strip is asked for its lines: its size is still that of its last ones.
        parts = Parts(
            len(self.worst.view.keys), len(self.areas.view.keys), self.strip.virtual_size.height, self._greets,
            at_areas=self.areas.has_focus or self.screen.focused is self.areas, at_fixes=self.fixes.has_focus,
        )  # fmt: skip
        layout = choose_layout(self.size, parts)
        self.set_class(layout.beside, "beside")
        self.strip.display, self.steps.display = layout.has_strip, layout.has_steps
        self.areas.display, self.fixes.display = layout.has_areas, layout.has_fixes
        if layout.beside:
            self.both.styles.grid_size_columns, self.both.styles.grid_size_rows = 2, 2
            self.both.styles.grid_columns = f"{self._left_width} 1fr"
            self.both.styles.grid_rows = f"1fr {layout.areas}"
            self.areas.styles.height = self.fixes.styles.height = "1fr"
        else:
            self.areas.styles.height, self.fixes.styles.height = layout.areas, layout.fixes

    @property
    def _left_width(self) -> int:
        return left_width(self.size.width, max(self.worst.whole_width, needed_width(self._counted_areas)))

    # What is read, and what comes of it

    def reads(self) -> Iterable[ReadRequest]:
        space = self.session.namespace
        first = ReadRequest("Namespace", name=space, required=False), ReadRequest("Pod", space)
        return (first[0], *self._areas.reads(), first[1])

    def enter(self, location: Location) -> None:
        super().enter(location)
        self._greets, self.session.greets = self.session.greets, False
        if self._areas.namespace != self.session.namespace:
            # What was found in another one stands on the screen no longer.
            self._areas = Areas(self.session)
        self.worst.change_columns(problem_columns(self.session.namespace))
        self._draw()
        self.worst.focus()

    def focus_main(self) -> None:
        self.table.focus()

    def apply_changes(self, changes: Changes) -> None:
        news = self._areas.step(_SLICE)
        self._needs_update = self._needs_update or bool(changes) or news
        if self._needs_update and perf_counter() >= self._rested:
            self._draw()

    @property
    def has_work(self) -> bool:
        return self._needs_update or self._areas.busy

    @property
    def awaits_rows(self) -> bool:
        return not self.worst.view.rows and self.session.is_reading(self.reads())

    @property
    def sums(self) -> bool:
        return True

    def refresh_sums(self) -> None:
        self._needs_update = True

    # What is shown

    def _draw(self) -> None:
        self._needs_update, began = False, perf_counter()
        reads = tuple(self.reads())
        self._counted_areas = list(AreaRows(self.session, self._areas, reads))
        rows = [line for _, row in self._counted_areas for line in self._lines_of_area(row)]
        _update_table(self.areas, {(f"{index:02}", row.what): row for index, row in enumerate(rows)})
        _update_table(self.worst, dict(problem_rows(self.session, self._areas, reads)))
        self.strip.put(lambda width: strip_lines(self._counted_areas, width))
        self._show_remedies()
        if not self.worst.view.keys:
            reading = super().busy or self._areas.busy
            self.worst.empty = [("quiet", "reading" if reading else nothing_wrong(self.session))]
            if not reading and self.worst.has_focus:
                self.areas.focus()
                self._focus_moved = True
        elif self._focus_moved and self.areas.has_focus:
            # Nothing was wrong so far only, and nobody has chosen the areas.
            self.worst.focus()
            self._focus_moved = False
        self._arrange()
        end = perf_counter()
        self._rested = end + _REST * (end - began)
        self.post_message(FrameChanged())

    def _lines_of_area(self, row: Notice) -> Iterable[Notice]:
        return wrapped(row, self._left_width) if is_wide(self.size) else (row,)

    def _show_remedies(self) -> None:
        """What mends the problem under the cursor, made anew where that is another one."""
        row: Notice | None = self.worst.row
        if row != self._reported or row is None:
            same = row is not None and self._reported is not None and row.location == self._reported.location
            self._reported = row
            self.fixes.entitle(row.what if row is not None else "")
            self.fixes.put(self._fixes, self._history, keep=same)

    def _fixes(self, width: int) -> Iterator[Line]:
        return fix_lines(self.session, self.worst.row, width, details=is_wide(self.size))

    def _history(self, width: int, room: int) -> Iterator[Line]:
        return past_lines(self.session, self.worst.row, width, room)

    # The line under the cursor

    @property
    def _fix(self) -> Remedy | None:
        """The first remedy of the problem under the cursor."""
        return next(iter(remedies_of(self.worst.row)), None)

    def ref_of_row(self) -> ObjectRef | None:
        return ref_of(self.table.row)

    def value_here(self) -> tuple[ObjectRef | None, str, str]:
        return number_of_fix(remedies_of(self.table.row)) or super().value_here()

    def status(self) -> Line:
        """Return the line under the cursor, which has more room here."""
        row: Notice | None = self.table.row
        namespace_text = f" of {self.session.namespace}" if self.session.namespace else ""
        if row is None or not (row.text or row.indented):
            return [("", f"overview{namespace_text}")]
        inside = f" in {row.scope}" if row.ref is not None and row.scope else ""
        what = f"{row.what}{inside}".strip()
        text = describe_problem(row.problem, self.session.setting.now()) if row.problem is not None else row.text
        room = self.size.width - _STATUS - size(what)
        fitting = next((form for form in (text, row.text, *row.briefer) if size(form) < room), row.text)
        return [("strong", what), (row.mark[1], f"  {fitting}")]

    def command(self) -> str:
        """Return what prints more of the line under the cursor."""
        row: Notice | None = self.table.row
        location = row.location if row is not None else None
        if row is not None and row.command:
            return self.session.command(row.command)
        if location is not None and location.view in LISTINGS:
            return LISTINGS[location.view].command(self.session, location.namespace)
        return self.session.command("tui kinds" if location is not None else "overview", self.session.namespace)

    def hints(self) -> Sequence[str]:
        return ("filter", "command", "help", "suppose", "timeline", "pane", "kinds", "quit-or-up")

    # Keys

    def apply(self) -> None:
        matcher = self.matched()
        for table in (self.worst, self.areas):
            table.filter(matcher)
        if not self.table.view.keys:
            (self.areas if self.table is self.worst else self.worst).focus()
        self.post_message(FrameChanged())

    def on_table_opened(self, event: Table.Opened) -> None:
        event.stop()
        row: Notice | None = self.table.view.rows.get(event.key)
        if row is not None and row.location is not None:
            self.post_message(OpenPlace(row.location))

    def on_table_moved(self, event: Table.Moved) -> None:
        event.stop()
        self._show_remedies()
        self.post_message(FrameChanged())

    def _turn_page(self, by: int) -> None:
        """From what is worst to the areas, then to what mends it, and back."""
        panes = [self.worst, self.areas, self.fixes]
        now = next((index for index, pane in enumerate(panes) if pane.has_focus), 0)
        chosen = panes[(now + by) % len(panes)]
        # What has no room beside another one is not shown, and what is not shown takes no keys.
        chosen.display = True
        chosen.focus()

    def on_lines_nothing_to_copy(self, event: Lines.NothingToCopy) -> None:
        """Why the first remedy has no command."""
        event.stop()
        self.post_message(StatusRemark(not_copied(self._fix), "warn"))

    def act(self, action: str) -> bool:
        ref = self.ref_of_row()
        match action:
            case "pane" | "pane-back":
                self._focus_moved = False
                self._turn_page(1 if action == "pane" else -1)
            case "right" if self.worst.has_focus:
                self._turn_page(-1)
            case "left" if self.fixes.has_focus:
                self.worst.focus()
            case "copy" if self.fixes.has_focus and (text := to_copy(self._fix)):
                self.post_message(Copy(text, "command" if self._fix and self._fix.commands else "field and value"))
            case "namespace" if ref is not None and ref.namespace:
                self.post_message(OpenPlace(Location("pods", namespace=ref.namespace)))
            case "explain" if ref is not None:
                view = "report" if ref.kind == "ResourceQuota" else "object"
                self.post_message(OpenPlace(Location(view, ref=ref, tab="text")))
            case "copy" if ref is not None:
                self.post_message(Copy(ref.name, "name"))
            case "copy-ns" if ref is not None and ref.namespace:
                self.post_message(Copy(ref.namespace, "namespace"))
            case _:
                return super().act(action)
        return True


def _update_table(table: Table, rows: dict[RowKey, Notice]) -> None:
    """The rows, as few of them anew as can be."""
    old = table.view.rows
    if table.cursor is not None and table.cursor not in rows and table.returns_to is None and table.line:
        # Its object may stand at another place now.
        table.returns_to = table.cursor
    if table.returns_to is not None:
        objects = {key[1:]: key for key in rows}
        table.returns_to = objects.get(table.returns_to[1:], table.returns_to)
    if rows.keys() != old.keys():
        table.replace(rows)
    elif changed := {key: row for key, row in rows.items() if row != old[key]}:
        table.update(changed)
        # Anew, since "12 so far" must not leave its width behind.
        table.measure_widths()
