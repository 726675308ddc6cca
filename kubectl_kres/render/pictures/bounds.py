"""Requests and limits drawn to one scale a resource: of a namespace against its quotas, of containers against
LimitRanges and each other.

All rows of a resource have one scale, so that it is seen how much of a quota one container takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from kubectl_kres.quantity import parse
from kubectl_kres.render.text.line import Line, Tone, pad_text, size, tone_lines, wrap_text
from kubectl_kres.reports.common.explanation import Explanation, ResourceValue
from kubectl_kres.reports.common.resource_lists import NEARLY_FULL
from kubectl_kres.reports.namespace.policy_explanation import Band, PolicyExplanation

#: What is taken, what may be taken, and where that ends; in blocks and in ASCII.
_TAKEN, _LIMIT, _FREE, _END = ("█", "#"), ("▒", "-"), ("·", "."), ("▏", "|")
_LEAST, _MOST = 12, 40
_BASICS = ("cpu", "memory", "ephemeral-storage")
_SIDES = ("requests", "limits")


class QuotaSum(Struct, frozen=True):
    """What the pods that a quota counts ask for, of one name of it. Amounts are quantities."""

    quota: str
    resource: str
    side: str
    used: str
    hard: str
    percent: int | None


class ContainerBand(Struct, frozen=True):
    """What LimitRanges make of a container that states nothing, and allow one; several values where order decides."""

    resource: str
    requests: tuple[str, ...]
    limits: tuple[str, ...]
    band: Band | None

    @property
    def amounts(self) -> tuple[str, ...]:
        high = self.band.high if self.band is not None else None
        return (*self.requests, *self.limits, *filter(None, [high]))


def sums_of(policy_explanation: PolicyExplanation) -> list[QuotaSum]:
    """Of each resource and side the quota that is nearest to its end."""
    tightest: dict[tuple[str, str], QuotaSum] = {}
    for report in policy_explanation.quotas:
        for use in report.uses:
            side, dot, resource = use.name.partition(".")
            if use.name in _BASICS:
                side, resource = "requests", use.name
            elif not dot or side not in _SIDES or resource not in _BASICS:
                continue
            result = QuotaSum(report.subject.name, resource, side, use.used or "0", use.hard, use.percent)
            quota_sum = tightest.get((resource, side))
            if quota_sum is None or (result.percent or 0) > (quota_sum.percent or 0):
                tightest[resource, side] = result
    return sorted(
        tightest.values(), key=lambda quota_sum: (_BASICS.index(quota_sum.resource), _SIDES.index(quota_sum.side))
    )


def containers_of(policy_explanation: PolicyExplanation) -> list[ContainerBand]:
    """Return a row for each resource that a LimitRange says something of."""
    bands = {band.resource: band for band in policy_explanation.bands if band.type == "Container"}
    texts_by_key: dict[tuple[str, str], tuple[str, ...]] = {}
    if policy_explanation.pod_without_values is not None:
        for value in (
            value for container in policy_explanation.pod_without_values.containers for value in container.values
        ):
            if value.rule.startswith("limitrange/"):
                texts_by_key[value.resource, value.side] = _values(value)
    rows = (
        ContainerBand(
            name, texts_by_key.get((name, "requests"), ()), texts_by_key.get((name, "limits"), ()), bands.get(name)
        )
        for name in _BASICS
    )
    return [row for row in rows if row.amounts or (row.band is not None and row.band.low)]


def bounds_lines(policy_explanation: PolicyExplanation, width: int, *, ascii_only: bool) -> Iterator[Line]:
    """Yield a row for each name of a quota that bounds requests or limits, and below them one for a container."""
    sums = sums_of(policy_explanation)
    if not sums:
        return
    rows: list[tuple[str, str, QuotaSum | ContainerBand]] = [
        (quota_sum.resource, quota_sum.side, quota_sum) for quota_sum in sums
    ]
    rows += [(container.resource, "container", container) for container in containers_of(policy_explanation)]
    rows.sort(key=lambda row: _BASICS.index(row[0]))
    label = max(size(resource) for resource, _, _ in rows)
    indent = label + len("container") + 6
    texts = {id(amount_item): _format_figures(amount_item) for _, _, amount_item in rows}
    widest = max(size(texts[id(amount_item)]) for amount_item in sums)
    cells = max(_LEAST, min(_MOST, width - indent - widest - 2))
    yield [("", "")]
    yield [("strong", "requests and limits against the quotas")]
    before, below = "", " " * (label + 4)
    for resource, side, amount_item in rows:
        maximum = max(
            (parse(text).nano for name, _, item in rows if name == resource for text in _amounts(item)), default=0
        )
        head = f"  {pad_text(resource if resource != before else '', label)}  {pad_text(side, len('container'))}  "
        before = resource
        drawn, tone = _draw_bar(amount_item, maximum, cells, sign=int(ascii_only))
        text = texts[id(amount_item)]
        if indent + cells + size(text) + 2 <= width:
            yield [("", head), (tone, pad_text(drawn, cells + 1)), ("", f" {text}")]
        else:
            yield [("", head), (tone, drawn)]
            yield from tone_lines("", wrap_text(text, width, first=below, rest=below))
    yield from tone_lines("quiet", wrap_text(_legend(rows, sign=int(ascii_only)), width, first="  ", rest="  "))


def _legend(rows: Sequence[tuple[str, str, QuotaSum | ContainerBand]], *, sign: int) -> str:
    """Return what the marks of a quota's row say, and of a container's where there is one."""
    text = f"{_TAKEN[sign]} used, {_FREE[sign]} free, {_END[sign]} hard"
    if all(isinstance(row, QuotaSum) for _, _, row in rows):
        return text
    return f"{text}; of a container {_TAKEN[sign]} request, {_LIMIT[sign]} up to its limit, {_END[sign]} max"


def _values(value: ResourceValue) -> tuple[str, ...]:
    several = (value.value, *(other.value for other in value.alternatives))
    return tuple(sorted(dict.fromkeys(text for text in several if text is not None), key=lambda text: parse(text).nano))


def _amounts(row: QuotaSum | ContainerBand) -> tuple[str, ...]:
    return (row.used, row.hard) if isinstance(row, QuotaSum) else row.amounts


def _format_figures(row: QuotaSum | ContainerBand) -> str:
    if isinstance(row, QuotaSum):
        share = f", {row.percent}%" if row.percent is not None else ""
        return f"{row.used} of {row.hard}{share}, quota {row.quota}"
    texts = [
        f"{word} {' or '.join(values)}" for word, values in (("request", row.requests), ("limit", row.limits)) if values
    ]
    texts = [f"gets {', '.join(texts)}"] if texts else []
    if row.band is not None:
        bounds = (("min", row.band.low), ("max", row.band.high), ("ratio", row.band.ratio))
        texts += [f"{word} {text}" for word, text in bounds if text]
    return ", ".join(texts)


def _draw_bar(row: QuotaSum | ContainerBand, maximum: int, cells: int, *, sign: int) -> tuple[str, Tone]:
    """Return the row in at most ``cells`` + 1 cells, and its tone. What is not zero has a cell at least."""

    def part(text: str | None) -> int:
        amount = parse(text).nano if text is not None else 0
        return max(1, amount * cells // maximum) if amount > 0 and maximum else 0

    taken, limit, free, end = _TAKEN[sign], _LIMIT[sign], _FREE[sign], _END[sign]
    if isinstance(row, QuotaSum):
        used, hard = part(row.used), part(row.hard)
        if parse(row.used) > parse(row.hard):
            return taken * hard + end + taken * (used - hard), "bad"
        tone: Tone = (
            "bad" if parse(row.used) == parse(row.hard) else "warn" if (row.percent or 0) >= NEARLY_FULL else ""
        )
        return taken * used + free * (hard - used) + end, tone
    request, most_of = part(next(iter(row.requests), None)), part(next(iter(row.limits), None))
    high = part(row.band.high) if row.band is not None else 0
    drawn = taken * request + limit * max(0, most_of - request)
    tone = "warn" if len(row.requests) > 1 or len(row.limits) > 1 else ""
    return (drawn + free * (high - len(drawn)) + end if high else drawn), tone


#: The request, and what the container may use beyond it, in blocks and in ASCII; a limit that is missing has no end.
_BLOCKS, _ASCII = ("█", "▒"), ("#", "-")
_OPEN = ("→", ">")
_SCALE_LEAST, _SCALE_MOST = 6, 40
_SCALE_BASICS = ("cpu", "memory")


class Pair(Struct, frozen=True):
    """Request and limit of one container; None: there is none. ``equal``: what Guaranteed needs."""

    container: str
    resource: str
    request: str | None
    limit: str | None

    @property
    def equal(self) -> bool:
        return self.request is not None and self.limit is not None and parse(self.request) == parse(self.limit)


def bounds_pairs(explanation: Explanation) -> list[Pair]:
    """For each container cpu and memory; of a live pod what it has, else what is computed."""
    pairs = []
    for container in explanation.containers:
        result = {
            (value.resource, value.side): value.live if explanation.live else value.value for value in container.values
        }
        pairs += [
            Pair(container.name or "pod level", name, result.get((name, "requests")), result.get((name, "limits")))
            for name in _SCALE_BASICS
        ]
    return pairs


def scale_lines(pairs: Sequence[Pair], width: int, *, ascii_only: bool) -> Iterator[Line]:
    """Yield a row a pair; all of one resource have one scale. What is not equal keeps the pod from Guaranteed."""
    if not pairs:
        return
    names = max(size(pair.container) for pair in pairs)
    figures = {id(pair): f"{pair.request or 'none'} of {pair.limit or 'no limit'}" for pair in pairs}
    widest = max(map(size, figures.values()))
    cells = max(_SCALE_LEAST, min(_SCALE_MOST, width - names - widest - 17))
    most = {name: _largest(pairs, name) for name in _SCALE_BASICS}
    for pair in pairs:
        tone: Tone = "good" if pair.equal else "warn"
        head = f"  {pad_text(pair.container, names)}  {pad_text(pair.resource, 6)}  "
        if width - names - widest - 17 < _SCALE_LEAST:
            yield [("", head), ("", pad_text(figures[id(pair)], widest)), (tone, "  =" if pair.equal else "")]
            continue
        drawn = pad_text(_scale_drawn(pair, most[pair.resource], cells, ascii_only=ascii_only), cells)
        yield [
            ("", head),
            (tone, drawn),
            ("", f"  {pad_text(figures[id(pair)], widest)}"),
            (tone, "  =" if pair.equal else ""),
        ]
    full, excess = _ASCII if ascii_only else _BLOCKS
    bars = f"{full} request, {excess} up to the limit, {_OPEN[ascii_only]} no limit, "
    text = f"{bars if width - names - widest - 17 >= _SCALE_LEAST else ''}= request is the limit"
    yield from tone_lines("quiet", wrap_text(text, width, first="  ", rest="  "))


def _largest(pairs: Sequence[Pair], resource: str) -> int:
    amounts = (text for pair in pairs if pair.resource == resource for text in (pair.request, pair.limit))
    return max((parse(text).nano for text in amounts if text is not None), default=0)


def _scale_drawn(pair: Pair, maximum: int, cells: int, *, ascii_only: bool) -> str:
    full, excess = _ASCII if ascii_only else _BLOCKS
    request = parse(pair.request).nano if pair.request is not None else 0
    # The last cell is that of an open end.
    room = cells - 1
    number = _cells(request, maximum, room)
    if pair.limit is None:
        return full * number + excess * (room - number) + _OPEN[ascii_only]
    return full * number + excess * max(0, _cells(parse(pair.limit).nano, maximum, room) - number)


def _cells(amount: int, maximum: int, cells: int) -> int:
    return max(1, amount * cells // maximum) if amount and maximum else 0
