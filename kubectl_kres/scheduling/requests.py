"""What a pod requests and what a node has, as the whole numbers that the scheduler compares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import ResourceList
from kubectl_kres.model.scheduling import SchedulingContainer, SchedulingPod
from kubectl_kres.quantity import Quantity, stored

#: Resource name to thousandths of a CPU, bytes, or units.
Amounts = Mapping[str, int]
Exact = dict[str, Quantity]
ZERO = Quantity(0)


@lru_cache(50_000)
def _parsed(text: str) -> Quantity:
    return stored(text)


def _read(amounts: Iterable[tuple[str, Any]]) -> Exact:
    """Return a resource list; what is no quantity, which no server stores, counts as nothing."""
    exact: Exact = {}
    for name, value in amounts:
        try:
            exact[name] = _parsed(value) if isinstance(value, str) else stored(value)
        except QuantityError:
            continue
    return exact


def is_pod_level(resource: str) -> bool:
    """Return whether a pod may ask for the resource as a whole."""
    return resource in {"cpu", "memory"} or resource.startswith("hugepages-")


def is_counted(resource: str) -> bool:
    """Return whether nodes have the resource: those of Kubernetes, extended ones, huge pages, attachable volumes.

    Source: pkg/scheduler/util/pod_resources.go IsScalarResourceName.
    """
    if resource in {"cpu", "memory", "ephemeral-storage", "pods"}:
        return True
    return "/" in resource or resource.startswith(("hugepages-", "attachable-volumes-"))


def whole(amounts: Mapping[str, Quantity]) -> Amounts:
    """Return what the scheduler counts: CPU in thousandths, all else in units, both rounded up."""
    return {
        name: amount.milli() if name == "cpu" else amount.value()
        for name, amount in amounts.items()
        if is_counted(name)
    }


def read_amounts(amounts: ResourceList | None) -> Amounts:
    """Return the whole numbers of a resource list."""
    return whole(_read((amounts or {}).items()))


def _add(sums: Exact, more: Mapping[str, Quantity]) -> None:
    for name, amount in more.items():
        have = sums.get(name)
        sums[name] = amount if have is None else have + amount


def _raise(sums: Exact, other: Mapping[str, Quantity]) -> None:
    for name, amount in other.items():
        have = sums.get(name)
        if have is None or amount > have:
            sums[name] = amount


#: A list of amounts as read, which can be a key; empty: nothing.
_List = tuple[tuple[str, Any], ...]


class _Shape(NamedTuple):
    """All of a pod that its requests depend on: pods of a workload have the same, and are summed once.

    ``containers`` and ``inits``: what is asked, and what it has, which is None where its status says nothing; of inits
    also whether it is a sidecar.
    """

    containers: tuple[tuple[_List, tuple[_List, _List] | None], ...]
    inits: tuple[tuple[_List, tuple[_List, _List] | None, bool], ...]
    level: _List
    level_has: tuple[_List, _List] | None
    overhead: _List
    infeasible: bool


def requests_of(pod: SchedulingPod, *, on_node: bool) -> Amounts:
    """Return what a pod requests in total. ``on_node``: it is bound, so what it was given counts where that is more.

    The result is shared by all pods that are alike. Source: component-helpers resource/helpers.go PodRequests.
    """
    spec, status = pod.spec, pod.status
    has: dict[str, tuple[_List, _List]] = {}
    level_has = None
    if on_node:
        for status_of_container in (*(status.container_statuses or ()), *(status.init_container_statuses or ())):
            if status_of_container.resources is not None:
                has[status_of_container.name] = (
                    _listed(status_of_container.resources.requests),
                    _listed(status_of_container.allocated_resources),
                )
        if spec.resources is not None and status.resources is not None:
            level_has = (_listed(status.resources.requests), _listed(status.allocated_resources))
    infeasible = False
    for condition in status.conditions or ():
        if condition.type == "PodResizePending":
            infeasible = condition.reason == "Infeasible"
    inits = [
        (_asked(container), has.get(container.name), container.restart_policy == "Always")
        for container in spec.init_containers or ()
    ]
    shape = _Shape(
        tuple([(_asked(container), has.get(container.name)) for container in spec.containers or ()]),
        tuple(inits),
        _listed(spec.resources.requests) if spec.resources is not None else (),
        level_has,
        _listed(spec.overhead) if spec.overhead else (),
        infeasible,
    )
    return _sum(shape)


def _asked(container: SchedulingContainer) -> _List:
    return _listed(container.resources.requests) if container.resources is not None else ()


def _listed(amounts: ResourceList | None) -> _List:
    return tuple(amounts.items()) if amounts else ()


@lru_cache(20_000)
def _sum(shape: _Shape) -> Amounts:
    sums: Exact = {}
    for asked, has in shape.containers:
        _add(sums, _effective(asked, has, infeasible=shape.infeasible))
    sidecars: Exact = {}
    peak: Exact = {}
    for asked, has, sidecar in shape.inits:
        if sidecar:
            amounts = _effective(asked, has, infeasible=shape.infeasible)
            _add(sums, amounts)
            _add(sidecars, amounts)
            _raise(peak, sidecars)
        else:
            together = _read(asked)
            _add(together, sidecars)
            _raise(peak, together)
    _raise(sums, peak)
    level = {name: amount for name, amount in _read(shape.level).items() if is_pod_level(name)}
    if level and shape.level_has is not None:
        effective = _effective(shape.level, shape.level_has, infeasible=shape.infeasible)
        level = {name: effective.get(name, ZERO) for name in level}
    sums.update(level)
    _add(sums, _read(shape.overhead))
    return whole(sums)


def _effective(asked: _List, has: tuple[_List, _List] | None, *, infeasible: bool) -> Exact:
    """Return the largest of what is asked, had and promised; after a resize that is infeasible what is asked counts
    not.
    """
    amounts: Exact = _read(asked) if has is None or not infeasible else {}
    if has is not None:
        _raise(amounts, _read(has[0]))
        _raise(amounts, _read(has[1]))
    return amounts
