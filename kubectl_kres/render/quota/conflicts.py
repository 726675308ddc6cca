"""What no pod can meet, or none that relies on defaults, in words without a full stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.reports.namespace.allowed_ranges import Contradiction, StatedBound


def _contradiction(found: Contradiction) -> str:
    name, low, high = found.resource, _bound(found.low), _bound(found.high)
    match found.kind:
        case "unmet-requirement":
            return f"quota {found.quota} requires {name} on every container, but no LimitRange sets a default"
        case "empty-range":
            return f"no {name} of a {found.type} is at least {low} and at most {high}"
        case "default-outside":
            default = f"the default {found.side} {name} {_bound(found.values[0])}"
            return f"{default} is over the max {high}" if found.high else f"{default} is under the min {low}"
        case "ratio":
            limit, request = found.values
            values = f"limit {limit.amount} and request {_bound(request)}"
            return f"the defaults of {name}, {values}, are further apart than the ratio {high}"
        case "pod-below-container":
            return f"{_needed(found)}, a whole pod may have {high}"
        case "order":
            values = " or ".join(map(_bound, found.values))
            return f"the default {found.side} of {name} is {values}: the server's order of LimitRanges is arbitrary"
        case "quota-too-small":
            return f"{_needed(found)}, quota {found.quota} allows {high} in total"


def _needed(found: Contradiction) -> str:
    low = found.low
    if low is None:
        return ""
    return f"a container needs at least {low.amount} of {found.resource}{f' ({low.by})' if low.by else ''}"


def _bound(stated: StatedBound | None) -> str:
    if stated is None:
        return ""
    return f"{stated.amount} ({stated.by})" if stated.by else stated.amount


WORDS: Mapping[type, Callable[[Any], str]] = {Contradiction: _contradiction}
