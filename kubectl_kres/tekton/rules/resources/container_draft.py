"""A container of the pod that Tekton builds, with its resources on the way, and the changes that rules make to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from kubectl_kres.admission.base.draft import Side
from kubectl_kres.model.pod import ResourceClaimEntry
from kubectl_kres.provenance.journal import Entry, Set, Source
from kubectl_kres.quantity import Quantity

ResourceAmounts = dict[str, Quantity]
DraftRole = Literal["injected", "step", "sidecar"]

#: An amount with the field that it comes from.
Sourced = tuple[Quantity, Source]


class ContainerDraft:
    """One container. A resource list is None where Go has nil; two places can hold the very same list.

    ``path`` is ``spec.containers[0]``. ``init``: it stands among the init containers; ``restart``: its own
    restartPolicy. ``number``: of the step or sidecar in the Task.
    """

    __slots__ = ("claims", "init", "limits", "name", "number", "path", "requests", "restart", "role")

    def __init__(self, name: str, role: DraftRole, number: int = 0, *, init: bool = False, restart: str = "") -> None:
        self.name, self.role, self.number, self.init, self.restart = name, role, number, init, restart
        self.path = ""
        self.limits: ResourceAmounts | None = None
        self.requests: ResourceAmounts | None = None
        self.claims: tuple[ResourceClaimEntry, ...] = ()

    def side(self, side: Side) -> ResourceAmounts | None:
        return self.limits if side == "limits" else self.requests

    def put_side(self, side: Side, values: ResourceAmounts | None) -> None:
        if side == "limits":
            self.limits = values
        else:
            self.requests = values

    def at(self, side: Side, resource: str) -> str:
        """The path of one value, as the server writes it."""
        return f"{self.path}.resources.{side}[{resource}]"

    @property
    def empty(self) -> bool:
        """No requests, no limits, no claims."""
        return not self.limits and not self.requests and not self.claims


def copies(places: Iterable[ContainerDraft]) -> list[ContainerDraft]:
    """The places with lists of their own; places that shared one share its copy."""
    made: dict[int, ResourceAmounts] = {}

    def twin_of(values: ResourceAmounts | None) -> ResourceAmounts | None:
        return None if values is None else made.setdefault(id(values), dict(values))

    result = []
    for place in places:
        twin = ContainerDraft(place.name, place.role, place.number, init=place.init, restart=place.restart)
        twin.path, twin.claims = place.path, place.claims
        twin.limits, twin.requests = twin_of(place.limits), twin_of(place.requests)
        result.append(twin)
    return result


def put(
    place: ContainerDraft, side: Side, values: Mapping[str, Sourced], rule: str, journal: list[Entry] | None
) -> None:
    """Give one side of a place values, name by name, into the list that it has."""
    if not values:
        return
    quantities = place.side(side)
    if quantities is None:
        quantities = {}
        place.put_side(side, quantities)
    for name, (quantity, source) in values.items():
        before = quantities.get(name)
        quantities[name] = quantity
        note(place, side, name, quantity, before, rule, source, journal)


def replace(
    place: ContainerDraft,
    side: Side,
    values: Mapping[str, Sourced] | None,
    rules: tuple[str, str],
    source: Source,
    journal: list[Entry] | None,
) -> None:
    """Give one side of a place another list as a whole. ``rules``: for its values, and for names that it lacks."""
    quantities = place.side(side) or {}
    entries = values or {}
    given, dropped = rules
    for name, before in quantities.items():
        if name not in entries and journal is not None:
            journal.append(Set(place.at(side, name), dropped, before=str(before), source=source))
    place.put_side(side, {name: quantity for name, (quantity, _) in entries.items()} or None)
    for name, (quantity, where) in entries.items():
        note(place, side, name, quantity, quantities.get(name), given, where, journal)


def note(
    place: ContainerDraft,
    side: Side,
    name: str,
    quantity: Quantity,
    before: Quantity | None,
    rule: str,
    source: Source,
    journal: list[Entry] | None,
) -> None:
    """Record one value."""
    if journal is not None:
        was = None if before is None else str(before)
        journal.append(Set(place.at(side, name), rule, str(quantity), was, source))
