"""The interface of what fills a store: a live feed, or a source that is read once."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from queue import SimpleQueue
from time import monotonic
from typing import Any, Protocol, TypeVar

from kubectl_kres.cluster.watch.event_queue import LONGEST, tell_nobody
from kubectl_kres.cluster.watch.feed_state import FeedState
from kubectl_kres.errors import Forbidden, KresError
from kubectl_kres.model.kinds import describe, is_view
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.store.sharing import Sharing
from kubectl_kres.store.store import READ, Changes, Coverage, ReadRequest, Store

T = TypeVar("T")


class DataFeed(Protocol):
    """Reads what is wanted, in threads of its own; the store belongs to who drains.

    ``on_arrival``: called by these threads when there is something to drain; it must not wait.
    """

    on_arrival: Callable[[], None]

    def request_reads(self, reads: Iterable[ReadRequest]) -> None:
        """Start reading these; stop reading what is no longer wanted."""
        ...

    def stop(self) -> None:
        """Read nothing any more; what is wanted next is read from its beginning."""
        ...

    def drain(self, store: Store, *, maximum: int = ...) -> Changes:
        """Apply what arrived to the store. Never waits."""
        ...

    def states(self) -> Mapping[ReadRequest, FeedState]:
        """Return how the reading of each need goes."""
        ...

    def close(self) -> None:
        """Read no more."""
        ...


class FixedSource(Protocol):
    """A snapshot or another place that does not change."""

    @property
    def store(self) -> Store: ...
    def fill(self, reads: Iterable[ReadRequest]) -> None: ...
    def pages(self, read: ReadRequest) -> Iterator[list[Any]]: ...


#: Objects of a page of a need, or how the reading of it ended.
_Arrival = tuple[ReadRequest, list[Any], Coverage | None]


class ReadOnce:
    """A source as a feed: each need is read once, in a thread, since a snapshot can be large."""

    def __init__(self, source: FixedSource) -> None:
        describe()
        self._source = source
        self._states: dict[ReadRequest, FeedState] = {}
        self._arrived: deque[_Arrival] = deque()
        self._queue: SimpleQueue[ReadRequest | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._lock = threading.Lock()
        self.on_arrival = tell_nobody

    @property
    def idle(self) -> bool:
        """Return whether all that was wanted has been read and drained."""
        return not self._arrived and all(state.has_objects for state in self._states.values())

    def request_reads(self, reads: Iterable[ReadRequest]) -> None:
        for read in reads:
            if read not in self._states:
                self._states[read] = FeedState("listing")
                self._queue.put(read)
        if self._thread is None and self._states:
            self._thread = threading.Thread(target=self._read, name="snapshot", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """What does not change need not be read again."""

    def drain(self, store: Store, *, maximum: int = 5_000) -> Changes:
        changes, left, until = Changes(), maximum, monotonic() + LONGEST
        while self._arrived and left > 0 and monotonic() < until:
            read, items, end = self._arrived.popleft()
            left -= max(1, len(items))
            for item in items:
                ref = ObjectRef(read.kind, item.metadata.name, item.metadata.namespace)
                changes.put(ref, new=store.get(ref.kind, ref.name, ref.namespace) is None)
                store.add(read.kind, item)
            state = self._states[read]
            self._states[read] = FeedState("listing", read=state.read + len(items))
            if end is not None:
                store.cover(read, end)
                changes.reads[read] = None
                self._states[read] = FeedState(
                    _PHASES[end.state], has_objects=True, read=self._states[read].read, reason=end.message
                )
        return changes

    def look(self, find: Callable[[], T]) -> T:
        """Return what is found in the source between two pages: it belongs to the thread that reads it."""
        with self._lock:
            return find()

    def states(self) -> Mapping[ReadRequest, FeedState]:
        return self._states

    def close(self) -> None:
        self._closed = True
        self._queue.put(None)

    def _read(self) -> None:
        sharing = Sharing()
        while (read := self._queue.get()) is not None:
            end = READ
            try:
                pages = self._pages(read)
                while (page := self.look(partial(next, pages, None))) is not None:
                    if self._closed:
                        return
                    for item in page if not is_view(read.kind) else ():
                        sharing.share(item)
                    self._put(read, page, None)
            except Forbidden as error:
                end = Coverage("denied", error.message)
            except KresError as error:
                end = Coverage("unread" if not read.name else self._source.store.covered(read).state, error.message)
            self._put(read, [], end)

    def _put(self, read: ReadRequest, page: list[Any], end: Coverage | None) -> None:
        self._arrived.append((read, page, end))
        self.on_arrival()

    def _pages(self, read: ReadRequest) -> Iterator[list[Any]]:
        if not read.name:
            yield from self._source.pages(read)
            return
        self._source.fill([read])
        coverage = self._source.store.covered(read)
        result = self._source.store.get(read.kind, read.name, read.namespace)
        if result is not None:
            yield [result]
        elif not coverage.is_known:
            raise coverage.error()


_PHASES: Mapping[str, Any] = {
    "read": "watching",
    "denied": "denied",
    "absent": "absent",
    "failed": "failed",
    "unread": "failed",
}
