"""A session on a store that a test filled: nothing is read, nothing comes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from kubectl_kres.admission.base.server import Server
from kubectl_kres.cli.args.arguments import labels_match
from kubectl_kres.cluster.watch.event_queue import tell_nobody
from kubectl_kres.cluster.watch.feed_state import FeedState
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.store.store import Changes, ReadRequest, Store
from kubectl_kres.tui.session import Session, Setting

NOW = "2026-11-20T03:10:00Z"


class _Noted(list[Any]):
    """What happens next, of which the feed sends word as a thread that reads does."""

    def __init__(self, feed: Still) -> None:
        super().__init__()
        self._feed = feed

    def append(self, item: Any) -> None:
        super().append(item)
        self._feed.on_arrival()

    def __iadd__(self, items: Iterable[Any]) -> Self:
        super().__iadd__(items)
        self._feed.on_arrival()
        return self


class Still:
    """A feed under a test's hand: what is put into ``coming`` happens at the next drain."""

    def __init__(self, states: Mapping[ReadRequest, FeedState] | None = None) -> None:
        self.given = dict(states or {})
        self.wanted: tuple[ReadRequest, ...] = ()
        self.on_arrival = tell_nobody
        self.coming: list[tuple[str, str, Any]] = _Noted(self)
        self.uncovered: list[tuple[ReadRequest, Any]] = _Noted(self)
        self.closed = False

    def request_reads(self, needs: Iterable[ReadRequest]) -> None:
        self.wanted = tuple(needs)

    def stop(self) -> None:
        self.wanted = ()

    def drain(self, store: Store, *, maximum: int = 0) -> Changes:
        changes = Changes()
        # In place: a thread may add to it at any time.
        from_here = self.coming[:]
        del self.coming[: len(from_here)]
        for what, kind, item in from_here:
            meta = item.metadata
            ref = _ref(kind, meta)
            if what == "gone":
                store.remove(kind, meta.name, meta.namespace)
                changes.take(ref)
            else:
                changes.put(ref, new=store.get(kind, meta.name, meta.namespace) is None)
                store.add(kind, item)
        for need, coverage in self.uncovered:
            store.cover(need, coverage)
            changes.reads[need] = None
        self.uncovered = _Noted(self)
        return changes

    def states(self) -> Mapping[ReadRequest, FeedState]:
        return self.given

    def close(self) -> None:
        self.closed = True


def _ref(kind: str, meta: Any) -> Any:
    return ObjectRef(kind, meta.name, meta.namespace)


def session_on(store: Store, feed: Still | None = None, **settings: Any) -> Session:
    """``settings`` are those of ``Setting``."""
    setting = Setting(lambda _: (Server(), ()), lambda: NOW, labels_match, **settings)
    session = Session(store, feed or Still(), setting)
    session.adder.touch(_ref("Pod", one.metadata) for one in store.all("Pod"))
    return session
