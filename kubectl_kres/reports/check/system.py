"""What a system adds to ``check``: rules about its objects, what they read, and what becomes of those of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import cast

from msgspec import Struct

from kubectl_kres.model.objects import ObjectRef, Raw
from kubectl_kres.reports.check.context import CheckContext, Rule
from kubectl_kres.reports.check.finding import Diagnostic
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.systems import registered_systems


class CheckSystem(Struct, frozen=True):
    """A system's part in ``check``.

    ``rules``: its own. ``finders``: by the code of a rule of Kubernetes what else breaks it: objects of the system that
    are no subjects of a context. ``kinds``: read in each namespace beside workloads, each object with what its answer
    depends on. ``reads``: of what is in no namespace. ``exempted``: kinds whose objects may carry the annotation that
    exempts them. ``commands``: by kind the command that shows more than ``explain``, without its flags and with braces
    for the name. ``predict``: the store with what the system's controllers make of objects of files. ``uses``: of the
    objects of files the definitions that others of them use, so that these stand for them.
    """

    rules: tuple[Rule, ...] = ()
    finders: Mapping[str, Callable[[CheckContext], Iterator[Diagnostic]]] = {}
    kinds: tuple[str, ...] = ()
    reads: Callable[[Store], Iterable[ReadRequest]] | None = None
    exempted: tuple[str, ...] = ()
    commands: Mapping[str, str] = {}
    predict: Callable[[Store], Store] | None = None
    uses: Callable[[Sequence[Raw]], Iterable[ObjectRef]] | None = None


def systems() -> tuple[CheckSystem, ...]:
    """Return all of them, in the order of registration."""
    return cast("tuple[CheckSystem, ...]", registered_systems("checks"))


def checked_kinds() -> tuple[str, ...]:
    """Return the kinds of all systems that are read in each namespace beside workloads."""
    return tuple(kind for system in systems() for kind in system.kinds)


def used_definitions(raws: Sequence[Raw]) -> frozenset[ObjectRef]:
    """Return the definitions among objects of files that others of them use."""
    return frozenset(ref for system in systems() if system.uses is not None for ref in system.uses(raws))


def predicted(store: Store) -> Store:
    """Return the store with what the controllers of systems make of objects of files."""
    for system in systems():
        store = system.predict(store) if system.predict is not None else store
    return store
