"""The table of every list: rows by key, of which only the visible lines are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from kubectl_kres.render.text.line import Line
from kubectl_kres.tui.keys import movement_bindings
from kubectl_kres.tui.table.columns import GAP, Column, capped_widths, laid_out, natural_widths
from kubectl_kres.tui.table.row_filter import Faces
from kubectl_kres.tui.table.row_order import RowKey
from kubectl_kres.tui.table.row_texts import Matcher
from kubectl_kres.tui.table.strips import Drawn, fit_text, safe_text
from kubectl_kres.tui.table.view import View

#: Cursor and sign stand before the first column; behind the last one a blank and the scrollbar.
_MARGIN, _END = 4, 2
#: Rows that widths are taken from: those that came first, and of those that change some at a time.
_MEASURED, _SAMPLE = 400, 40


class Table(Drawn):
    """The cursor stands on a row's key, not on a line: updates move the line, not the choice."""

    BINDINGS: ClassVar[list[BindingType]] = movement_bindings()

    class Moved(Message):
        """The cursor stands on another row; ``key`` None: on none."""

        def __init__(self, key: RowKey | None) -> None:
            super().__init__()
            self.key = key

    class Opened(Message):
        """A row is to be opened."""

        def __init__(self, key: RowKey) -> None:
            super().__init__()
            self.key = key

    class Headed(Message):
        """The head of a column was clicked."""

        def __init__(self, column: Column) -> None:
            super().__init__()
            self.column = column

    class Gone(Message):
        """The row under the cursor is no longer there."""

        def __init__(self, key: RowKey) -> None:
            super().__init__()
            self.key = key

    def __init__(self, columns: Sequence[Column], faces: Faces, *, sign: Any, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view: View[Any] = View(faces)
        self.columns = tuple(columns)
        self.view.rank_rows(column.sort_key for column in columns if column.lasting)
        self.cursor: RowKey | None = None
        self.sorted_by: Column | None = None
        self.reverse = self.wide = False
        #: Whether somebody asked for the sort, and wants to see what it goes by; of the list's own the signs tell.
        self._is_sort_chosen = False
        self.picked = 0
        self._line = 0
        self._row_mark = sign
        #: Which rows are not as they were before a change that is tried; None: no change is.
        self.differs: Callable[[Any], bool] | None = None
        #: The rows that are marked.
        self.marked: set[RowKey] = set()
        self._empty: Line = ()
        #: Whether the cursor stands on the first row, whichever that comes to be, since nobody has moved it.
        self.anchored = False
        #: Whether the cursor is only marked while the keys are this table's.
        self.cursor_needs_focus = False
        self._liked: list[int] = []
        self._layout: list[tuple[int, int]] = []
        #: The width that the columns were laid out for.
        self._laid = -1
        #: What was drawn: columns, line and key of the cursor, and the keys that are seen.
        self._drawn_state: tuple[Any, ...] | None = None
        self._changed_rows: set[RowKey] = set()
        #: The row that the table opened on, until the cursor or the view is moved by hand.
        self._opening_row: RowKey | None = None
        #: The row that the cursor goes to once it is there, unless the cursor is moved by hand before.
        self.returns_to: RowKey | None = None

    @property
    def row(self) -> Any | None:
        """The row under the cursor."""
        return self.view.rows.get(self.cursor) if self.cursor is not None else None

    @property
    def line(self) -> int:
        return self._line

    @property
    def empty(self) -> Line:
        """What stands in the place of the rows where there are none."""
        return self._empty

    @empty.setter
    def empty(self, line: Line) -> None:
        if line != self._empty:
            self._empty = line
            self.refresh()

    def row_sign(self, row: Any) -> str:
        """Return the sign before a row; empty where nothing is wrong with it."""
        mark: str = self._row_mark(row)[0]
        return mark

    @property
    def full_width(self) -> int:
        """Cells that all columns take, those too that only come where there is room."""
        return self._over_all(capped_widths(self.columns, self._liked) if self._liked else ())

    @property
    def whole_width(self) -> int:
        """Cells that all columns take where nothing of a text is cut."""
        return self._over_all(self._liked)

    @property
    def longest_row(self) -> int:
        """Cells of the longest row, with the text that goes on over the columns behind its own."""
        longest = self.whole_width
        for _, row in islice(self.view.pairs(), _MEASURED):
            for index, column in enumerate(self.columns):
                if column.spills is not None and column.spills(row):
                    before = self._over_all(self._liked[:index])
                    longest = max(longest, before + GAP + cell_len(safe_text(column.text(row))))
        return longest

    def _over_all(self, widths: Sequence[int]) -> int:
        return _MARGIN + sum(widths) + GAP * max(0, len(widths) - 1) + _END

    @property
    def visible_columns(self) -> tuple[Column, ...]:
        """The columns that there is room for."""
        return tuple(self.columns[index] for index, _ in self._layout)

    def change_columns(self, columns: Sequence[Column]) -> None:
        """Other columns; the sort goes by the column of the same id, if there is one."""
        if [column.id for column in columns] == [column.id for column in self.columns]:
            self.columns = tuple(columns)
        else:
            self.columns, self._liked = tuple(columns), []
            if self.sorted_by is not None and self.sorted_by.id not in {column.id for column in columns}:
                self.sort(None)
        self.view.rank_rows(column.sort_key for column in columns if column.lasting)
        self.settle()
        self.refresh()

    def replace(self, rows: dict[RowKey, Any]) -> None:
        """All rows anew, and the dictionary with them; the cursor stays on its key."""
        self.view.replace(rows)
        self._liked = []
        self.settle()
        self.refresh()

    def measure_widths(self) -> None:
        """Take widths anew from the rows there are: those that came first need not be the widest."""
        self._liked = []
        self.settle()

    def update(self, changed: Mapping[RowKey, Any], gone: Iterable[RowKey] = ()) -> None:
        """Rows that came, changed or went; in their places after the next ``settle``."""
        gone = list(gone)
        self.view.update(changed, gone)
        self._changed_rows.update(changed, gone)
        if self.cursor in gone and self.cursor is not None:
            self.post_message(self.Gone(self.cursor))
        if changed and self._liked:
            liked = natural_widths(self.columns, islice(changed.values(), _SAMPLE), costly=0)
            self._liked = [max(pair) for pair in zip(self._liked, liked, strict=True)]

    def filter(self, matcher: Matcher, *, faults: bool = False) -> None:
        self.view.filter(matcher, faults=faults)
        self.settle()

    def sort(self, column: Column | None, *, reverse: bool = False) -> None:
        self.sorted_by, self.reverse = column, reverse
        self.view.sort(column.sort_key if column is not None else None, reverse=reverse)
        self.settle()
        self.refresh()

    def settle(self) -> None:
        """Show what the rows, filter and sort come to; the view stays where it is unless the cursor would leave it."""
        visible = self._on_screen(self._line)
        self.view.settle()
        before = self.cursor
        keys = self.view.keys
        if self.returns_to is not None and self.view.line_of(self.returns_to) is not None:
            self.cursor, self.returns_to, self.anchored, visible = self.returns_to, None, False, True
        line = self.view.line_of(self.cursor) if self.cursor is not None else None
        if self.anchored and keys:
            line, self.cursor = 0, keys[0]
        if line is None:
            line = min(self._line, len(keys) - 1)
            self.cursor = keys[line] if keys else None
        self._line = max(0, line)
        self._lay_out()
        self.virtual_size = Size(self.size.width, len(keys) + 1)
        if visible:
            self._scroll_to_cursor()
        top = int(self.scroll_offset.y)
        seen = keys[top : top + self.size.height]
        if not self._changed_rows.isdisjoint(seen) or (self._drawn_state is not None and seen != self._drawn_state[-1]):
            self._widen()
        drawn = self._layout, self._line, self.cursor, seen
        if drawn != self._drawn_state:
            self.refresh()
        else:
            self.refresh_changed()
        self._changed_rows, self._drawn_state = set(), drawn
        if before != self.cursor:
            self.post_message(self.Moved(self.cursor))

    def refresh_changed(self) -> None:
        """Draw only those of the changed rows that are seen, where they stood at the last ``settle``."""
        top = int(self.scroll_offset.y)
        for line, key in enumerate(self.view.keys[top : top + self.size.height]):
            if key in self._changed_rows:
                self.refresh_line(top + line + 1)

    def go(self, line: int) -> None:
        """Put the cursor on a line, the nearest that there is."""
        keys = self.view.keys
        if not keys:
            return
        self.anchored, self.returns_to = False, None
        line = max(0, min(line, len(keys) - 1))
        if keys[line] != self.cursor:
            self._opening_row = None
            self._line, self.cursor = line, keys[line]
            self.post_message(self.Moved(self.cursor))
        self._scroll_to_cursor()
        self.refresh()

    def seen_keys(self) -> Sequence[RowKey]:
        """Return those of the rows on screen, from the top."""
        top = int(self.scroll_offset.y)
        return self.view.keys[top : top + self.size.height - 1]

    def find(self, key: RowKey) -> None:
        """Put the cursor on a row, if it is seen."""
        self.view.settle()
        line = self.view.line_of(key)
        if line is not None:
            self.go(line)

    def open_on(self, key: RowKey) -> None:
        """Put the cursor on a row and keeps it in sight, whatever room there comes to be, until it is moved."""
        self.find(key)
        self._opening_row = self.cursor
        self._scroll_to_cursor()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if width != self._laid:
            self._lay_out()
        if y == 0:
            return self._header_strip().adjust_cell_length(width, self.base_style)
        line = int(self.scroll_offset.y) + y - 1
        keys = self.view.keys
        if not keys and y == 1 and self.empty:
            return self.strip([("", " " * _MARGIN), *self.empty], width)
        if line >= len(keys) or keys[line] not in self.view.rows:
            # Of a long list lines are taken out a little after their rows.
            return Strip.blank(width, self.base_style)
        current = line == self._line
        style = self.base_style + self._cursor_style(current=current)
        return self._cells(keys[line], current=current).adjust_cell_length(width, style)

    def _header_strip(self) -> Strip:
        style = self.tone("head")
        segments = [Segment(" " * _MARGIN, style)]
        for index, width in self._layout:
            column = self.columns[index]
            arrow = "" if column is not self.sorted_by else "v" if self.reverse else "^"
            # Where the head has all the room of its column the arrow stands behind it.
            inside = arrow if len(column.head) < width else ""
            head = fit_text(f"{column.head}{inside}", width, right=column.right)
            chosen = style + Style(underline=True) if self.picked and index == self.picked - 1 else style
            segments += [Segment(head, chosen), Segment(f"{'' if inside else arrow:<{GAP}}", style)]
        return Strip(segments)

    def _cursor_style(self, *, current: bool) -> Style:
        """Return what is laid over the row under the cursor."""
        if not current or (self.cursor_needs_focus and not self.has_focus):
            return Style.null()
        return self.tone("cursor" if self.has_focus else "idle")

    def _cells(self, key: RowKey, *, current: bool) -> Strip:
        row = self.view.rows[key]
        over = self._cursor_style(current=current)
        mark, tone = self._row_mark(row)
        # The sign and the state carry the tone: where a whole row did, nothing stood out among bad rows.
        plain = self.tone("quiet" if tone == "quiet" else "")
        before = "*" if key in self.marked else "~" if self.differs is not None and self.differs(row) else " "
        cursor = ">" if current and (self.has_focus or not self.cursor_needs_focus) else " "
        segments = [
            Segment(f"{before}{cursor}", plain + over),
            Segment(f"{mark:<2}"[:2], self.tone(tone) + over),
        ]
        for line, (index, width) in enumerate(self._layout):
            column = self.columns[index]
            # A picture on the cursor's colour is drawn as its letters are: in a tone of its own neither would be seen.
            tone = column.tone(row) if column.tone is not None and not (column.drawn and over.reverse) else ""
            style = (self.tone(tone) if tone else plain) + over
            if column.spills is not None and column.spills(row):
                room = self.size.width - _MARGIN - sum(cells + GAP for _, cells in self._layout[:line])
                return Strip([*segments, Segment(fit_text(column.text(row), max(width, room - _END)), style)])
            text = fit_text(column.fitting_text(row, width), width, right=column.right)
            first = len(text.partition(" ")[0]) if column.leads else len(text)
            segments += [
                Segment(text[:first], style),
                Segment(text[first:], plain + over),
                Segment(" " * GAP, plain + over),
            ]
        return Strip(segments)

    def _lay_out(self) -> None:
        self._laid = self.size.width
        room = self._laid - _MARGIN - _END
        if not self._liked or len(self._liked) != len(self.columns):
            # Rows that a filter hides count, too: it goes, and the widths stay.
            rows = (row for _, row in self.view.pairs())
            seen = filter(None, map(self.view.rows.get, self.view.keys[: _MEASURED // 2]))
            self._liked = natural_widths(self.columns, chain(seen, islice(rows, _MEASURED // 2)))
        if self.sorted_by is not None:
            index = next((index for index, column in enumerate(self.columns) if column.id == self.sorted_by.id), None)
            self.sorted_by = self.columns[index] if index is not None else None
        by = self.sorted_by.id if self.sorted_by is not None and self._is_sort_chosen else ""
        self._layout = laid_out(self.columns, self._liked, max(1, room), wide=self.wide, by=by)

    def _widen(self) -> None:
        """Make columns of figures as wide as what is seen of them: a figure must not lose a digit."""
        top = int(self.scroll_offset.y)
        seen = [self.view.rows[key] for key in self.view.keys[top : top + self.size.height] if key in self.view.rows]
        figures = [index for index, _ in self._layout if self.columns[index].right and not self.columns[index].width]
        needed = natural_widths([self.columns[index] for index in figures], seen, costly=len(seen))
        wider = {index: width for index, width in zip(figures, needed, strict=True) if width > self._liked[index]}
        if wider:
            self._liked = [wider.get(index, width) for index, width in enumerate(self._liked)]
            self._lay_out()
            self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._layout:
            self._widen()

    def _on_screen(self, line: int) -> bool:
        top = int(self.scroll_offset.y)
        return top <= line < top + max(1, self.size.height - 1)

    def _scroll_to_cursor(self) -> None:
        top, height = int(self.scroll_offset.y), max(1, self.size.height - 1)
        if self._opening_row is not None and self._opening_row == self.cursor:
            # In the middle where it is not on the first page: what it is about stands below it.
            self.scroll_to(y=0 if self._line < height else self._line - height // 2, animate=False)
        elif self._line < top:
            self.scroll_to(y=self._line, animate=False)
        elif self._line >= top + height:
            self.scroll_to(y=self._line - height + 1, animate=False)

    def on_resize(self) -> None:
        self.settle()
        self._scroll_to_cursor()
        # The bar was drawn for the lines of before.
        self.vertical_scrollbar.position = self.scroll_offset.y
        self.vertical_scrollbar.window_virtual_size = self.virtual_size.height
        self.vertical_scrollbar.window_size = self.size.height

    def on_mouse_scroll_down(self) -> None:
        self._opening_row = None

    def on_mouse_scroll_up(self) -> None:
        self._opening_row = None

    def on_click(self, event: events.Click) -> None:
        """A head says so; a row is chosen, by a second click opened."""
        if event.y == 0:
            position = _MARGIN
            for index, width in self._layout:
                if position <= event.x < position + width + GAP:
                    self.post_message(self.Headed(self.columns[index]))
                position += width + GAP
            return
        line = int(self.scroll_offset.y) + event.y - 1
        if line < len(self.view.keys):
            self.go(line)
            if event.chain > 1:
                self.action_open()

    def toggle(self, column: Column) -> None:
        """Sort by a column; if it does already, the other way round."""
        self._is_sort_chosen = True
        again = self.sorted_by is not None and self.sorted_by.id == column.id
        self.sort(column, reverse=not self.reverse if again else column.down)

    def action_move(self, by: int) -> None:
        self.go(self._line + by)

    def action_page(self, by: int) -> None:
        self.go(self._line + by * max(1, self.size.height - 2))

    def mark(self) -> None:
        """Mark the row under the cursor, or take its mark away, and go on to the next."""
        if self.cursor is not None:
            self.marked ^= {self.cursor}
            self.refresh()
            self.go(self._line + 1)

    def action_first(self) -> None:
        self.go(0)

    def action_last(self) -> None:
        self.go(len(self.view.keys) - 1)

    def action_open(self) -> None:
        if self.cursor is not None:
            self.post_message(self.Opened(self.cursor))
