"""What stands on the row under the cursor can be read, in each theme and without colour."""

from __future__ import annotations

from typing import Any

import pytest
from rich.segment import Segment
from textual.color import Color
from tui.driving import LARGE, ML, demo, drawn, drive

from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.themes import NAMES

#: What frames panes.
_FRAME = " │▏▎"
#: WCAG's contrast of text, and lists of which a column is a picture.
_LEAST, _LISTS = 4.5, ("pools", "quotas", "pipelineruns")


def cursor_segments(app: Kres) -> list[Segment]:
    """What is drawn of the row under the cursor, without blanks."""
    strips = [strip for strip in drawn(app) if "".join(segment.text for segment in strip).lstrip("~ ").startswith(">")]
    return [segment for strip in strips for segment in strip if segment.text.strip(_FRAME)]


def contrast(segment: Segment) -> float:
    style: Any = segment.style
    ink, paper = (Color.from_rich_color(color) for color in (style.color, style.bgcolor))
    return ratio(ink, paper)


def ratio(ink: Color, paper: Color) -> float:
    """As WCAG 2 defines it."""

    def light(color: Color) -> float:
        parts = (part / 255 for part in color.rgb)
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    lights = sorted((light(ink), light(paper)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("listing", _LISTS)
@pytest.mark.parametrize("theme", [name for name in NAMES if not name.startswith("ansi")])
def test_the_row_under_the_cursor_is_readable(listing, theme):
    found: list[tuple[float, str]] = []

    def look(app: Kres) -> None:
        found.extend((contrast(segment), segment.text) for segment in cursor_segments(app))

    drive(demo(listing, file=ML, theme=theme), [], look, size=LARGE)
    assert found
    assert not [pair for pair in found if pair[0] < _LEAST], found
