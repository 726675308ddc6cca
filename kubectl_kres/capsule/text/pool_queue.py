"""The queue of a pool as text: what is free, who blocks whom, and who gets in after each fix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.capsule.reports.pool.pool_report import PoolReport, PoolUse, Queued
from kubectl_kres.capsule.reports.unblock.actions import UnblockOption
from kubectl_kres.quantity import parse
from kubectl_kres.render.pictures.holders import Room
from kubectl_kres.render.text.line import Line, Tone, pad_text, size, tone_lines, wrap_text

#: Claims that have a place in the picture; those behind them are counted.
_DRAWN = 9
_LEAST, _MOST = 16, 60
_FREE, _END = ("·", "."), ("▏", "|")


def queue_lines(
    report: PoolReport, options: Sequence[UnblockOption], width: int, *, ascii_only: bool
) -> Iterator[Line]:
    """Yield a bar for each resource that somebody waits for: what is free, then what each claim asks for, by its place.

    ``options``: the remedies of the claim that waits first. Nothing where nobody waits.
    """
    queue = (report.queue or ())[:_DRAWN]
    awaited = [
        use for use in report.uses if any(use.name in queued.requested for queued in queue) and use.wanted is not None
    ]
    if not queue or not awaited:
        return
    label = max(size(use.name) for use in awaited)
    # What is free stands behind the bar.
    behind = max(size(f" {use.available} free") for use in awaited)
    cells = max(_LEAST, min(_MOST, width - label - behind - 4))
    yield [("strong", "who waits")]
    for use in awaited:
        yield [("", f"  {pad_text(use.name, label)}  "), *_bar(use, queue, cells, ascii_only=ascii_only)]
    for queued in queue:
        yield from tone_lines(
            _queued_tone(queued),
            wrap_text(_format_queued(queued, awaited), width, first=f"  {queued.position} ", rest="    "),
        )
    if more := len(report.queue or ()) - len(queue):
        yield [("quiet", f"  and {more} more")]
    positions = {queued.subject: queued.position for queued in queue}
    for number, option in enumerate(option for option in options if option.replayed):
        admitted = sorted(positions[ref] for ref in (queue[0].subject, *option.also_admitted) if ref in positions)
        left = sorted(positions[ref] for ref in option.still_waiting if ref in positions)
        parts = [f"{_join_positions(admitted)} get in" if len(admitted) > 1 else f"{_join_positions(admitted)} gets in"]
        parts += [f"{_join_positions(left)} wait{'s' * (len(left) == 1)}"] if left else []
        lead = "fix  " if number == 0 else "or   "
        yield from tone_lines("", wrap_text(f"{option.text}: {', '.join(parts)}", width, first=lead, rest="   "))


def _bar(use: PoolUse, queue: Sequence[Queued], cells: int, *, ascii_only: bool) -> Line:
    """Return what is free, then a digit a claim as often as its amount has cells."""
    free = max(0, parse(use.available).nano)
    requested = [(queued, parse(queued.requested[use.name]).nano) for queued in queue if use.name in queued.requested]
    total = free + sum(amount for _, amount in requested)
    # Each claim begins with its end of what is before it.
    room = cells - len(requested) - 1
    line: list[tuple[Tone, str]] = [("quiet", _FREE[ascii_only] * _queue_share(free, total, room))]
    for queued, amount in requested:
        line += [
            ("quiet", _END[ascii_only]),
            (_queued_tone(queued), str(queued.position) * _queue_share(amount, total, room)),
        ]
    return [*line, ("quiet", _END[ascii_only]), ("", f" {use.available} free")]


def _queue_share(amount: int, total: int, cells: int) -> int:
    return max(1, amount * cells // total) if amount and total else 0


def _queued_tone(queued: Queued) -> Tone:
    return "bad" if queued.short_by else "warn"


def _format_queued(queued: Queued, awaited: Sequence[PoolUse]) -> str:
    requested_text = ", ".join(
        f"{use.name} {queued.requested[use.name]}" for use in awaited if use.name in queued.requested
    )
    lacks = ", ".join(f"{name} {amount}" for name, amount in queued.short_by.items())
    reason = (
        f"short by {lacks}"
        if lacks
        else f"blocked by an earlier claim for {', '.join(queued.closed_resources)}" * bool(queued.closed_resources)
    )
    return f"{queued.subject.key} asks for {requested_text or 'nothing of it'}{f'; {reason}' if reason else ''}"


def _join_positions(indexes: Sequence[int]) -> str:
    return ", ".join(map(str, indexes)) or "nobody"


def pool_rooms(report: PoolReport) -> list[Room]:
    """Return the resources of a pool with its claims, those that somebody waits for first."""
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
