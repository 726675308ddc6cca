"""How what makes pods fares: all pods are looked at, then all that makes them, between keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from time import perf_counter

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload_kinds import POD_MAKERS
from kubectl_kres.reports.common.explanation import RunState
from kubectl_kres.reports.explain.all_states import PodStates, all_states
from kubectl_kres.reports.overview import OverviewArea, running_area, workload_area
from kubectl_kres.reports.quota.denied import subjects_of
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.overview.stamp import Stamp, stamp_of
from kubectl_kres.tui.session import Session

#: A look is followed by a rest of so many times what it took: keys come first.
_REST = 10
#: Pods up to which nodes are asked why some wait: all that are on nodes are read for that.
_FEW = 5_000
_KINDS = (*POD_MAKERS, "Pod")

#: Namespace and name.
PodKey = tuple[str, str]


class RunningLook:
    """``area``: as of the last look, ``state`` unread before the first one. ``waiting``: pods that wait for a node;
    none where there are many pods.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.area = OverviewArea("running", "Pod", state="unread")
        self.waiting: dict[PodKey, Pod] = {}
        self._workloads: tuple[ObjectRef, ...] = ()
        self._fares: tuple[tuple[ObjectRef, RunState], ...] = ()
        self._work: Iterator[None] | None = None
        self._looked_at: Stamp = ()
        self._rested = 0.0

    def workloads(self, refused: Collection[ObjectRef]) -> OverviewArea:
        """Return all workloads, each once: refused, or as its pods fare; ``state`` unread before the first look."""
        return workload_area(self._workloads, refused, self._fares) if not self.area.state else self.area

    @property
    def is_under_way(self) -> bool:
        return self._work is not None

    @property
    def is_due(self) -> bool:
        """Return whether pods, or what makes them, are not as they were looked at last."""
        session = self._session
        is_known = session.store.covered(ReadRequest("Pod", session.namespace)).is_known
        return is_known and stamp_of(session, _KINDS) != self._looked_at

    def step(self, end: float) -> bool:
        """Look at pods until then; whether anything is new."""
        if self._work is None:
            if not self.is_due or perf_counter() < self._rested:
                return False
            self._looked_at, self._work = stamp_of(self._session, _KINDS), self._look()
        before, began = self.area, perf_counter()
        while self._work is not None and perf_counter() < end:
            if next(self._work, self) is self:
                self._work = None
        now = perf_counter()
        self._rested = now + _REST * (now - began)
        return before != self.area

    def _look(self) -> Iterator[None]:
        """Yield one pod, then one object that makes pods, after the other."""
        session = self._session
        states = PodStates(session.store, session.evaluation_options.now)
        for pod in list(session.store.all("Pod", session.namespace or None)):
            states.add(pod)
            yield
        fares = []
        for ref, state in all_states(session.store, session.namespace, states):
            fares.append((ref, state))
            yield
        self.area, self._fares = running_area(fares), tuple(fares)
        self._workloads = tuple(subject.ref for subject in subjects_of(session.store, session.namespace))
        count = sum(1 for _ in islice(session.store.keys("Pod"), _FEW + 1))
        self.waiting = {key_of(pod): pod for pod in states.pods_without_node()} if count <= _FEW else {}


def key_of(pod: Pod) -> PodKey:
    return pod.metadata.namespace, pod.metadata.name
