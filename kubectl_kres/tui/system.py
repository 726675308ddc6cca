"""What a system adds to the terminal interface: lists, screens of objects, areas of the first screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from msgspec import Struct

from kubectl_kres.render.text.line import Line
from kubectl_kres.reports.waiting import WaitingObject
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.systems import registered_systems


class NamespaceServices(NamedTuple):
    """By namespace: the names of what serves it, and how many objects in it do not have what they ask for."""

    served_by: Mapping[str, Sequence[str]]
    waiting: Mapping[str, int]


class WaitingRow(Struct, frozen=True):
    """Something that waits for room. ``detail``: more about it in lines of a width; ``fix``: what gets it admitted, in
    words; empty: not known. ``age``: for how long it has waited, in words.
    """

    waits: WaitingObject
    detail: Callable[[int], Iterable[Line]]
    fix: str = ""
    age: str = ""


class TuiSystem:
    """The hooks of a system; each adds nothing unless a subclass says otherwise."""

    #: Kinds that a row of the namespaces depends on.
    namespace_kinds: tuple[str, ...] = ()

    def listings(self) -> tuple[Any, ...]:
        """Return a ``lists.list_spec.Listing`` for each of its lists."""
        return ()

    def panes(self) -> Mapping[str, Any]:
        """By kind the ``screens.pane.Pane`` of its objects."""
        return {}

    def users(self) -> Mapping[str, Any]:
        """By kind the ``screens.users.UsersPane`` of what it shares out."""
        return {}

    def namespace_needs(self, namespace: str) -> Iterable[ReadRequest]:
        """The reads that rows of namespaces are made from; a cluster may have none of it."""
        return ()

    #: Kinds that ``waiting`` depends on.
    waiting_kinds: tuple[str, ...] = ()

    def waiting_needs(self, namespace: str) -> Iterable[ReadRequest]:
        """The reads that ``waiting`` is made from; a cluster may have none of it. ``namespace`` empty: all."""
        return ()

    def more_waiting_needs(self, session: Any, namespace: str) -> Iterable[ReadRequest]:
        """Those beside them, as far as they are known by now."""
        return ()

    def waiting(self, session: Any, namespace: str) -> Iterable[WaitingRow]:
        """Return what waits for room that the system shares out, in any order."""
        return ()

    def of_namespaces(self, session: Any) -> NamespaceServices | None:
        """Return what the rows of namespaces say of it; None: nothing."""


def systems() -> tuple[TuiSystem, ...]:
    """Return all of them, in the order of registration."""
    return cast("tuple[TuiSystem, ...]", registered_systems("screens"))
