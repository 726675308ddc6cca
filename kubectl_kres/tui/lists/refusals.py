"""The workloads whose pods are refused, as lists come to know them: first that they are, then what mends it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.overview import list_refusals
from kubectl_kres.reports.quota.denied import Denied, refusal_or_none
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.tui.session import Session

#: By workload as it was last found, with what mends it.
_Mended = dict[ObjectRef, Denied]


def _nothing_mended(_store: Store) -> _Mended:
    return {}


class Refusals:
    """``found`` is quick, ``mended`` takes most of the time: each is what a list goes through, one after the other.

    ``reads``: those of the list after which it is made again.
    """

    def __init__(self, session: Session, namespace: str, reads: Iterable[ReadRequest]) -> None:
        self._session, self._namespace, self._reads = session, namespace, tuple(reads)
        self._options = session.evaluation_options
        #: That of the last time this session looked.
        self._mended: _Mended = session.cache_by_kinds((), _nothing_mended)
        self._found: list[ObjectRef] = []

    def found(self) -> Iterator[Denied | None]:
        """Yield the refusal of each workload in turn, None where its pods are not refused. It has what mended it the
        last time, where it says the same, else nothing.
        """
        quick = replace(self._options, remedies=False)
        for refusal in list_refusals(self._session.store, self._namespace, quick):
            if refusal is None:
                yield None
                continue
            self._found.append(refusal.subject)
            known = self._mended.get(refusal.subject)
            if known is not None and known.verdict == refusal.verdict:
                yield replace(refusal, fixes=known.fixes)
            else:
                yield refusal

    def mended(self) -> Iterator[Denied]:
        """Yield those that were found, with what mends each now: each takes its time. None while there is more to find:
        that comes first, when the list is made again.
        """
        if self._session.is_reading(self._reads):
            return
        # Those first of which nothing was ever known: others have what mended them the last time.
        for ref in sorted(self._found, key=self._mended.__contains__):
            refusal = refusal_or_none(self._session.store, self._session.subject(ref), self._options)
            if refusal is not None:
                self._mended[ref] = refusal
                yield refusal
        for ref in self._mended.keys() - set(self._found):
            if self._namespace in {"", ref.namespace}:
                del self._mended[ref]
