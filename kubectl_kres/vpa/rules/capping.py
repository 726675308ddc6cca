"""A recommendation within the bounds of LimitRanges and of the autoscaler's own policy.

Source: vertical-pod-autoscaler 1.8.1 pkg/utils/vpa/capping.go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kubectl_kres.admission.base.draft import Quantities, Slot
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.vpa.rules.autoscaler import (
    SCALED,
    Amounts,
    Autoscaler,
    BoundedAmount,
    Bounds,
    MergedItem,
    Recommended,
    Rounding,
    ScalingPolicy,
    WebhookFault,
    bound_of_resource,
    boundary_request,
    proportional_limit,
    quantity_in,
    scaled,
    source_in,
)

_List = Callable[[Recommended], Amounts | None]
_LISTS: tuple[_List, ...] = (
    lambda recommended: recommended.upper,
    lambda recommended: recommended.target,
    lambda recommended: recommended.lower,
)

_BEYOND = "the pod would be beyond a LimitRange of type Pod"


def capped(
    autoscaler: Autoscaler, slots: Sequence[Slot], containers: MergedItem | None, pods: MergedItem | None
) -> dict[str, Recommended]:
    """Return what is recommended for containers of a pod, by name, within all bounds.

    ``containers``, ``pods``: the bounds of LimitRanges for each; None: there are none. Raises WebhookFault.
    """
    by_name = {slot.name: slot for slot in slots}
    recommended = [recommendation.copy() for recommendation in autoscaler.recommended or ()]
    if pods is not None:
        recommended = _within_pod(recommended, slots, pods)
    result: dict[str, Recommended] = {}
    for recommendation in recommended:
        slot = by_name.get(recommendation.container)
        if slot is None:
            continue
        policy = autoscaler.policy(recommendation.container)
        for values in (recommendation.target, recommendation.lower, recommendation.upper):
            if values is not None:
                _within_container(values, slot, containers)
                _within_policy(values, policy)
                if policy is not None and not policy.limits:
                    _within_limits(values, slot.limits, autoscaler)
        result.setdefault(recommendation.container, recommendation)
    return result


def _within_container(amounts: Amounts, slot: Slot, item: MergedItem | None) -> None:
    """Source: applyContainerLimitRange."""
    if item is None:
        return
    most = _boundary(slot, item.max, item.default)
    least = _boundary(slot, item.min, item.default)
    if item.min is not None:
        for name in SCALED:
            if bound_of_resource(item.min, name) > least.get(name, ZERO):
                least[name] = bound_of_resource(item.min, name)
    for name in list(amounts):
        _raise_to(amounts, name, least.get(name, ZERO), "vpa/limit-range-min", item.min)
        _cap_amount(amounts, name, most.get(name, ZERO), "vpa/limit-range-max", item.max)


def _boundary(slot: Slot, boundary: Bounds | None, default: Bounds | None) -> dict[str, Quantity]:
    """Return the requests with which limits in proportion are at a boundary. Source: getBoundaryRecommendation."""
    if boundary is None:
        return {}
    return {
        name: boundary_request(
            name, slot.requests.get(name, ZERO), slot.limits.get(name, ZERO), bound_of_resource(boundary, name),
            bound_of_resource(default, name),
        )
        for name in SCALED
    }  # fmt: skip


def _within_policy(amounts: Amounts, policy: ScalingPolicy | None) -> None:
    """Source: applyVPAPolicy."""
    if policy is None:
        return
    for name in list(amounts):
        _raise_to(amounts, name, bound_of_resource(policy.least, name), "vpa/min-allowed", policy.least)
        _cap_amount(amounts, name, bound_of_resource(policy.most, name), "vpa/max-allowed", policy.most)


def _within_limits(amounts: Amounts, limits: Quantities, autoscaler: Autoscaler) -> None:
    """A request that alone is set stays below the limit. Source: capRecommendationToContainerLimit."""
    for name, limit in limits.items():
        amount = amounts.get(name)
        if amount is not None and amount.quantity.milli_value() > limit.milli_value():
            amounts[name] = amount.set("vpa/container-limit", limit, autoscaler.first_source(amount))


def _raise_to(amounts: Amounts, name: str, bound: Quantity, rule: str, bounds: Bounds | None) -> None:
    amount = amounts[name]
    if bound and amount.quantity < bound:
        amounts[name] = amount.set(rule, bound, source_in(bounds, name))


def _cap_amount(amounts: Amounts, name: str, bound: Quantity, rule: str, bounds: Bounds | None) -> None:
    amount = amounts[name]
    if bound and amount.quantity > bound:
        amounts[name] = amount.set(rule, bound, source_in(bounds, name))


def _within_pod(recommended: list[Recommended], slots: Sequence[Slot], item: MergedItem) -> list[Recommended]:
    """Source: capProportionallyToPodLimitRange."""
    named = {recommendation.container for recommendation in recommended}
    for slot in slots:
        if slot.name not in named and slot.requests:
            own_amounts: Amounts = {name: BoundedAmount(quantity) for name, quantity in slot.requests.items()}
            recommended.append(Recommended(slot.name, own_amounts))
    by_name: dict[str, Recommended] = {}
    for recommendation in recommended:
        by_name.setdefault(recommendation.container, recommendation)
    for values in _LISTS:
        for name in SCALED:
            _PodBounds(by_name, slots, item, name, values).apply()
    return recommended


class _PodBounds:
    """The bounds for whole pods on one resource, held against one list of amounts. Source: applyPodLimitRange."""

    def __init__(
        self, recommended: dict[str, Recommended], slots: Sequence[Slot], item: MergedItem, name: str, values: _List
    ) -> None:
        self.recommended, self.slots, self.item, self.name, self.values = recommended, slots, item, name, values
        self.least, self.most = bound_of_resource(item.min, name), bound_of_resource(item.max, name)
        self.limits = self.requests = ZERO

    def apply(self) -> None:
        """Bring the amounts to what the bounds leave, in proportion. Raises WebhookFault."""
        self._sum_up()
        too_small = self.least > self.requests
        if not too_small and self.least <= self.limits and (not self.most or self.most >= self.limits):
            return
        if not self.limits:
            return
        if too_small:
            for slot in self.slots:
                if slot.name in self.recommended:
                    self._scale_value(slot, self.requests, self.least, "up", self.item.min, "vpa/pod-limit-range-min")
            return
        bounds, rule, total = self.item.min, "vpa/pod-limit-range-min", self.least
        if self.most and self.most < self.limits:
            bounds, rule, total = self.item.max, "vpa/pod-limit-range-max", self.most
        for slot in self.slots:
            if slot.name not in self.recommended:
                raise WebhookFault(f"container {slot.name} has neither a recommendation nor requests; {_BEYOND}")
            self._scale_value(slot, self.limits, total, "down", bounds, rule)

    def _sum_up(self) -> None:
        name = self.name
        for slot in self.slots:
            recommended = self.recommended.get(slot.name)
            request = slot.requests.get(name, ZERO)
            amount = request if recommended is None else quantity_in(self.values(recommended), name)
            default = bound_of_resource(self.item.default, name)
            limit = proportional_limit(name, slot.limits.get(name, ZERO), request, amount, default)
            self.limits += ZERO if limit is None else limit
            self.requests += amount

    def _scale_value(
        self,
        slot: Slot,
        total: Quantity,
        wanted_amounts: Quantity,
        rounding: Rounding,
        bounds: Bounds | None,
        rule: str,
    ) -> None:
        values = self.values(self.recommended[slot.name])
        before = (values or {}).get(self.name, BoundedAmount(ZERO))
        new = scaled(self.name, before.quantity, total, wanted_amounts, rounding)
        if values is None:
            raise WebhookFault(f"container {slot.name} has no recommended lowerBound and upperBound; {_BEYOND}")
        values[self.name] = before.set(rule, new, source_in(bounds, self.name))
