"""How what is worst, what mends it and the areas share the first screen."""

from __future__ import annotations

from typing import NamedTuple

from textual.geometry import Size

from kubectl_kres.tui.screens.overview import first_steps

#: Width from which a second pane stands beside what is worst, the part that what is worst has of it then, and the
#: cells beyond which the second pane leaves it more.
_BESIDE, _LEFT, _SIDE = 150, 0.6, 80
#: Problems that are in sight before the areas have a table of their own, below what is worst; on a lower screen a strip
#: tells of them.
_IN_SIGHT = 10
#: Lines of what mends the problem under the cursor, below the problems.
_FIXES = 6
#: Lines of the strip at the most.
STRIP = 2
#: Lines that what is worst has at least.
_LEAST = 5
#: Lines that the screen has at the least where it says the first steps.
_ROOM_TO_GREET = 17


class Parts(NamedTuple):
    """What there is to show. ``problems``, ``areas``: rows; ``strip``: lines of the strip. ``greets``: nobody has left
    the screen yet. ``at_areas``, ``at_fixes``: which of them has the keys.
    """

    problems: int
    areas: int
    strip: int
    greets: bool
    at_areas: bool
    at_fixes: bool


class OverviewLayout(NamedTuple):
    """Which parts are shown, and how many lines the areas and what mends the problem have.

    ``beside``: what mends it stands beside what is worst, and has all lines there.
    """

    beside: bool
    has_strip: bool
    has_steps: bool
    has_areas: bool
    has_fixes: bool
    areas: int
    fixes: int


def is_wide(size: Size) -> bool:
    """Return whether a second pane has room beside what is worst."""
    return size.width >= _BESIDE


def left_width(width: int, needed: int) -> int:
    """Return the cells that what is worst has beside a second pane: what its texts need, if that leaves enough."""
    maximum = max(int(width * _LEFT), width - _SIDE)
    return max(width // 2, min(needed, maximum))


def choose_layout(size: Size, parts: Parts) -> OverviewLayout:
    """Return what mends it beside what is worst where both have room, else below; the areas below what is worst.

    On a low screen they take its place while they have the keys, and a strip on top tells of them.
    """
    height, beside = size.height, is_wide(size)
    high = height >= min(parts.problems, _IN_SIGHT) + 1 + (0 if beside else _FIXES) + parts.areas + 2
    has_steps = parts.greets and height >= _ROOM_TO_GREET
    height -= first_steps.LINES if has_steps else 0
    has_areas = high or parts.at_areas
    has_fixes = beside or ((high or not parts.at_areas) and height >= _LEAST + _FIXES) or parts.at_fixes
    height -= 0 if high else min(STRIP, parts.strip)
    problems, rows = parts.problems + 1, parts.areas + 2
    areas = max(min(4, height), min(rows, height - min(problems, _LEAST))) if has_areas else 0
    # Problems have the room that they need; what they leave is for what mends them.
    fixes = max(_FIXES if high else min(_FIXES, height // 2), height - areas - problems)
    return OverviewLayout(beside, not high, has_steps, has_areas, has_fixes, areas, fixes)
