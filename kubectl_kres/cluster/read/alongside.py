"""Lists of all namespaces that are read as far as somebody else has come who reads another one.

All come sorted by their keys in etcd, namespace/name. So what pods were made from can be read beside the pods: the
first answer does not wait for the last ReplicaSet, and those of namespaces that were left need not be kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

from kubectl_kres.cluster.connection.api_connection import Connection
from kubectl_kres.cluster.read.fill_store import CHUNK_SIZE, WIDTH, ProgressCallback, fill, listing, shortfall
from kubectl_kres.cluster.transport.parallel import run
from kubectl_kres.errors import ClusterError
from kubectl_kres.model.kinds import Kind
from kubectl_kres.store.coverage import READ, Coverage, Need
from kubectl_kres.store.store import Store


class Alongside:
    """Fills a store with the objects of some namespaces after the other, a list for each kind."""

    def __init__(
        self, connection: Connection, store: Store, kinds: Mapping[str, Kind], chunk_size: int = CHUNK_SIZE
    ) -> None:
        self._connection, self._store, self._kinds, self._chunk_size = connection, store, kinds, chunk_size
        self._lists: dict[str, _List] = {}

    def fill(self, needs: Iterable[Need], progress: ProgressCallback | None = None) -> None:
        """Read kinds in namespaces; what is held of namespaces before those asked for last is dropped.

        Raises as ``fill_store.fill``, and records as it does.
        """
        asked: dict[str, list[Need]] = {}
        passed: list[Need] = []
        for need in dict.fromkeys(needs):
            if not self._store.wants(need):
                continue
            known = self._lists.get(need.kind)
            if known is not None and place(need.namespace) < place(known.reached):
                passed.append(need)  # the server gives the pods in another order
            else:
                asked.setdefault(need.kind, []).append(need)
        jobs = [partial(self._list(kind).up_to, _last(wanted), progress) for kind, wanted in asked.items()]
        for (kind, wanted), (items, coverage) in zip(asked.items(), run(jobs, WIDTH), strict=True):
            for item in items:
                self._store.add(kind, item)
            for need in wanted if coverage == READ else [replace(wanted[0], namespace="")]:
                self._store.cover(need, coverage)
        if passed:
            fill(self._connection, self._store, passed, kinds=self._kinds, chunk_size=self._chunk_size)

    def _list(self, kind: str) -> _List:
        """The list of a kind, begun if it is not; of one that has come further the store keeps the last namespace."""
        begun = self._lists.get(kind)
        if begun is None:
            begun = self._lists[kind] = _List(self._connection, self._kinds[kind], self._chunk_size)
        for space in {space for space, _ in self._store.keys(kind)}:
            if place(space) < place(begun.reached):
                self._store.leave(kind, space)
        return begun


class _List:
    """The objects of one kind, in the order of the server. ``reached``: the last namespace that was asked for."""

    def __init__(self, connection: Connection, kind: Kind, chunk_size: int) -> None:
        self.reached = ""
        self._connection, self._kind, self._need = connection, kind, Need(kind.kind)
        self._pages = listing(connection, kind, self._need, chunk_size)
        #: Of the last object that was read; None: there are no more.
        self._place: str | None = ""
        #: Another order, or an object that could not be decoded: no namespace is whole before all is read.
        self._whole = False
        self._skipped: list[str] = []
        self._count = 0

    def up_to(self, namespace: str, progress: ProgressCallback | None) -> tuple[list[Any], Coverage]:
        """What was not given out yet, at least to the end of the namespace, and how that went."""
        self.reached = namespace
        items: list[Any] = []
        try:
            while self._place is not None and (self._whole or self._place <= place(namespace)):
                items += self._page(progress)
        except ClusterError as error:
            self._place = None
            return items, shortfall(self._connection, self._kind, error, begun=self._count > 0)
        return items, Coverage("failed", "; ".join(self._skipped)) if self._skipped else READ

    def _page(self, progress: ProgressCallback | None) -> list[Any]:
        page = next(self._pages, None)
        if page is None:
            self._place = None
            return []
        self._skipped += page.skipped
        self._whole = self._whole or bool(page.skipped)
        for item in page.items:
            here = place(item.metadata.namespace)
            self._whole = self._whole or here < (self._place or "")
            self._place = here
        self._count += len(page.items)
        if progress is not None:
            progress(self._need, self._count, page.remaining)
        return page.items


def _last(needs: Iterable[Need]) -> str:
    return max((need.namespace for need in needs), key=place)


def place(namespace: str) -> str:
    """What namespaces are sorted by in etcd: behind ``a`` comes a slash, before that ``a-b``."""
    return f"{namespace}/"
