"""Draws a screen in ASCII: what frames, cuts and scrolls is drawn by widgets that know nothing of ``--ascii``."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

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
