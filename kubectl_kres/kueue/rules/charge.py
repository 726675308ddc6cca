"""What Kueue charges for the pods of a pod set, and what it refuses about them before it looks at any quota.

It computes this on the template as it was sent, in an order of its own: LimitRange defaults come before limits become
requests, which the API server does the other way round. So a charge can differ from what the pod will ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

from kubectl_kres.admission.base.draft import (
    SIDES,
    Draft,
    Quantities,
    Side,
    Slot,
    ValueChange,
    change,
    draft_pod,
    parse_list,
)
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.admission.pod.aggregate import explain_total, sum_pod
from kubectl_kres.kueue.model import PodSet, PodSetSpec, QueuedContainer
from kubectl_kres.model.objects import RuntimeClass
from kubectl_kres.model.pod import Container, Pod, PodSpec
from kubectl_kres.provenance.journal import Derive, Entry, Source
from kubectl_kres.quantity import Quantity, quantity_of

#: Resource to thousandths of a CPU, or to units: what Kueue adds and compares.
Amounts = Mapping[str, int]
#: So many LimitRanges are tried in every order; of more every one is tried first.
_MOST_ORDERED = 4
_BYTES = ("memory", "ephemeral-storage", "hugepages-")


class Charge(NamedTuple):
    """What one pod is charged. ``draft``: the pod as Kueue sees it; ``journal``: what set its values."""

    amounts: Amounts
    draft: Draft
    journal: tuple[Entry, ...] = ()

    def derivation(self, resource: str) -> Derive:
        """Return how the amount of a resource comes about."""
        total = sum_pod(self.draft, "requests").get(resource, quantity_of(0))
        return explain_total(self.draft, "requests", resource, total)


def to_units(resource: str, quantity: Quantity) -> int:
    """Return what Kueue counts. Source: pkg/resources/requests.go ResourceValue."""
    return quantity.milli() if resource == "cpu" else quantity.value()


def amount_text(resource: str, units: int) -> str:
    """Return an amount as Kueue writes it. Source: pkg/resources/resource_formatter.go ResourceQuantity."""
    if resource == "cpu":
        return str(Quantity(units * 10**6))
    text = str(quantity_of(units, "BinarySI")) if resource.startswith(_BYTES) else ""
    return text if text.endswith("i") else str(quantity_of(units, "DecimalSI"))


def charges(
    spec: PodSetSpec, limits: Sequence[Limits], runtimes: Iterable[RuntimeClass], *, journal: bool = False
) -> tuple[Charge, ...]:
    """Return what one pod is charged, for each order of the LimitRanges that makes a difference; any may be so.

    Raises Unparsable. Source: pkg/workload/resources.go AdjustResources.
    """
    ranges = [each for each in limits if any(item.type in {"Container", "Pod"} for item in each.items)]
    found: dict[tuple[tuple[str, int], ...], Charge] = {}
    for order in _orders(ranges):
        charge = _charge(spec, order, runtimes, journal=journal)
        found.setdefault(tuple(sorted(charge.amounts.items())), charge)
    return tuple(found.values())


def _orders(ranges: Sequence[Limits]) -> Iterator[Sequence[Limits]]:
    if len(ranges) <= _MOST_ORDERED:
        yield from permutations(ranges)
    else:
        yield from ((first, *(each for each in ranges if each is not first)) for first in ranges)


def _charge(spec: PodSetSpec, order: Sequence[Limits], runtimes: Iterable[RuntimeClass], *, journal: bool) -> Charge:
    entries: list[Entry] | None = [] if journal else None
    draft = draft_pod(Pod(spec=_pod_spec(spec)), Server())
    if spec.runtime_class_name and not draft.overhead:
        _add_overhead(draft, spec.runtime_class_name, runtimes)
    containers = [*draft.inits, *draft.containers]
    for slot in containers:
        for index, side in enumerate(SIDES):
            change(_defaults(slot, side, [each.defaults[index] for each in order]), entries)
    for slot in draft.slots():
        change(_from_limits(slot), entries)
    sums = sum_pod(draft, "requests")
    amounts = {name: to_units(name, quantity) for name, quantity in sums.items()}
    return Charge(amounts, draft, tuple(entries or ()))


def _pod_spec(spec: PodSetSpec) -> PodSpec:
    def containers(queued: tuple[QueuedContainer, ...] | None) -> tuple[Container, ...] | None:
        made = (
            Container(each.name, restart_policy=each.restart_policy, resources=each.resources) for each in queued or ()
        )
        return tuple(made) if queued is not None else None

    return PodSpec(
        containers(spec.containers),
        containers(spec.init_containers),
        resources=spec.resources,
        overhead=spec.overhead,
        runtime_class_name=spec.runtime_class_name,
    )


def _add_overhead(draft: Draft, name: str, runtimes: Iterable[RuntimeClass]) -> None:
    runtime = next((each for each in runtimes if each.metadata.name == name), None)
    if runtime is not None and runtime.overhead is not None:
        draft.overhead = parse_list(runtime.overhead.pod_fixed, "overhead.podFixed")


def _defaults(slot: Slot, side: Side, order: Sequence[Mapping[str, tuple[Quantity, Source]]]) -> Iterator[ValueChange]:
    """Yield the defaults that a container lacks; of several LimitRanges the first that has one wins."""
    first: dict[str, tuple[Quantity, Source]] = {}
    for defaults in order:
        first = {**defaults, **first}
    rule = "kueue/default-limit" if side == "limits" else "kueue/default-request"
    for name, (quantity, source) in first.items():
        if name not in slot.amounts_of(side):
            yield ValueChange(slot, side, name, quantity, rule, source)


def _from_limits(slot: Slot) -> Iterator[ValueChange]:
    for name, quantity in slot.limits.items():
        if name not in slot.requests:
            yield ValueChange(slot, "requests", name, quantity, "kueue/request-from-limit", Source("", ""))


#: What Kueue says before it looks at quotas. Source: pkg/workload/resources.go, pkg/util/limitrange.
LIMITS_EXCEEDED = "requests must not exceed its limits"
ABOVE_MAX = "requests must not be above the limitRange max"
BELOW_MIN = "requests must not be below the limitRange min"


class PodFault(NamedTuple):
    """A value that keeps a Workload out: where, which resources, and Kueue's words."""

    path: str
    resources: tuple[str, ...]
    text: str


def faults(pod_sets: Sequence[PodSet], drafts: Sequence[Draft], limits: Sequence[Limits]) -> tuple[PodFault, ...]:
    """Return what Kueue refuses; requests above limits first, and only without any of these the bounds.

    Source: pkg/workload/resources.go ValidateResources, ValidateLimitRange.
    """
    places = [f"spec.podSets[{index}].template.spec" for index in range(len(pod_sets))]
    pairs = list(zip(places, drafts, strict=True))
    return tuple(fault for place, draft in pairs for fault in _over_limits(place, draft)) or tuple(
        fault for place, draft in pairs for fault in _out_of_bounds(place, draft, limits)
    )


def _over_limits(place: str, draft: Draft) -> Iterator[PodFault]:
    for slot in (*draft.inits, *draft.containers, *([draft.pod] if draft.pod is not None else ())):
        above = _greater(slot.requests, slot.limits)
        if above:
            path = "resources" if slot.role == "pod" else slot.path.removeprefix("spec.")
            yield PodFault(f"{place}.{path}", above, LIMITS_EXCEEDED)


def _out_of_bounds(place: str, draft: Draft, limits: Sequence[Limits]) -> Iterator[PodFault]:
    low, high = _bounds(limits, "Container")
    for slot in (*draft.inits, *draft.containers):
        smallest, largest = dict(slot.limits), dict(slot.limits)
        for name, quantity in slot.requests.items():
            smallest[name] = min(smallest.get(name, quantity), quantity)
            largest[name] = max(largest.get(name, quantity), quantity)
        yield from _beyond(f"{place}.{slot.path.removeprefix('spec.')}", smallest, largest, low, high)
    low, high = _bounds(limits, "Pod")
    total = sum_pod(draft, "requests")
    yield from _beyond(place, total, total, low, high)


def _beyond(
    path: str, smallest: Quantities, largest: Quantities, low: Quantities, high: Quantities
) -> Iterator[PodFault]:
    above, below = _greater(largest, high), _greater(low, smallest)
    if above:
        yield PodFault(path, above, ABOVE_MAX)
    if below:
        yield PodFault(path, below, BELOW_MIN)


def _bounds(limits: Sequence[Limits], kind: str) -> tuple[Quantities, Quantities]:
    """Return the largest minima and the smallest maxima of all LimitRanges."""
    low: Quantities = {}
    high: Quantities = {}
    for item in (item for each in limits for item in each.items if item.type == kind):
        for name, quantity in item.min.items():
            low[name] = max(low.get(name, quantity), quantity)
        for name, quantity in item.max.items():
            high[name] = min(high.get(name, quantity), quantity)
    return low, high


def _greater(amounts: Quantities, others: Quantities) -> tuple[str, ...]:
    """Return the resources of which there is more than in ``others``; what is not in both is not compared."""
    return tuple(
        sorted(
            name
            for name, quantity in amounts.items()
            if name in others and to_units(name, quantity) > to_units(name, others[name])
        )
    )
