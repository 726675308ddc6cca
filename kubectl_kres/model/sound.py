"""Quantities that cannot be read, in the policies by which everything else is judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubectl_kres.errors import QuantityError
from kubectl_kres.model.meta import ResourceList
from kubectl_kres.model.policy import LimitRange, ResourceQuota, RuntimeClass
from kubectl_kres.quantity import stored

#: The structs whose objects are looked at. No API server stores what is found; an aggregated or a foreign one may.
POLICIES = (LimitRange, ResourceQuota, RuntimeClass)


def unreadable(policy: Any) -> str:
    """The first quantity that is none, with its path; empty if all can be read."""
    for path, amounts in _lists(policy):
        for name, value in (amounts or {}).items():
            try:
                stored(value)
            except QuantityError as error:
                return f"{path}[{name}]: {error.message}"
    return ""


def _lists(policy: Any) -> Iterator[tuple[str, ResourceList | None]]:
    if isinstance(policy, ResourceQuota):
        yield "spec.hard", policy.spec.hard
        yield "status.hard", policy.status.hard
        yield "status.used", policy.status.used
    elif isinstance(policy, LimitRange):
        for index, item in enumerate(policy.spec.limits or ()):
            at = f"spec.limits[{index}]"
            yield f"{at}.max", item.max
            yield f"{at}.min", item.min
            yield f"{at}.default", item.default
            yield f"{at}.defaultRequest", item.default_request
            yield f"{at}.maxLimitRequestRatio", item.max_limit_request_ratio
    elif isinstance(policy, RuntimeClass):
        yield "overhead.podFixed", policy.overhead.pod_fixed if policy.overhead else None
