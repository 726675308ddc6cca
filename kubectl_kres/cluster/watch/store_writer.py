"""Puts into the store what the readers of a feed tell; done by the store's owner alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kubectl_kres.cluster.watch.event_queue import ReaderMessage
from kubectl_kres.cluster.watch.events import DELETED, WatchEvent, number
from kubectl_kres.cluster.watch.need_reader import Reader
from kubectl_kres.model.kinds import is_view
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
