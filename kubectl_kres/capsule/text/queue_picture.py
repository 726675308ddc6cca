"""The queue of a pool: what is free, who blocks, who follows, and who gets in after each remedy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.capsule.reports.pool.pool_report import PoolReport, PoolUse, Queued
from kubectl_kres.capsule.reports.unblock.option import UnblockOption
from kubectl_kres.quantity import parse
from kubectl_kres.render.pictures.holders import Room
from kubectl_kres.render.text.line import Line, Tone, padded, size, toned, wrapped

#: Claims that have a place in the picture; those behind them are counted.
_DRAWN = 9
_LEAST, _MOST = 16, 60
_FREE, _END = ("·", "."), ("▏", "|")


def queue_lines(report: PoolReport, ways: Sequence[UnblockOption], width: int, *, ascii_only: bool) -> Iterator[Line]:
    """A bar for each resource that somebody waits for: what is free, then what each claim asks for, by its place.

    ``ways``: the remedies of the claim that waits first. Nothing where nobody waits.
    """
    queue = (report.queue or ())[:_DRAWN]
    awaited = [
        use for use in report.uses if any(use.name in queued.asks for queued in queue) and use.wanted is not None
    ]
    if not queue or not awaited:
        return
    label = max(size(use.name) for use in awaited)
    # What is free stands behind the bar.
    behind = max(size(f" {use.available} free") for use in awaited)
    cells = max(_LEAST, min(_MOST, width - label - behind - 4))
    yield [("strong", "who waits")]
    for use in awaited:
        yield [("", f"  {padded(use.name, label)}  "), *_bar(use, queue, cells, ascii_only=ascii_only)]
    for queued in queue:
        yield from toned(_tone(queued), wrapped(_said(queued, awaited), width, first=f"  {queued.place} ", rest="    "))
    if more := len(report.queue or ()) - len(queue):
        yield [("quiet", f"  and {more} more")]
    places = {queued.subject: queued.place for queued in queue}
    for number, way in enumerate(way for way in ways if way.replayed):
        admitted = sorted(places[ref] for ref in (queue[0].subject, *way.also) if ref in places)
        left = sorted(places[ref] for ref in way.waits if ref in places)
        parts = [f"{_listed(admitted)} get in" if len(admitted) > 1 else f"{_listed(admitted)} gets in"]
        parts += [f"{_listed(left)} wait{'s' * (len(left) == 1)}"] if left else []
        lead = "fix  " if number == 0 else "or   "
        yield from toned("", wrapped(f"{way.text}: {', '.join(parts)}", width, first=lead, rest="   "))


def _bar(use: PoolUse, queue: Sequence[Queued], cells: int, *, ascii_only: bool) -> Line:
    """What is free, then a digit a claim as often as its amount has cells."""
    free = max(0, parse(use.available).nano)
    asks = [(queued, parse(queued.asks[use.name]).nano) for queued in queue if use.name in queued.asks]
    total = free + sum(amount for _, amount in asks)
    # Each claim begins with its end of what is before it.
    room = cells - len(asks) - 1
    line: list[tuple[Tone, str]] = [("quiet", _FREE[ascii_only] * _share(free, total, room))]
    for queued, amount in asks:
        line += [("quiet", _END[ascii_only]), (_tone(queued), str(queued.place) * _share(amount, total, room))]
    return [*line, ("quiet", _END[ascii_only]), ("", f" {use.available} free")]


def _share(amount: int, total: int, cells: int) -> int:
    return max(1, amount * cells // total) if amount and total else 0


def _tone(queued: Queued) -> Tone:
    return "bad" if queued.lacks else "warn"


def _said(queued: Queued, awaited: Sequence[PoolUse]) -> str:
    asks = ", ".join(f"{use.name} {queued.asks[use.name]}" for use in awaited if use.name in queued.asks)
    lacks = ", ".join(f"{name} {amount}" for name, amount in queued.lacks.items())
    why = (
        f"short by {lacks}"
        if lacks
        else f"blocked by an earlier claim for {', '.join(queued.behind)}" * bool(queued.behind)
    )
    return f"{queued.subject.key} asks for {asks or 'nothing of it'}{f'; {why}' if why else ''}"


def _listed(places: Sequence[int]) -> str:
    return ", ".join(map(str, places)) or "nobody"


def of_pool(report: PoolReport) -> list[Room]:
    """The resources of a pool with its claims, those that somebody waits for first."""
    rooms = [
        Room(
            use.name,
            use.hard,
            {holder.subject.key: holder.holds[use.name] for holder in report.holders if use.name in holder.holds},
            use.wanted,
        )
        for use in report.uses
    ]
    return sorted(rooms, key=lambda room: (room.wanted is None, -room.share))
