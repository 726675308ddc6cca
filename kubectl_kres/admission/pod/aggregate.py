"""What the containers of a pod come to together: its effective requests and limits, and its QoS class with the value
that decides it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from kubectl_kres.admission.base.draft import Draft, Quantities, Side, Slot, parse_list
from kubectl_kres.admission.base.resource_names import is_pod_level
from kubectl_kres.model.pod import ContainerStatus, PodStatus, ResourceRequirements
from kubectl_kres.provenance.journal import Derive, Term
from kubectl_kres.quantity import ZERO, Quantity


def add_into(sums: Quantities, more: Mapping[str, Quantity]) -> None:
    for name, quantity in more.items():
        have = sums.get(name)
        sums[name] = quantity if have is None else have + quantity


def _raise_to(sums: Quantities, other: Mapping[str, Quantity]) -> None:
    for name, quantity in other.items():
        have = sums.get(name)
        if have is None or quantity > have:
            sums[name] = quantity


def sum_containers(containers: Iterable[Slot], inits: Sequence[Slot], side: Side) -> Quantities:
    """Return what containers, sidecars and init containers need together; a name nobody mentions is absent.

    Sidecars run beside the containers; an init container runs alone with the sidecars started before it.
    Source: component-helpers resource.AggregateContainerRequests, AggregateContainerLimits.
    """
    sums: Quantities = {}
    for slot in containers:
        add_into(sums, slot.amounts_of(side))
    if not inits:
        return sums
    sidecars: Quantities = {}
    peak: Quantities = {}
    for slot in inits:
        if slot.role == "sidecar":
            add_into(sums, slot.amounts_of(side))
            add_into(sidecars, slot.amounts_of(side))
            _raise_to(peak, sidecars)
        else:
            time = dict(slot.amounts_of(side))
            add_into(time, sidecars)
            _raise_to(peak, time)
    _raise_to(sums, peak)
    return sums


def sum_pod(draft: Draft, side: Side, *, overhead: bool = True) -> Quantities:
    """Return the figure that quota and scheduler use.

    Pod-level values replace the sums; overhead is added to every request, and to limits only where a limit that is not
    zero exists. Source: component-helpers resource.PodRequests, PodLimits.
    """
    sums = sum_containers(draft.containers, draft.inits, side)
    if draft.pod is not None:
        sums.update({name: value for name, value in draft.pod.amounts_of(side).items() if is_pod_level(name)})
    if overhead and draft.overhead:
        if side == "requests":
            add_into(sums, draft.overhead)
        else:
            add_into(sums, {name: value for name, value in draft.overhead.items() if sums.get(name)})
    return sums


def sum_stored_pod(draft: Draft, status: PodStatus, side: Side) -> Quantities:
    """Return the figure of a pod that exists: what its containers have or were promised counts, where that is more.

    While a resize is under way the largest of spec, actual and allocated counts: from 1.37 on of their sums, before of
    each container's. After an infeasible resize the spec does not count.
    Source: component-helpers resource AggregateContainerRequests, AggregateContainerLimits.
    """
    if not draft.server.is_enabled("InPlacePodVerticalScaling"):
        return sum_pod(draft, side)
    reported = reported_sizes(status)
    if not reported:
        return sum_pod(draft, side)
    if not draft.server.has_change("quota/resize-of-sums"):
        return sum_pod(_with_largest(draft, reported, infeasible=_infeasible(status)), side)
    infeasible = _infeasible(status)
    largest: Quantities = {} if infeasible else sum_pod(draft, side)
    _raise_to(largest, sum_pod(_as_reported(draft, reported, actual=True, infeasible=infeasible), side))
    if side == "requests":
        _raise_to(largest, sum_pod(_as_reported(draft, reported, actual=False, infeasible=infeasible), side))
    return largest


def reported_sizes(pod_status: PodStatus) -> dict[str, ContainerStatus]:
    """By name the statuses of containers that say what the container has or was promised."""
    statuses = (*(pod_status.init_container_statuses or ()), *(pod_status.container_statuses or ()))
    return {
        status.name: status
        for status in statuses
        if status.resources is not None or status.allocated_resources is not None
    }


def _as_reported(draft: Draft, reported: Mapping[str, ContainerStatus], *, actual: bool, infeasible: bool) -> Draft:
    """Return the pod with what its containers have (``actual``), or were promised; what is not reported is as in the
    spec.
    """
    twin = draft.copy()
    for slot in (*twin.containers, *twin.inits):
        status = reported.get(slot.name)
        resources = (status.resources if status is not None and actual else None) or ResourceRequirements()
        requests = resources.requests or (None if status is None else status.allocated_resources)
        if requests:
            slot.requests = parse_list(requests, "status.containerStatuses.requests")
        elif infeasible:
            slot.requests = {}
        if resources.limits:
            slot.limits = parse_list(resources.limits, "status.containerStatuses.resources.limits")
        elif infeasible:
            slot.limits = {}
    return twin


def _with_largest(draft: Draft, reported: Mapping[str, ContainerStatus], *, infeasible: bool) -> Draft:
    """Return the pod with the largest of each container's figures. Only containers and sidecars with resources differ.

    Source: component-helpers resource determineEffectiveRequests, determineEffectiveLimits, up to 1.36.
    """
    twin = draft.copy()
    for slot in (*twin.containers, *twin.inits):
        status = reported.get(slot.name)
        if slot.role != "init" and status is not None and status.resources is not None:
            _take_effective(slot, status, infeasible=infeasible)
    return twin


def _infeasible(status: PodStatus) -> bool:
    """Return whether the node can never fulfil the resize; the first condition of the type decides."""
    pending = [condition for condition in status.conditions or () if condition.type == "PodResizePending"]
    return bool(pending) and pending[0].reason == "Infeasible"


def _take_effective(slot: Slot, status: ContainerStatus, *, infeasible: bool) -> None:
    actual = status.resources or ResourceRequirements()
    requests = parse_list(actual.requests, "status.containerStatuses.resources.requests")
    limits = parse_list(actual.limits, "status.containerStatuses.resources.limits")
    _raise_to(requests, parse_list(status.allocated_resources, "status.containerStatuses.allocatedResources"))
    if infeasible:
        slot.requests, slot.limits = requests, limits
    else:
        _raise_to(slot.requests, requests)
        _raise_to(slot.limits, limits)


def both_sums(draft: Draft, side: Side) -> tuple[Quantities, Quantities]:
    """Return what containers and sidecars need together, and the same with init containers."""
    sidecars = [slot for slot in draft.inits if slot.role == "sidecar"]
    return (
        sum_containers(draft.containers, sidecars, side),
        sum_containers(draft.containers, draft.inits, side),
    )


def explain_total(
    draft: Draft, side: Side, resource: str, value: Quantity, sums: tuple[Quantities, Quantities] | None = None
) -> Derive:
    """Return how ``value`` of ``sum_pod`` came about: each part with its path, kept or outweighed.

    ``sums``: of ``both_sums``, which whoever asks for many resources makes once.
    """
    path = f"pod.{side}[{resource}]"
    terms: list[Term] = []
    level = draft.pod.amounts_of(side).get(resource) if draft.pod is not None and is_pod_level(resource) else None
    running = draft.running_slots()
    beside, whole = sums or both_sums(draft, side)
    peak = whole.get(resource)
    init_wins = peak is not None and (beside.get(resource) is None or peak > beside[resource])
    if level is not None and draft.pod is not None:
        terms.append(Term(draft.pod.path_of(side, resource), str(level)))
    for slot in running:
        quantity = slot.amounts_of(side).get(resource)
        if quantity is not None:
            terms.append(Term(slot.path_of(side, resource), str(quantity), level is None and not init_wins))
    terms += _init_terms(draft, side, resource, peak if init_wins and level is None else None)
    extra = draft.overhead.get(resource)
    if extra is not None and (side == "requests" or value > extra):
        terms.append(Term(f"spec.overhead[{resource}]", str(extra)))
    rule = "pod/pod-level" if level is not None else "pod/init-peak" if init_wins else "pod/sum"
    return Derive(path, rule, str(value), tuple(terms))


def _init_terms(draft: Draft, side: Side, resource: str, peak: Quantity | None) -> list[Term]:
    """Init containers with what they need; the one that makes the peak is kept, and with it the sidecars before it."""
    terms: list[Term] = []
    started: list[tuple[str, Quantity]] = []
    for slot in draft.inits:
        own_amount = slot.amounts_of(side).get(resource)
        if own_amount is None:
            continue
        if slot.role == "sidecar":
            started.append((slot.path_of(side, resource), own_amount))
            continue
        time = sum((quantity.nano for _, quantity in started), own_amount.nano)
        kept = peak is not None and time == peak.nano
        terms.append(Term(slot.path_of(side, resource), str(own_amount), kept))
        if kept:
            peak = None
            terms += [Term(path, str(quantity)) for path, quantity in started]
    return terms


CONSIDERED = ("cpu", "memory")


class QoS(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The class, one sentence why, and the paths that keep the pod from Guaranteed (empty if it is)."""

    name: str
    reason: str
    culprits: tuple[str, ...] = ()


def _positive(values: Quantities) -> Quantities:
    return {name: value for name, value in values.items() if name in CONSIDERED and value.nano > 0}


def _sum_slots(slots: Iterable[Slot], side: Side) -> Quantities:
    sums: Quantities = {}
    for slot in slots:
        for name, value in _positive(slot.amounts_of(side)).items():
            sums[name] = sums[name] + value if name in sums else value
    return sums


def deciding_slots(draft: Draft) -> tuple[Slot, ...]:
    """Return what decides the class: the pod level, or all containers."""
    pod = draft.pod
    if pod is not None and (
        not draft.server.has_change("qos/empty-pod-level") or any(map(is_pod_level, (*pod.limits, *pod.requests)))
    ):
        return (pod,)
    return (*draft.containers, *draft.inits)


def compute_class(draft: Draft) -> str:
    """Guaranteed, Burstable or BestEffort.

    A pod-level stanza hides the containers; up to 1.36 even an empty one. Only cpu and memory count; overhead, huge
    pages and extended resources do not. From 1.37 on request and limit of each container are compared, negative ones,
    too; before, the sums of what is above zero. Source: apis/core/helper/qos ComputePodQOS.
    """
    slots = deciding_slots(draft)
    if draft.server.has_change("qos/each-value"):
        shapes = {_find_resource_class(slot, name) for slot in slots for name in CONSIDERED} or {"BestEffort"}
        return shapes.pop() if len(shapes) == 1 else "Burstable"
    requests, limits = _sum_slots(slots, "requests"), _sum_slots(slots, "limits")
    if not requests and not limits:
        return "BestEffort"
    complete = all(len(_positive(slot.limits)) == len(CONSIDERED) for slot in slots)
    return "Guaranteed" if complete and requests == limits else "Burstable"


def _find_resource_class(slot: Slot, name: str) -> str:
    """Return the class that one resource of one container makes for. Source: qos.go resourceQOS."""
    request, limit = slot.requests.get(name, ZERO), slot.limits.get(name, ZERO)
    if request != limit:
        return "Burstable"
    return "Guaranteed" if request else "BestEffort"


def explain(draft: Draft, brought: str = "") -> QoS:
    """Return the class with what decides it. ``brought``: what the pod says of itself, which the server stores
    unchecked.

    Source: registry/core/pod strategy.go PrepareForCreate; apis/core/v1/helper/qos GetPodQOS.
    """
    name = compute_class(draft)
    if brought and brought != name:
        return QoS(brought, f"the manifest brings status.qosClass, which is kept; its values alone are {name}")
    slots = deciding_slots(draft)
    if draft.pod is not None and draft.pod in slots:
        field = "spec.resources"
        if name == "BestEffort":
            return QoS(name, f"{field} is present and sets no cpu or memory, which hides the containers", (field,))
    elif name == "BestEffort":
        return QoS(name, "no container has a cpu or memory request or limit")
    else:
        field = "every container"
    if name == "Guaranteed":
        return QoS(name, f"{field} has cpu and memory limits equal to its requests")
    culprits = tuple(culprit for slot in slots for culprit in _short_of_guaranteed(slot))
    texts = [text for _, text in culprits]
    reason = texts[0] if texts else "requests and limits differ in sum"
    return QoS(name, reason, tuple(path for path, _ in culprits))


def _short_of_guaranteed(slot: Slot) -> Iterator[tuple[str, str]]:
    title = slot.title
    limits, requests = _positive(slot.limits), _positive(slot.requests)
    for name in CONSIDERED:
        if name not in limits:
            yield slot.path_of("limits", name), f"{title} has no {name} limit"
        elif requests.get(name) != limits[name]:
            shown = requests.get(name, 0)
            yield slot.path_of("requests", name), f"{title} requests {name} {shown}, not its limit {limits[name]}"
