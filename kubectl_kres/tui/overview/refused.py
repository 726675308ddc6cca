"""Which workloads are refused, and what mends them: all are looked at, one after the other, between keys."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.overview import OverviewArea, refused_area
from kubectl_kres.reports.quota.denied import Denied, denied_needs, needs_of_systems
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.refusals import Refusals
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
        self._finding: Iterator[Denied | None] | None = None
        self._mending: Iterator[Denied] | None = None
        #: By workload what was found, None where it is not refused; of those without one, by number.
        self._denied: dict[object, Denied | None] = {}
        self._looked_at: Stamp = ()
        #: Seconds that this look took so far, and when the next one may begin.
        self._took = self._rested = 0.0
        self._reads: tuple[Stamp, tuple[ReadRequest, ...]] = ((), ())

    @property
    def is_under_way(self) -> bool:
        """Return whether it is being found out which are refused."""
        return self._finding is not None

    @property
    def are_mended(self) -> bool:
        """Return whether what mends them is known, as far as it can be by now."""
        return self._mending is None or self._session.is_reading(self.reads())

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
        if self._finding is None and self.is_due and perf_counter() >= self._rested:
            refusals = Refusals(self._session, self._session.namespace, ())
            self._looked_at, self._denied, self._took = self._stamp(), {}, 0.0
            self._finding, self._mending = refusals.found(), refusals.mended()
        while self._finding is not None and (began := perf_counter()) < end:
            result = next(self._finding, self)
            self._took += perf_counter() - began
            if isinstance(result, RefusedLook):
                self._finding = None
                self._rested = perf_counter() + _REST * self._took
                return self._show()
            self._denied[result.subject if result is not None else len(self._denied)] = result
        return False

    def mend(self, end: float) -> bool:
        """Look for what mends those that were found until then; whether anything is new."""
        while self._mending is not None and perf_counter() < end:
            if (result := next(self._mending, None)) is None:
                self._mending = None
            else:
                self._denied[result.subject] = result
        return self._show()

    def _show(self) -> bool:
        before, denied = self.area, self._denied.values()
        self.area = refused_area(denied)
        self.workloads = frozenset(refusal.subject for refusal in denied if refusal is not None)
        return before != self.area

    def _stamp(self) -> Stamp:
        return stamp_of(self._session, tuple(dict.fromkeys(read.kind for read in self.reads())))
