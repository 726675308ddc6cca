"""What pods of a template look like once they are stored, and what each costs every quota."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import parse_list
from kubectl_kres.admission.quota.quota_admission import MUST_SPECIFY, QuotaRequest
from kubectl_kres.admission.quota.usage import ALIASES, DEVICES, claim_names, pod_names, requirements, service_names
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.objects import Raw, ResourceQuota, ScopedRequirement, mapping
from kubectl_kres.quantity import Format
from kubectl_kres.simulate.state import Cost

#: Stands for the random end of a generated name.
SUFFIX = "-xxxxx"


class Measure(Struct, frozen=True):
    """One amount that a quota can limit: the quota by its name and scopes, and the resource by the quota's name."""

    quota: str
    scopes: tuple[ScopedRequirement, ...]
    resource: str


class Shape(Struct, frozen=True):
    """One way in which a pod is stored, the pod itself, and what it costs. ``unstated``: measures for which a container
    states nothing although it must.
    """

    stored: Mapping[str, Any]
    cost: Cost = ()
    unstated: tuple[int, ...] = ()


class Measures:
    """All amounts that the quotas of a simulation can limit, numbered."""

    def __init__(self, quotas: Iterable[ResourceQuota]) -> None:
        self._indexes: dict[tuple[str, str, str], int] = {}
        self.items: list[Measure] = []
        #: The notation that each amount is shown in: that of the first object that counts for it.
        self.formats: dict[int, Format] = {}
        self._concerned_by: dict[str, list[tuple[int, Measure]]] = {}
        for quota in quotas:
            self.add(quota)

    def add(self, quota: ResourceQuota) -> None:
        """Take in a quota; nothing changes for one that is known."""
        scopes = requirements(quota.spec)
        self._concerned_by.clear()
        for resource in quota.spec.hard or {}:
            key = (quota.metadata.name, repr(scopes), resource)
            if key not in self._indexes:
                self._indexes[key] = len(self.items)
                self.items.append(Measure(quota.metadata.name, scopes, resource))

    def is_counted(self, number: int) -> bool:
        """Return whether objects of any kind count for a measure; only then the controller writes what is used."""
        resource = (self.items[number].resource,)
        count_alone = resource[0].startswith("count/") or resource[0] in ALIASES
        of_devices = resource[0].endswith(DEVICES)
        return (
            count_alone
            or of_devices
            or any(map(bool, (pod_names(resource), claim_names(resource), service_names(resource))))
        )

    def numbers(self, quota: ResourceQuota) -> Iterator[tuple[str, int]]:
        """Yield the resources of a quota with their numbers."""
        shown = repr(requirements(quota.spec))
        for resource in quota.spec.hard or {}:
            yield resource, self._indexes[quota.metadata.name, shown, resource]

    def limits(self, quota: ResourceQuota) -> Iterator[tuple[int, int]]:
        """Number and amount of each value of ``hard``."""
        hard = parse_list(quota.spec.hard, "spec.hard")
        for resource, number in self.numbers(quota):
            yield number, hard[resource].nano

    def cost(self, request: QuotaRequest) -> Cost:
        """Return what an object costs each quota that counts it."""
        pairs: list[tuple[int, int]] = []
        for number, measure in self._find_relevant_measures(request):
            amount = request.usage.get(measure.resource)
            if amount is not None and amount.nano and all(map(request.in_scope, measure.scopes)):
                pairs.append((number, amount.nano))
                self.formats.setdefault(number, amount.format)
        return tuple(pairs)

    def unstated(self, request: QuotaRequest) -> tuple[int, ...]:
        """Return the measures that a container must state and does not."""
        containers = request.containers
        if containers is None:
            return ()
        return tuple(
            number
            for number, measure in self._find_relevant_measures(request)
            if measure.resource in MUST_SPECIFY
            and any(measure.resource not in stated for _, stated in containers)
            and all(map(request.in_scope, measure.scopes))
        )

    def _find_relevant_measures(self, request: QuotaRequest) -> list[tuple[int, Measure]]:
        """Return the measures that objects of the request's kind count for."""
        measures = self._concerned_by.get(request.resource)
        if measures is None:
            numbered = enumerate(self.items)
            measures = [(number, measure) for number, measure in numbered if request.names((measure.resource,))]
            self._concerned_by[request.resource] = measures
        return measures


def add_costs(cost: Cost, other: Cost) -> Cost:
    """Return both together, each measure once."""
    if not other:
        return cost
    amounts = dict(cost)
    for number, amount in other:
        amounts[number] = amounts.get(number, 0) + amount
    return tuple(amounts.items())


def pod_of(template: Raw, owner: str, *, name: str = "") -> dict[str, Any]:
    """Return the pod that a controller makes of a template. ``name``: the whole name, else one is generated."""
    metadata = {key: value for key, value in mapping(template, "metadata").items() if key in {"labels", "annotations"}}
    metadata["name"] = name or f"{owner}{SUFFIX}"
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.get("spec") or {}}


def without_quotas(policies: Policies) -> Policies:
    """Return the policies with no quota among them."""
    return structs.replace(policies, quotas=())


def shape_fields(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Of a stored pod what tells shapes apart: resources, QoS class, priority class."""
    spec = stored.get("spec") or {}
    shown: dict[str, Any] = {"qosClass": (stored.get("status") or {}).get("qosClass", "")}
    for key in ("containers", "initContainers"):
        if spec.get(key):
            shown[key] = [
                {"name": container.get("name", ""), "resources": _select_sides(container.get("resources"))}
                for container in spec[key]
            ]
    for key in ("resources", "overhead", "priorityClassName"):
        if key in spec:
            shown[key] = spec[key]
    return shown


def _select_sides(resources: Mapping[str, Any] | None) -> dict[str, Any]:
    return {side: resources[side] for side in ("limits", "requests") if resources and resources.get(side)}
