"""What one object costs a quota, as a table with a line on how many more fit."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.render.line import Line, padded, size
from kubectl_kres.reports.explanation import QuotaCost


def cost_lines(cost: QuotaCost, noun: str = "pod") -> Iterator[Line]:
    """An empty line, heads, a row for each name; what is too much is marked. ``noun`` is what it is that costs."""
    charge = cost.charge
    heads = ("ASKS", "USED", "HARD", "") if cost.counted else ("COSTS", "USED", "HARD", "AFTER")
    names = sorted(charge.requested)
    rows = [(charge.requested[name], charge.used[name], charge.hard[name]) for name in names]
    widths = [max(size(head), *(size(row[index]) for row in rows)) for index, head in enumerate(heads[:3])]
    name = f"quota {cost.quota}"
    label = max([14, size(name) - 2, *(size(name) for name in names)])
    yield [("", "")]
    shown = "  ".join(padded(head, width) for head, width in zip(heads, widths, strict=False))
    yield [("strong", padded(name, label + 2)), ("quiet", f"  {shown}  {heads[3]}")]
    for name, row in zip(names, rows, strict=True):
        numbers = "  ".join(padded(number, width) for number, width in zip(row, widths, strict=True))
        too_much = name in cost.exceeded and not cost.counted
        after = "" if cost.counted else f"  {charge.after[name]}{'  too much' if too_much else ''}"
        yield [("bad" if too_much else "", f"  {padded(name, label)}  {numbers}{after}")]
    if cost.fits is not None:
        yield [("", f"  {_room(cost.fits, noun, counted=cost.counted)}")]


def _room(fits: int, noun: str, *, counted: bool) -> str:
    if counted:
        return f"this {noun} is already counted; {f'room for {fits} more' if fits else 'no room'} like it"
    return f"room for {fits} such {noun}{'s' if fits != 1 else ''}" if fits else f"no room for such a {noun}"
