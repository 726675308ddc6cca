"""Values of a template that LimitRanges, validation and quotas admit, found by writing and removing them, whatever room
there is.

They are proposed resource by resource from the refusals and evaluated again, since a value for one rule may break
another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Draft, Side, Slot
from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.admission.base.resource_names import huge_page_bytes
from kubectl_kres.model.pod import Container, Pod, PodSpec, ResourceRequirements
from kubectl_kres.quantity import ZERO, Quantity


class ResourceField(Struct, frozen=True, order=True):
    """One request or limit: the path of its container (``spec`` for the pod level), the side and the resource."""

    holder: str
    side: Side
    resource: str

    @property
    def path(self) -> str:
        """The path as the server writes it."""
        return f"{self.holder}.resources.{self.side}[{self.resource}]"


#: What a container is given where nothing says how much it needs.
STATED = {"cpu": "100m", "memory": "128Mi"}
#: What is written where.
Values = Mapping[ResourceField, str]


def write_values(pod: Pod, values: Values) -> Pod:
    """Return the pod with the values; values of unknown containers are ignored."""
    if not values:
        return pod
    spec = pod.spec
    containers = _write_containers("spec.containers", spec.containers, values)
    inits = _write_containers("spec.initContainers", spec.init_containers, values)
    level_values = {field: text for field, text in values.items() if field.holder == "spec"}
    level = _resources(spec.resources, level_values) if level_values else spec.resources
    changed: PodSpec = structs.replace(spec, containers=containers, init_containers=inits, resources=level)
    return structs.replace(pod, spec=changed)


def _write_containers(
    path: str, containers: tuple[Container, ...] | None, values: Values
) -> tuple[Container, ...] | None:
    if containers is None:
        return None
    result = []
    for index, container in enumerate(containers):
        container_values = {field: text for field, text in values.items() if field.holder == f"{path}[{index}]"}
        result.append(
            structs.replace(container, resources=_resources(container.resources, container_values))
            if container_values
            else container
        )
    return tuple(result)


def _resources(resources: ResourceRequirements | None, values: Values) -> ResourceRequirements:
    base = resources or ResourceRequirements()
    sides: dict[str, dict[str, object]] = {"limits": dict(base.limits or {}), "requests": dict(base.requests or {})}
    for field, text in values.items():
        sides[field.side][field.resource] = text
    return structs.replace(base, limits=sides["limits"] or None, requests=sides["requests"] or None)


def written_value(pod: Pod, field: ResourceField) -> str | None:
    """Return the value that is written there; None: nothing."""
    resources = pod.spec.resources if field.holder == "spec" else _holder(pod, field.holder)
    values = (resources.limits if field.side == "limits" else resources.requests) if resources is not None else None
    value = (values or {}).get(field.resource)
    return None if value is None else str(value)


def _holder(pod: Pod, holder: str) -> ResourceRequirements | None:
    for path, group in (("spec.containers", pod.spec.containers), ("spec.initContainers", pod.spec.init_containers)):
        for index, container in enumerate(group or ()):
            if holder == f"{path}[{index}]":
                return container.resources
    return None


#: Whether a request that exceeds its limit comes down to it, or the limit goes up.
Direction = Literal["lower", "raise"]

UNIT = 10**9


def units(resource: str, quantity: Quantity | None = None) -> int:
    """Return the unit of a computed value: thousandths of cpu, Mi of bytes where there are some, huge pages, else whole
    ones.
    """
    if resource == "cpu":
        return 10**6
    if resource in {"memory", "ephemeral-storage", "storage"} and (quantity is None or quantity.nano >= 2**21 * UNIT):
        return 2**20 * UNIT
    return UNIT * huge_page_bytes(resource)


def resource_of(finding: Finding) -> str:
    """Return the resource of a container that a finding is about."""
    if finding.rule == "quota/must-specify":
        return finding.resource.rpartition(".")[2]
    return finding.resource or finding.field_path.resource


def needed_sides(findings: Sequence[Finding]) -> Mapping[str, set[Side]]:
    """Return the sides that quotas require, by resource."""
    result: dict[str, set[Side]] = {}
    for finding in findings:
        if finding.rule == "quota/must-specify":
            side, _, name = finding.resource.rpartition(".")
            result.setdefault(name, set()).add("limits" if side == "limits" else "requests")
    return result


def scale_down(draft: Draft, side: Side, name: str, most: Quantity) -> None:
    """Lower every container in proportion, so that their sum is at most the given one; an init container by itself."""
    together = draft.running_slots()
    sidecars = [slot for slot in together if slot.role == "sidecar"]
    total = sum(slot.amounts_of(side).get(name, ZERO).nano for slot in together)
    if total > most.nano:
        _shrink_slots(together, side, name, most.nano, total)
    beside = sum(sidecar.amounts_of(side).get(name, ZERO).nano for sidecar in sidecars)
    for init in draft.inits:
        if init.role == "init" and init.amounts_of(side).get(name, ZERO).nano + beside > most.nano:
            _shrink_slots([init], side, name, most.nano - beside, init.amounts_of(side).get(name, ZERO).nano)


def _shrink_slots(slots: Sequence[Slot], side: Side, name: str, most: int, total: int) -> None:
    for slot in slots:
        have = slot.amounts_of(side).get(name)
        if have is None or not have:
            continue
        exact = have.nano * max(0, most) // total
        step = units(name, Quantity(exact))
        slot.amounts_of(side)[name] = Quantity(exact // step * step, have.format)
        if side == "limits" and slot.requests.get(name, ZERO) > slot.limits[name]:
            slot.requests[name] = slot.limits[name]
