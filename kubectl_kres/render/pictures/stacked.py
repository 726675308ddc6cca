"""Who holds how much of something that has an end: one stacked bar, with what is free and what is wanted beyond it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kubectl_kres.render.text.line import Line, Tone

#: Parts that have a letter of their own; the others share the last sign.
LETTERS = "ABCDEFGH"
OTHERS = "+"
#: What is free, and what is wanted beyond the end, in blocks and in ASCII.
_FREE, _WANTED = ("·", "."), ("▒", "#")
_END = ("▏", "|")


class Stack(NamedTuple):
    """``parts``: what each holds, in one unit; in sum perhaps over ``hard``. ``wanted``: asked for beyond."""

    parts: Sequence[tuple[str, int]]
    hard: int
    wanted: int = 0


def stacked(stack: Stack, cells: int, *, ascii_only: bool) -> Line:
    """The bar in ``cells`` cells: a letter a part, what is free, the end at ``hard``, and behind it what is wanted.

    What is not zero has a cell at least. Where parts hold more than ``hard`` the end stands among them.
    """
    total = sum(amount for _, amount in stack.parts)
    free = max(0, stack.hard - total)
    # The end takes a cell of its own.
    amounts = [*(amount for _, amount in stack.parts), free, stack.wanted]
    widths = in_proportion(amounts, cells - 1)
    drawn = "".join(letter * width for (letter, _), width in zip(stack.parts, widths, strict=False))
    end = _END[ascii_only]
    if total > stack.hard:
        at = min(len(drawn), _cells(stack.hard, sum(amounts), cells - 1))
        over: list[tuple[Tone, str]] = [("", drawn[:at]), ("strong", end), ("bad", drawn[at:])]
    else:
        over = [("", drawn), ("quiet", _FREE[ascii_only] * widths[-2]), ("strong", end)]
    return [*over, ("warn", _WANTED[ascii_only] * widths[-1])]


def _cells(amount: int, total: int, cells: int) -> int:
    return amount * cells // total if total else 0


def in_proportion(amounts: Sequence[int], cells: int) -> list[int]:
    """Cells in proportion, which add up to ``cells`` unless there are fewer cells than parts; by largest remainder."""
    total = sum(amounts)
    if not total or cells <= 0:
        return [0] * len(amounts)
    widths = [max(1, amount * cells // total) if amount else 0 for amount in amounts]
    order = sorted(range(len(amounts)), key=lambda at: -(amounts[at] * cells % total))
    while sum(widths) < cells:
        for at in order:
            if amounts[at] and sum(widths) < cells:
                widths[at] += 1
    while sum(widths) > cells and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    return widths
