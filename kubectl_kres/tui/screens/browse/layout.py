"""How the table of a list and the detail of its row share the screen."""

from __future__ import annotations

from typing import NamedTuple

from textual.geometry import Size

from kubectl_kres.tui.table.row_table import Table

#: Cells that the detail needs beside the table: the same whichever way the screen came to its width.
_BESIDE = 72
#: Lines that are left to the detail below a long table, and lines of the screen below which there is none.
_BELOW, _BARE = 8, 9


class Layout(NamedTuple):
    """``beside``: the detail stands beside the table, else below; ``bare``: nowhere. ``width``, ``height``: of the
    table, as far as its rows decide them; 0: all there is.
    """

    beside: bool = False
    bare: bool = False
    width: int = 0
    height: int = 0


def choose_layout(table: Table, size: Size) -> Layout:
    """Return the detail beside the table if all columns fit beside it, else below: more width never shows less.

    Below, rows take what they need and the detail has the rest.
    """
    width, height = size
    full = table.full_width
    if full + _BESIDE <= width:
        return Layout(beside=True, width=max(full, min(table.whole_width, width - _BESIDE)))
    if height < _BARE:
        return Layout(bare=True)
    rows = len(table.view.keys) or 1
    return Layout(height=min(rows + 1, height - min(_BELOW, height // 2)))
