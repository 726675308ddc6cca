"""Keeps a store as the cluster is: lists, watches, and what heals them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import monotonic

from msgspec.structs import replace

from kubectl_kres.cluster.connection.api_connection import Connection
from kubectl_kres.cluster.read.fill_store import CHUNK_SIZE
from kubectl_kres.cluster.watch.clock import Clock
from kubectl_kres.cluster.watch.event_queue import LONGEST, Inbox
from kubectl_kres.cluster.watch.feed_state import FeedState
from kubectl_kres.cluster.watch.need_reader import SILENCE, Reader
from kubectl_kres.cluster.watch.pulse import Pulse
from kubectl_kres.cluster.watch.store_writer import Landing
from kubectl_kres.model.kinds import BY_KIND, Kind, describe
from kubectl_kres.store.changes import Changes
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

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
    ) -> None:
        """``namespaces``: those that are read one by one if a list of all may not be.

        ``silence``: seconds without a byte after which a watch is taken for broken.
        """
        describe()
        self.clock = clock or Clock()
        self._connection, self._kinds, self._namespaces = connection, kinds, tuple(dict.fromkeys(namespaces))
        self._chunk_size, self._silence = chunk_size, silence
        self._inbox, self._landing = Inbox(), Landing()
        self._wanted: tuple[Need, ...] = ()
        self._readers: dict[Need, Reader] = {}
        self._pulse = Pulse(connection, lambda: tuple(self._readers.values()), self.clock)
        self._leaving: list[Reader] = []

    def want(self, needs: Iterable[Need]) -> None:
        """Read these from now on, and no others. What nobody wants any more leaves the store at the next ``drain``.

        Raises KeyError for a kind that is not known.
        """
        self._wanted = tuple(dict.fromkeys(needs))
        self._settle()

    def drain(self, store: Store, *, most: int = MOST) -> Changes:
        """Put what came into the store, about ``most`` objects of it, or what can be put in a moment.

        No changes: there is nothing more for now.
        """
        changes, left, end = Changes(), most, monotonic() + LONGEST
        leaving, self._leaving = self._leaving, []
        for reader in leaving:
            self._landing.close(reader, store, changes)
        while left > 0 and (word := self._inbox.take()) is not None:
            self._landing.hear(word, store, changes)
            left -= max(1, word.weight)
            if word.what in {"cover", "listed"}:
                self._settle()
            if changes and monotonic() > end:
                break
        return changes

    def states(self) -> Mapping[Need, FeedState]:
        """How the reading of each need goes on, also of the single namespaces that are read instead of all.

        A watch on which nothing happens is as fresh as the server's last answer to anything.
        """
        states = {need: reader.state for need, reader in dict(self._readers).items()}
        heard = self._pulse.heard
        return {
            need: replace(state, heard=heard) if state.phase == "watching" and state.heard < heard else state
            for need, state in states.items()
        }

    def close(self) -> None:
        """End all reading."""
        self._pulse.stop()
        for reader in self._readers.values():
            reader.stop()
        self._readers = {}

    def _settle(self) -> None:
        """Start what is wanted and not read yet, and stop the rest."""
        wanted = dict.fromkeys(self._wanted)
        for need in self._wanted:
            wanted |= dict.fromkeys(self._instead(need))
        for need in [need for need in self._readers if need not in wanted]:
            reader = self._readers.pop(need)
            reader.stop()
            self._leaving.append(reader)
        for need in wanted:
            if need not in self._readers:
                self._start(need)

    def _instead(self, need: Need) -> Iterator[Need]:
        """The same in single namespaces, if it may not be read in all namespaces at once."""
        reader = self._readers.get(need)
        if reader is not None and reader.refused and reader.kind.namespaced and not need.namespace:
            yield from (replace(need, namespace=space) for space in self._namespaces)

    def _start(self, need: Need) -> None:
        reader = Reader(
            self._connection,
            self._kinds[need.kind],
            need,
            self._inbox,
            clock=self.clock,
            chunk_size=self._chunk_size,
            silence=self._silence,
        )
        self._readers[need] = reader
        self._landing.open(reader)
        reader.start()
        self._pulse.start()
