"""Columns of text, and bars of characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.render.text.escape import plain

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
    said = " over" if over else ""
    if percent is None:
        return f" {said}" if said else ""
    figures = f" {percent:>3}%{said}" if percent < _ABSURD else " over"
    cells = min(_CELLS, room - 2 - len(figures))
    drawn = bar(percent, cells, ascii_only=ascii_only) if cells >= _CELLS // 3 else ""
    return f"  {drawn}{figures}" if drawn else f" {figures}"


def bar(percent: int, width: int, *, ascii_only: bool) -> str:
    """``width`` cells, filled in proportion; no bar is full below 100 percent, none empty above zero."""
    full, empty = (ASCII_FULL, ASCII_EMPTY) if ascii_only else (FULL, EMPTY)
    filled = min(width, max(0, percent) * width // 100)
    if percent > 0 and not filled:
        filled = 1
    return full * filled + empty * (width - filled)


_GAP = 2


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """One line for each row of cells, two blanks between columns; the last cell of a row widens none.

    Source: Go's text/tabwriter with padding 2, as kubectl describe uses it.
    """
    return [*_block([[*map(plain, row)] for row in rows], [])]


def _block(rows: Sequence[Sequence[str]], widths: list[int]) -> Iterator[str]:
    """Lines of rows that all have the columns of ``widths``; the next column is found run by run."""
    column, place = len(widths), 0
    while place < len(rows):
        if len(rows[place]) <= column + 1:
            cells = rows[place]
            yield "".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)) + "".join(
                cells[column:]
            )
            place += 1
            continue
        end = next((other for other in range(place, len(rows)) if len(rows[other]) <= column + 1), len(rows))
        run = rows[place:end]
        yield from _block(run, [*widths, max(len(row[column]) for row in run) + _GAP])
        place = end
