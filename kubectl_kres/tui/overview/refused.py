"""Which workloads are refused: all are looked at, one after the other, between keys."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.overview import OverviewArea, list_refusals, refused_area
from kubectl_kres.reports.quota.denied import Denied, denied_needs, needs_of_systems
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.overview.stamp import Stamp, stamp_of
from kubectl_kres.tui.session import Session

#: A look at all workloads is followed by a rest of so many times what it took: keys come first.
_REST = 10


class RefusedLook:
    """``area``, ``workloads``: those that are refused, as of the last look; ``state`` unread before the first one."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.area = OverviewArea("refused", "Deployment", state="unread")
        self.workloads: frozenset[ObjectRef] = frozenset()
        self._work: Iterator[Denied | None] | None = None
        self._denied: list[Denied | None] = []
        self._looked_at: Stamp = ()
        #: Seconds that this look took so far, and when the next one may begin.
        self._took = self._rested = 0.0
        self._reads: tuple[Stamp, tuple[ReadRequest, ...]] = ((), ())

    @property
    def is_under_way(self) -> bool:
        return self._work is not None

    @property
    def is_due(self) -> bool:
        """Return whether something that it depends on is not as it was looked at."""
        return self.are_reads_known and self._stamp() != self._looked_at

    @property
    def are_reads_known(self) -> bool:
        """Return whether all has been read without which nothing is known."""
        store = self._session.store
        return all(store.covered(read).state != "unread" for read in self.reads() if read.required)

    def reads(self) -> tuple[ReadRequest, ...]:
        """Return what tells which workloads are refused, which the quotas decide with."""
        stamp = stamp_of(self._session, ("ResourceQuota",))
        if self._reads[0] != stamp:
            space = self._session.namespace
            self._reads = stamp, (*denied_needs(space), *needs_of_systems(self._session.store, space))
        return self._reads[1]

    def step(self, end: float) -> bool:
        """Look at workloads until then; whether anything is new."""
        if self._work is None and self.is_due and perf_counter() >= self._rested:
            session = self._session
            self._looked_at, self._denied, self._took = self._stamp(), [], 0.0
            self._work = list_refusals(session.store, session.namespace, session.evaluation_options)
        while self._work is not None and (began := perf_counter()) < end:
            result = next(self._work, self)
            self._took += perf_counter() - began
            if isinstance(result, RefusedLook):
                return self._finish()
            self._denied.append(result)
        return False

    def _finish(self) -> bool:
        before = self.area
        self.area = refused_area(self._denied)
        self.workloads = frozenset(refusal.subject for refusal in self._denied if refusal is not None)
        self._work, self._denied = None, []
        self._rested = perf_counter() + _REST * self._took
        return before != self.area

    def _stamp(self) -> Stamp:
        return stamp_of(self._session, tuple(dict.fromkeys(read.kind for read in self.reads())))
