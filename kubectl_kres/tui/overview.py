"""Incremental computation of the overview: changed areas first, costly ones while no key is pressed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from time import perf_counter

from msgspec.structs import replace

from kubectl_kres.model.objects import ObjectRef, ResourceQuota
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload_kinds import POD_MAKERS
from kubectl_kres.reports.common.explanation import RunState
from kubectl_kres.reports.common.nodes import NodeReport
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.explain.all_states import PodStates, all_states
from kubectl_kres.reports.overview import (
    MOST,
    AreaInput,
    AreaMaker,
    AreaWithRemedies,
    OverviewArea,
    Problem,
    area_needs,
    list_refusals,
    makers,
    refused_area,
    running_area,
    waiting_pod,
    without_problems,
    workload_area,
    worst_first,
)
from kubectl_kres.reports.pod.scheduling_needs import MOST_LISTED, list_node_needs
from kubectl_kres.reports.quota.denied import Denied, denied_needs, needs_of_systems, subjects_of
from kubectl_kres.reports.quota.quota_report import QuotaReport
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.quotas import quota_row
from kubectl_kres.tui.session import Session, single_read_request

_UNSEEN = {"denied": "not visible", "failed": "not read"}
#: A look at all workloads is followed by a rest of so many times what it took: keys come first.
_REST = 10
#: Problems whose remedies are looked for.
_MENDED = 20
#: Pods up to which nodes are asked why some wait: all that are on nodes are read for that.
_FEW = 5_000

Stamp = tuple[object, ...]


def unread_reason(session: Session, read: ReadRequest) -> str:
    """Return why nothing is known of a kind, in a word or two; empty if something is, or may still come."""
    coverage = session.store.covered(read)
    if coverage.state in _UNSEEN:
        return _UNSEEN[coverage.state]
    return "not held here" if coverage.state == "unread" and not session.is_undecided(read) else ""


class Areas:
    """What was made last of one namespace, the one that is shown when it begins."""

    def __init__(self, session: Session) -> None:
        self._session, self.namespace = session, session.namespace
        self.makers: tuple[AreaMaker, ...] = makers()
        self._cached_areas: dict[str, tuple[Stamp, AreaWithRemedies]] = {}
        self._remedies: dict[tuple[str, ObjectRef], tuple[Stamp, tuple[Remedy, ...]]] = {}
        self._refused_area = OverviewArea("refused", "Deployment", state="unread")
        self._denied: list[Denied | None] = []
        self._work: Iterator[Denied | None] | None = None
        self._looked: Stamp = ()
        self._wanted_reads: tuple[Stamp, tuple[ReadRequest, ...]] = ((), ())
        self._rested = self._took = 0.0
        #: How what makes pods fares, as of the last look, and the look that is under way.
        self._running = OverviewArea("running", "Pod", state="unread")
        self._workloads: tuple[ObjectRef, ...] = ()
        self._fares: tuple[tuple[ObjectRef, RunState], ...] = ()
        self._refused: frozenset[ObjectRef] = frozenset()
        self._look: Iterator[None] | None = None
        self._fared: Stamp = ()
        self._fared_until = 0.0
        #: Pods that wait for a node, by namespace and name, and what nodes said of them, for one version of the pod.
        self._waiting_pods: dict[tuple[str, str], Pod] = {}
        self._nodes: dict[tuple[str, str], tuple[str | None, NodeReport | None]] = {}

    def reads(self) -> tuple[ReadRequest, ...]:
        """Return what the areas are made from; once that is there, what tells which workloads are refused."""
        space = self._session.namespace
        first = area_needs(space)
        if any(self._session.unread_requests((*first, ReadRequest("Pod", space)))) or not self._has_begun_reading(
            first
        ):
            return first
        return tuple(dict.fromkeys((*first, *self._refusal_read_requests(), *self.node_reads())))

    def node_reads(self) -> tuple[ReadRequest, ...]:
        """Return what tells why pods wait for a node, until it is known: then nothing is watched for it any more."""
        return list_node_needs(self._session.store, self._pods_to_place())

    def _pods_to_place(self) -> list[Pod]:
        """Return the pods of the worst that wait for a node and of which nodes have said nothing yet."""
        waiting = (waiting_pod(problem, self._waiting_pods) for problem in self._running.problems)
        pods = islice((pod for pod in waiting if pod is not None), MOST_LISTED)
        return [pod for pod in pods if self._nodes.get(_pod_key(pod), ("",))[0] != pod.metadata.resource_version]

    def _is_placeable(self) -> bool:
        """Return whether all has been read that nodes say of such a pod."""
        reads = self.node_reads()
        return bool(reads) and not any(map(self._session.is_undecided, reads))

    def _ask_nodes(self) -> None:
        """Take down what nodes say of the first pod that waits for one."""
        from kubectl_kres.reports.scheduling.report import nodes_in_list  # noqa: PLC0415 - only where a pod waits

        pod, session = self._pods_to_place()[0], self._session
        reported = nodes_in_list(session.store, pod, session.evaluation_options.server.version[1])
        self._nodes[_pod_key(pod)] = pod.metadata.resource_version, reported

    def _with_nodes(self, problem: Problem) -> Problem:
        """Return the problem with what nodes say to its pod that waits for one, where that is known."""
        pod = waiting_pod(problem, self._waiting_pods)
        known = self._nodes.get(_pod_key(pod)) if pod is not None else None
        return replace(problem, nodes=known[1]) if known is not None else problem

    def _refusal_read_requests(self) -> tuple[ReadRequest, ...]:
        """Return what tells which workloads are refused, which the quotas decide with."""
        stamp = self._stamp(("ResourceQuota",))
        if self._wanted_reads[0] != stamp:
            space = self._session.namespace
            self._wanted_reads = stamp, (*denied_needs(space), *needs_of_systems(self._session.store, space))
        return self._wanted_reads[1]

    def _has_begun_reading(self, reads: tuple[ReadRequest, ...]) -> bool:
        """Return whether nothing of that is only about to be read."""
        store, states = self._session.store, self._session.feed.states()
        return all(store.covered(read).state != "unread" or single_read_request(read) in states for read in reads)

    def area(self, maker: AreaMaker) -> OverviewArea:
        """An area with its counts, or with why there are none."""
        return without_problems(self._session.store, self.reads(), self._build_area(maker).area)

    def problems(self) -> list[Problem]:
        """Return what is wrong in all areas, the worst first, with the remedies that are known by now."""
        areas = [self._refused_area, self._running, *(self._build_area(maker).area for maker in self.makers)]
        # What does not serve the namespace that is shown comes last.
        problems = sorted(map(self._with_nodes, worst_first(areas)), key=lambda problem: problem.elsewhere)
        return [
            problem if problem.fixes else replace(problem, fixes=self._remedies.get(_key(problem), ((), ()))[1])
            for problem in problems
        ]

    def refused_workloads(self) -> OverviewArea:
        """Return the workloads whose pods are refused, as of the last look; ``state`` unread before the first one."""
        return self._refused_area

    def workloads(self) -> OverviewArea:
        """Return all workloads, each once: refused, or as its pods fare, as of the last looks; ``state`` unread before
        the first one at the pods.
        """
        return workload_area(self._workloads, self._refused, self._fares) if not self._running.state else self._running

    @property
    def busy(self) -> bool:
        """Return whether there is something to compute that is computed between keys."""
        if self._look is not None or self._is_stale():
            return True
        if self._work is not None or self._is_due() or self._is_placeable():
            return True
        return next(self._problems_without_remedies(), None) is not None

    def step(self, seconds: float) -> bool:
        """Look at workloads, then for remedies, for a while; whether anything is new."""
        end = perf_counter() + seconds
        if self._work is None and self._is_due() and perf_counter() >= self._rested:
            self._start_search()
        news = False
        while self._work is not None and (began := perf_counter()) < end:
            result = next(self._work, self)
            self._took += perf_counter() - began
            if isinstance(result, Areas):
                self._work = None
                news = self._finish_search()
            else:
                self._denied.append(result)
        if self._work is None:
            news = self._step_running(end) or news
            if perf_counter() < end and self._is_placeable():
                self._ask_nodes()
                news = True
        while self._work is None and perf_counter() < end:
            problem = next(self._problems_without_remedies(), None)
            if problem is None:
                break
            self._find_remedies(problem)
            news = True
        return news

    def _stamp(self, kinds: tuple[str, ...]) -> Stamp:
        return (self._session.namespace, *self._session.store.revision(*kinds))

    def _build_area(self, maker: AreaMaker) -> AreaWithRemedies:
        stamp, result = self._stamp(maker.kinds), self._cached_areas.get(maker.name)
        if result is None or result[0] != stamp:
            session = self._session
            context = AreaInput(session.store, session.namespace, session.evaluation_options, self._quota)
            result = self._cached_areas[maker.name] = (stamp, maker.make(context))
        return result[1]

    def _quota(self, quota: ResourceQuota) -> QuotaReport | str:
        row = quota_row(self._session, quota)
        return row.report or row.fault

    # Refused workloads

    def _is_due(self) -> bool:
        late = self._refusal_read_requests()
        is_known = all(self._session.store.covered(read).state != "unread" for read in late if read.required)
        return is_known and self._stamp(tuple(dict.fromkeys(read.kind for read in late))) != self._looked

    def _start_search(self) -> None:
        session = self._session
        self._looked = self._stamp(tuple(dict.fromkeys(read.kind for read in self._refusal_read_requests())))
        self._denied, self._took = [], 0.0
        self._work = list_refusals(session.store, session.namespace, session.evaluation_options)

    def _finish_search(self) -> bool:
        before = self._refused_area
        self._refused_area = refused_area(self._denied)
        self._refused = frozenset(refusal.subject for refusal in self._denied if refusal is not None)
        self._denied = []
        self._rested = perf_counter() + _REST * self._took
        return before != self._refused_area

    # What runs

    def _is_stale(self) -> bool:
        """Return whether pods, or what makes them, are not as they were looked at last."""
        session, kinds = self._session, (*POD_MAKERS, "Pod")
        is_known = session.store.covered(ReadRequest("Pod", session.namespace)).is_known
        unread = any(
            session.store.covered(read).state == "unread" for read in self._refusal_read_requests() if read.required
        )
        return is_known and not unread and self._stamp(kinds) != self._fared

    def _step_running(self, end: float) -> bool:
        """Look at pods until then; whether anything is new."""
        if self._look is None:
            if not self._is_stale() or perf_counter() < self._fared_until:
                return False
            self._fared, self._look = self._stamp((*POD_MAKERS, "Pod")), self._looked_at()
        before, began = self._running, perf_counter()
        while self._look is not None and perf_counter() < end:
            if next(self._look, self) is self:
                self._look = None
        now = perf_counter()
        self._fared_until = now + _REST * (now - began)
        return before != self._running

    def _looked_at(self) -> Iterator[None]:
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
        self._running, self._fares = running_area(fares), tuple(fares)
        self._workloads = tuple(subject.ref for subject in subjects_of(session.store, session.namespace))
        count = sum(1 for _ in islice(session.store.keys("Pod"), _FEW + 1))
        self._waiting_pods = {_pod_key(pod): pod for pod in states.pods_without_node()} if count <= _FEW else {}

    # Remedies

    def _problems_without_remedies(self) -> Iterator[Problem]:
        """Yield the worst problems whose remedies were not looked for since something of theirs changed."""
        if self._work is not None:
            return
        areas = {maker.name: self._build_area(maker) for maker in self.makers}
        for problem in worst_first([item.area for item in areas.values()])[:_MENDED]:
            if self._remedies.get(_key(problem), (None,))[0] != self._cached_areas[problem.area][0]:
                yield problem

    def _find_remedies(self, problem: Problem) -> None:
        stamp, areas = self._cached_areas[problem.area]
        if len(self._remedies) > MOST * len(self._cached_areas):
            self._remedies.clear()
        self._remedies[_key(problem)] = stamp, areas.remedies(problem)


def _pod_key(pod: Pod) -> tuple[str, str]:
    return pod.metadata.namespace, pod.metadata.name


def _key(problem: Problem) -> tuple[str, ObjectRef]:
    return problem.area, problem.subject
