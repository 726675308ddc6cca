"""Requests and limits of a pod template, written and taken out again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import structs

from kubectl_kres.admission.base.draft import Side
from kubectl_kres.model.pod import Container, Pod, PodSpec, ResourceRequirements


class Place(NamedTuple):
    """One request or limit: the path of its container (``spec`` for the pod level), the side and the resource."""

    holder: str
    side: Side
    resource: str

    @property
    def path(self) -> str:
        """As the server writes it."""
        return f"{self.holder}.resources.{self.side}[{self.resource}]"


#: What is written where; None takes a value out.
Values = Mapping[Place, str | None]


def write(pod: Pod, values: Values) -> Pod:
    """The pod with the values; containers that are not there are left out."""
    if not values:
        return pod
    spec = pod.spec
    containers = _written("spec.containers", spec.containers, values)
    inits = _written("spec.initContainers", spec.init_containers, values)
    own = {place: text for place, text in values.items() if place.holder == "spec"}
    level = _resources(spec.resources, own) if own else spec.resources
    changed: PodSpec = structs.replace(spec, containers=containers, init_containers=inits, resources=level)
    return structs.replace(pod, spec=changed)


def _written(path: str, containers: tuple[Container, ...] | None, values: Values) -> tuple[Container, ...] | None:
    if containers is None:
        return None
    result = []
    for index, container in enumerate(containers):
        own = {place: text for place, text in values.items() if place.holder == f"{path}[{index}]"}
        result.append(structs.replace(container, resources=_resources(container.resources, own)) if own else container)
    return tuple(result)


def _resources(resources: ResourceRequirements | None, values: Values) -> ResourceRequirements:
    base = resources or ResourceRequirements()
    sides: dict[str, dict[str, object]] = {"limits": dict(base.limits or {}), "requests": dict(base.requests or {})}
    for place, text in values.items():
        if text is None:
            sides[place.side].pop(place.resource, None)
        else:
            sides[place.side][place.resource] = text
    return structs.replace(base, limits=sides["limits"] or None, requests=sides["requests"] or None)


def written(pod: Pod, place: Place) -> str | None:
    """What stands there; None: nothing."""
    resources = pod.spec.resources if place.holder == "spec" else _holder(pod, place.holder)
    values = (resources.limits if place.side == "limits" else resources.requests) if resources is not None else None
    value = (values or {}).get(place.resource)
    return None if value is None else str(value)


def _holder(pod: Pod, holder: str) -> ResourceRequirements | None:
    for path, group in (("spec.containers", pod.spec.containers), ("spec.initContainers", pod.spec.init_containers)):
        for index, container in enumerate(group or ()):
            if holder == f"{path}[{index}]":
                return container.resources
    return None
