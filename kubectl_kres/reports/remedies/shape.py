"""Values of a template that LimitRanges, validation and quotas that want them stated let pass, whatever room there is.

Proposed resource by resource from what refuses, judged again, and so on: what one rule asks for may break another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from kubectl_kres.admission.base.draft import Draft, Quantities, Side, Slot
from kubectl_kres.admission.base.outcome import Finding, Outcome
from kubectl_kres.admission.base.resource_names import is_integer, is_pod_level, may_overcommit
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.limitrange.limitrange_object import Limits
from kubectl_kres.admission.pod.aggregate import of_containers
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import ZERO, Quantity, parse
from kubectl_kres.reports.remedies.limit_bounds import LimitBound, LimitBounds, fit
from kubectl_kres.reports.remedies.pods import OF_VALUES, PodFaults, findings_of, judge
from kubectl_kres.reports.remedies.values import Place, Values, write, written

#: Whether a request that exceeds its limit comes down to it, or the limit goes up.
Way = Literal["lower", "raise"]

#: What a container is given where nothing says how much it needs.
STATED = {"cpu": "100m", "memory": "128Mi"}
_ROUNDS = 8
_UNIT = 10**9


def units(resource: str, quantity: Quantity | None = None) -> int:
    """The steps of a value that is computed: thousandths of cpu, Mi of bytes where there are some, else whole ones."""
    if resource == "cpu":
        return 10**6
    if resource in {"memory", "ephemeral-storage", "storage"} and (quantity is None or quantity.nano >= 2**21 * _UNIT):
        return 2**20 * _UNIT
    return _UNIT


def passing(pod: Pod, policies: Policies, server: Server, way: Way) -> tuple[dict[Place, str | None], PodFaults]:
    """Values to write, as few as are needed, and how the pod with them is judged: with faults if none were found."""
    values: dict[Place, str | None] = {}
    judged = judge(pod, policies, server)
    seen: set[tuple[tuple[Place, str | None], ...]] = set()
    for _ in range(_ROUNDS):
        if not judged.faults or not _mendable(judged.faults):
            break
        values = _step(pod, values, judged, policies, way)
        key = tuple(sorted(values.items(), key=str))
        if key in seen:
            break
        seen.add(key)
        judged = judge(write(pod, values), policies, server)
    if judged.faults:
        return values, judged
    return _fewest(pod, values, policies, server)


def _mendable(faults: Iterable[Outcome]) -> bool:
    return all(any(finding.rule in OF_VALUES for finding in findings_of(outcome)) for outcome in faults)


def _fewest(
    pod: Pod, values: dict[Place, str | None], policies: Policies, server: Server
) -> tuple[dict[Place, str | None], PodFaults]:
    """Without the values that nothing asks for."""

    def passes(fewer: Values) -> bool:
        return not judge(write(pod, fewer), policies, server).faults

    kept = needed_values(pod, values, passes)
    return kept, judge(write(pod, kept), policies, server)


def needed_values(pod: Pod, values: Values, passes: Callable[[Values], bool]) -> dict[Place, str | None]:
    """The values of which none can be left out, however often one is tried: what goes may make another needless."""
    kept = {place: text for place, text in values.items() if written(pod, place) != text}
    changed = True
    while changed:
        changed = False
        for place in sorted(kept, key=lambda place: (place.side == "limits", place)):
            fewer = {key: text for key, text in kept.items() if key != place}
            if passes(fewer):
                kept, changed = fewer, True
    return kept


def _step(pod: Pod, values: Values, judged: PodFaults, policies: Policies, way: Way) -> dict[Place, str | None]:
    """The values once what refuses in the first order is mended, resource by resource."""
    outcome = judged.faults[0]
    draft: Draft | None = outcome.draft
    result = dict(values)
    if draft is None or outcome.refusal is None:
        return result
    needed = needed_sides(outcome.refusal.findings)
    for name in sorted({resource_of(finding) for finding in outcome.refusal.findings if finding.rule in OF_VALUES}):
        solved = Resource(name, draft, policies.limits, needed.get(name, set()), way)
        solved.solve()
        result.update(solved.changes(pod, values))
    return result


def resource_of(finding: Finding) -> str:
    """The resource of a container that a finding is about."""
    if finding.rule == "quota/must-specify":
        return finding.resource.rpartition(".")[2]
    return finding.resource or finding.at.resource


def needed_sides(findings: Sequence[Finding]) -> Mapping[str, set[Side]]:
    """The sides that quotas want stated, by resource."""
    result: dict[str, set[Side]] = {}
    for finding in findings:
        if finding.rule == "quota/must-specify":
            side, _, name = finding.resource.rpartition(".")
            result.setdefault(name, set()).add("limits" if side == "limits" else "requests")
    return result


class Resource:
    """One resource of all containers and of the pod level, brought within what asks for it."""

    def __init__(self, name: str, draft: Draft, limits: Sequence[Limits], needed: set[Side], way: Way) -> None:
        self.name, self.way, self.needed, self.limits = name, way, needed, limits
        self.draft = draft.copy()
        self.before = draft

    def changes(self, pod: Pod, values: Values) -> Iterator[tuple[Place, str | None]]:
        """Every value of the resource that is another one now, or that an earlier step wrote."""
        for old, new in zip(self.before.slots(), self.draft.slots(), strict=True):
            for side in ("requests", "limits"):
                before, after = old.side(side).get(self.name), new.side(side).get(self.name)
                place = Place(new.path, side, self.name)
                stands = written(write(pod, values), place)
                if after is not None and (before is None or before != after or stands is None):
                    yield place, str(after)

    def solve(self) -> None:
        slots = [*self.draft.containers, *self.draft.inits]
        for slot in slots:
            self._container(slot)
        for kind in ("Pod",):
            bounds = self._bounds(kind)
            self._sums(bounds)
        self._level()

    def _bounds(self, kind: str) -> LimitBounds:
        lows, highs, ratios = [], [], []
        for limit in self.limits:
            for item in limit.items:
                if item.type == kind:
                    lows += [LimitBound(item.min[self.name], limit.source)] if self.name in item.min else []
                    highs += [LimitBound(item.max[self.name], limit.source)] if self.name in item.max else []
                    ratios += [LimitBound(item.ratio[self.name], limit.source)] if item.ratio.get(self.name) else []
        return LimitBounds(
            max(lows, key=_nano, default=None),
            min(highs, key=_nano, default=None),
            min(ratios, key=_nano, default=None),
        )

    def _container(self, slot: Slot) -> None:
        name, bounds = self.name, self._bounds("Container")
        request, limit = slot.requests.get(name), slot.limits.get(name)
        if is_integer(name):
            request, limit = (None if quantity is None else _whole(quantity) for quantity in (request, limit))
        if "requests" in self.needed and request is None:
            request = limit or self._given("requests")
        if "limits" in self.needed and limit is None:
            limit = request or self._given("limits")
        if not may_overcommit(name) and (request is not None or limit is not None):
            amount = limit if limit is not None and self.way == "lower" else _most(request, limit)
            request = limit = amount
        if request is not None and limit is not None and request > limit:
            request, limit = (limit, limit) if self.way == "lower" else (request, request)
        if bounds.low is not None or bounds.high is not None or bounds.ratio is not None:
            if bounds.ratio is not None and request is None and limit is None:
                request = limit = self._given("requests")
            if bounds.ratio is not None and limit is not None and not limit:
                limit = self._given("limits")
            if not bounds.contradictory:
                request, limit = fit(request, limit, bounds, name)
        _put(slot, "requests", name, request)
        _put(slot, "limits", name, limit)

    def _given(self, side: Side) -> Quantity:
        """Where a container says nothing: what LimitRanges give, else their min, else a small amount."""
        for limit in self.limits:
            for item in limit.items:
                if item.type == "Container":
                    given = (
                        (item.default_request, item.default, item.min)
                        if side == "requests"
                        else (item.default, item.default_request, item.min)
                    )
                    for values in given:
                        if values.get(self.name):
                            return values[self.name]
        return parse(STATED.get(self.name, "1"))

    def _sums(self, bounds: LimitBounds) -> None:
        """What the pod has in total: of the level where that states it, else of the containers."""
        level = self.draft.pod if self.name in {"cpu", "memory"} else None
        for side in ("limits", "requests"):
            if level is not None and self.name in level.side(side):
                level.side(side)[self.name] = _clamped(level.side(side)[self.name], bounds)
                continue
            self._side(side, bounds, bounded=level is not None and self.name in level.limits)
        self._ratio(bounds)

    def _side(self, side: Side, bounds: LimitBounds, *, bounded: bool) -> None:
        total = self._total(side)
        high, low = bounds.high, bounds.low
        if side == "limits" and high is not None and total is None and not bounded:
            self._share(high.quantity)
        elif high is not None and total is not None and total > high.quantity:
            self.scale(side, high.quantity)
        total = self._total(side)
        if low is not None and (side == "requests" or total is not None) and (total or ZERO) < low.quantity:
            first = self.draft.containers[0]
            have = first.side(side).get(self.name, ZERO)
            more = Quantity(have.nano + low.quantity.nano - (total or ZERO).nano, low.quantity.format)
            first.side(side)[self.name] = more
            limit = first.limits.get(self.name)
            if limit is not None and first.requests.get(self.name, ZERO) > limit:
                first.limits[self.name] = first.requests[self.name]

    def _share(self, high: Quantity) -> None:
        """A limit for each container, in equal parts of what the pod may have, and no less than its request."""
        slots = [*self.draft.containers, *(init for init in self.draft.inits if init.role == "sidecar")]
        part = Quantity(high.nano // len(slots) // units(self.name, high) * units(self.name, high), high.format)
        for slot in slots:
            slot.limits[self.name] = _most(slot.requests.get(self.name), part) or part
        for slot in self.draft.inits:
            slot.limits.setdefault(self.name, _most(slot.requests.get(self.name), part) or part)

    def _total(self, side: Side) -> Quantity | None:
        return of_containers(self.draft.containers, self.draft.inits, side).get(self.name)

    def scale(self, side: Side, most: Quantity) -> None:
        """Every container less in proportion, so that they have at most so much together."""
        scale(self.draft, side, self.name, most)

    def _ratio(self, bounds: LimitBounds) -> None:
        if bounds.ratio is None:
            return
        level = self.draft.pod if self.name in {"cpu", "memory"} else None
        own = level is not None and self.name in level.requests and self.name in level.limits
        slots = [level] if own and level is not None else [*self.draft.containers, *self.draft.inits]
        for slot in slots:
            request, limit = slot.requests.get(self.name), slot.limits.get(self.name)
            if limit is None and request:
                limit = request
            if request is None and not limit:
                request = limit = self._given("requests")
            request, limit = fit(request, limit, LimitBounds(None, None, bounds.ratio), self.name)
            _put(slot, "requests", self.name, request)
            _put(slot, "limits", self.name, limit)

    def _level(self) -> None:
        """The pod level has at least what its containers request, and none of them a limit above its own."""
        level = self.draft.pod
        if level is None or not is_pod_level(self.name):
            return
        high = self._bounds("Pod").high
        most = high.quantity if high is not None else None
        for slot in (*self.draft.containers, *self.draft.inits):
            self._under_level(slot, level, most)
        for side in ("requests", "limits"):
            total, have = self._total("requests"), level.side(side).get(self.name)
            if total is None or have is None or total <= have:
                continue
            if self.way == "lower" or (most is not None and total > most):
                self.scale("requests", have)
            else:
                level.side(side)[self.name] = total
        self._order_level(level, most)

    def _under_level(self, slot: Slot, level: Slot, most: Quantity | None) -> None:
        limit, own = slot.limits.get(self.name), level.limits.get(self.name)
        if limit is None or own is None or limit <= own:
            return
        if self.way == "raise" and (most is None or limit <= most):
            level.limits[self.name] = limit
            return
        slot.limits[self.name] = own
        if slot.requests.get(self.name, ZERO) > own:
            slot.requests[self.name] = own

    def _order_level(self, level: Slot, most: Quantity | None) -> None:
        request, limit = level.requests.get(self.name), level.limits.get(self.name)
        if request is None or limit is None or request <= limit:
            return
        if self.way == "raise" and (most is None or request <= most):
            level.limits[self.name] = request
            return
        level.requests[self.name] = limit
        if (self._total("requests") or ZERO) > limit:
            self.scale("requests", limit)


def scale(draft: Draft, side: Side, name: str, most: Quantity) -> None:
    """Every container less in proportion, so that they have at most so much together; an init container in its turn."""
    sidecars = [init for init in draft.inits if init.role == "sidecar"]
    together = [*draft.containers, *sidecars]
    total = sum(slot.side(side).get(name, ZERO).nano for slot in together)
    if total > most.nano:
        _shrink(together, side, name, most.nano, total)
    beside = sum(sidecar.side(side).get(name, ZERO).nano for sidecar in sidecars)
    for init in draft.inits:
        if init.role == "init" and init.side(side).get(name, ZERO).nano + beside > most.nano:
            _shrink([init], side, name, most.nano - beside, init.side(side)[name].nano)


def _shrink(slots: Sequence[Slot], side: Side, name: str, most: int, total: int) -> None:
    for slot in slots:
        have = slot.side(side).get(name)
        if have is None or not have:
            continue
        exact = have.nano * max(0, most) // total
        step = units(name, Quantity(exact))
        slot.side(side)[name] = Quantity(exact // step * step, have.format)
        if side == "limits" and slot.requests.get(name, ZERO) > slot.limits[name]:
            slot.requests[name] = slot.limits[name]


def _clamped(quantity: Quantity, bounds: LimitBounds) -> Quantity:
    if bounds.low is not None and quantity < bounds.low.quantity:
        return bounds.low.quantity
    if bounds.high is not None and quantity > bounds.high.quantity:
        return bounds.high.quantity
    return quantity


def _most(quantity: Quantity | None, other: Quantity | None) -> Quantity | None:
    if quantity is None or other is None:
        return other if quantity is None else quantity
    return max(quantity, other, key=lambda quantity: quantity.nano)


def _whole(quantity: Quantity) -> Quantity:
    return Quantity(-(-quantity.nano // _UNIT) * _UNIT, quantity.format)


def _nano(bound: LimitBound) -> int:
    return bound.quantity.nano


def _put(slot: Slot, side: Side, name: str, quantity: Quantity | None) -> None:
    values: Quantities = slot.side(side)
    if quantity is not None:
        values[name] = quantity
