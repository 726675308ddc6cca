"""What a system adds to the functions: reports about all objects of a kind of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.systems import registered_systems


class ListedKind(NamedTuple):
    """The reports about the objects of a kind, in one namespace or in all (empty).

    ``document``: what a document of them is called. ``reads``: called again after each reading. ``lines``: a report as
    text of a width.
    """

    document: str
    reads: Callable[[Store, str], Iterable[ReadRequest]]
    reports: Callable[[Store, str], Iterator[Any]]
    lines: Callable[[Any, int], Iterator[str]]


def listed_kind(kind: str) -> ListedKind:
    """Return what the system of a kind has registered for it, in its layer ``api``: a mapping by kind."""
    registered = cast("tuple[Mapping[str, ListedKind], ...]", registered_systems("api"))
    return next(listed[kind] for listed in registered if kind in listed)
