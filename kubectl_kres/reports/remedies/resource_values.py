"""One resource of all containers and of the pod level, brought within the bounds that require it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.admission.base.draft import Draft, Quantities, Side, Slot
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.resource_names import is_integer, is_pod_level, may_overcommit
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.admission.pod.aggregate import sum_containers
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import ZERO, Quantity, parse
from kubectl_kres.reports.remedies import shape
from kubectl_kres.reports.remedies.context import LimitBound, LimitBounds, fit, in_whole_pages
from kubectl_kres.reports.remedies.pods import OF_VALUES, findings_of


class Resource:
    """One resource of all containers and of the pod level, brought within the bounds that require it."""

    def __init__(
        self, name: str, draft: Draft, limits: Sequence[Limits], needed: set[Side], direction: shape.Direction
    ) -> None:
        self.name, self.direction, self.sides, self.limits = name, direction, needed, limits
        self.draft = draft.copy()
        self.before = draft

    def changes(self, pod: Pod, values: shape.Values) -> Iterator[tuple[shape.ResourceField, str]]:
        """Yield every value of the resource that differs now, or that an earlier step wrote."""
        for old, new in zip(self.before.slots(), self.draft.slots(), strict=True):
            for side in ("requests", "limits"):
                before, after = old.amounts_of(side).get(self.name), new.amounts_of(side).get(self.name)
                field = shape.ResourceField(new.path, side, self.name)
                stands = shape.written_value(shape.write_values(pod, values), field)
                if after is not None and (before is None or before != after or stands is None):
                    yield field, str(after)

    def solve(self) -> None:
        slots = [*self.draft.containers, *self.draft.inits]
        for slot in slots:
            self._container(slot)
        for kind in ("Pod",):
            bounds = self._bounds(kind)
            self._fit_sums(bounds)
        self._level()

    def _bounds(self, kind: str) -> LimitBounds:
        lows, highs, ratios = [], [], []
        for limit in self.limits:
            for item in limit.items:
                if item.type == kind:
                    lows += [LimitBound(item.min[self.name], limit.source)] if self.name in item.min else []
                    highs += [LimitBound(item.max[self.name], limit.source)] if self.name in item.max else []
                    ratios += [LimitBound(item.ratio[self.name], limit.source)] if item.ratio.get(self.name) else []
        bounds = LimitBounds(
            max(lows, key=_nano, default=None),
            min(highs, key=_nano, default=None),
            min(ratios, key=_nano, default=None),
        )
        return in_whole_pages(bounds, self.name)

    def _container(self, slot: Slot) -> None:
        name, bounds = self.name, self._bounds("Container")
        request, limit = slot.requests.get(name), slot.limits.get(name)
        if is_integer(name):
            request, limit = (None if quantity is None else _round_up(quantity) for quantity in (request, limit))
        if "requests" in self.sides and request is None:
            request = limit or self._default_value("requests")
        if "limits" in self.sides and limit is None:
            limit = request or self._default_value("limits")
        if not may_overcommit(name) and (request is not None or limit is not None):
            amount = limit if limit is not None and self.direction == "lower" else _larger_quantity(request, limit)
            request = limit = amount
        if request is not None and limit is not None and request > limit:
            request, limit = (limit, limit) if self.direction == "lower" else (request, request)
        if bounds.low is not None or bounds.high is not None or bounds.ratio is not None:
            if bounds.ratio is not None and request is None and limit is None:
                request = limit = self._default_value("requests")
            if bounds.ratio is not None and limit is not None and not limit:
                limit = self._default_value("limits")
            if not bounds.contradictory:
                request, limit = fit(request, limit, bounds, name)
        _set_value(slot, "requests", name, request)
        _set_value(slot, "limits", name, limit)

    def _default_value(self, side: Side) -> Quantity:
        """Return the value for a container that states none: LimitRanges' default, else their min, else a small
        amount.
        """
        for limit in self.limits:
            for item in limit.items:
                if item.type == "Container":
                    candidates = (
                        (item.default_request, item.default, item.min)
                        if side == "requests"
                        else (item.default, item.default_request, item.min)
                    )
                    for values in candidates:
                        if values.get(self.name):
                            return values[self.name]
        return parse(shape.STATED.get(self.name, "1"))

    def _fit_sums(self, bounds: LimitBounds) -> None:
        """Fit the pod's sum: the pod level's where it states one, else the containers'."""
        level = self.draft.pod if self.name in {"cpu", "memory"} else None
        for side in ("limits", "requests"):
            if level is not None and self.name in level.amounts_of(side):
                level.amounts_of(side)[self.name] = _clamp_quantity(level.amounts_of(side)[self.name], bounds)
                continue
            self._fit_side(side, bounds, bounded=level is not None and self.name in level.limits)
        self._ratio(bounds)

    def _fit_side(self, side: Side, bounds: LimitBounds, *, bounded: bool) -> None:
        total = self._total(side)
        high, low = bounds.high, bounds.low
        if side == "limits" and high is not None and total is None and not bounded:
            self._share(high.quantity)
        elif high is not None and total is not None and total > high.quantity:
            self.scale(side, high.quantity)
        total = self._total(side)
        if low is not None and (side == "requests" or total is not None) and (total or ZERO) < low.quantity:
            if not self.draft.containers:
                return
            first = self.draft.containers[0]
            have = first.amounts_of(side).get(self.name, ZERO)
            more = Quantity(have.nano + low.quantity.nano - (total or ZERO).nano, low.quantity.format)
            first.amounts_of(side)[self.name] = more
            limit = first.limits.get(self.name)
            if limit is not None and first.requests.get(self.name, ZERO) > limit:
                first.limits[self.name] = first.requests[self.name]

    def _share(self, high: Quantity) -> None:
        """Give each container a limit: an equal part of what the pod may have, and no less than its request."""
        slots = self.draft.running_slots()
        if not slots:
            return
        part = Quantity(
            high.nano // len(slots) // shape.units(self.name, high) * shape.units(self.name, high), high.format
        )
        for slot in slots:
            slot.limits[self.name] = _larger_quantity(slot.requests.get(self.name), part) or part
        for slot in self.draft.inits:
            slot.limits.setdefault(self.name, _larger_quantity(slot.requests.get(self.name), part) or part)

    def _total(self, side: Side) -> Quantity | None:
        return sum_containers(self.draft.containers, self.draft.inits, side).get(self.name)

    def scale(self, side: Side, maximum: Quantity) -> None:
        """Lower every container in proportion, so that their sum is at most the given one."""
        shape.scale_down(self.draft, side, self.name, maximum)

    def _ratio(self, bounds: LimitBounds) -> None:
        if bounds.ratio is None:
            return
        level = self.draft.pod if self.name in {"cpu", "memory"} else None
        has_both = level is not None and self.name in level.requests and self.name in level.limits
        slots = [level] if has_both and level is not None else [*self.draft.containers, *self.draft.inits]
        for slot in slots:
            request, limit = slot.requests.get(self.name), slot.limits.get(self.name)
            if limit is None and request:
                limit = request
            if request is None and not limit:
                request = limit = self._default_value("requests")
            request, limit = fit(request, limit, LimitBounds(None, None, bounds.ratio), self.name)
            _set_value(slot, "requests", self.name, request)
            _set_value(slot, "limits", self.name, limit)

    def _level(self) -> None:
        """Raise the pod level to at least what its containers request, and lower any of their limits that is above its
        own.
        """
        level = self.draft.pod
        if level is None or not is_pod_level(self.name):
            return
        high = self._bounds("Pod").high
        maximum = high.quantity if high is not None else None
        for slot in (*self.draft.containers, *self.draft.inits):
            self._under_level(slot, level, maximum)
        for side in ("requests", "limits"):
            total, have = self._total("requests"), level.amounts_of(side).get(self.name)
            if total is None or have is None or total <= have:
                continue
            if self.direction == "lower" or (maximum is not None and total > maximum):
                self.scale("requests", have)
            else:
                level.amounts_of(side)[self.name] = total
        self._order_level(level, maximum)

    def _under_level(self, slot: Slot, level: Slot, maximum: Quantity | None) -> None:
        limit, own_amount = slot.limits.get(self.name), level.limits.get(self.name)
        if limit is None or own_amount is None or limit <= own_amount:
            return
        if self.direction == "raise" and (maximum is None or limit <= maximum):
            level.limits[self.name] = limit
            return
        slot.limits[self.name] = own_amount
        if slot.requests.get(self.name, ZERO) > own_amount:
            slot.requests[self.name] = own_amount

    def _order_level(self, level: Slot, maximum: Quantity | None) -> None:
        request, limit = level.requests.get(self.name), level.limits.get(self.name)
        if request is None or limit is None or request <= limit:
            return
        if self.direction == "raise" and (maximum is None or request <= maximum):
            level.limits[self.name] = request
            return
        level.requests[self.name] = limit
        if (self._total("requests") or ZERO) > limit:
            self.scale("requests", limit)


def _clamp_quantity(quantity: Quantity, bounds: LimitBounds) -> Quantity:
    if bounds.low is not None and quantity < bounds.low.quantity:
        return bounds.low.quantity
    if bounds.high is not None and quantity > bounds.high.quantity:
        return bounds.high.quantity
    return quantity


def _larger_quantity(quantity: Quantity | None, other: Quantity | None) -> Quantity | None:
    if quantity is None or other is None:
        return other if quantity is None else quantity
    return max(quantity, other, key=lambda quantity: quantity.nano)


def _round_up(quantity: Quantity) -> Quantity:
    return Quantity(-(-quantity.nano // shape.UNIT) * shape.UNIT, quantity.format)


def _nano(bound: LimitBound) -> int:
    return bound.quantity.nano


def _set_value(slot: Slot, side: Side, name: str, quantity: Quantity | None) -> None:
    values: Quantities = slot.amounts_of(side)
    if quantity is not None:
        values[name] = quantity


def corrected_values(
    pod: Pod, values: shape.Values, outcome: Outcome, limits: Sequence[Limits], direction: shape.Direction
) -> dict[shape.ResourceField, str]:
    """Return the values after what one order refuses is corrected, resource by resource, without those that the pod
    states already.
    """
    result = dict(values)
    for resource in solve(outcome, limits, direction):
        result.update(resource.changes(pod, values))
    return {field: text for field, text in result.items() if shape.written_value(pod, field) != text}


def solve(outcome: Outcome, limits: Sequence[Limits], direction: shape.Direction) -> Iterator[Resource]:
    """Yield each resource that a refusal is about, brought within the bounds that require it."""
    draft: Draft | None = outcome.draft
    findings = findings_of(outcome)
    needed = shape.needed_sides(findings)
    for name in sorted({shape.resource_of(finding) for finding in findings if finding.rule in OF_VALUES}):
        if draft is not None:
            resource = Resource(name, draft, limits, needed.get(name, set()), direction)
            resource.solve()
            yield resource
