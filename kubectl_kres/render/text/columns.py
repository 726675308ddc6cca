"""Columns as kubectl aligns them: each run of lines that have a column gives it a width of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.render.text.line import plain

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
