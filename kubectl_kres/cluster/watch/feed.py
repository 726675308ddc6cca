"""The feed: lists, watches, recovery and a pulse that keep a store as the cluster is; its owner alone puts in what they
tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Event, Thread
from time import monotonic
from typing import Any

from msgspec.structs import replace

from kubectl_kres.cluster.connection import Connection
from kubectl_kres.cluster.read.fill_store import CHUNK_SIZE
from kubectl_kres.cluster.read.lists import DESCRIBING
from kubectl_kres.cluster.watch.event_queue import LONGEST, Inbox, ReaderMessage
from kubectl_kres.cluster.watch.events import DELETED, WatchEvent, number
from kubectl_kres.cluster.watch.feed_state import Clock, FeedState
from kubectl_kres.cluster.watch.need_reader import SILENCE, Reader
from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND, Kind, describe, is_view
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.store.sharing import Siblings, share_with
from kubectl_kres.store.store import Changes, Coverage, LeftOut, ReadRequest, Store, partly_read

ObjectKey = tuple[str, str]


class ReaderObjects:
    """What one reader answers for. ``owned``: its objects, kept only if it reads a part of a namespace.

    ``missing``: those of the objects there were that a list under way has not had so far; None: there is none.
    """

    def __init__(self, reader: Reader) -> None:
        read = reader.read
        self.reader = reader
        self.is_complete = not (read.name or read.label_selector or read.field_selector)
        self.owned: set[ObjectKey] = set()
        self.missing: set[ObjectKey] | None = None
        self.left_out: tuple[LeftOut, ...] = ()
        self.listed = False

    def covers(self, key: ObjectKey) -> bool:
        """Return whether it would tell of this object's end."""
        if self.is_complete:
            return self.reader.read.namespace in {"", key[0]}
        return key in self.owned


class StoreWriter:
    """Where words become objects. Needs of one kind may overlap: an object goes when the last one of them loses it."""

    def __init__(self) -> None:
        self._objects_by_reader: dict[Reader, ReaderObjects] = {}
        #: Objects that are read by name in more detail than lists have.
        self._detailed: dict[tuple[str, ObjectKey], Reader] = {}
        self._siblings = Siblings()

    def open(self, reader: Reader) -> None:
        """Words of this reader are heard from now on."""
        self._objects_by_reader[reader] = ReaderObjects(reader)
        if reader.read.name and reader.kind.whole is not None:
            self._detailed[reader.read.kind, (reader.read.namespace, reader.read.name)] = reader

    def close(self, reader: Reader, store: Store, changes: Changes) -> None:
        """Forget the reader, and the objects that no other one covers."""
        reader_objects = self._objects_by_reader.pop(reader)
        self._detailed = {key: item for key, item in self._detailed.items() if item is not reader}
        kind = reader.read.kind
        for key in sorted(self._keys(reader_objects, store)):
            self._drop(kind, key, store, changes)
        store.uncover(reader.read)
        changes.reads[reader.read] = None

    def handle_message(self, word: ReaderMessage, store: Store, changes: Changes) -> None:
        """Do what a word says. Raises what a reader failed with by mistake."""
        reader_objects = self._objects_by_reader.get(word.reader)
        if reader_objects is None:
            return
        if word.kind == "events":
            self._events(reader_objects, word.load, store, changes)
        elif word.kind == "items":
            self._items(reader_objects, word.load, store, changes)
        elif word.kind == "begin":
            reader_objects.missing = set(self._keys(reader_objects, store))
        elif word.kind == "listed":
            self._finish_list(reader_objects, word.load, store, changes)
        elif word.kind == "fault":
            raise word.load
        else:
            self._set_coverage(reader_objects, word.load, store, changes)

    def _items(self, reader_objects: ReaderObjects, items: Iterable[Any], store: Store, changes: Changes) -> None:
        missing = reader_objects.missing
        assert missing is not None
        kind = reader_objects.reader.read.kind
        for item in items:
            key = (item.metadata.namespace, item.metadata.name)
            missing.discard(key)
            self._store_object(reader_objects, kind, key, item, store, changes)

    def _store_object(
        self, reader_objects: ReaderObjects, kind: str, key: ObjectKey, item: Any, store: Store, changes: Changes
    ) -> None:
        if not reader_objects.is_complete:
            reader_objects.owned.add(key)
        if self._detailed and self._detailed.get((kind, key), reader_objects.reader) is not reader_objects.reader:
            return
        before = store.get(kind, key[1], key[0])
        if before is not None and type(before) is type(item) and _version(before) == _version(item) != "":
            return
        if not is_view(kind):
            self._share(before, item)
        store.add(kind, item)
        changes.put(ObjectRef(kind, key[1], key[0]), new=before is None)

    def _share(self, before: Any, item: Any) -> None:
        if before is not None:
            share_with(before, item)
        if before is None or getattr(item, "status", None) is not getattr(before, "status", None):
            self._siblings.share(item)
        self._siblings.add_object(item)

    def _events(
        self, reader_objects: ReaderObjects, events: Iterable[WatchEvent], store: Store, changes: Changes
    ) -> None:
        kind = reader_objects.reader.read.kind
        for event in events:
            key = (event.namespace, event.name)
            before = store.get(kind, event.name, event.namespace)
            if before is not None and event.version and number(before.metadata.resource_version) > event.version:
                # A list that was resumed with newer objects has brought more than this already.
                continue
            if reader_objects.left_out or event.fault:
                self._leave_out(reader_objects, key, event.fault, store, changes)
            if event.type == DELETED or event.item is None:
                self._drop_object(reader_objects, kind, key, store, changes)
            else:
                self._store_object(reader_objects, kind, key, event.item, store, changes)

    def _drop_object(
        self, reader_objects: ReaderObjects, kind: str, key: ObjectKey, store: Store, changes: Changes
    ) -> None:
        reader_objects.owned.discard(key)
        if reader_objects.is_complete or not self._is_covered(kind, key):
            self._remove_object(kind, key, store, changes)

    def _finish_list(
        self, reader_objects: ReaderObjects, skipped: Iterable[LeftOut], store: Store, changes: Changes
    ) -> None:
        """Drop what a complete list did not hold."""
        for key in sorted(reader_objects.missing or ()):
            self._drop_object(reader_objects, reader_objects.reader.read.kind, key, store, changes)
        reader_objects.missing = None
        if not reader_objects.listed:
            reader_objects.listed = True
            self._orphans(reader_objects.reader.read, store, changes)
        reader_objects.left_out = tuple(skipped)
        self._set_coverage(reader_objects, None, store, changes)

    def _orphans(self, read: ReadRequest, store: Store, changes: Changes) -> None:
        """Drop what was in the store before its readers came and none of them found."""
        readers = [
            reader_objects
            for reader_objects in self._objects_by_reader.values()
            if reader_objects.reader.read.kind == read.kind
        ]
        if any(reader.is_complete and reader.reader.read.namespace in {"", read.namespace} for reader in readers):
            # Nothing is without one that answers for it.
            return
        if all(reader.listed for reader in readers):
            for key in sorted(store.keys(read.kind, read.namespace)):
                self._drop(read.kind, key, store, changes)

    def _leave_out(
        self, reader_objects: ReaderObjects, key: ObjectKey, fault: LeftOut | None, store: Store, changes: Changes
    ) -> None:
        """An object that could not be decoded is named until it can, or is gone."""
        others = tuple(each for each in reader_objects.left_out if (each.namespace, each.name) != key)
        reader_objects.left_out = others if fault is None else (*others, fault)
        self._set_coverage(reader_objects, None, store, changes)

    def _set_coverage(
        self, reader_objects: ReaderObjects, coverage: Coverage | None, store: Store, changes: Changes
    ) -> None:
        read = reader_objects.reader.read
        if coverage is None:
            coverage = partly_read(reader_objects.left_out)
        elif coverage.state == "absent":
            for key in sorted(self._keys(reader_objects, store)):
                self._drop_object(reader_objects, read.kind, key, store, changes)
        store.cover(read, coverage)
        changes.reads[read] = None

    def _keys(self, reader_objects: ReaderObjects, store: Store) -> Iterable[ObjectKey]:
        """Return the objects that a reader answers for."""
        return (
            store.keys(reader_objects.reader.read.kind, reader_objects.reader.read.namespace)
            if reader_objects.is_complete
            else reader_objects.owned
        )

    def _drop(self, kind: str, key: ObjectKey, store: Store, changes: Changes) -> None:
        if not self._is_covered(kind, key):
            self._remove_object(kind, key, store, changes)

    def _remove_object(self, kind: str, key: ObjectKey, store: Store, changes: Changes) -> None:
        item = store.get(kind, key[1], key[0])
        if item is not None and store.remove(kind, key[1], key[0]):
            if not is_view(kind):
                self._siblings.remove_object(item)
            changes.take(ObjectRef(kind, key[1], key[0]))

    def _is_covered(self, kind: str, key: ObjectKey) -> bool:
        return any(
            reader_objects.reader.read.kind == kind and reader_objects.covers(key)
            for reader_objects in self._objects_by_reader.values()
        )


def _version(item: Any) -> str:
    return str(item.metadata.resource_version)


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

    @property
    def on_arrival(self) -> Callable[[], None]:
        """What is called when there is something to drain: by the threads that read, or by who asks for less."""
        return self._inbox.on_word

    @on_arrival.setter
    def on_arrival(self, call: Callable[[], None]) -> None:
        self._inbox.on_word = call

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
        anything, what lingers too: while that is answered the pulse does not ask.
        """
        lingering, readers = self._lingering, dict(self._readers)
        states = {read: reader.state for read, reader in readers.items() if read not in lingering}
        answered_at = max((self._pulse.answered_at, *(reader.state.answered_at for reader in readers.values())))
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
            self.on_arrival()
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
