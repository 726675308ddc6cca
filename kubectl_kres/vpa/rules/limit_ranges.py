"""The LimitRanges of a namespace as the vertical autoscaler sees them: one item for containers, one for pods.

Source: vertical-pod-autoscaler 1.8.1 pkg/utils/limitrange/limit_range_calculator.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from kubectl_kres.admission.limitrange import Limits, ParsedItem
from kubectl_kres.provenance.journal import Source
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.vpa.rules.amounts import SCALED

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
