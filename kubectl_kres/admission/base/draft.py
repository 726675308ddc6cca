"""A pod on its way through admission: its quantities, slot by slot, and the changes rules make to them.

It also has the Warning headers that the server sends for resources: fractions of a byte, and hidden environment
variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from kubectl_kres.admission.base.server import Server
from kubectl_kres.errors import QuantityError, UsageError
from kubectl_kres.model.objects import items, text
from kubectl_kres.model.pod import Container, Pod, PodSpec, PodStatus, ResourceRequirements
from kubectl_kres.provenance.journal import Entry, Set, Source
from kubectl_kres.quantity import Quantity, from_json, read_back, stored_quantity

Side = Literal["limits", "requests"]
SIDES: tuple[Side, Side] = ("limits", "requests")
SlotRole = Literal["container", "init", "sidecar", "pod"]
Quantities = dict[str, Quantity]
_MILLI = 10**6


class Unparsable(UsageError):
    """A quantity of the object cannot be parsed: the request ends with 400 before anything else is looked at.

    ``owner`` names the object where the path does not say enough; empty: whoever catches it knows.
    """

    def __init__(self, path: str, error: QuantityError, owner: str = "") -> None:
        owned_path = f"{owner}: {path}" if owner else path
        super().__init__(f"{owned_path}: {error.message}", hint="no API server stores such an object")
        self.path, self.error = path, error


class Slot:
    """One place of a pod that holds requests and limits.

    ``path`` is ``spec.containers[0]``, ``spec.initContainers[1]`` or, for the pod level, ``spec``.
    """

    __slots__ = ("limits", "name", "path", "requests", "role")

    def __init__(self, path: str, name: str, role: SlotRole, limits: Quantities, requests: Quantities) -> None:
        self.path, self.name, self.role = path, name, role
        self.limits, self.requests = limits, requests

    @property
    def title(self) -> str:
        """Return how a sentence names it: ``sidecar proxy``, ``the pod level``."""
        if self.role == "pod":
            return "the pod level"
        return f"{'init container' if self.role == 'init' else self.role} {self.name}"

    def amounts_of(self, side: Side) -> Quantities:
        return self.limits if side == "limits" else self.requests

    def path_of(self, side: Side, resource: str) -> str:
        """Return the path of one value, as the server writes it."""
        return f"{self.path}.resources.{side}[{resource}]"

    def copy(self) -> Slot:
        return Slot(self.path, self.name, self.role, dict(self.limits), dict(self.requests))


class Draft:
    """The quantities of a pod, as ``server`` reads it. ``pod`` is None without a stanza or where the gate drops it.

    ``owner``: kind and name of the controller that the pod names; None: it names none. ``denied``: why a webhook that
    was to change the pod refuses it.
    """

    __slots__ = (
        "annotation", "containers", "denied", "inits", "overhead", "owner", "pod", "priority_class", "server", "spec",
    )  # fmt: skip

    def __init__(
        self,
        spec: PodSpec,
        containers: list[Slot],
        inits: list[Slot],
        pod: Slot | None,
        overhead: Quantities,
        server: Server,
    ) -> None:
        self.spec, self.server = spec, server
        self.containers, self.inits, self.pod, self.overhead = containers, inits, pod, overhead
        self.annotation: str | None = None
        self.owner: tuple[str, str] | None = None
        self.denied: Any = None
        self.priority_class = spec.priority_class_name

    def slots(self) -> Iterator[Slot]:
        """Containers, then init containers and sidecars, then the pod level."""
        yield from self.containers
        yield from self.inits
        if self.pod is not None:
            yield self.pod

    def running_slots(self) -> list[Slot]:
        """Return what runs side by side: containers and sidecars."""
        return [*self.containers, *(slot for slot in self.inits if slot.role == "sidecar")]

    def copy(self) -> Draft:
        twin = Draft(
            self.spec,
            [slot.copy() for slot in self.containers],
            [slot.copy() for slot in self.inits],
            self.pod and self.pod.copy(),
            dict(self.overhead),
            self.server,
        )
        twin.annotation, twin.owner, twin.denied = self.annotation, self.owner, self.denied
        return twin

    def values(self) -> dict[str, Quantity]:
        """Return every request, limit and overhead by its path."""
        quantities = {
            slot.path_of(side, name): quantity
            for slot in self.slots()
            for side in SIDES
            for name, quantity in slot.amounts_of(side).items()
        }
        quantities.update({f"spec.overhead[{name}]": quantity for name, quantity in self.overhead.items()})
        return quantities


class ValueChange(Struct, frozen=True):
    """What a rule would set; ``change`` applies it and records what was there before."""

    slot: Slot
    side: Side
    resource: str
    quantity: Quantity
    rule: str
    source: Source


def change(puts: Iterable[ValueChange], journal: list[Entry] | None) -> None:
    """Apply what a rule yields. ``journal`` None: keep the numbers only (lists of many pods)."""
    for put in tuple(puts):
        values = put.slot.amounts_of(put.side)
        before = values.get(put.resource)
        values[put.resource] = put.quantity
        if journal is not None:
            path = put.slot.path_of(put.side, put.resource)
            after = str(put.quantity.round_up())
            journal.append(Set(path, put.rule, after, None if before is None else str(before), put.source))


def parse_list(
    raw: Mapping[str, Any] | None,
    path: str,
    journal: list[Entry] | None = None,
    read: Callable[[Any], Quantity] = stored_quantity,
) -> Quantities:
    """Return a resource list as the server decodes it: parsed, rounded up to thousandths, in canonical notation.

    ``read`` from_json leaves the rounding to later. Raises Unparsable. A text that changes is recorded.
    Source: apis/core/v1/defaults.go SetDefaults_ResourceList.
    """
    if not raw:
        return {}
    quantities: Quantities = {}
    for name, value in raw.items():
        try:
            quantities[name] = read(value)
        except QuantityError as error:
            raise Unparsable(f"{path}[{name}]", error) from error
        if journal is not None:
            written, kept = ("0" if value is None else str(value)), str(stored_quantity(value))
            if written != kept:
                journal.append(Set(f"{path}[{name}]", "quantity/canonical", kept, written))
    return quantities


def round_up(draft: Draft) -> None:
    """Round every value up to thousandths, which the server does only after it has filled in requests."""
    for values in (*(slot.amounts_of(side) for slot in draft.slots() for side in SIDES), draft.overhead):
        for name, quantity in values.items():
            if quantity.nano % _MILLI:
                values[name] = quantity.round_up()


def reread(draft: Draft) -> None:
    """Every value as it is once the stored pod is read again."""
    for values in (*(slot.amounts_of(side) for slot in draft.slots() for side in SIDES), draft.overhead):
        values.update({name: read_back(quantity.round_up()) for name, quantity in values.items()})


def draft_pod(pod: Pod, server: Server, journal: list[Entry] | None = None) -> Draft:
    """Return the quantities of a pod as decoded, before any default and not rounded yet.

    Raises Unparsable, for a quantity of its status too, which is decoded with it.
    """
    spec = pod.spec
    containers = [
        _build_slot(container, f"spec.containers[{index}]", "container", journal)
        for index, container in enumerate(spec.containers or ())
    ]
    inits = [
        _build_slot(container, f"spec.initContainers[{index}]", _role(container, server), journal)
        for index, container in enumerate(spec.init_containers or ())
    ]
    level = None
    if spec.resources is not None:
        level = _resources(spec.resources, "spec", "", "pod", journal)
    overhead = parse_list(spec.overhead, "spec.overhead", journal, from_json)
    draft = Draft(spec, containers, inits, level, overhead, server)
    owners = pod.metadata.owner_references or ()
    draft.owner = next(((owner.kind, owner.name) for owner in owners if owner.controller), None)
    if not server.is_enabled("PodLevelResources"):
        drop_pod_level(draft, journal)
    _decode_status(pod.status)
    return draft


def _decode_status(status: PodStatus) -> None:
    for reported in (*(status.init_container_statuses or ()), *(status.container_statuses or ())):
        path = "status.containerStatuses"
        parse_list(reported.allocated_resources, f"{path}.allocatedResources")
        if reported.resources is not None:
            parse_list(reported.resources.requests, f"{path}.resources.requests")
            parse_list(reported.resources.limits, f"{path}.resources.limits")


def drop_pod_level(draft: Draft, journal: list[Entry] | None) -> None:
    """Leave out the pod level, as a server does that does not know it, and record its values."""
    slot, draft.pod = draft.pod, None
    if journal is None or slot is None:
        return
    for side in SIDES:
        for name, quantity in slot.amounts_of(side).items():
            journal.append(Set(slot.path_of(side, name), "pod-level/dropped", before=str(quantity.round_up())))


def _role(container: Container, server: Server) -> SlotRole:
    if container.restart_policy == "Always" and server.is_enabled("SidecarContainers"):
        return "sidecar"
    return "init"


def _build_slot(container: Container, path: str, role: SlotRole, journal: list[Entry] | None) -> Slot:
    if container.resources is None:
        return Slot(path, container.name, role, {}, {})
    return _resources(container.resources, path, container.name, role, journal)


def _resources(
    resources: ResourceRequirements, path: str, name: str, role: SlotRole, journal: list[Entry] | None
) -> Slot:
    limits = parse_list(resources.limits, f"{path}.resources.limits", journal, from_json)
    requests = parse_list(resources.requests, f"{path}.resources.requests", journal, from_json)
    return Slot(path, name, role, limits, requests)


_BYTES = ("memory", "ephemeral-storage")


def pod_warnings(draft: Draft) -> Iterator[str]:
    """Source: api/pod/warnings.go warningsForPodSpecAndMeta. Pod-level resources are not looked at."""
    for name in _BYTES:
        if name in draft.overhead:
            yield from fraction(f"spec.overhead[{name}]", draft.overhead[name])
    for slot in (*draft.inits, *draft.containers):
        for name in _BYTES:
            for side in SIDES:
                if name in slot.amounts_of(side):
                    yield from fraction(slot.path_of(side, name), slot.amounts_of(side)[name])


def fraction(path: str, quantity: Quantity) -> Iterator[str]:
    if quantity.milli_value() % 1000:
        yield f'{path}: fractional byte value "{quantity}" is invalid, must be an integer'


def hidden_env(containers: Sequence[Mapping[str, Any]], path: str) -> Iterator[str]:
    """Variables that a later one of the same name replaces, in containers as sent: values are read here and dropped."""
    for position, container in enumerate(containers):
        seen: set[str] = set()
        for index, variable in enumerate(items(container, "env")):
            name, value = text(variable, "name"), text(variable, "value")
            reference = f"$({name})"
            extends = variable.get("valueFrom") is None and reference in value and value != reference
            if name in seen and not extends:
                texts = f'hides previous definition of "{name}", which may be dropped when using apply'
                yield f"{path}[{position}].env[{index}]: {texts}"
            seen.add(name)
