"""The pods of each namespace added up, a slice of time at a time, so that no key waits for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import perf_counter

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.qos.qos_sums import Adding, NamespaceSums
from kubectl_kres.store.store import Store

_CHUNK = 50


class Adder:
    """Sums by namespace. What changed is added up again, namespace by namespace."""

    def __init__(self, store: Store) -> None:
        self.done: dict[str, NamespaceSums] = {}
        self._store = store
        self._waiting: dict[str, None] = {}
        self._at = ""
        self._work: Iterator[NamespaceSums | None] | None = None

    @property
    def busy(self) -> bool:
        return self._work is not None or bool(self._waiting)

    def touch(self, refs: Iterable[ObjectRef]) -> None:
        """Pods that came, changed or went."""
        for ref in refs:
            if ref.kind == "Pod":
                self._waiting[ref.namespace] = None

    def step(self, server: Server, seconds: float) -> set[str]:
        """Adds up for a while; the namespaces whose sums are new."""
        finished: set[str] = set()
        end = perf_counter() + seconds
        while perf_counter() < end and self.busy:
            if self._work is None:
                self._at = next(iter(self._waiting))
                self._waiting.pop(self._at)
                self._work = self._added(self._at, server)
            namespace_sums = next(self._work, None)
            if namespace_sums is not None:
                self._work = None
                self.done[self._at] = namespace_sums
                finished.add(self._at)
        return finished

    def _added(self, namespace: str, server: Server) -> Iterator[NamespaceSums | None]:
        adding = Adding(server)
        for count, pod in enumerate(list(self._store.all("Pod", namespace)), 1):
            if isinstance(pod, Pod):
                adding.add(pod)
            if count % _CHUNK == 0:
                yield None
        yield next(
            (namespace_sums for namespace_sums in adding.sums() if not namespace_sums.total), NamespaceSums(namespace)
        )
