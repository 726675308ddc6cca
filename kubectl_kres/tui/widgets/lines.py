"""A widget that shows the lines of a report, renders them again when the width changes, and pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from rich.cells import cell_len
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from kubectl_kres.render.text.line import Line
from kubectl_kres.tui.keys import movement_bindings
from kubectl_kres.tui.table.strips import Drawn, safe_text, wrap_line

#: Behind the beginning of a command that is too long for its line.
_COPIES = "… c copies"

#: Makes the lines for a width.
Make = Callable[[int], Iterable[Line]]
#: Makes lines for a width and for as many lines as are left below those.
Fill = Callable[[int, int], Iterable[Line]]
#: Lines left from which they are worth filling.
_FILLED = 3


class Lines(Drawn):
    """Text that is read, not chosen from. What is longer than the widget is wide goes on below."""

    BINDINGS: ClassVar[list[BindingType]] = movement_bindings()

    class Copied(Message):
        """A command to type is to be copied."""

        def __init__(self, command: str) -> None:
            super().__init__()
            self.command = command

    class NothingToCopy(Message):
        """A command was to be copied, and there is none."""

    def __init__(self, make: Make | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._make: Make = make or (lambda _: ())
        self._fill: Fill | None = None
        self._drawn_lines: list[Line] = []
        self._width = self._height = 0

    @property
    def text(self) -> str:
        """Return what is shown, without tones."""
        return "\n".join("".join(text for _, text in line).rstrip() for line in self._drawn_lines)

    def put(self, make: Make, fill: Fill | None = None, *, keep: bool = False) -> None:
        """Other lines, and others still on the room that they leave; ``keep``: the page stays where it is."""
        self._make, self._fill = make, fill
        self._draw()
        if not keep:
            self.scroll_to(y=0, animate=False)

    def render_line(self, y: int) -> Strip:
        line = int(self.scroll_offset.y) + y
        if line >= len(self._drawn_lines):
            return Strip.blank(self.scrollable_content_region.width, self.base_style)
        cut = not self.can_focus and y == self.size.height - 1 and line < len(self._drawn_lines) - 1
        # Nobody can go to what is below: it must be seen that there is more.
        shown = [*self._drawn_lines[line], ("quiet", "…")] if cut else self._drawn_lines[line]
        width = self.scrollable_content_region.width
        if _command(shown) and sum(cell_len(safe_text(text)) for _, text in shown) > width:
            return self._cut_line(shown, width, _COPIES + " …" * cut)
        return self.strip(shown, width)

    def _cut_line(self, line: Line, width: int, ending: str) -> Strip:
        """Return a command that is longer than the widget is wide: its beginning, and the key that copies all of it."""
        tail = self.strip([("quiet", ending)], cell_len(ending))
        return Strip.join([self.strip(line, max(0, width - tail.cell_length)), tail])

    def command_here(self) -> str:
        """Return the first command to type from the line on that is seen first, else the first one of all;
        empty: none.
        """
        top = int(self.scroll_offset.y)
        below = (
            command for line in (*self._drawn_lines[top:], *self._drawn_lines[:top]) if (command := _command(line))
        )
        return next(below, "")

    def action_open(self) -> None:
        command = self.command_here()
        if not command:
            self.post_message(self.NothingToCopy())
            raise SkipAction
        self.post_message(self.Copied(command))

    def on_resize(self) -> None:
        # What is drawn may depend on how many lines there is room for.
        if (self.scrollable_content_region.width, self.size.height) != (self._width, self._height):
            self._draw()

    def _draw(self) -> None:
        # A scrollbar that comes and goes must not change where lines break.
        self._width, self._height = self.scrollable_content_region.width, self.size.height
        if not self._width:
            # Broken for no width at all, lines would stand as a strip of words until the widget has its size.
            return
        width = max(8, self.content_size.width - 1)
        self._drawn_lines = [piece for line in self._make(width) for piece in wrap_line(line, width)]
        left = self._height - len(self._drawn_lines) - 1
        if self._fill is not None and left >= _FILLED and (lines := list(self._fill(width, left))[:left]):
            self._drawn_lines += [[], *lines] if self._drawn_lines else lines
        self.virtual_size = Size(width, len(self._drawn_lines))
        self.refresh()

    def action_move(self, by: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + by, animate=False)

    def action_page(self, by: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + by * max(1, self.size.height - 1), animate=False)

    def action_first(self) -> None:
        self.scroll_to(y=0, animate=False)

    def action_last(self) -> None:
        self.scroll_to(y=len(self._drawn_lines), animate=False)


def _command(line: Line) -> str:
    """Return what is to be typed in a line; empty: nothing."""
    return next((text for tone, text in line if tone == "command"), "")
