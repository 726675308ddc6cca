"""Lists of all namespaces that several readers share, each read page by page as far as the first reader has come.

All come sorted by their keys in etcd, namespace/name. So what pods were made from can be read beside the pods: the
first answer does not wait for the last ReplicaSet, and those of namespaces that were left need not be kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from kubectl_kres.cluster.connection import Connection
from kubectl_kres.cluster.read.fill_store import CHUNK_SIZE, WIDTH, ProgressCallback, fill, read_list_pages, shortfall
from kubectl_kres.cluster.transport.parallel import run
from kubectl_kres.errors import ClusterError
from kubectl_kres.model.kinds import Kind
from kubectl_kres.store.store import READ, Coverage, LeftOut, ReadRequest, Store, partly_read


class Alongside:
    """Fills a store with the objects of some namespaces after the other, out of one list for each kind."""

    def __init__(
        self, connection: Connection, store: Store, kinds: Mapping[str, Kind], chunk_size: int = CHUNK_SIZE
    ) -> None:
        self._connection, self._store, self._kinds, self._chunk_size = connection, store, kinds, chunk_size
        #: By the need that they read, of all namespaces.
        self._lists: dict[ReadRequest, _List] = {}

    def fill(self, reads: Iterable[ReadRequest], progress: ProgressCallback | None = None) -> None:
        """Read kinds in namespaces; what is held of namespaces before those asked for last is dropped.

        Raises as ``fill_store.fill``, and records as it does.
        """
        read_requests: dict[ReadRequest, list[ReadRequest]] = {}
        passed: list[ReadRequest] = []
        for read in dict.fromkeys(reads):
            if not self._store.should_read(read):
                continue
            known = self._lists.get(wide_read := replace(read, namespace=""))
            if known is not None and namespace_key(read.namespace) < namespace_key(known.reached):
                passed.append(read)  # the server gives the pods in another order
            else:
                read_requests.setdefault(wide_read, []).append(read)
        for read in read_requests:
            self._drop_earlier_namespaces(read)
        coverages = self._read({read: _last_namespace(wanted) for read, wanted in read_requests.items()}, progress)
        for (wide_read, wanted), coverage in zip(read_requests.items(), coverages, strict=True):
            for read in wanted if coverage == READ or coverage.left_out else [wide_read]:
                self._store.cover(read, coverage.narrowed(read.namespace, read.name))
        if passed:
            fill(self._connection, self._store, passed, kinds=self._kinds, chunk_size=self._chunk_size)

    def namespaces(self, reads: Sequence[ReadRequest], progress: ProgressCallback | None = None) -> Iterator[str]:
        """Yield the namespaces that have anything of the needs, which are lists of all namespaces, one after the other.

        All that they list of a namespace is in the store when it is given out, and for no longer than until the next
        one is asked for. Raises and records as ``fill``, and ClusterError for a list that is in no order.
        """
        named: set[str] = set()
        for read, coverage in zip(reads, self._read(dict.fromkeys(reads, ""), progress), strict=True):
            if coverage != READ:
                self._store.cover(read, coverage)
        while ahead := self._list_unread_namespaces(reads, named):
            self.fill((replace(read, namespace=ahead[0]) for read in reads), progress)
            for space in self._list_unread_namespaces(reads, named):
                if namespace_key(space) <= namespace_key(ahead[0]):
                    named.add(space)
                    yield space
            for read in reads:
                if self._list(read).shuffled:
                    raise ClusterError(
                        f"the list of {self._kinds[read.kind].qualified_name} is not in the order of namespaces",
                        hint="name the namespaces to ask about with -n",
                    )

    def _list_unread_namespaces(self, reads: Iterable[ReadRequest], named: Collection[str]) -> list[str]:
        """Namespaces of objects that were read and not given out yet, in their order."""
        spaces = {space for read in reads for space in self._store.namespaces(read.kind)}
        return sorted(spaces.difference(named), key=namespace_key)

    def _read(self, reads: Mapping[ReadRequest, str], progress: ProgressCallback | None) -> list[Coverage]:
        """Put into the store what each list has up to a namespace; how that went."""
        jobs = [partial(self._list(read).up_to, namespace, progress) for read, namespace in reads.items()]
        coverages = []
        for read, (items, coverage) in zip(reads, run(jobs, WIDTH), strict=True):
            for item in items:
                self._store.add(read.kind, item)
            coverages.append(coverage)
        return coverages

    def _list(self, read: ReadRequest) -> _List:
        """The list of a need of all namespaces, begun if it is not."""
        begun = self._lists.get(read)
        if begun is None:
            begun = self._lists[read] = _List(self._connection, self._kinds[read.kind], read, self._chunk_size)
        return begun

    def _drop_earlier_namespaces(self, read: ReadRequest) -> None:
        """Drop what is held of namespaces before the last one that was asked for."""
        reached = self._list(read).reached
        for space in self._store.namespaces(read.kind):
            if namespace_key(space) < namespace_key(reached):
                self._store.leave(read.kind, space)


class _List:
    """The objects of one kind, in the order of the server. ``reached``: the last namespace that was asked for.

    ``shuffled``: some came in another order than that of their namespaces.
    """

    def __init__(self, connection: Connection, kind: Kind, read: ReadRequest, chunk_size: int) -> None:
        self.reached, self.shuffled = "", False
        self._connection, self._kind, self._read = connection, kind, read
        self._pages = read_list_pages(connection, kind, read, chunk_size)
        #: Of the last object that was read; None: there are no more.
        self._position: str | None = ""
        #: Also if an object could not be decoded no namespace is whole before all is read.
        self._complete = False
        self._skipped: list[LeftOut] = []
        self._count = 0

    def up_to(self, namespace: str, progress: ProgressCallback | None) -> tuple[list[Any], Coverage]:
        """Return what was not given out yet, at least to the end of the namespace, and how that went."""
        self.reached = namespace
        items: list[Any] = []
        try:
            while self._position is not None and (self._complete or self._position <= namespace_key(namespace)):
                items += self._page(progress)
        except ClusterError as error:
            self._position = None
            return items, shortfall(self._connection, self._kind, error, begun=self._count > 0)
        return items, partly_read(self._skipped)

    def _page(self, progress: ProgressCallback | None) -> list[Any]:
        page = next(self._pages, None)
        if page is None:
            self._position = None
            return []
        self._skipped += page.skipped
        self._complete = self._complete or bool(page.skipped)
        for item in page.items:
            here = namespace_key(item.metadata.namespace)
            self.shuffled = self.shuffled or here < (self._position or "")
            self._position = here
        self._complete = self._complete or self.shuffled
        self._count += len(page.items)
        if progress is not None:
            progress(self._read, self._count, page.remaining)
        return page.items


def _last_namespace(reads: Iterable[ReadRequest]) -> str:
    return max((read.namespace for read in reads), key=namespace_key)


def namespace_key(namespace: str) -> str:
    """Return what namespaces are sorted by in etcd: behind ``a`` comes a slash, before that ``a-b``."""
    return f"{namespace}/"
