"""Requests and limits of a namespace against its quotas, and those of one container against its LimitRanges.

All rows of a resource have one scale, so that it is seen how much of a quota one container takes.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from kubectl_kres.quantity import parse
from kubectl_kres.render.text.line import Line, Tone, padded, size, toned, wrapped
from kubectl_kres.reports.common.explanation import ResourceValue
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
    """A row for each resource that a LimitRange says something of."""
    bands = {band.resource: band for band in policy_explanation.bands if band.type == "Container"}
    given: dict[tuple[str, str], tuple[str, ...]] = {}
    if policy_explanation.bare is not None:
        for value in (value for container in policy_explanation.bare.containers for value in container.values):
            if value.rule.startswith("limitrange/"):
                given[value.resource, value.side] = _values(value)
    rows = (
        ContainerBand(name, given.get((name, "requests"), ()), given.get((name, "limits"), ()), bands.get(name))
        for name in _BASICS
    )
    return [row for row in rows if row.amounts or (row.band is not None and row.band.low)]


def bounds_lines(policy_explanation: PolicyExplanation, width: int, *, ascii_only: bool) -> Iterator[Line]:
    """A row for each name of a quota that bounds requests or limits, and below them one for a container."""
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
    texts = {id(of): _figures(of) for _, _, of in rows}
    widest = max(size(texts[id(of)]) for of in sums)
    cells = max(_LEAST, min(_MOST, width - indent - widest - 2))
    yield [("", "")]
    yield [("strong", "requests and limits against the quotas")]
    before, below = "", " " * (label + 4)
    for resource, side, of in rows:
        most = max(
            (parse(text).nano for name, _, item in rows if name == resource for text in _amounts(item)), default=0
        )
        head = f"  {padded(resource if resource != before else '', label)}  {padded(side, len('container'))}  "
        before = resource
        drawn, tone = _drawn(of, most, cells, sign=int(ascii_only))
        text = texts[id(of)]
        if indent + cells + size(text) + 2 <= width:
            yield [("", head), (tone, padded(drawn, cells + 1)), ("", f" {text}")]
        else:
            yield [("", head), (tone, drawn)]
            yield from toned("", wrapped(text, width, first=below, rest=below))


def _values(value: ResourceValue) -> tuple[str, ...]:
    several = (value.value, *(other.value for other in value.alternatives))
    return tuple(sorted(dict.fromkeys(text for text in several if text is not None), key=lambda text: parse(text).nano))


def _amounts(of: QuotaSum | ContainerBand) -> tuple[str, ...]:
    return (of.used, of.hard) if isinstance(of, QuotaSum) else of.amounts


def _figures(of: QuotaSum | ContainerBand) -> str:
    if isinstance(of, QuotaSum):
        share = f", {of.percent}%" if of.percent is not None else ""
        return f"{of.used} of {of.hard}{share}, quota {of.quota}"
    texts = [
        f"{word} {' or '.join(values)}" for word, values in (("request", of.requests), ("limit", of.limits)) if values
    ]
    texts = [f"gets {', '.join(texts)}"] if texts else []
    if of.band is not None:
        bounds = (("min", of.band.low), ("max", of.band.high), ("ratio", of.band.ratio))
        texts += [f"{word} {text}" for word, text in bounds if text]
    return ", ".join(texts)


def _drawn(of: QuotaSum | ContainerBand, most: int, cells: int, *, sign: int) -> tuple[str, Tone]:
    """The row in at most ``cells`` + 1 cells, and its tone. What is not zero has a cell at least."""

    def part(text: str | None) -> int:
        amount = parse(text).nano if text is not None else 0
        return max(1, amount * cells // most) if amount > 0 and most else 0

    taken, limit, free, end = _TAKEN[sign], _LIMIT[sign], _FREE[sign], _END[sign]
    if isinstance(of, QuotaSum):
        used, hard = part(of.used), part(of.hard)
        if parse(of.used) > parse(of.hard):
            return taken * hard + end + taken * (used - hard), "bad"
        tone: Tone = "bad" if parse(of.used) == parse(of.hard) else "warn" if (of.percent or 0) >= NEARLY_FULL else ""
        return taken * used + free * (hard - used) + end, tone
    request, most_of = part(next(iter(of.requests), None)), part(next(iter(of.limits), None))
    high = part(of.band.high) if of.band is not None else 0
    drawn = taken * request + limit * max(0, most_of - request)
    tone = "warn" if len(of.requests) > 1 or len(of.limits) > 1 else ""
    return (drawn + free * (high - len(drawn)) + end if high else drawn), tone
