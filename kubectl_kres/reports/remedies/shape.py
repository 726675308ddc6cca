"""Values of a template that LimitRanges, validation and quotas admit, found by writing and removing them, whatever room
there is.

They are proposed resource by resource from the refusals and evaluated again, since a value for one rule may break
another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import structs

from kubectl_kres.admission.base.draft import Draft, Side, Slot
from kubectl_kres.admission.base.outcome import Finding, Outcome, Server
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.pod import Container, Pod, PodSpec, ResourceRequirements
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.reports.remedies.pods import OF_VALUES, PodFaults, findings_of, judge


class ResourceField(NamedTuple):
    """One request or limit: the path of its container (``spec`` for the pod level), the side and the resource."""

    holder: str
    side: Side
    resource: str

    @property
    def path(self) -> str:
        """The path as the server writes it."""
        return f"{self.holder}.resources.{self.side}[{self.resource}]"


#: What is written where; None takes a value out.
Values = Mapping[ResourceField, str | None]


def write(pod: Pod, values: Values) -> Pod:
    """Return the pod with the values; values of unknown containers are ignored."""
    if not values:
        return pod
    spec = pod.spec
    containers = _write_containers("spec.containers", spec.containers, values)
    inits = _write_containers("spec.initContainers", spec.init_containers, values)
    own = {place: text for place, text in values.items() if place.holder == "spec"}
    level = _resources(spec.resources, own) if own else spec.resources
    changed: PodSpec = structs.replace(spec, containers=containers, init_containers=inits, resources=level)
    return structs.replace(pod, spec=changed)


def _write_containers(
    path: str, containers: tuple[Container, ...] | None, values: Values
) -> tuple[Container, ...] | None:
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


def written_value(pod: Pod, place: ResourceField) -> str | None:
    """Return the value that is written there; None: nothing."""
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


#: Whether a request that exceeds its limit comes down to it, or the limit goes up.
Direction = Literal["lower", "raise"]

_ROUNDS = 8
UNIT = 10**9


def units(resource: str, quantity: Quantity | None = None) -> int:
    """Return the unit of a computed value: thousandths of cpu, Mi of bytes where there are some, else whole ones."""
    if resource == "cpu":
        return 10**6
    if resource in {"memory", "ephemeral-storage", "storage"} and (quantity is None or quantity.nano >= 2**21 * UNIT):
        return 2**20 * UNIT
    return UNIT


def passing_values(
    pod: Pod, policies: Policies, server: Server, way: Direction
) -> tuple[dict[ResourceField, str | None], PodFaults]:
    """Return values to write, as few as are needed, and the pod with them: with faults if none were found."""
    values: dict[ResourceField, str | None] = {}
    evaluated = judge(pod, policies, server)
    seen: set[tuple[tuple[ResourceField, str | None], ...]] = set()
    for _ in range(_ROUNDS):
        if not evaluated.faults or not _mendable(evaluated.faults):
            break
        values = _step(pod, values, evaluated, policies, way)
        key = tuple(sorted(values.items(), key=str))
        if key in seen:
            break
        seen.add(key)
        evaluated = judge(write(pod, values), policies, server)
    if evaluated.faults:
        return values, evaluated
    return _drop_needless_values(pod, values, policies, server)


def _mendable(faults: Iterable[Outcome]) -> bool:
    return all(any(finding.rule in OF_VALUES for finding in findings_of(outcome)) for outcome in faults)


def _drop_needless_values(
    pod: Pod, values: dict[ResourceField, str | None], policies: Policies, server: Server
) -> tuple[dict[ResourceField, str | None], PodFaults]:
    """Return the values without the needless ones."""

    def passes(fewer: Values) -> bool:
        return not judge(write(pod, fewer), policies, server).faults

    kept = needed_values(pod, values, passes)
    return kept, judge(write(pod, kept), policies, server)


def needed_values(pod: Pod, values: Values, passes: Callable[[Values], bool]) -> dict[ResourceField, str | None]:
    """Return the values that are all needed. They are tried again after each removal, which may make another one
    needless.
    """
    kept = {place: text for place, text in values.items() if written_value(pod, place) != text}
    changed = True
    while changed:
        changed = False
        for place in sorted(kept, key=lambda place: (place.side == "limits", place)):
            fewer = {key: text for key, text in kept.items() if key != place}
            if passes(fewer):
                kept, changed = fewer, True
    return kept


def _step(
    pod: Pod, values: Values, evaluated: PodFaults, policies: Policies, way: Direction
) -> dict[ResourceField, str | None]:
    """Return the values after the refusals of the first order are remedied, resource by resource."""
    outcome = evaluated.faults[0]
    draft: Draft | None = outcome.draft
    result = dict(values)
    if draft is None or outcome.refusal is None:
        return result
    from kubectl_kres.reports.remedies.resource_values import Resource

    needed = needed_sides(outcome.refusal.findings)
    for name in sorted({resource_of(finding) for finding in outcome.refusal.findings if finding.rule in OF_VALUES}):
        solved = Resource(name, draft, policies.limits, needed.get(name, set()), way)
        solved.solve()
        result.update(solved.changes(pod, values))
    return result


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
    sidecars = [init for init in draft.inits if init.role == "sidecar"]
    together = [*draft.containers, *sidecars]
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
