"""Requests of a pod and capacity of a node, in the whole numbers that the scheduler compares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import ResourceList
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.model.scheduling import PodConditionType, SchedulingPod
from kubectl_kres.model.scheduling_views import CountedPod, as_requests, decode_requests
from kubectl_kres.quantity import Quantity, stored_quantity

#: Resource name to thousandths of a CPU, bytes, or units.
Amounts = Mapping[str, int]
Exact = dict[str, Quantity]
ZERO = Quantity(0)


@lru_cache(50_000)
def _parse_amount(text: str) -> Quantity:
    return stored_quantity(text)


_CONDITIONS = msgspec.json.Decoder(tuple[PodConditionType, ...] | None)


def _read(amounts: Iterable[tuple[str, Any]] | bytes) -> Exact:
    """Return a resource list; what is no quantity, which no server stores, counts as nothing."""
    exact: Exact = {}
    if isinstance(amounts, bytes):
        amounts = decode_requests(amounts).items() if amounts else ()
    for name, value in amounts:
        try:
            exact[name] = _parse_amount(value) if isinstance(value, str) else stored_quantity(value)
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


def scheduler_units(amounts: Mapping[str, Quantity]) -> Amounts:
    """Return what the scheduler counts: CPU in thousandths, all else in units, both rounded up."""
    return {
        name: amount.milli() if name == "cpu" else amount.value()
        for name, amount in amounts.items()
        if is_counted(name)
    }


def read_amounts(amounts: ResourceList | None) -> Amounts:
    """Return the whole numbers of a resource list."""
    return scheduler_units(_read((amounts or {}).items()))


def _add(sums: Exact, more: Mapping[str, Quantity]) -> None:
    for name, amount in more.items():
        have = sums.get(name)
        sums[name] = amount if have is None else have + amount


def _raise_amounts(sums: Exact, other: Mapping[str, Quantity]) -> None:
    for name, amount in other.items():
        have = sums.get(name)
        if have is None or amount > have:
            sums[name] = amount


#: A list of amounts as read, or the text of one or of what has one under ``requests``; empty: nothing. Can be a key.
_List = tuple[tuple[str, Any], ...] | bytes


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


def requests_of(pod: SchedulingPod | CountedPod, *, on_node: bool) -> Amounts:
    """Return what a pod requests in total. ``on_node``: it is bound, so what it was given counts where that is more.

    The result is shared by all pods that are alike. Source: component-helpers resource/helpers.go PodRequests.
    """
    spec, status = pod.spec, pod.status
    has: dict[str, tuple[_List, _List]] = {}
    level_has = None
    level = _read_requests(spec.resources)
    if on_node:
        for statuses in (status.container_statuses, status.init_container_statuses):
            for each in statuses or ():
                if _is_there(each.resources):
                    has[each.name] = (_read_requests(each.resources), _list_amounts(each.allocated_resources))
        if _is_there(spec.resources) and _is_there(status.resources):
            level_has = (_read_requests(status.resources), _list_amounts(status.allocated_resources))
    infeasible = False
    for condition in _conditions(status.conditions):
        if condition.type == "PodResizePending":
            infeasible = condition.reason == "Infeasible"
    inits: tuple[tuple[_List, tuple[_List, _List] | None, bool], ...] = ()
    if spec.init_containers:
        inits = tuple(
            [
                (_read_requests(init.resources), has.get(init.name), init.restart_policy == "Always")
                for init in spec.init_containers
            ]
        )
    containers = tuple(
        [(_read_requests(container.resources), has.get(container.name)) for container in spec.containers or ()]
    )
    return _sum_shape(_Shape(containers, inits, level, level_has, _list_amounts(spec.overhead), infeasible))


class CountedRequests:
    """What pods on nodes request: of those that are alike it is worked out once."""

    def __init__(self) -> None:
        self._amounts_by_spec: dict[Any, Amounts] = {}

    def find(self, pod: CountedPod) -> Amounts:
        """As ``requests_of`` a pod that is bound."""
        spec, status = pod.spec, pod.status
        if spec.init_containers or spec.resources or spec.overhead or _PENDING in bytes(status.conditions):
            return requests_of(pod, on_node=True)
        key = (
            *[(container.name, bytes(container.resources)) for container in spec.containers or ()],
            *[
                (entry.name, bytes(entry.resources), bytes(entry.allocated_resources))
                for entry in status.container_statuses or ()
            ],
        )
        requests = self._amounts_by_spec.get(key)
        if requests is None:
            if len(self._amounts_by_spec) >= _MANY:
                self._amounts_by_spec.clear()
            requests = self._amounts_by_spec[key] = requests_of(pod, on_node=True)
        return requests


_PENDING, _MANY = b"PodResizePending", 20_000


def _conditions(conditions: tuple[PodConditionType, ...] | Raw | None) -> tuple[PodConditionType, ...]:
    if not isinstance(conditions, Raw):
        return conditions or ()
    try:
        return _CONDITIONS.decode(conditions) or () if _PENDING in bytes(conditions) else ()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ()


def _is_there(resources: ResourceRequirements | Raw | None) -> bool:
    return resources is not None and (type(resources) is not Raw or bytes(resources) not in {b"", b"null"})


def _read_requests(resources: ResourceRequirements | Raw | None) -> _List:
    if type(resources) is Raw:
        return bytes(resources)
    return _list_amounts(resources.requests) if isinstance(resources, ResourceRequirements) else ()


def _list_amounts(amounts: ResourceList | Raw | None) -> _List:
    if type(amounts) is Raw:
        return as_requests(amounts)
    return tuple(amounts.items()) if isinstance(amounts, Mapping) else ()


@lru_cache(20_000)
def _sum_shape(shape: _Shape) -> Amounts:
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
            _raise_amounts(peak, sidecars)
        else:
            together = _read(asked)
            _add(together, sidecars)
            _raise_amounts(peak, together)
    _raise_amounts(sums, peak)
    level = {name: amount for name, amount in _read(shape.level).items() if is_pod_level(name)}
    if level and shape.level_has is not None:
        effective = _effective(shape.level, shape.level_has, infeasible=shape.infeasible)
        level = {name: effective.get(name, ZERO) for name in level}
    sums.update(level)
    _add(sums, _read(shape.overhead))
    return scheduler_units(sums)


def _effective(asked: _List, has: tuple[_List, _List] | None, *, infeasible: bool) -> Exact:
    """Return the largest of what is asked, had and promised; after a resize that is infeasible what is asked counts
    not.
    """
    amounts: Exact = _read(asked) if has is None or not infeasible else {}
    if has is not None:
        _raise_amounts(amounts, _read(has[0]))
        _raise_amounts(amounts, _read(has[1]))
    return amounts
