"""Where objects come from: a live cluster, a snapshot, the bundled example, or nothing but what is passed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kubectl_kres.errors import ClusterError

if TYPE_CHECKING:
    from kubectl_kres.model.kinds import Kind
    from kubectl_kres.store.store import ReadRequest, Store


class ReadObjects(Protocol):
    """The objects of one answer."""

    store: Store

    def fill(self, reads: Iterable[ReadRequest]) -> None:
        """Read what is not in the store yet."""
        ...

    def kind(self, text: str) -> Kind:
        """Return the type that a user names. Raises ClusterError if there is none."""
        ...


class Cluster:
    """Objects to answer from. ``namespace``: for objects and names that state none; empty: wherever the name is."""

    namespace = ""

    def reading(self) -> ReadObjects:
        """Return the objects of this moment; each answer asks for its own."""
        raise NotImplementedError


class SnapshotCluster(Cluster):
    """A snapshot; read once, when the first answer needs it."""

    def __init__(self, path: Path, namespace: str) -> None:
        self._path, self.namespace = path, namespace

    @cached_property
    def _store(self) -> Store:
        from kubectl_kres.snapshot import read

        return read.read(str(self._path))

    def reading(self) -> ReadObjects:
        return CopiedStore(self._store)


class NoCluster(Cluster):
    """No cluster: the policies are those that are passed beside the object, and there are no others."""

    def reading(self) -> ReadObjects:
        from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

        store = Store(Origin("files"))
        for kind in ("LimitRange", "ResourceQuota"):
            store.cover(ReadRequest(kind), READ)
        return PassedObjects(store)


class CopiedStore:
    """A copy of objects at hand, so that what is laid over them is in one answer only."""

    def __init__(self, store: Store) -> None:
        from kubectl_kres.store.store import Store

        self.store = Store(store.origin)
        self.store.deferred.update(store.deferred)
        for kind in store.kinds():
            for item in store.all(kind):
                self.store.add(kind, item)
        for read, coverage in store.coverages().items():
            self.store.cover(read, coverage)

    def fill(self, reads: Iterable[ReadRequest]) -> None:
        """There is no more than there is."""

    def kind(self, text: str) -> Kind:
        """Return a kind that is known here: nobody else can be asked."""
        from kubectl_kres.model import kinds

        kind = kinds.find(text)
        if kind is None:
            raise ClusterError(f'the server doesn\'t have a resource type "{text}"', hint=kinds.suggest_kind(text))
        return kind


class PassedObjects(CopiedStore):
    """What is passed is all there is: of the kinds of passed objects there are no others."""

    def fill(self, reads: Iterable[ReadRequest]) -> None:
        """Say so of the needs that nobody asked for before."""
        from kubectl_kres.store.store import READ

        for read in reads:
            if read.kind in self.store.kinds() and self.store.covered(read).state == "unread":
                self.store.cover(read, READ)
