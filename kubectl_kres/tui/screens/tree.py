"""Base of screens with a tree that folds, details of the selected line, and tabs of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.containers import Container

from kubectl_kres.errors import KresError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.tui.lists.list_spec import no_labels
from kubectl_kres.tui.lists.timeline import history_lines
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.object import ObjectPane
from kubectl_kres.tui.screens.pane import Copy, FrameChanged, PlaceOnScreen, StatusRemark, TablePane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_filter import Faces
from kubectl_kres.tui.table.row_order import RowKey
from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.widgets.lines import Lines, Make
from kubectl_kres.tui.widgets.tabs import Tabs

#: Lines below which the verdict and what is known give way to the tree, and from which the verdict has room for all
#: that it mostly says.
_LOW, _HIGH = 18, 30
#: Lines of the verdict on a low, a middling and a high screen, where the tree needs the others.
_VERDICT_LOW, _VERDICT, _VERDICT_HIGH = 3, 7, 10
#: Lines left from which it is told what happened; cells of the frame of what is known beside the tree.
_AFTER, _FRAME = 6, 4
#: Lines of a picture that are worth showing without the rest of it.
_PICTURE = 8
#: Lines of what is known below the tree at the least, on a low screen and on others; cells of the tree at the least,
#: and those that what is known has beside it.
_ABOUT_LOW, _ABOUT, _TREE, _REASONS = 3, 5, 47, 44


class TreePane(ObjectPane, TablePane):
    """Rows have a ``path``: the key of their branch, and behind it their own. What differs stands from ``rows`` on.

    ``TABS``: the tree, then pages of text. ``JUMPS``: the tabs that keys go to. ``BESIDE``: the width from which what
    is known stands beside the tree, not below.
    """

    KEY_GROUPS: ClassVar[tuple[str, ...]] = ("everywhere", "objects")
    TABS: ClassVar[Sequence[tuple[str, str]]]
    JUMPS: ClassVar[Mapping[str, str]] = {"explain": "text"}
    BESIDE: ClassVar[int] = 120
    #: What ``v`` shows and hides.
    STEPS: ClassVar[str] = "steps and checks"
    sortable = False

    def __init__(self, session: Session, location: Location) -> None:
        super().__init__(session, location)
        known_names = {tab for tab, _ in self.TABS}
        self.tabs = Tabs(self.TABS, location.tab if location.tab in known_names else self.TABS[0][0])
        self.verdict, self.about, self.page = Lines(id="verdict"), Lines(id="about"), Lines(id="page")
        #: What happened, below a tree that leaves room for that.
        self.after = Lines(id="after")
        self.after.display = False
        self.verdict.can_focus = False
        self.steps = True
        self._rows: list[Any] = []
        #: Cells, lines of the tree, and how many lines are known of that of which most is.
        self._known_lines: tuple[int, list[Any], int] = (0, [], 0)
        self._folded: set[RowKey] = set()
        self._reported: RowKey | None = None
        #: Whether the screen still chooses where the cursor stands, and what it chose last.
        self._opening = True
        self._placed_row: RowKey | None = None
        self.table = Table(
            self.columns(), Faces(self.words, no_labels, lambda row: bool(self.row_mark(row)[0])), sign=self.row_mark
        )

    def rows(self) -> Iterable[Any]:
        """Return all lines of the answer from the top, branches before what is in them."""
        raise NotImplementedError

    def columns(self) -> Sequence[Column]:
        """Return what the tree shows of a line."""
        raise NotImplementedError

    def words(self, row: Any) -> str:
        """Return what a filter looks into."""
        raise NotImplementedError

    def row_mark(self, row: Any) -> tuple[str, Tone]:
        """Return the mark before a line."""
        raise NotImplementedError

    def head(self, width: int) -> Iterable[Line]:
        """Return what the answer comes to."""
        raise NotImplementedError

    def about_lines(self, row: Any, width: int) -> Iterable[Line]:
        """Return all that is known of a line of the tree."""
        raise NotImplementedError

    def text_lines(self, tab: str, width: int) -> Iterable[Line]:
        """Return a page of text. Raises KresError."""
        raise NotImplementedError

    def branch_of(self, row: Any) -> RowKey:
        """Return the path of the line that folds for a line: its own, or that of the branch that it stands in."""
        path: RowKey = row.path
        return path[:1]

    def copied(self, row: Any) -> Copy | None:
        """Return what is copied of a line, if it is not the object's name."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        yield self.tabs
        yield self.verdict
        with Container():
            yield self.table
            yield self.about
        yield self.after
        yield self.page

    def on_mount(self) -> None:
        # Its lines are broken for a new width only once it has that width.
        self.watch(self.verdict, "virtual_size", self._arrange, init=False)
        self.explain()
        self._turn_page(self.tabs.current)

    def on_resize(self) -> None:
        self._arrange()

    def _arrange(self) -> None:
        """What is known beside the tree or below it; lines that the tree leaves go to the verdict, then to that."""
        width, height = self.size
        low, beside, rows = height < _LOW, width >= self.BESIDE and not self._is_without_tree, len(self.table.view.keys)
        rows += 1
        self.set_class(beside, "beside")
        self.set_class(self._is_without_tree, "nothing")
        about = 0 if beside else _ABOUT_LOW if low else _ABOUT
        cells = min(self.table.longest_row, max(self.table.whole_width, width * 3 // 5), width - _REASONS)
        self.table.styles.width = max(_TREE, cells) if beside else "1fr"
        verdict = _VERDICT_LOW if low else _VERDICT_HIGH if height >= _HIGH else _VERDICT
        # A text begins with the verdict itself.
        self.verdict.display = self.tabs.current != "text" and not (self.shows_tree and self._is_without_tree)
        # The tabs take a line.
        most = max(verdict, height - 1 - rows - about) if self.shows_tree else verdict
        self.verdict.styles.max_height = most
        # The verdict is asked for its lines: its size is still that of its last ones.
        left = height - 1 - about - (min(most, self.verdict.virtual_size.height) if self.verdict.display else 0)
        self.table.styles.max_height = None if beside else max(2, min(rows, left))
        self._give_rest(left, rows, width - max(_TREE, cells) - _FRAME if beside else 0)

    def _give_rest(self, height: int, rows: int, side: int) -> None:
        """Tell what happened on the lines that the tree, and what is known beside it, leave of so many; ``side``: the
        cells beside it, 0 if nothing stands there.
        """
        needed = height
        if side and self.shows_tree and height - rows > _AFTER:
            needed = max(rows, min(self._count_known_lines(side), height * 2 // 3))
        shown = height - needed > _AFTER
        self.query_one(Container).styles.height = needed if shown else "1fr"
        if shown != self.after.display:
            self.after.display = shown
            self._tell_history()

    def _count_known_lines(self, width: int) -> int:
        """Return how many lines are known of the line of the tree of which most is: what stands below must not move
        with the cursor.
        """
        if self._known_lines[0] != width or self._known_lines[1] is not self._rows:
            most = max((len(list(self.about_lines(row, width))) for row in self._rows), default=0)
            self._known_lines = width, self._rows, most
        return self._known_lines[2]

    def _tell_history(self) -> None:
        if self.after.display:
            self.after.put(lambda _: (), self._history, keep=True)

    def _fill_rest(self, row: Any, width: int, room: int) -> Iterator[Line]:
        """Yield the pictures that have room below what is known of a line, then what happened if nothing tells that."""
        known = list(self.about_lines(row, width))
        for picture in self.pictures():
            lines = list(picture(width))
            if not lines or lines[0] in known or room < min(len(lines), _PICTURE):
                continue
            if len(lines) > room:
                lines = [*lines[: room - 1], [("quiet", "…")]]
            yield from (*lines, [])
            room -= len(lines) + 1
        if not self.after.display:
            yield from self._history(width, room)

    def pictures(self) -> Iterable[Make]:
        """Return what can be drawn of the answer beside the tree, the most telling first."""
        return ()

    def _history(self, width: int, room: int) -> Iterable[Line]:
        return history_lines(self.session, self.refs(), width, room)

    def refs(self) -> Sequence[ObjectRef]:
        """Return the objects that the answer is about: itself, and what decides about it."""
        return (self.ref,)

    @property
    def _is_without_tree(self) -> bool:
        """Return whether the answer has no line of a tree: its text takes the place then."""
        return self.answer is not None and not self._rows

    @property
    def shows_tree(self) -> bool:
        """Return whether the tree is shown, not a page of text."""
        return self.tabs.current == self.TABS[0][0]

    @property
    def row(self) -> Any | None:
        """The line under the cursor; None while a page is shown."""
        return self.table.row if self.shows_tree else None

    @property
    def filters(self) -> bool:
        return self.shows_tree

    def show_answer(self) -> None:
        self._opening = self._opening and self.table.cursor == self._placed_row
        self._rows = list(self.rows()) if self.answer is not None else []
        self._compare()
        self._fill_table()
        self._arrange()
        if self._opening:
            if (row := self.opens_on()) is not None:
                self.table.open_on(row.path)
            self._placed_row = self.table.cursor
            self._opening = self.answer is None or not self.complete
        self.verdict.put(self._verdict)
        self._tell_history()
        self._draw(keep=True)

    def return_to(self, place: PlaceOnScreen) -> None:
        self._opening = self._opening and place.row is None
        super().return_to(place)

    def opens_on(self) -> Any | None:
        """Return the line that the cursor stands on until a key moves it or all has been read; None: the first."""
        return next((row for row in self._rows if self.row_mark(row)[0] == "x"), None)

    def _compare(self) -> None:
        """Mark what a change that is tried makes different."""
        before = self.compare_before(lambda: set(self._texts(list(self.rows())).values()))
        now = self._texts(self._rows) if before is not None else {}
        self.table.differs = None if before is None else lambda row: now.get(row.path) not in before

    def _texts(self, rows: Sequence[Any]) -> dict[RowKey, tuple[str, ...]]:
        """Return what lines say, with their branch: its place may be another."""
        heads = {row.path: row.label for row in rows if len(row.path) == 1}
        columns = self.table.columns[1:]
        return {
            row.path: (
                heads.get(row.path[:1], ""),
                *self.row_mark(row),
                row.label,
                *(column.text(row) for column in columns),
            )
            for row in rows
        }

    def _fill_table(self) -> None:
        # A filter looks into folded branches, too.
        wrapped = set() if self._filter else self._folded
        self.table.replace({row.path: row for row in self._rows if not _is_inside(row.path, wrapped)})

    def _verdict(self, width: int) -> Iterator[Line]:
        yield from self.state_lines(width)
        if self.answer is not None:
            yield from self.head(width)

    def _draw(self, *, keep: bool = False) -> None:
        """The page, or what is known of the line under the cursor; ``keep``: as far down as it was."""
        if not self.shows_tree:
            self.page.put(partial(self._page, self.tabs.current), keep=keep)
            return
        row = self.table.row
        if self._is_without_tree:
            self.about.put(partial(self._page, "text"), self._history, keep=keep)
        elif row is None or self.answer is None:
            self.about.put(self.gap_lines)
        else:
            more = partial(self._fill_rest, row)
            self.about.put(partial(self.about_lines, row), more, keep=keep and self._reported == row.path)
        self._reported = row.path if row is not None else None
        self.about.entitle(row.label.strip() if row is not None else "")

    def _page(self, tab: str, width: int) -> Iterator[Line]:
        """Yield the lines of a tab; what cannot be answered says why."""
        if self.answer is None:
            yield from self.gap_lines(width)
            return
        try:
            yield from self.text_lines(tab, width)
        except KresError as error:
            yield from tone_lines("bad", wrap_text(error.message, width, rest="  "))

    def _turn_page(self, tab: str) -> None:
        self.tabs.choose(tab)
        self.set_class(self.shows_tree, "tree")
        self.set_class(not self.shows_tree, "page")
        self._arrange()
        self._draw()
        (self.table if self.shows_tree else self.page).focus()
        self.post_message(FrameChanged())

    def on_table_moved(self, event: Table.Moved) -> None:
        event.stop()
        self._draw()
        self.post_message(FrameChanged())

    def on_tabs_chosen(self, event: Tabs.Chosen) -> None:
        event.stop()
        self._turn_page(event.tab)

    def fold(self, row: Any, *, wrapped: bool | None = None) -> None:
        """Fold the branch of a line, or unfolds it; without a word the other one of both."""
        key = self.branch_of(row)
        if wrapped is None:
            wrapped = key not in self._folded
        (self._folded.add if wrapped else self._folded.discard)(key)
        self.table.cursor = key if wrapped else row.path
        self.table.change_columns(self.columns())
        self._fill_table()
        self._arrange()
        self._draw()
        # What was said of another line is not true of this one.
        self.post_message(StatusRemark(""))

    def apply(self) -> None:
        self._fill_table()
        super().apply()
        self._arrange()
        self._draw()

    def act(self, action: str) -> bool:
        if action in self.JUMPS:
            self._turn_page(self.JUMPS[action])
            return True
        match action:
            case "pane" | "pane-back":
                self._turn_page(self.tabs.neighbour(1 if action == "pane" else -1))
            case "left" | "right":
                return self._move_sideways(action)
            case "steps":
                self.steps = not self.steps
                self._draw(keep=True)
                self.post_message(StatusRemark(f"{self.STEPS} are {'shown' if self.steps else 'hidden'}"))
            case "copy" if self.row is not None and (copied := self.copied(self.row)) is not None:
                self.post_message(copied)
            case _:
                return super().act(action)
        return True

    def _move_sideways(self, action: str) -> bool:
        """Left folds and comes back from what is known, right unfolds and goes to it."""
        row = self.row
        if row is None:
            return False
        if self.about.has_focus:
            if action == "left":
                self.table.focus()
        elif action == "left":
            self.fold(row, wrapped=True)
        elif self.branch_of(row) in self._folded:
            self.fold(row, wrapped=False)
        else:
            self.about.focus()
        return True


def _is_inside(path: RowKey, wrapped: set[RowKey]) -> bool:
    """Return whether a line stands in a branch that is folded."""
    return bool(wrapped) and any(path[:depth] in wrapped for depth in range(1, len(path)))
