"""A feed that is drained until something holds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from cluster.living import Cluster, Fast

from kubectl_kres.cluster.connection import Connection, connect
from kubectl_kres.cluster.kubeconfig.current_context import Target
from kubectl_kres.cluster.read import fill_store
from kubectl_kres.cluster.watch.feed import Feed
from kubectl_kres.cluster.watch.feed_state import FeedState
from kubectl_kres.errors import ClusterError
from kubectl_kres.model.kinds import BY_KIND, Kind
from kubectl_kres.store.store import Changes, Origin, ReadRequest, Store

#: Seconds that anything may take on a loaded machine; nothing waits for them to pass.
PATIENCE = 60.0
KINDS = {**BY_KIND, "Thing": Kind("Thing", ("things", "thing"), "x.io")}


class Follower:
    """``drained`` holds what each drain told that changed anything."""

    def __init__(self, feed: Feed, connection: Connection) -> None:
        self.feed, self.connection = feed, connection
        self.store = Store(Origin("cluster"))
        self.drained: list[Changes] = []

    def drain(self) -> None:
        while changes := self.feed.drain(self.store):
            self.drained.append(changes)

    def until(self, holds: Callable[[], object], patience: float = PATIENCE) -> None:
        """Drain until it holds, and what had arrived by then. Fails after a minute, or so many seconds."""
        deadline = time.monotonic() + patience
        while True:
            self.drain()
            if holds():
                # A reading thread says how far it is when it has left what it read: that may be after this drain.
                self.drain()
                return
            assert time.monotonic() < deadline, (self.feed.states(), self.store.coverages(), self.keys())
            time.sleep(0.002)

    def state(self, need: ReadRequest) -> FeedState:
        return self.feed.states()[need]

    def phases(self) -> set[str]:
        return {state.phase for state in self.feed.states().values()}

    def keys(self, kind: str = "Pod") -> list[tuple[str, str, str]]:
        return [
            (one.metadata.namespace, one.metadata.name, one.metadata.resource_version) for one in self.store.all(kind)
        ]

    def fresh(self, *needs: ReadRequest) -> Store:
        """What reading the needs once gives now."""
        store = Store(Origin("cluster"))
        fill_store.fill(self.connection, store, needs, kinds=KINDS)
        return store

    def as_fresh(self, needs: Iterable[ReadRequest]) -> bool:
        """Whether the store is what reading the needs once gives now."""
        needs = tuple(needs)
        try:
            store = self.fresh(*needs)
        except ClusterError:
            return False
        return contents(store) == contents(self.store) and store.coverages() == self.store.coverages()


def contents(store: Store) -> dict[str, list[Any]]:
    found = {kind: list(store.all(kind)) for kind in store.kinds()}
    return {kind: items for kind, items in found.items() if items}


@contextmanager
def following(server: Cluster | Target, *needs: ReadRequest, **options: Any) -> Iterator[Follower]:
    target = server if isinstance(server, Target) else Target(server.url, "default")
    options = {"clock": Fast(), "chunk_size": 3, "silence": 0.1, "kinds": KINDS, **options}
    with connect(target, environ={}) as connection:
        feed = Feed(connection, **options)
        feed.request_reads(needs)
        try:
            yield Follower(feed, connection)
        finally:
            feed.close()
