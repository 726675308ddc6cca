"""How screens are drawn: two themes whose states differ in lightness, not in red against green alone, and ASCII instead
of lines.
"""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import BUILTIN_THEMES, Theme

DARK = Theme(
    "kres-dark",
    primary="#6cb6ff",
    secondary="#b083f0",
    accent="#f2cc60",
    foreground="#d5dbe3",
    background="#10141a",
    surface="#171c24",
    panel="#1f2630",
    success="#57c4ad",
    warning="#f0b849",
    error="#ff7b72",
    dark=True,
)
LIGHT = Theme(
    "kres-light",
    primary="#0b5cad",
    secondary="#6e40c9",
    accent="#8a5a00",
    foreground="#1c2128",
    background="#fbfcfd",
    surface="#f1f4f7",
    panel="#e4e9ee",
    success="#00695c",
    warning="#8a5a00",
    error="#b3261e",
    dark=False,
)
OWN = {theme.name: theme for theme in (DARK, LIGHT)}
#: Every theme by its name, our own first.
NAMES = (*OWN, *BUILTIN_THEMES)


#: Signs of drawing, each with one that takes as many cells; a part of a block is the scrollbar's end.
_SIGNS = str.maketrans(
    {
        "…": ">",
        "·": ".",
        **dict.fromkeys("─━═", "-"),
        **dict.fromkeys("│┃▏▎║▌▐", "|"),
        **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯", "+"),
        **dict.fromkeys("▁▂▃▄▅▆▇▔▀", " "),
        "▸": ">",
        "▾": "v",
    }
)


class AsciiOnly(LineFilter):
    """Puts ASCII in the place of what is drawn; names and messages of a cluster stay as they are."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        del background
        return [
            Segment(text if text.isascii() else text.translate(_SIGNS), style, control)
            for text, style, control in segments
        ]
