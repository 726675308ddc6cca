"""What a pod requests and what a node has, as the whole numbers that the scheduler compares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from kubectl_kres.errors import QuantityError
from kubectl_kres.model.meta import ResourceList
from kubectl_kres.model.scheduling import SchedulingContainer, SchedulingPod
from kubectl_kres.quantity import Quantity, stored

#: Resource name to thousandths of a CPU, bytes, or units.
Amounts = dict[str, int]
Exact = dict[str, Quantity]
ZERO = Quantity(0)


@lru_cache(50_000)
def _parsed(text: str) -> Quantity:
    return stored(text)


def _read(amounts: ResourceList | None) -> Exact:
    """A resource list; what is no quantity, which no server stores, counts as nothing."""
    exact: Exact = {}
    for name, value in (amounts or {}).items():
        try:
            exact[name] = _parsed(value) if isinstance(value, str) else stored(value)
        except QuantityError:
            continue
    return exact


def is_pod_level(resource: str) -> bool:
    """Whether a pod may ask for the resource as a whole."""
    return resource in {"cpu", "memory"} or resource.startswith("hugepages-")


def is_counted(resource: str) -> bool:
    """Whether nodes have the resource: those of Kubernetes, extended ones, huge pages, attachable volumes.

    Source: pkg/scheduler/util/pod_resources.go IsScalarResourceName.
    """
    if resource in {"cpu", "memory", "ephemeral-storage", "pods"}:
        return True
    return "/" in resource or resource.startswith(("hugepages-", "attachable-volumes-"))


def whole(amounts: Mapping[str, Quantity]) -> Amounts:
    """What the scheduler counts: CPU in thousandths, all else in units, both rounded up."""
    return {
        name: amount.milli() if name == "cpu" else amount.value()
        for name, amount in amounts.items()
        if is_counted(name)
    }


def read_amounts(amounts: ResourceList | None) -> Amounts:
    """The whole numbers of a resource list."""
    return whole(_read(amounts))


def _add(sums: Exact, more: Mapping[str, Quantity]) -> None:
    for name, amount in more.items():
        have = sums.get(name)
        sums[name] = amount if have is None else have + amount


def _raise(sums: Exact, other: Mapping[str, Quantity]) -> None:
    for name, amount in other.items():
        have = sums.get(name)
        if have is None or amount > have:
            sums[name] = amount


def requests_of(pod: SchedulingPod, *, on_node: bool) -> Amounts:
    """What a pod requests in all. ``on_node``: it is bound, so what it was given counts where that is more.

    Source: component-helpers resource/helpers.go PodRequests.
    """
    given = _given(pod) if on_node else {}
    infeasible = any(
        condition.type == "PodResizePending" and condition.reason == "Infeasible"
        for condition in pod.status.conditions or ()
    )
    sums = _of_containers(pod, given, infeasible=infeasible)
    level = pod.spec.resources.requests if pod.spec.resources is not None else None
    if level and any(is_pod_level(name) for name in level):
        asked = _read(level)
        status = pod.status.resources
        if on_node and status is not None:
            effective = {} if infeasible else dict(asked)
            _raise(effective, _read(status.requests))
            _raise(effective, _read(pod.status.allocated_resources))
            asked = {name: effective.get(name, ZERO) for name in asked}
        sums.update({name: amount for name, amount in asked.items() if is_pod_level(name)})
    if pod.spec.overhead:
        _add(sums, _read(pod.spec.overhead))
    return whole(sums)


def _of_containers(pod: SchedulingPod, given: Mapping[str, Exact], *, infeasible: bool) -> Exact:
    """Containers and sidecars together, or an init container with the sidecars before it where that is more."""
    sums: Exact = {}
    for container in pod.spec.containers or ():
        _add(sums, _of_container(container, given, infeasible=infeasible))
    sidecars: Exact = {}
    peak: Exact = {}
    for container in pod.spec.init_containers or ():
        if container.restart_policy == "Always":
            amounts = _of_container(container, given, infeasible=infeasible)
            _add(sums, amounts)
            _add(sidecars, amounts)
            _raise(peak, sidecars)
        else:
            together = _read(container.resources.requests if container.resources else None)
            _add(together, sidecars)
            _raise(peak, together)
    _raise(sums, peak)
    return sums


def _of_container(container: SchedulingContainer, given: Mapping[str, Exact], *, infeasible: bool) -> Exact:
    asked = _read(container.resources.requests if container.resources else None)
    has = given.get(container.name)
    if has is None:
        return asked
    amounts: Exact = {} if infeasible else asked
    _raise(amounts, has)
    return amounts


def _given(pod: SchedulingPod) -> dict[str, Exact]:
    """By container what its status says that it has or was promised."""
    given: dict[str, Exact] = {}
    statuses: Iterable[Any] = (*(pod.status.container_statuses or ()), *(pod.status.init_container_statuses or ()))
    for status in statuses:
        if status.resources is not None:
            given[status.name] = _read(status.resources.requests)
            _raise(given[status.name], _read(status.allocated_resources))
    return given
