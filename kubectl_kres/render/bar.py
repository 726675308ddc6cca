"""A bar of blocks, or of ASCII characters for terminals that know no others."""

from __future__ import annotations

FULL, EMPTY = "█", "░"
ASCII_FULL, ASCII_EMPTY = "#", "."


def bar(percent: int, width: int, *, ascii_only: bool) -> str:
    """``width`` cells, filled in proportion; no bar is full below 100 percent, none empty above zero."""
    full, empty = (ASCII_FULL, ASCII_EMPTY) if ascii_only else (FULL, EMPTY)
    filled = min(width, max(0, percent) * width // 100)
    if percent > 0 and not filled:
        filled = 1
    return full * filled + empty * (width - filled)
