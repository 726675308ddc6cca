"""An amount on its way through the vertical autoscaler: what it is, and each rule that set it.

Limits in proportion to requests, with the roundings and the 64 bits of the vertical autoscaler; the bounds of the
LimitRanges of a namespace as it sees them: one item for containers, one for pods.
Source: vertical-pod-autoscaler 1.8.1 pkg/utils/vpa/limit_and_request_scaling.go,
pkg/utils/limitrange/limit_range_calculator.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from kubectl_kres.admission.limitrange import Limits, ParsedItem
from kubectl_kres.provenance.journal import Source
from kubectl_kres.quantity import ZERO, Quantity


class AmountStep(NamedTuple):
    """A rule that gave an amount its value, and where that stands."""

    rule: str
    quantity: Quantity
    source: Source


class BoundedAmount(NamedTuple):
    """An amount and the rules that led to it; none: it is what the pod asked for."""

    quantity: Quantity
    steps: tuple[AmountStep, ...] = ()

    def set(self, rule: str, quantity: Quantity, source: Source) -> BoundedAmount:
        """Return the amount that a rule made of this one."""
        return BoundedAmount(quantity, (*self.steps, AmountStep(rule, quantity, source)))


Amounts = dict[str, BoundedAmount]

#: The resources that are kept within LimitRanges and in proportion.
SCALED = ("cpu", "memory")


def quantity_in(amounts: Amounts | None, name: str) -> Quantity:
    """Return the amount of a resource; zero where there is none."""
    amount = (amounts or {}).get(name)
    return ZERO if amount is None else amount.quantity


Rounding = Literal["", "up", "down"]
_MILLI, _WHOLE = 10**6, 10**9
_MOST = 2**63 - 1


class WebhookFault(Exception):
    """The admission controller changes nothing; the message says why. ``stops``: it panics and does not answer."""

    def __init__(self, text: str, *, stops: bool = True) -> None:
        super().__init__(text)
        self.stops = stops


def proportional_limit(
    name: str, limit: Quantity, request: Quantity, recommended: Quantity, default: Quantity
) -> Quantity | None:
    """Return the limit that is to the recommendation as the limit was to the request; None: none is set."""
    limit = limit or default
    if not limit or not recommended:
        return None
    if not request or request.milli_value() == limit.milli_value():
        return recommended
    return scaled(name, limit, request, recommended)


def boundary_request(name: str, request: Quantity, limit: Quantity, boundary: Quantity, default: Quantity) -> Quantity:
    """Return the request with which the limit, kept in proportion, is at the boundary; zero: there is none."""
    limit = limit or default
    if not limit:
        return ZERO
    return scaled(name, request, limit, boundary) if request else boundary


def scaled(name: str, quantity: Quantity, base: Quantity, result: Quantity, rounding: Rounding = "") -> Quantity:
    """Return ``quantity`` times ``result`` divided by ``base``: cpu in thousandths, all else in whole units.

    What is more than 64 bits hold becomes what they hold. ``down``: an amount of zero becomes minus one, as there.
    Raises WebhookFault where it divides by zero.
    """
    if name == "cpu":
        return _scaled_cpu(quantity, base, result, rounding)
    if not base.whole_value():
        raise WebhookFault("it divides by a sum of zero")
    whole = quantity.whole_value() * result.whole_value() // base.whole_value()
    if whole > _MOST:
        return Quantity(_MOST * _WHOLE, quantity.format)
    if rounding == "down" and not whole:
        whole = -1
    return Quantity(whole * _WHOLE, quantity.format)


def _scaled_cpu(quantity: Quantity, base: Quantity, result: Quantity, rounding: Rounding) -> Quantity:
    if not base:
        return quantity
    milli, rest = divmod(quantity.milli_value() * result.milli_value(), base.milli_value())
    if milli > _MOST:
        milli = _MOST
    elif rest and rounding == "up":
        milli += 1
    return Quantity(milli * _MILLI, quantity.format)


#: Amounts by resource with the field that each comes from.
Bounds = Mapping[str, tuple[Quantity, Source]]


class MergedItem(Struct, frozen=True):
    """The strictest bounds of all items of a type. None: no item has the field.

    ``default`` is that of one item: there of any, here of the last LimitRange by name.
    """

    max: Bounds | None = None
    min: Bounds | None = None
    default: Bounds | None = None


def merged_item(limits: Sequence[Limits], type_: str) -> MergedItem | None:
    """Return the bounds for a type, ``Container`` or ``Pod``; None: there are none."""
    most: Bounds | None = None
    least: Bounds | None = None
    default: Bounds | None = None
    for limit in limits:
        for item in limit.items:
            if item.type != type_:
                continue
            default = _fields(limit, item, "default") or default
            most = _stricter(most, _fields(limit, item, "max"), higher=False)
            least = _stricter(least, _fields(limit, item, "min"), higher=True)
    return None if most is least is default is None else MergedItem(most, least, default)


def bound_in(bounds: Bounds | None, name: str) -> Quantity:
    """Return the bound of a resource; zero where there is none."""
    bound = (bounds or {}).get(name)
    return ZERO if bound is None else bound[0]


def source_in(bounds: Bounds | None, name: str) -> Source:
    """Return the field that a bound comes from. Raises KeyError where there is no bound, which can then change
    nothing.
    """
    return (bounds or {})[name][1]


def _fields(limits: Limits, item: ParsedItem, field: str) -> Bounds | None:
    values: Mapping[str, Quantity] = getattr(item, field)
    return {name: (quantity, limits.origin(item, field, name)) for name, quantity in values.items()} or None


def _stricter(bounds: Bounds | None, more: Bounds | None, *, higher: bool) -> Bounds | None:
    if bounds is None or more is None:
        return bounds or more
    result = dict(bounds)
    for name in SCALED:
        if name in more:
            mine, other = result.get(name), more[name]
            keeps = mine is not None and (mine[0] > other[0] if higher else mine[0] < other[0])
            result[name] = mine if mine is not None and keeps else other
    return result
