"""Lower requests with which a pod fits a node: the largest one is lowered first.

It also turns the scheduler's whole numbers into quantities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from kubectl_kres.admission.base.draft import Side
from kubectl_kres.admission.base.resource_names import huge_page_bytes, is_huge_page, may_overcommit
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.model.scheduling import SchedulingPod
from kubectl_kres.quantity import Quantity, quantity_of
from kubectl_kres.scheduling.requests import is_pod_level, read_amounts, requests_of

_MIB = 1 << 20


def amount(resource: str, number: int) -> Quantity:
    """Return the scheduler's number: thousandths of a CPU, bytes, or units."""
    if resource == "cpu":
        return Quantity(number * 10**6, "DecimalSI", -3)
    return quantity_of(number, "BinarySI" if is_bytes(resource) else "DecimalSI")


def is_bytes(resource: str) -> bool:
    return resource in {"memory", "ephemeral-storage"} or is_huge_page(resource)


def round_down(resource: str, number: int) -> int:
    """Return the number rounded down to whole mebibytes, where there is one: nobody writes single bytes; of huge pages
    to whole pages.
    """
    if is_huge_page(resource):
        page = huge_page_bytes(resource)
        return number // page * page
    return number // _MIB * _MIB if is_bytes(resource) and number >= _MIB else number


def sides_of(resource: str) -> tuple[Side, ...]:
    """Return where a lower amount is written: of what cannot be overcommitted the limit is the request."""
    return ("requests",) if may_overcommit(resource) else ("requests", "limits")


class LoweredValue(NamedTuple):
    """A request that is lower. ``path``: of its container in the pod, or ``spec``; ``container`` is empty then."""

    path: str
    container: str
    resource: str
    before: str
    after: str


class LoweredPod(NamedTuple):
    """The pod with the lower requests."""

    pod: SchedulingPod
    values: tuple[LoweredValue, ...]


def lower_requests(pod: SchedulingPod, room: Mapping[str, int]) -> LoweredPod | None:
    """Return the pod lowered to what there is room for; None: a request would be nothing."""
    values: list[LoweredValue] = []
    for resource, asked in sorted(requests_of(pod, on_node=False).items()):
        free = room.get(resource, 0)
        if resource == "pods" or asked <= free:
            continue
        lowered = _lower_resource(pod, resource, free)
        if lowered is None:
            return None
        pod, values = lowered.pod, [*values, *lowered.values]
    return LoweredPod(pod, tuple(values)) if values else None


def _lower_resource(pod: SchedulingPod, resource: str, free: int) -> LoweredPod | None:
    """Return one resource lowered: the largest request first, then the next one where that is not enough."""
    values: list[LoweredValue] = []
    for path, name, before in sorted(_requests(pod, resource), key=lambda request: (-request[2], request[0])):
        total = requests_of(pod, on_node=False).get(resource, 0)
        over = total - free
        if over <= 0:
            break
        after = round_down(resource, before - over)
        if after <= 0:
            return None
        changed = _set_request(pod, path, resource, str(amount(resource, after)))
        if requests_of(changed, on_node=False).get(resource, 0) == total:
            continue  # another container's turn decides
        pod = changed
        texts = (str(amount(resource, before)), str(amount(resource, after)))
        values.append(LoweredValue(path, name, resource, *texts))
    fits = requests_of(pod, on_node=False).get(resource, 0) <= free
    return LoweredPod(pod, tuple(values)) if fits else None


def _requests(pod: SchedulingPod, resource: str) -> Iterator[tuple[str, str, int]]:
    """Yield path, name and amount of each request that counts: the pod's own instead of those of containers."""
    spec = pod.spec
    level = read_amounts(spec.resources.requests if spec.resources else None).get(resource, 0)
    if level and is_pod_level(resource):
        yield "spec", "", level
        return
    for group, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers or ()):
            asked = read_amounts(container.resources.requests if container.resources else None).get(resource, 0)
            if asked:
                yield f"spec.{group}[{index}]", container.name, asked


def _set_request(pod: SchedulingPod, path: str, resource: str, text: str) -> SchedulingPod:
    spec = pod.spec
    if path == "spec":
        return replace(pod, spec=replace(spec, resources=_merge_request(spec.resources, resource, text)))
    key = "init_containers" if "initContainers" in path else "containers"
    group: list[Any] = list(getattr(spec, key))
    index = int(path.partition("[")[2].rstrip("]"))
    group[index] = replace(group[index], resources=_merge_request(group[index].resources, resource, text))
    return replace(pod, spec=replace(spec, **{key: tuple(group)}))


def _merge_request(resources: ResourceRequirements | None, resource: str, text: str) -> ResourceRequirements:
    has = resources or ResourceRequirements()
    return replace(has, requests={**(has.requests or {}), resource: text})
