"""Requests and limits of a pod's containers, each pair on the scale of its resource."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from kubectl_kres.quantity import parse
from kubectl_kres.render.text.line import Line, Tone, padded, size
from kubectl_kres.reports.common.explanation import Explanation

#: The request, and what the container may use beyond it, in blocks and in ASCII; a limit that is missing has no end.
_BLOCKS, _ASCII = ("█", "▒"), ("#", "-")
_OPEN = ("→", ">")
_LEAST, _MOST = 6, 40
_BASICS = ("cpu", "memory")


class Pair(Struct, frozen=True):
    """Request and limit of one container; None: there is none. ``equal``: what Guaranteed needs."""

    container: str
    resource: str
    request: str | None
    limit: str | None

    @property
    def equal(self) -> bool:
        return self.request is not None and self.limit is not None and parse(self.request) == parse(self.limit)


def pairs_of(explanation: Explanation) -> list[Pair]:
    """For each container cpu and memory; of a live pod what it has, else what is computed."""
    pairs = []
    for container in explanation.containers:
        result = {
            (value.resource, value.side): value.live if explanation.live else value.value for value in container.values
        }
        pairs += [
            Pair(container.name or "pod level", name, result.get((name, "requests")), result.get((name, "limits")))
            for name in _BASICS
        ]
    return pairs


def scale_lines(pairs: Sequence[Pair], width: int, *, ascii_only: bool) -> Iterator[Line]:
    """A row a pair; all of one resource have one scale. What is not equal keeps the pod from Guaranteed."""
    if not pairs:
        return
    names = max(size(pair.container) for pair in pairs)
    figures = {id(pair): f"{pair.request or 'none'} of {pair.limit or 'no limit'}" for pair in pairs}
    widest = max(map(size, figures.values()))
    cells = max(_LEAST, min(_MOST, width - names - widest - 17))
    most = {name: _largest(pairs, name) for name in _BASICS}
    for pair in pairs:
        tone: Tone = "good" if pair.equal else "warn"
        head = f"  {padded(pair.container, names)}  {padded(pair.resource, 6)}  "
        if width - names - widest - 17 < _LEAST:
            yield [("", head), ("", padded(figures[id(pair)], widest)), (tone, "  =" if pair.equal else "")]
            continue
        drawn = padded(_drawn(pair, most[pair.resource], cells, ascii_only=ascii_only), cells)
        yield [
            ("", head),
            (tone, drawn),
            ("", f"  {padded(figures[id(pair)], widest)}"),
            (tone, "  =" if pair.equal else ""),
        ]


def _largest(pairs: Sequence[Pair], resource: str) -> int:
    amounts = (text for pair in pairs if pair.resource == resource for text in (pair.request, pair.limit))
    return max((parse(text).nano for text in amounts if text is not None), default=0)


def _drawn(pair: Pair, most: int, cells: int, *, ascii_only: bool) -> str:
    full, beyond = _ASCII if ascii_only else _BLOCKS
    request = parse(pair.request).nano if pair.request is not None else 0
    # The last cell is that of an open end.
    room = cells - 1
    number = _cells(request, most, room)
    if pair.limit is None:
        return full * number + beyond * (room - number) + _OPEN[ascii_only]
    return full * number + beyond * max(0, _cells(parse(pair.limit).nano, most, room) - number)


def _cells(amount: int, most: int, cells: int) -> int:
    return max(1, amount * cells // most) if amount and most else 0
