"""The smallest change of one request and limit that every LimitRange of the namespace lets pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct

from kubectl_kres.admission.base.draft import Side
from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.provenance.journal import Check, Journal, Source
from kubectl_kres.quantity import ZERO, Quantity, parse

#: What is counted in bytes.
_BYTES = frozenset({"memory", "ephemeral-storage", "storage"})
RULES = ("limitrange/min", "limitrange/max", "limitrange/ratio")


class LimitBound(NamedTuple):
    """A quantity and the object that demands it."""

    quantity: Quantity
    source: Source | None


class LimitBounds(Struct, frozen=True):
    """The tightest bounds on one resource of one container or of the pod; None where there is none."""

    low: LimitBound | None = None
    high: LimitBound | None = None
    ratio: LimitBound | None = None

    @property
    def contradictory(self) -> bool:
        return self.low is not None and self.high is not None and self.low.quantity > self.high.quantity


class BoundsFit(NamedTuple):
    """What the request and the limit would have to be; None: there need be none."""

    request: Quantity | None
    limit: Quantity | None


def bounds_of(journal: Journal, findings: Iterable[Finding], path: str, resource: str) -> LimitBounds:
    """What all LimitRanges demand, those that were met too, so that mending one breaks no other.

    ``path`` is that of a container, or ``pod``.
    """
    demands = [
        (finding.rule, finding.limit, finding.source)
        for finding in findings
        if finding.path == path and finding.resource == resource
    ]
    at = f"{path}.resources[{resource}]"
    demands += [
        (entry.rule, entry.bound, entry.source) for entry in journal if isinstance(entry, Check) and entry.path == at
    ]
    entry = {
        rule: sorted(
            (LimitBound(parse(bound), source) for which, bound, source in demands if which == rule), key=_amount
        )
        for rule in RULES
    }
    lows, highs, ratios = (entry[rule] for rule in RULES)
    return LimitBounds(lows[-1] if lows else None, highs[0] if highs else None, ratios[0] if ratios else None)


def _amount(bound: LimitBound) -> int:
    return bound.quantity.nano


def fit(request: Quantity | None, limit: Quantity | None, bounds: LimitBounds, resource: str) -> BoundsFit:
    """The nearest request and limit within ``bounds``, which must not contradict each other.

    For cpu in thousandths, of bytes in whole Mi or M where the other side is, else in whole bytes and pieces. A limit
    that is demanded and missing is the largest allowed. Under a ratio alone, without request and limit, there is
    nothing near and both stay as they are.
    """
    asked = None if request is None and bounds.low is None else _clamped(request or ZERO, bounds)
    allowed = _clamped(limit, bounds) if limit is not None else bounds.high and bounds.high.quantity
    if asked is not None and allowed is not None and asked > allowed:
        allowed = asked
    if bounds.ratio is None:
        return BoundsFit(asked, allowed)
    ratio = bounds.ratio.quantity
    if asked and not limit:
        unit = _unit(asked, resource)
        most = Quantity(asked.nano * ratio.nano // 10**9 // unit * unit, asked.format)
        return BoundsFit(asked, most if bounds.high is None or most < bounds.high.quantity else bounds.high.quantity)
    if allowed:
        least = _least(allowed, ratio, _unit(allowed, resource))
        asked = least if asked is None or asked < least else asked
    return BoundsFit(asked, allowed)


def _unit(other: Quantity, resource: str) -> int:
    """The steps, in billionths, of a value that is computed from the other side, so that it can be read and typed."""
    if resource == "cpu":
        return 10**6
    step = 2**20 if other.format == "BinarySI" else 10**6
    return step * 10**9 if resource in _BYTES and other.nano % (step * 10**9) == 0 else 10**9


def _clamped(quantity: Quantity, bounds: LimitBounds) -> Quantity:
    if bounds.low is not None and quantity < bounds.low.quantity:
        return bounds.low.quantity
    if bounds.high is not None and quantity > bounds.high.quantity:
        return bounds.high.quantity
    return quantity


def _least(limit: Quantity, ratio: Quantity, unit: int) -> Quantity:
    """The smallest request that ``limit`` is not too far above, by the server's own floating point comparison.

    A ratio below one, which no server stores, allows none: the limit itself is the nearest.
    """
    if ratio.nano <= 0:
        return limit
    nano = -(-limit.nano * 10**9 // (ratio.nano * unit)) * unit
    while nano < limit.nano and limit.nano / nano * 1000 > ratio.milli():
        nano += unit
    return Quantity(min(nano, limit.nano), limit.format)


def changes(before: BoundsFit, after: BoundsFit) -> Iterator[tuple[Side, str, Quantity]]:
    """What differs: side, ``at least`` or ``at most``, and the value. A new limit has a largest value, a new request a
    smallest one.
    """
    if after.request is not None and before.request != after.request:
        lower = before.request is not None and after.request < before.request
        yield "requests", "at most" if lower else "at least", after.request
    if after.limit is not None and before.limit != after.limit:
        higher = before.limit is not None and after.limit > before.limit
        yield "limits", "at least" if higher else "at most", after.limit
