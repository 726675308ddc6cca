"""Bars of what a pod costs a quota, for screens that are too narrow for the table of figures."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.quantity import parse
from kubectl_kres.render.text.line import Line, Tone, clip_text, pad_text, size, tone_lines, wrap_text
from kubectl_kres.render.text.values import CELL, cost_lines, room_text
from kubectl_kres.reports.common.explanation import QuotaCost

#: What is used, what the pod takes, and what is left, in blocks and in ASCII.
_BLOCKS, _ASCII = ("█", "▒", "·"), ("#", "+", ".")
_LEAST, _MOST = 8, 16
#: No table is wider.
_ANY = 10_000


def cost_picture(cost: QuotaCost, width: int, *, ascii_only: bool) -> Iterator[Line]:
    """Yield the table of ``cost_lines`` where its rows fit in ``width`` cells, else a line of figures and bar a name.

    No figure is broken: what does not fit beside its name stands below it.
    """
    table = list(cost_lines(cost, width=_ANY))
    if all(sum(size(text) for _, text in line) <= width for line in table):
        yield from table[1:]
        return
    mark = "counted" if cost.counted else "no room" if cost.exceeded else ""
    yield [("strong", f"quota {cost.quota}"), ("bad" if mark == "no room" else "quiet", f"  {mark}" if mark else "")]
    names = sorted(cost.charge.requested, key=lambda name: (name not in cost.exceeded, name))
    label = max(map(size, names), default=0)
    figures = {name: _format_figures(cost, name) for name in names}
    widest = max(map(size, figures.values()), default=0)
    beside = width - label - widest - 4
    for name in names:
        tone: Tone = "bad" if name in cost.exceeded and not cost.counted else ""
        if beside >= _LEAST:
            drawn = _bar(cost, name, min(_MOST, beside), ascii_only=ascii_only)
            yield [(tone, f"{pad_text(name, label)}  "), (tone, drawn), (tone, f"  {figures[name]}")]
            continue
        yield from tone_lines(tone, wrap_text(name, width))
        room = width - widest - 4
        drawn = f"{_bar(cost, name, min(_MOST, room), ascii_only=ascii_only)}  " if room >= _LEAST else ""
        yield from tone_lines(tone, wrap_text(figures[name], width, first=f"  {drawn}", rest="    "))
    full, mine, free = _ASCII if ascii_only else _BLOCKS
    text = f"{full} used, {mine} this pod, {free} free, | hard"
    yield from tone_lines("quiet", wrap_text(text, width))
    if cost.fits is not None:
        yield from tone_lines("", wrap_text(room_text(cost.fits, counted=cost.counted), width))


def _format_figures(cost: QuotaCost, name: str) -> str:
    """``2560Mi +1Gi > 3Gi`` where it is too much, ``6 +1 of 12`` where not."""
    charge = cost.charge
    used, more, hard = (
        clip_text(figure.get(name, "?"), CELL) for figure in (charge.used, charge.requested, charge.hard)
    )
    if cost.counted:
        return f"{used} of {hard}, {more} of it"
    return f"{used} +{more} {'>' if name in cost.exceeded else 'of'} {hard}"


def _bar(cost: QuotaCost, name: str, cells: int, *, ascii_only: bool) -> str:
    """Return what is used, then what the pod takes; the mark stands where the quota ends."""
    charge = cost.charge
    used, more, hard = (parse(figure.get(name, "0")).nano for figure in (charge.used, charge.requested, charge.hard))
    if cost.counted:
        used = max(0, used - more)
    maximum = max(hard, used + more)
    full, mine, free = _ASCII if ascii_only else _BLOCKS
    if not maximum:
        return free * cells
    first = used * (cells - 1) // maximum
    second = min(cells - 1 - first, max(1, more * (cells - 1) // maximum)) if more else 0
    end = min(cells - 1, hard * (cells - 1) // maximum)
    drawn = full * first + mine * second + free * (cells - 1 - first - second)
    return f"{drawn[:end]}|{drawn[end:]}"
