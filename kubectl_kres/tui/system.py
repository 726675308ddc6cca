"""What a system adds to the terminal interface: lists, screens of objects, areas of the first screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from kubectl_kres.store.store import ReadRequest
from kubectl_kres.systems import registered_systems


class NamespaceServices(NamedTuple):
    """By namespace: the names of what serves it, and how many objects in it do not have what they ask for."""

    served_by: Mapping[str, Sequence[str]]
    waiting: Mapping[str, int]


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

    def of_namespaces(self, session: Any) -> NamespaceServices | None:
        """Return what the rows of namespaces say of it; None: nothing."""


def systems() -> tuple[TuiSystem, ...]:
    """Return all of them, in the order of registration."""
    return cast("tuple[TuiSystem, ...]", registered_systems("screens"))
