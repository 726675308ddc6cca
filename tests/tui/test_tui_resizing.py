"""A screen has the form of its size, whatever size it had before; no row is hidden where there is blank room."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from tui.driving import ML, demo, drive, settled, text, typed

from kubectl_kres.render.text.line import Line
from kubectl_kres.snapshot.read import demo_path
from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.table.strips import wrap_line
from kubectl_kres.tui.widgets.lines import Lines

SCREENS = (
    "", "pods", "quotas", "namespaces", "refused", "pools", "taskruns", "quota team -n checkout", "quota team -n shop",
    "deploy checkout -n checkout", "pool ml-compute", "claim sweep -n ml-training", "taskrun build-web-2b1d -n ci",
)  # fmt: skip
LOW, SMALL, WIDE, MIDDLE, LARGE = (60, 20), (80, 24), (170, 22), (120, 35), (200, 50)
#: Each size after each other one.
WALK = (LOW, SMALL, LOW, WIDE, LOW, MIDDLE, LOW, LARGE, SMALL, WIDE, SMALL, MIDDLE, SMALL, LARGE, WIDE, MIDDLE, WIDE,
        LARGE, MIDDLE, LARGE, LOW, LARGE)  # fmt: skip
#: Lines that a text keeps below rows, however many these are.
_KEPT = 8


def hidden_rows(app: Any) -> list[str]:
    """Return the tables that hide rows although a text above or below them has more blank lines than it keeps."""
    shown = [widget for widget in app.screen.query("Table, Lines") if widget.display and widget.region.height]
    texts = [widget for widget in shown if isinstance(widget, Lines)]
    found = []
    for table in (widget for widget in shown if isinstance(widget, Table)):
        hidden = len(table.view.keys) - (table.size.height - 1)
        columns = range(table.region.x, table.region.right)
        stacked = [lines for lines in texts if lines.region.x in columns or table.region.x in range(
            lines.region.x, lines.region.right)]  # fmt: skip
        blank = sum(max(0, lines.size.height - len(lines._drawn_lines)) for lines in stacked)
        if hidden > 0 and blank >= _KEPT:
            found.append(f"{table.id}: {hidden} hidden, {blank} blank")
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("words", SCREENS, ids=lambda words: words or "overview")
def test_a_screen_has_the_form_of_its_size(words: str):
    name, _, space = words.partition(" -n ")
    app = demo(name, file=demo_path(), namespaces=(space,) if space else ())
    seen: dict[tuple[int, int], str] = {}

    async def act(pilot):
        for size in WALK:
            await pilot.resize_terminal(*size)
            while app.screen.size != size or app.size != size:
                await pilot.pause(0.02)
            await settled(pilot)
            # Of a scrollbar's end a cell is drawn more or less full.
            shown = re.sub("[▁-▇]", " ", text(app))
            assert seen.setdefault(size, shown) == shown, size
            assert not hidden_rows(app), size

    drive(app, size=WALK[-1], act=act)


@pytest.mark.parametrize(
    "place", ["pipelinerun release-41", "deploy pricing", "quota team checkout", "pool ml-compute"]
)
def test_no_line_is_broken_before_there_is_a_width(place, monkeypatch):
    """A screen opens whole, not as a strip of words a few cells wide."""
    widths: list[int] = []

    def broken(line: Line, width: int) -> Iterator[Line]:
        widths.append(width)
        return wrap_line(line, width)

    monkeypatch.setattr("kubectl_kres.tui.widgets.lines.wrap_line", broken)
    shown = drive(demo(file=ML), [":", *typed(place), "enter"], size=(220, 60))
    assert f"/{place.split()[1]}" in shown.splitlines()[1], shown
    assert min(widths) >= 30, sorted(set(widths))
