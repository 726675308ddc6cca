"""A bar of blocks, or of ASCII characters for terminals that know no others."""

from __future__ import annotations

FULL, EMPTY = "█", "░"
ASCII_FULL, ASCII_EMPTY = "#", "."
#: Cells of a bar beside figures, where there is room.
_CELLS = 12
#: From here on the figure says nothing any more.
_ABSURD = 10_000


def gauge(percent: int | None, room: int, *, over: bool, ascii_only: bool) -> str:
    """The end of a row: a bar where at least a third of it has room in ``room`` cells, the figure, and ``over``.

    percent None: there is nothing to be a part of, and so no figure.
    """
    text = " over" if over else ""
    if percent is None:
        return f" {text}" if text else ""
    figures = f" {percent:>3}%{text}" if percent < _ABSURD else " over"
    cells = min(_CELLS, room - 2 - len(figures))
    drawn = bar(percent, cells, ascii_only=ascii_only) if cells >= _CELLS // 3 else ""
    return f"  {drawn}{figures}" if drawn else f" {figures}"


#: A cell that is filled by eighths, from one to seven.
_EIGHTHS = "▏▎▍▌▋▊▉"
#: From here on nearly nothing is left, which a bar marks.
_NEAR = 90
#: What ends a bar, and what ends one of which more is used than there is.
_END, _OVER = "|", ("▶", ">")


def fine_bar(percent: int | None, width: int, *, ascii_only: bool) -> str:
    """Return ``width`` cells and the end behind them, filled to an eighth of a cell, with a mark at 90 percent.

    ``percent`` None: more is used than there is, of which there is nothing.
    """
    if percent is None or percent > 100:
        return (ASCII_FULL if ascii_only else FULL) * width + _OVER[ascii_only]
    if ascii_only:
        drawn = bar(percent, width, ascii_only=True).replace(ASCII_EMPTY, " ")
    else:
        whole, part = divmod(max(percent, 0) * width * 8 // 100, 8)
        if percent > 0 and not (whole or part):
            part = 1
        drawn = FULL * whole + _EIGHTHS[part - 1 : part]
    mark = _NEAR * width // 100
    cells = f"{drawn.rstrip():<{width}}"
    if cells[mark] == " ":
        cells = f"{cells[:mark]}{'.' if ascii_only else '·'}{cells[mark + 1 :]}"
    return f"{cells}{_END}"


def bar(percent: int, width: int, *, ascii_only: bool) -> str:
    """``width`` cells, filled in proportion; no bar is full below 100 percent, none empty above zero."""
    full, empty = (ASCII_FULL, ASCII_EMPTY) if ascii_only else (FULL, EMPTY)
    filled = min(width, max(0, percent) * width // 100)
    if percent > 0 and not filled:
        filled = 1
    return full * filled + empty * (width - filled)
