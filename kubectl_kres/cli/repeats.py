"""Events that only say once more what was told: of them the reader keeps the count and time that were shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.workload import Event
from kubectl_kres.reports.facts import gist
from kubectl_kres.store.store import Store

_EVENT = "Event"


class Told:
    """The events of the last answer."""

    def __init__(self) -> None:
        self._events: dict[ObjectRef, Event] = {}

    def keep(self, store: Store) -> None:
        """What is there now has been told."""
        self._events = _held(store)

    @contextmanager
    def without_repeats(self, store: Store) -> Iterator[None]:
        """Meanwhile the store has, in place of events that say what was told, those that were told; what says
        something else is there, and what nothing says any more is not.
        """
        now, told = _held(store), self._events
        said, known = {_says(one) for one in now.values()}, {_says(one) for one in told.values()}
        repeats = {ref: one for ref, one in now.items() if told.get(ref) != one and _says(one) in known}
        back = {ref: one for ref, one in told.items() if _says(one) in said and (ref in repeats or ref not in now)}
        _swap(store, repeats, back)
        try:
            yield
        finally:
            _swap(store, back, repeats)


def _held(store: Store) -> dict[ObjectRef, Event]:
    events: Iterator[Event] = store.all(_EVENT)
    return {ObjectRef(_EVENT, one.metadata.name, one.metadata.namespace): one for one in events}


def _says(event: Event) -> tuple[str, ...]:
    about = event.involved_object
    return about.namespace, about.kind, about.name, event.type, event.reason, gist(event.message)


def _swap(store: Store, out: dict[ObjectRef, Event], into: dict[ObjectRef, Event]) -> None:
    for ref in out:
        store.remove(_EVENT, ref.name, ref.namespace)
    for one in into.values():
        store.add(_EVENT, one)
