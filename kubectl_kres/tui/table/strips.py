"""Text of a cluster as Textual strips: escaped, cut to cells, in the colours of the theme."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from kubectl_kres.render.text.line import Line, Tone, sanitize_text, truncate_text

#: Cells that keep the text on the right from being read as part of the one on the left.
_APART = 3
#: Cells below which a text on the right is not worth its beginning.
_LEAST = 14
#: What is taken of a text that has no end.
_MOST = 2000


def safe_text(text: str) -> str:
    """Return the text as a terminal may have it."""
    return sanitize_text(truncate_text(text, _MOST))


def fit_text(text: str, width: int, *, right: bool = False) -> str:
    """Return the text in exactly ``width`` cells; what is longer ends in an ellipsis."""
    shown = _text_beginning(safe_text(text), width)
    taken = cell_len(shown)
    if taken > width:
        return f"{set_cell_size(shown, width - 1)}…" if width > 1 else set_cell_size(shown, width)
    room = " " * (width - taken)
    return room + shown if right else shown + room


#: Cells that what goes on below stands further in.
_DEEPER = 2


def wrap_line(line: Line, width: int) -> Iterator[Line]:
    """Yield the line in pieces of at most ``width`` cells, broken at blanks where there are any; a command stays whole.

    What goes on below stands a little further in than its beginning, unless a word needs the room.
    """
    if any(tone == "command" for tone, _ in line):
        yield line
        return
    pieces = _reduce_indent([(tone, safe_text(text)) for tone, text in _without_tail(line)], width)
    first = pieces[0][1] if pieces else ""
    deeper = min(len(first) - len(first.lstrip(" ")) + _DEEPER, width // 3)
    row: list[tuple[Tone, str]] = []
    room = full = width
    for tone, text in pieces:
        rest = text
        while cell_len(prefix := _text_beginning(rest, room)) > room:
            head = _head(prefix, room, whole=room == full)
            row.append((tone, head))
            yield row
            rest = rest[len(head) :].lstrip(" ")
            indent = min(deeper, max(0, width - cell_len(_text_beginning(rest, width).partition(" ")[0])))
            row, room = [("", " " * indent)] * bool(indent), width - indent
            full = room
        row.append((tone, rest))
        room -= cell_len(rest)
    yield row


def _without_tail(line: Line) -> Line:
    """Return the line without the blanks at its end, which are worth no line of their own."""
    end = len(line)
    while end and not line[end - 1][1].strip(" "):
        end -= 1
    return [*line[: end - 1], (line[end - 1][0], line[end - 1][1].rstrip(" "))] if end else line[:1]


def _text_beginning(text: str, room: int) -> str:
    """As much of the text as tells where it is cut: who measures the rest for each piece takes its square."""
    length = room + 1
    while length < len(text):
        if cell_len(some := text[:length]) > room:
            return some
        length *= 2
    return text


def _reduce_indent(line: list[tuple[Tone, str]], width: int) -> Line:
    """With less of an indent where a word that has no blanks would not fit behind it."""
    if not line:
        return line
    tone, text = line[0]
    body = text.lstrip(" ")
    word = body.partition(" ")[0]
    lead = len(text) - len(body)
    if lead and lead + cell_len(word) > width:
        return [(tone, " " * max(0, min(lead, width - cell_len(word))) + body), *line[1:]]
    return line


def _head(text: str, room: int, *, whole: bool) -> str:
    """As much of the text as there is room for, up to a blank if it has one; ``whole``: at least a character."""
    head = set_cell_size(text, room)
    while head and not text.startswith(head):
        head = head[:-1]
    index = head.rfind(" ") if len(head) < len(text) and text[len(head)] != " " else len(head)
    if index > 0:
        return head[:index]
    return (head or text[:1]) if whole else ""


#: The tones of reports, and what else lines are drawn in: classes whose styles a screen has.
TONES = {
    f"tone--{name}" for name in ("good", "bad", "warn", "strong", "quiet", "command", "cursor", "idle", "head", "focus")
}
TONES_CSS = """
    & > .tone--good { color: $text-success; }
    & > .tone--bad { color: $text-error; text-style: bold; }
    & > .tone--warn { color: $text-warning; }
    & > .tone--strong { text-style: bold; }
    & > .tone--command { text-style: bold; }
    & > .tone--quiet { color: $text-muted; }
    & > .tone--cursor { text-style: reverse; }
    & > .tone--idle { text-style: underline; }
    & > .tone--focus { color: $accent; }
    & > .tone--head { color: $text-muted; text-style: bold; }
"""


class ToneWidget(Widget):
    """A widget that draws in the tones of reports. The screen has their styles: Textual would compute those of
    the widget, all of them, whenever its styles may have changed.
    """

    _base_style: Style | None = None
    _tone_styles: Mapping[str, Style] = MappingProxyType({})

    @property
    def base_style(self) -> Style:
        """The widget's own style, which textual makes anew each time it is asked."""
        if self._base_style is None:
            self._base_style = self.rich_style
        return self._base_style

    def tone(self, name: str) -> Style:
        """Return the style of a tone; of none, the widget's own."""
        if not name:
            return self.base_style
        if name not in self._tone_styles:
            self._tone_styles = {**self._tone_styles, name: self._compute_tone(name)}
        return self._tone_styles[name]

    def _compute_tone(self, name: str) -> Style:
        styles = self.screen.get_component_styles(f"tone--{name}")
        style = self.base_style + styles.text_style
        if not styles.has_rule("color"):
            return style
        background = self.background_colors[1]
        color = background.get_contrast_text(styles.color.a) if styles.auto_color else styles.color
        return style + Style.from_color((background + color).rich_color)

    def notify_style_update(self) -> None:
        self._base_style, self._tone_styles = None, MappingProxyType({})
        super().notify_style_update()


class Drawn(ScrollView, ToneWidget, can_focus=True):
    """A widget that draws its own lines and scrolls; the tones of reports are styles of the theme."""

    _title = ""

    def entitle(self, title: str) -> None:
        """What stands in the border above it; a name of a cluster is escaped, and is no markup."""
        if title != self._title:
            self._title = title
            self.border_title = Content(f" {safe_text(title)} ") if title else None

    #: How many lines there are is nothing that changes the rest of the screen.
    virtual_size = Reactive(Size(0, 0), layout=False)

    def watch_virtual_size(self, _before: Size, after: Size) -> None:
        """The scrollbar follows; where the widget is as high as its lines are many, the screen is laid out anew."""
        if self.styles.auto_dimensions:
            # Textual counts one change until it comes to rest: a second one it would lay out with the height of the
            # first, and leave the scrollbar of the first.
            self._layout_updates += 1
            self.refresh(layout=True)
            self.call_after_refresh(self._refresh_scrollbars)
        else:
            self._scroll_update(after)

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, *how: bool, **named: bool) -> bool:
        # On a loaded machine a widget was seen drawn at its new size that had never got the event.
        if size != self._size:
            self.post_message(events.Resize(size, virtual_size, container_size))
        return super()._size_updated(size, virtual_size, container_size, *how, **named)

    def strip(self, line: Line, width: int) -> Strip:
        """Return a line as cells."""
        segments = [Segment(safe_text(text), self.tone(tone)) for tone, text in line]
        return Strip(segments).adjust_cell_length(width, self.base_style)


def count_cells(line: Line) -> int:
    """Return the cells that a text on the right of a bar takes, with what keeps it apart."""
    return sum(cell_len(safe_text(text)) for _, text in line) + _APART if line else 0


class Bar(ToneWidget):
    """One line: something on the left, something on the right, which has to give way."""

    class Clicked(Message):
        """A piece of the left part was clicked: the ``index``-th of bar ``bar``."""

        def __init__(self, bar: str, index: int) -> None:
            super().__init__()
            self.bar, self.index = bar, index

    def __init__(self, *, id: str | None = None, fill: str = " ") -> None:
        super().__init__(id=id)
        self._left: Line = ()
        self._right: Line = ()
        self._fill, self._fill_tone = fill, "quiet"

    @property
    def left(self) -> Line:
        """The pieces on the left."""
        return self._left

    @property
    def text(self) -> str:
        return "".join(text for _, text in (*self._left, ("", "  "), *self._right))

    def put(self, left: Line, right: Line = (), *, fill_tone: str = "quiet") -> None:
        if (left, right, fill_tone) != (self._left, self._right, self._fill_tone):
            self._left, self._right, self._fill_tone = left, right, fill_tone
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        end = 0
        for index, (_, text) in enumerate(self._left):
            end += cell_len(safe_text(text))
            if event.x < end:
                self.post_message(self.Clicked(self.id or "", index))
                return

    def render_line(self, y: int) -> Strip:
        width, style = self.size.width, self.base_style
        if y:
            return Strip.blank(width, style)
        right = self._segments(self._right)
        taken = sum(cell_len(segment.text) for segment in right)
        left = Strip(self._segments(self._left))
        if taken and left.cell_length + taken + _APART > width:
            room = width - left.cell_length - _APART
            taken = min(room, taken) if room >= _LEAST else 0
            right = [Segment(fit_text("".join(text for _, text in self._right), taken), style)] if taken else []
        room = width - taken
        if left.cell_length > room:
            cut = left.crop(0, max(0, room - 2))
            return Strip([*cut, Segment("… " if room > 1 else "", style), *right]).adjust_cell_length(width, style)
        rule = f" {self._fill * (room - left.cell_length)}"[: max(0, room - left.cell_length)]
        gap = Segment(rule, self.tone(self._fill_tone) if self._fill != " " else style)
        return Strip([*left, gap, *right]).adjust_cell_length(width, style)

    def _segments(self, line: Line) -> list[Segment]:
        return [Segment(safe_text(text), self.tone(tone)) for tone, text in line]
