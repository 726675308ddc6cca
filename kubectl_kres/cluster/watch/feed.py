"""Keeps a store as the cluster is: lists, watches, and what heals them.

Whether the server still answers while all watches are silent, and when it answers again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Event, Thread
from time import monotonic

from msgspec.structs import replace

from kubectl_kres.cluster.connection.api_connection import Connection
from kubectl_kres.cluster.read.fill_store import CHUNK_SIZE
from kubectl_kres.cluster.read.lists import DESCRIBING
from kubectl_kres.cluster.watch.event_queue import LONGEST, Inbox
from kubectl_kres.cluster.watch.feed_state import Clock, FeedState
from kubectl_kres.cluster.watch.need_reader import SILENCE, Reader
from kubectl_kres.cluster.watch.store_writer import StoreWriter
from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND, Kind, describe
from kubectl_kres.store.store import Changes, ReadRequest, Store

#: Seconds of silence after which the server is asked, and seconds that it may take to answer.
SILENT, PATIENCE = 10.0, 5.0
#: Seconds between two looks at the watches.
LOOK = 2.0


class Pulse:
    """One thread beside the readers of a feed. Watches of a quiet cluster are silent for about a minute: only an answer
    tells them from those of a dead line, and only a question finds out that the server is back.
    """

    def __init__(self, connection: Connection, readers: Callable[[], Iterable[Reader]], clock: Clock) -> None:
        self._connection, self._readers, self._clock = connection, readers, clock
        self._stopped = Event()
        self._started = False
        #: When the server last answered; a moment of the clock, 0: it was not asked yet.
        self.answered_at = 0.0

    def start(self) -> None:
        """Begin, once."""
        if not self._started:
            self._started = True
            Thread(target=self._run, name="pulse", daemon=True).start()

    def stop(self) -> None:
        """End soon."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._clock.wait(self._stopped, LOOK):
            readers = tuple(self._readers())
            watching = [reader for reader in readers if reader.state.phase == "watching"]
            lost = [reader for reader in readers if reader.lost]
            silent = bool(watching) and self._is_silent(watching)
            if not (silent or lost):
                continue
            if self._answers():
                self.answered_at = self._clock.now()
                for reader in lost:
                    reader.retry_now()
            elif silent and self._is_silent(watching):
                for reader in watching:
                    reader.hang_up()

    def _is_silent(self, watching: Iterable[Reader]) -> bool:
        """Return whether nothing came for a while, by whichever way."""
        answered_at = max(self.answered_at, *(reader.state.answered_at for reader in watching))
        return self._clock.now() - answered_at >= SILENT

    def _answers(self) -> bool:
        try:
            self._connection.ping(PATIENCE)
        except KresError:
            return False
        return True


#: Objects that are put into the store in one go.
MOST = 5_000


class Feed:
    """Reads needs, each on a thread of its own, and tells of them where it is drained.

    All methods are called by the owner of the store, and none of them waits; ``states`` may be called by anyone.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        kinds: Mapping[str, Kind] = BY_KIND,
        namespaces: Sequence[str] = (),
        chunk_size: int = CHUNK_SIZE,
        clock: Clock | None = None,
        silence: float = SILENCE,
        linger: float = 0.0,
    ) -> None:
        """``namespaces``: those that are read one by one if a list of all may not be.

        ``silence``: seconds without a byte after which a watch is taken for broken. ``linger``: seconds for which a
        list that nobody wants any more goes on being read, since whoever left it may come back.
        """
        with DESCRIBING:
            describe()
        self.clock = clock or Clock()
        self._connection, self._kinds, self._namespaces = connection, kinds, tuple(dict.fromkeys(namespaces))
        self._chunk_size, self._silence = chunk_size, silence
        self._inbox, self._landing = Inbox(), StoreWriter()
        self._requests: tuple[ReadRequest, ...] = ()
        self._readers: dict[ReadRequest, Reader] = {}
        self._pulse = Pulse(connection, lambda: tuple(self._readers.values()), self.clock)
        self._leaving: list[Reader] = []
        self._linger = linger
        #: Lists that nobody wants any more, and until when they are read.
        self._lingering: dict[ReadRequest, float] = {}

    def request_reads(self, reads: Iterable[ReadRequest]) -> None:
        """Read these from now on, and no others. What nobody wants any more, and does not linger, leaves the store at
        the next ``drain``.

        Raises KeyError for a kind that is not known.
        """
        read_requests = dict.fromkeys(reads)
        if self._linger:
            until = self.clock.now() + self._linger
            self._lingering.update((read, until) for read in self._requests if not read.name)
            self._lingering = {read: end for read, end in self._lingering.items() if read not in read_requests}
        self._requests = tuple(read_requests)
        self._update_readers()

    def stop(self) -> None:
        """Read nothing any more; what is wanted next is read from its beginning."""
        self._requests, self._lingering = (), {}
        self._update_readers()

    def drain(self, store: Store, *, maximum: int = MOST) -> Changes:
        """Put what came into the store, about ``maximum`` objects of it, or what can be put in a moment.

        No changes: there is nothing more for now.
        """
        changes, left, end = Changes(), maximum, monotonic() + LONGEST
        if self._lingering and min(self._lingering.values()) <= (now := self.clock.now()):
            self._lingering = {read: until for read, until in self._lingering.items() if until > now}
            self._update_readers()
        leaving, self._leaving = self._leaving, []
        for reader in leaving:
            self._landing.close(reader, store, changes)
        while left > 0 and (word := self._inbox.take()) is not None:
            self._landing.handle_message(word, store, changes)
            left -= max(1, word.object_count)
            if word.kind in {"cover", "listed"}:
                self._update_readers()
            if changes and monotonic() > end:
                break
        return changes

    def states(self) -> Mapping[ReadRequest, FeedState]:
        """Return how the reading of each need goes on, also of the single namespaces that are read instead of all.

        Of what lingers nothing is reported. A watch on which nothing happens is as fresh as the server's last answer to
        anything.
        """
        lingering = self._lingering
        states = {read: reader.state for read, reader in dict(self._readers).items() if read not in lingering}
        answered_at = self._pulse.answered_at
        return {
            read: replace(state, answered_at=answered_at)
            if state.phase == "watching" and state.answered_at < answered_at
            else state
            for read, state in states.items()
        }

    def close(self) -> None:
        """End all reading."""
        self._pulse.stop()
        for reader in self._readers.values():
            reader.stop()
        self._readers = {}

    def _update_readers(self) -> None:
        """Start what is wanted and not read yet, and stop the rest."""
        reads = (*self._requests, *self._lingering)
        read_requests = dict.fromkeys(reads)
        for read in reads:
            read_requests |= dict.fromkeys(self._namespace_read_requests(read))
        for read in [read for read in self._readers if read not in read_requests]:
            reader = self._readers.pop(read)
            reader.stop()
            self._leaving.append(reader)
        for read in read_requests:
            if read not in self._readers:
                self._start_reader(read)

    def _namespace_read_requests(self, read: ReadRequest) -> Iterator[ReadRequest]:
        """Yield the same in single namespaces, if it may not be read in all namespaces at once."""
        reader = self._readers.get(read)
        if reader is not None and reader.is_refused and reader.kind.namespaced and not read.namespace:
            yield from (replace(read, namespace=space) for space in self._namespaces)

    def _start_reader(self, read: ReadRequest) -> None:
        reader = Reader(
            self._connection,
            self._kinds[read.kind],
            read,
            self._inbox,
            clock=self.clock,
            chunk_size=self._chunk_size,
            silence=self._silence,
        )
        self._readers[read] = reader
        self._landing.open(reader)
        reader.start()
        self._pulse.start()
