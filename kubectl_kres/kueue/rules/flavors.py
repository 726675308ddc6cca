"""Which flavors a Workload gets, or why it gets none: per flavor taints, affinity and quota.

Preemption, topology and fair sharing are not computed: where they could get a Workload admitted,
``QuotaDecision.beyond`` says so.
Source: pkg/scheduler/flavorassigner/flavorassigner.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from kubectl_kres.kueue.model import ClusterQueue, PodSet, PodSetSpec, ResourceFlavor, ResourceGroup
from kubectl_kres.kueue.rules.capacity import Capacity, Cell
from kubectl_kres.kueue.rules.charge import Amounts, amount_text
from kubectl_kres.kueue.rules.placing import is_placed, untolerated_taint

#: Why a flavor is not taken; the names of KEP-10852, mildest first.
Why = Literal["WaitingForQuota", "ExceedsMaxQuota", "NoMatchingFlavor"]
#: What is not computed, or was not read.
Beyond = Literal["preemption", "fair sharing", "topology", "flavors"]
#: By name; None: they were not read, and are taken as there, without taints and labels.
Flavors = Mapping[str, ResourceFlavor] | None
_SEVERITY: Mapping[Why, int] = {"WaitingForQuota": 0, "ExceedsMaxQuota": 1, "NoMatchingFlavor": 2}


class FlavorFault(NamedTuple):
    """Why a flavor is not taken, in Kueue's words. ``flavor`` and ``resource`` empty where it is about none.

    ``short``: how much is missing, of what there is now or, where it never fits, of what there can be at most;
    ``lacks``: how much more than that others leave now is asked for.
    ``part``: what of the flavor it is about.
    """

    why: Why
    text: str
    flavor: str = ""
    resource: str = ""
    short: int = 0
    lacks: int = 0
    part: Literal["", "taint", "affinity", "missing", "uncovered", "quota"] = "quota"


class PodSetDecision(NamedTuple):
    """The result for a pod set. ``flavors``: by resource; empty where none has room at all.

    ``faults``: of each flavor. ``kept``: it waits, but what it would take counts for the pod sets behind it.
    """

    name: str
    pods: int
    charge: Amounts
    flavors: Mapping[str, str] = {}
    faults: tuple[FlavorFault, ...] = ()
    why: Why | None = None
    borrows: bool = False
    kept: bool = False


class QuotaDecision(NamedTuple):
    """The result for a Workload. ``why`` None: it fits. ``beyond``: what is not computed and may get it admitted."""

    pod_sets: tuple[PodSetDecision, ...]
    why: Why | None = None
    beyond: tuple[Beyond, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether each pod set gets its flavors, without preemption."""
        return self.why is None

    @property
    def faults(self) -> tuple[FlavorFault, ...]:
        """Return what is wrong of all pod sets."""
        return tuple(fault for pod_set in self.pod_sets for fault in pod_set.faults)

    def usage(self) -> dict[Cell, int]:
        """Return what it takes once it is admitted."""
        taken: dict[Cell, int] = {}
        for pod_set in self.pod_sets:
            for resource, flavor in pod_set.flavors.items():
                cell = (flavor, resource)
                taken[cell] = taken.get(cell, 0) + pod_set.charge.get(resource, 0)
        return taken


class PodSetRequest(NamedTuple):
    """A pod set with what one of its pods is charged."""

    pod_set: PodSet
    each: Amounts


def decide(
    queue: ClusterQueue,
    flavors: Flavors,
    capacity: Capacity,
    requests: Sequence[PodSetRequest],
    counts: Sequence[int] = (),
) -> QuotaDecision:
    """Return what becomes of a Workload that the queue looks at now. ``counts``: fewer pods than it asks for."""
    taken: dict[Cell, int] = {}
    found: list[PodSetDecision] = []
    for index, request in enumerate(requests):
        count = counts[index] if counts else request.pod_set.count
        result = _assign(queue, flavors, capacity, request, count, taken)
        found.append(result)
        if result.why is not None and not result.kept:
            break
        for cell, amount in QuotaDecision((result,)).usage().items():
            taken[cell] = taken.get(cell, 0) + amount
    why = max((each.why for each in found if each.why), key=_SEVERITY.__getitem__, default=None)
    return QuotaDecision(tuple(found), why, tuple(_beyond(queue, flavors, requests, why)))


def decide_partly(
    queue: ClusterQueue, flavors: Flavors, capacity: Capacity, requests: Sequence[PodSetRequest]
) -> QuotaDecision:
    """Return the same, with fewer pods where not all fit and fewer are enough: as many as fit.

    Source: pkg/scheduler/flavorassigner/podset_reducer.go.
    """
    whole = decide(queue, flavors, capacity, requests)
    spare = [
        request.pod_set.count - (request.pod_set.count if (least := request.pod_set.min_count) is None else least)
        for request in requests
    ]
    total = sum(spare)
    if whole.fits or total <= 0:
        return whole
    low, high, best = 1, total, None
    while low <= high:
        step = (low + high) // 2
        counts = [request.pod_set.count - part * step // total for request, part in zip(requests, spare, strict=True)]
        tried = decide(queue, flavors, capacity, requests, counts)
        if tried.fits:
            best, high = tried, step - 1
        else:
            low = step + 1
    return best or whole


def group_of(queue: ClusterQueue, resource: str) -> ResourceGroup | None:
    """Return the resource group that covers a resource; None: none does."""
    groups = queue.spec.resource_groups or ()
    return next((group for group in groups if resource in (group.covered_resources or ())), None)


def preempts(queue: ClusterQueue) -> bool:
    """Return whether a Workload may preempt others here."""
    policies = queue.spec.preemption
    return any(
        policy not in {"", "Never"} for policy in (policies.within_cluster_queue, policies.reclaim_within_cohort)
    )


def _assign(
    queue: ClusterQueue,
    flavors: Flavors,
    capacity: Capacity,
    request: PodSetRequest,
    count: int,
    taken: Mapping[Cell, int],
) -> PodSetDecision:
    pod_set = request.pod_set
    charge = {name: units * count for name, units in request.each.items()}
    if group_of(queue, "pods") is not None:
        charge["pods"] = count
    # Kueue visits resources in no order, and names the first that gets no flavor.
    uncovered = sorted(name for name, units in charge.items() if units and group_of(queue, name) is None)
    all_faults = [
        FlavorFault("NoMatchingFlavor", f"resource {name} unavailable in ClusterQueue", "", name, part="uncovered")
        for name in uncovered
    ]
    whys: list[Why] = [fault.why for fault in all_faults]
    chosen: dict[str, str] = {}
    borrows, kept = False, not uncovered
    for group in queue.spec.resource_groups or ():
        asked = {name: charge[name] for name in group.covered_resources or () if name in charge}
        if not asked:
            continue
        choice = _choose(queue, flavors, capacity, group, asked, pod_set.template.spec, taken)
        chosen.update(dict.fromkeys(asked, choice.flavor))
        borrows, kept = borrows or choice.height > 0, kept and bool(choice.flavor)
        if not choice.fits:
            all_faults += choice.faults
            whys.append(_mildest(choice.faults))
    why = max(whys, key=_SEVERITY.__getitem__, default=None)
    return PodSetDecision(
        pod_set.name, count, charge, chosen if kept else {}, tuple(all_faults), why, borrows=borrows, kept=kept
    )


def _mildest(faults: Sequence[FlavorFault]) -> Why:
    """Return the severity of a group: that of its mildest flavor, whose own is that of its worst resource."""
    worst: dict[str, Why] = {}
    for fault in faults:
        known = worst.get(fault.flavor)
        if known is None or _SEVERITY[fault.why] > _SEVERITY[known]:
            worst[fault.flavor] = fault.why
    return min(worst.values(), key=_SEVERITY.__getitem__, default="NoMatchingFlavor")


class _Choice(NamedTuple):
    """The flavor of a group; one that does not fit now is one that others could make room in. Empty: none."""

    flavor: str
    fits: bool
    height: int
    faults: Sequence[FlavorFault]


def _choose(
    queue: ClusterQueue,
    flavors: Flavors,
    capacity: Capacity,
    group: ResourceGroup,
    asked: Amounts,
    spec: PodSetSpec,
    taken: Mapping[Cell, int],
) -> _Choice:
    """Return the flavor that is taken, with why others are not, and how far above the queue it borrows."""
    best, second, faults = None, "", list[FlavorFault]()
    own, go_on = queue.metadata.name, queue.spec.flavor_fungibility.when_can_borrow == "TryNextFlavor"
    for quotas in group.flavors or ():
        name = quotas.name
        fault = _mismatch(name, flavors.get(name), spec) if flavors is not None else None
        short = [fault] if fault else list(_short(own, capacity, name, asked, taken))
        faults += short
        heights = {
            resource: capacity.borrowing_height(own, (name, resource), taken.get((name, resource), 0) + units)
            for resource, units in asked.items()
        }
        if short:
            if not second and all(
                each.why == "WaitingForQuota" and _may_free(own, capacity, each, asked, taken, heights)
                for each in short
            ):
                second = name
            continue
        height = max(height for height, _ in heights.values())
        if best is None or height < best.height:
            best = _Choice(name, fits=True, height=height, faults=())
        if not (height and go_on):
            break
    return best or _Choice(second, fits=False, height=0, faults=faults)


def _may_free(
    queue: str,
    capacity: Capacity,
    fault: FlavorFault,
    asked: Amounts,
    taken: Mapping[Cell, int],
    heights: Mapping[str, tuple[int, bool]],
) -> bool:
    """Return whether Kueue looks for others to preempt, whether or not it finds any. Source: fitsResourceQuota."""
    cell = (fault.flavor, fault.resource)
    value = taken.get(cell, 0) + asked[fault.resource]
    return capacity.quota(queue, cell).nominal >= value or heights[fault.resource][1]


def _mismatch(name: str, flavor: ResourceFlavor | None, spec: PodSetSpec) -> FlavorFault | None:
    """Return why no pod of the spec goes onto nodes of the flavor. Source: checkFlavorForPodSets."""
    if flavor is None:
        return FlavorFault("NoMatchingFlavor", f"flavor {name} not found", name, part="missing")
    taint = untolerated_taint(flavor, spec)
    if taint is not None:
        text = f"untolerated taint {{{taint.key} {taint.value} {taint.effect} <nil>}} in flavor {name}"
        return FlavorFault("NoMatchingFlavor", text, name, part="taint")
    if not is_placed(flavor, spec):
        return FlavorFault("NoMatchingFlavor", f"flavor {name} doesn't match node affinity", name, part="affinity")
    return None


def _short(
    queue: str, capacity: Capacity, flavor: str, asked: Amounts, taken: Mapping[Cell, int]
) -> Iterator[FlavorFault]:
    """Yield the resources of which a flavor has too little. Source: fitsResourceQuota."""
    for resource, units in asked.items():
        cell = (flavor, resource)
        before = taken.get(cell, 0)
        most, left, value = capacity.most(queue, cell), capacity.left(queue, cell), before + units
        if value > most:
            text = (
                f"insufficient quota for {resource} in flavor {flavor}, previously considered podsets requests "
                f"({amount_text(resource, before)}) + current podset request ({amount_text(resource, units)}) > "
                f"maximum capacity ({amount_text(resource, most)})"
            )
            yield FlavorFault("ExceedsMaxQuota", text, flavor, resource, value - most, value - left)
        elif value > left:
            more = amount_text(resource, value - left)
            text = f"insufficient unused quota for {resource} in flavor {flavor}, {more} more needed"
            yield FlavorFault("WaitingForQuota", text, flavor, resource, value - left, value - left)


def _beyond(
    queue: ClusterQueue, flavors: Flavors, requests: Sequence[PodSetRequest], why: Why | None
) -> Iterator[Beyond]:
    if flavors is None:
        yield "flavors"
    if why == "WaitingForQuota" and preempts(queue):
        yield "preemption"
    if queue.spec.fair_sharing or queue.spec.admission_scope:
        yield "fair sharing"
    topology = (request.pod_set.topology_request for request in requests)
    if any(isinstance(each, dict) and each.keys() & {"required", "preferred", "unconstrained"} for each in topology):
        yield "topology"
