"""Jump labels: letters on everything that a key can open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from string import ascii_lowercase, ascii_uppercase
from typing import NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import Static

from kubectl_kres.tui.screens.pane import Pane
from kubectl_kres.tui.table.row_order import RowKey
from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.widgets.lines import Lines
from kubectl_kres.tui.widgets.tabs import Tabs

#: Those that are easy to reach first.
_HOME = "asdfghjkl"
LETTERS = _HOME + "".join(sorted(set(ascii_lowercase) - set(_HOME))) + ascii_uppercase


class JumpTarget(NamedTuple):
    """A place on screen, in cells from its corner, and what going there is."""

    x: int
    y: int
    go: Callable[[], object]


def targets(pane: Pane) -> Iterator[JumpTarget]:
    """Tabs, texts and the rows that are seen, from the top; of a table without rows the table."""
    for tabs in pane.query(Tabs):
        left, top = tabs.region.offset
        for tab, start, _ in tabs.tab_ranges():
            yield JumpTarget(left + start, top, partial(tabs.post_message, Tabs.Chosen(tab)))
    for lines in pane.query(Lines):
        if lines.can_focus and lines.region.area and lines.is_on_screen:
            yield JumpTarget(*lines.region.offset, lines.focus)
    for table in pane.query(Table):
        if table.region.area and table.is_on_screen:
            left, top = table.region.offset
            for index, key in enumerate(table.seen_keys()):
                yield JumpTarget(left, top + 1 + index, partial(_to_row, table, key))


def _to_row(table: Table, key: RowKey) -> None:
    """By its key: rows may have moved since the letters were drawn."""
    table.focus()
    table.find(key)


class JumpScreen(ModalScreen[JumpTarget | None]):
    """The screen below with a letter on each target, as many as there are letters. Any other key goes back."""

    def __init__(self, targets: Sequence[JumpTarget]) -> None:
        super().__init__()
        self._targets = dict(zip(LETTERS, targets, strict=False))
        self._drawn_for: Size | None = None

    def compose(self) -> ComposeResult:
        for letter, target in self._targets.items():
            label = Static(letter)
            label.styles.offset = target.x, target.y
            yield label

    def on_key(self, event: events.Key) -> None:
        event.stop()
        self.dismiss(self._targets.get(event.character or ""))

    def on_click(self) -> None:
        self.dismiss(None)

    def on_resize(self, event: events.Resize) -> None:
        """The letters stand where things were."""
        if self._drawn_for not in {None, event.size}:
            self.dismiss(None)
        self._drawn_for = event.size
