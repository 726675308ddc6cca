"""The areas in a line or two, on screens that have no room for a table of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_kres.render.text.line import Line, Tone, size
from kubectl_kres.reports.overview import OverviewArea
from kubectl_kres.tui.screens.overview.layout import STRIP
from kubectl_kres.tui.screens.overview.notice import Notice

#: An area, None for a line that is of none, and its line.
CountedArea = tuple[OverviewArea | None, Notice]


def strip_lines(counted: Sequence[CountedArea], width: int) -> Iterable[Line]:
    """Return the counts of all areas: how many are not as they should be, of how many; where there is no room for all,
    of those where something is not, and then without the refused ones, which are workloads, too.
    """
    wrong = [pair for pair in counted if pair[1].mark[0]]
    for some in (counted, wrong):
        lines = list(_lines(some, width))
        if len(lines) <= STRIP:
            return lines
    return _lines([(area, row) for area, row in wrong if area is None or area.name != "refused"], width)


def _lines(counted: Sequence[CountedArea], width: int) -> Iterator[Line]:
    line: list[tuple[Tone, str]] = []
    for area, row in counted:
        off = sum(part.count for part in area.parts if part.severity) if area is not None and not area.unit else 0
        if row.scope == "-" or not row.scope:
            continue
        text = f"{row.what} {f'{off} of ' if off else ''}{row.scope}"
        if line and sum(size(part) for _, part in line) + size(text) + 2 > width:
            yield line
            line = []
        line.append((row.mark[1], f"{'  ' if line else ''}{text}"))
    yield line
