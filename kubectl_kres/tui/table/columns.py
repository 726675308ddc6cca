"""Columns of a table and the widths that they get on a screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct
from rich.cells import cell_len

from kubectl_kres.errors import QuantityError
from kubectl_kres.quantity import parse
from kubectl_kres.render.text.line import Tone
from kubectl_kres.tui.table.strips import safe_text

GAP = 2
#: Cells of a text that are needed to know it again.
_READABLE = 18
#: Rows whose costly cells are looked at to find out how wide a column is.
_FEW = 40
#: No text makes a column wider, whatever room there is.
_WIDEST = 200


class Column(Struct, frozen=True):
    """A column. ``text`` is a cell's, ``rank`` what it sorts by (absent: by the text; its None comes last).

    ``width`` 0: as wide as its texts, from the head's to ``most``. ``wide``: only where there is room, or asked for.
    ``searched``: filters look at it, which must cost little. ``lasting``: a row's rank costs little and stays as it is
    while it is that row, so that it can be known before anyone sorts by it. ``down``: the first sort is from the
    largest. ``spills``: whether a row's text goes on over the columns behind it, which are empty then; such a text
    makes no column wide. ``live``: only where the store changes by itself.
    ``drawn``: it is a picture, which has no tone of its own under the cursor.
    ``gives_way``: it is not there where no row has a text for it.
    ``leads``: the tone is that of its first word, the rest says more.
    ``vital``: what a row is about; where room is short other columns go first. ``least``: cells that a text keeps as
    long as others have more to give. ``briefer``: the text of a row in fewer
    and fewer words, for a column that is too narrow.
    """

    id: str
    head: str
    text: Callable[[Any], str]
    rank: Callable[[Any], Any] | None = None
    tone: Callable[[Any], Tone] | None = None
    right: bool = False
    wide: bool = False
    width: int = 0
    most: int = 40
    searched: bool = True
    lasting: bool = False
    down: bool = False
    spills: Callable[[Any], bool] | None = None
    live: bool = False
    drawn: bool = False
    leads: bool = False
    gives_way: bool = False
    vital: bool = False
    least: int = _READABLE
    briefer: Callable[[Any], Sequence[str]] | None = None

    @property
    def sort_key(self) -> Callable[[Any], Any]:
        """Gives what a row sorts by."""
        return self.rank or self._lower_text

    def fitting_text(self, row: Any, width: int) -> str:
        """Return the text of a row in as many words as the width has room for; at least its briefest."""
        text = self.text(row)
        if self.briefer is None or cell_len(safe_text(text)) <= width:
            return text
        forms = [text, *self.briefer(row)]
        return next((form for form in forms if cell_len(safe_text(form)) <= width), forms[-1])

    def _lower_text(self, row: Any) -> str:
        return self.text(row).lower()


def amount(text: Callable[[Any], str | None]) -> Callable[[Any], Any]:
    """Ranks quantities by what they are worth."""

    def rank(row: Any) -> Any:
        shown = text(row)
        if shown == "-":
            # What is missing is less than anything that is there.
            return -1
        try:
            return parse(shown).nano if shown else None
        except QuantityError:
            return None

    return rank


def natural_widths(columns: Sequence[Column], rows: Iterable[Any], *, costly: int = _FEW) -> list[int]:
    """Return the width that each column needs, by the rows that are given; ``costly`` cells of each that costs much.

    Of figures no more than their most, of texts all that they say.
    """
    widths = [0 if column.gives_way else column.width or cell_len(column.head) for column in columns]
    for count, row in enumerate(rows):
        for index, column in enumerate(columns):
            skipped = not column.searched and count >= costly
            maximum = column.most if column.right else _WIDEST
            if not column.width and widths[index] < maximum and not skipped:
                shown = "" if column.spills is not None and column.spills(row) else safe_text(column.text(row))
                if shown or not column.gives_way:
                    widths[index] = max(widths[index], cell_len(column.head), min(maximum, cell_len(shown)))
    return widths


def capped_widths(columns: Sequence[Column], needed: Sequence[int]) -> list[int]:
    """Return the width that each column would like: what it needs, but no more than its most."""
    return [
        width
        if column.width or column.right or (column.gives_way and not width)
        else max(cell_len(column.head), min(column.most, width))
        for column, width in zip(columns, needed, strict=True)
    ]


def laid_out(
    columns: Sequence[Column], needed: Sequence[int], room: int, *, wide: bool, by: str = ""
) -> list[tuple[int, int]]:
    """Return the columns that are shown, by index, each with its width. ``by``: the id of the one that rows are sorted
    by, without which their order tells nothing.

    Wide columns come only where all fit, unless they are asked for, one after the other: more room never shows fewer.
    What is too much is taken from the widest; what then does not fit goes, from the right, vital columns last. What is
    left goes to columns that would say more, from the left.
    """
    liked = capped_widths(columns, needed)
    there = [index for index, column in enumerate(columns) if needed[index] or not column.gives_way]
    shown = [index for index in there if wide or not columns[index].wide or columns[index].id == by]
    for index in there:
        if index not in shown and not wide:
            if _used_width([*shown, index], liked) > room:
                break
            shown = sorted([*shown, index])
    widths = {index: liked[index] for index in shown}
    while (over := _sum_widths(widths) - room) > 0:
        # Where nothing else is left to go, texts give up all but what is needed to know them again.
        scarce = all(columns[index].vital for index in widths)
        least = {index: _minimum_width(columns[index], liked[index], scarce=scarce) for index in widths}
        loose = {index: width for index, width in widths.items() if width > least[index]}
        if loose:
            index = max(loose, key=lambda number: loose[number])
            widths[index] -= min(over, max(1, (widths[index] - least[index]) // 4))
        elif len(widths) > 1:
            gone = max(widths, key=lambda number: (_worth(columns[number], by), number))
            # Those that stay begin anew: what was taken from them for it is theirs again.
            widths = {index: liked[index] for index in widths if index != gone}
        else:
            widths = {index: max(1, room) for index in widths}
    for index in sorted(widths):
        widths[index] += max(0, min(needed[index] - widths[index], room - _sum_widths(widths)))
    return sorted(widths.items())


def _worth(column: Column, by: str) -> int:
    """Return how soon a column goes: vital ones last, before them the one that rows are sorted by."""
    return 0 if column.vital else 1 if column.id == by else 2


def _minimum_width(column: Column, liked: int, *, scarce: bool) -> int:
    """Return how narrow a column may get: figures not at all."""
    fewest = _READABLE if scarce else column.least
    return liked if column.width or column.right else max(cell_len(column.head), min(liked, fewest))


def _sum_widths(widths: dict[int, int]) -> int:
    return sum(widths.values()) + GAP * (len(widths) - 1)


def _used_width(shown: Sequence[int], liked: Sequence[int]) -> int:
    return _sum_widths({index: liked[index] for index in shown})
