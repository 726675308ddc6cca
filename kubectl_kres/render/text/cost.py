"""What one object costs a quota, as a table with a line on how many more fit."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.render.text.line import Line, Tone, clipped, placed, row, size
from kubectl_kres.render.text.values import CELL
from kubectl_kres.reports.common.explanation import QuotaCost

#: Widest column of names; a longer one gets a line of its own.
_NAME = 36


def cost_lines(cost: QuotaCost, noun: str = "pod", *, width: int = 80) -> Iterator[Line]:
    """An empty line, heads, a row for each name; what is too much is marked. ``noun`` is what it is that costs."""
    charge = cost.charge
    heads = ("COUNTED", "USED", "HARD", "") if cost.counted else ("COSTS", "USED", "HARD", "AFTER")
    names = sorted(charge.requested)
    figures = (charge.requested, charge.used, charge.hard, charge.after)
    rows = [[clipped(figure[name], CELL) for figure in figures] for name in names]
    widths = [max(size(head), *(size(row[index]) for row in rows)) for index, head in enumerate(heads[:3])]
    title = f"quota {cost.quota}"
    column = 2 + min(_NAME, max([14, size(title) - 2, *(size(name) for name in names)]))
    yield [("", "")]
    shown = row(heads[:3], widths)
    yield from placed("strong", title, column, [("quiet", f"  {shown}  {heads[3]}")], width)
    for name, texts in zip(names, rows, strict=True):
        numbers = row(texts[:3], widths)
        too_much = name in cost.exceeded and not cost.counted
        after = "" if cost.counted else f"  {texts[3]}{'  too much' if too_much else ''}"
        tone: Tone = "bad" if too_much else ""
        yield from placed(tone, f"  {name}", column, [(tone, f"  {numbers}{after}")], width)
    if cost.fits is not None:
        yield [("", f"  {_room(cost.fits, noun, counted=cost.counted)}")]


def _room(fits: int, noun: str, *, counted: bool) -> str:
    if counted:
        return f"this {noun} is already counted; {f'room for {fits} more' if fits else 'no room for another one'}"
    return f"room for {fits} such {noun}{'s' if fits != 1 else ''}" if fits else f"no room for such a {noun}"
