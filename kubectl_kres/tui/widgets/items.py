"""Items of an outline: sections that fold, with column heads, and the lines in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Sentence
from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.remedy import remedy_lines
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_order import RowKey

#: Figures that a line can have.
_FIGURES = 3


class OutlineItem(Struct, frozen=True):
    """A line. ``path``: the key of its section, and behind it its own. ``cells``: figures; of a section their heads.

    ``note``: what follows the figures. ``about``: all that is known of it, for a width. ``location``: where Enter goes.
    ``name``, ``text``: what is copied, and as what. ``ref``: the object it is about.
    ``remedy``: it says what to do.
    """

    path: RowKey
    label: str
    cells: tuple[str, ...] = ()
    note: str = ""
    mark: str = ""
    tone: Tone = ""
    about: Callable[[int], Iterable[Line]] | None = None
    location: Location | None = None
    name: str = ""
    text: str = ""
    ref: ObjectRef | None = None
    remedy: bool = False

    @property
    def is_section(self) -> bool:
        return len(self.path) == 1


def remedy_item(number: int, remedy: Remedy) -> OutlineItem:
    """Return the line of a remedy; the first one is 0, all others stand in place of it."""
    label = "or" if number else "fix"
    return OutlineItem(
        (), f"{label} {sentence_text(remedy.text)}", about=lambda width: remedy_lines((remedy,), width),
        name="command", text="\n".join(remedy.commands), remedy=True,
    )  # fmt: skip


class Sections:
    """Gives the sections of an outline their keys, in the order in which they come; an empty one is left out."""

    def __init__(self) -> None:
        self._count = 0

    def section(
        self, label: str, items: Iterable[OutlineItem], heads: Sequence[str] = (), detail: str = ""
    ) -> Iterator[OutlineItem]:
        """Yield the line of the section, then its items."""
        self._count += 1
        key = f"{self._count:02}"
        outline_items = list(items)
        if outline_items:
            yield OutlineItem((key,), label, tuple(heads), detail)
        for number, item in enumerate(outline_items):
            yield replace(item, path=(key, f"{number:05}"))


def columns(head: str, wrapped: set[RowKey], *, ascii_only: bool) -> Sequence[Column]:
    """Return what the outline shows of a line."""
    opened, closed = ("v ", "> ") if ascii_only else ("▾ ", "▸ ")

    def label(item: OutlineItem) -> str:
        return f"{closed if item.path in wrapped else opened}{item.label}" if item.is_section else f"  {item.label}"

    return (
        Column("name", head, label, tone=lambda item: "strong" if item.is_section else item.tone, most=46,
               spills=lambda item: not item.cells and not item.note),
        *(Column(f"figure-{index}", "", _cell_text(index), tone=_tone, right=True, most=14, spills=_goes_on(index))
          for index in range(_FIGURES)),
        Column("said", "", _cell_text(_FIGURES), tone=_tone, most=100),
    )  # fmt: skip


def _cell_text(index: int) -> Callable[[OutlineItem], str]:
    """Return a figure; behind the last one of the line what follows it."""

    def text(item: OutlineItem) -> str:
        if index < len(item.cells):
            return item.cells[index]
        return item.note if index == len(item.cells) else ""

    return text


def _goes_on(index: int) -> Callable[[OutlineItem], bool]:
    return lambda item: index == len(item.cells)


def _tone(item: OutlineItem) -> Tone:
    return "quiet" if item.is_section else item.tone


def warning_item(warning: Sentence | str) -> OutlineItem:
    """Something that does not fit together."""
    text = sentence_text(warning)
    return OutlineItem((), text, mark="!", tone="warn", about=lambda width: tone_lines("warn", wrap_text(text, width)))


def text_item(text: str) -> OutlineItem:
    """Return a sentence."""
    return OutlineItem((), text, tone="quiet", about=lambda width: tone_lines("", wrap_text(text, width)))
