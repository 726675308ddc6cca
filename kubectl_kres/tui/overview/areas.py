"""All that the first screen tells: areas that changed first, what costs much while no key is pressed."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from msgspec.structs import replace

from kubectl_kres.model.objects import ObjectRef, ResourceQuota
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.overview import (
    MOST,
    AreaInput,
    AreaMaker,
    AreaWithRemedies,
    OverviewArea,
    Problem,
    area_needs,
    makers,
    without_problems,
    worst_first,
)
from kubectl_kres.reports.quota.quota_report import QuotaReport
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.quotas import quota_row
from kubectl_kres.tui.overview.node_answers import NodeAnswers
from kubectl_kres.tui.overview.refused import RefusedLook
from kubectl_kres.tui.overview.running import RunningLook
from kubectl_kres.tui.overview.stamp import Stamp, stamp_of
from kubectl_kres.tui.session import Session, single_read_request

_UNSEEN = {"denied": "not visible", "failed": "not read"}
#: Problems whose remedies are looked for.
_MENDED = 20


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
        self._made: dict[str, tuple[Stamp, AreaWithRemedies]] = {}
        self._remedies: dict[tuple[str, ObjectRef], tuple[Stamp, tuple[Remedy, ...]]] = {}
        self._refused, self._running = RefusedLook(session), RunningLook(session)
        self._nodes = NodeAnswers(session, self._running)

    # What is read

    def reads(self) -> tuple[ReadRequest, ...]:
        """Return what the areas are made from; once that is there, what tells which workloads are refused."""
        space = self._session.namespace
        first = area_needs(space)
        if any(self._session.unread_requests((*first, ReadRequest("Pod", space)))) or not self._has_begun(first):
            return first
        return tuple(dict.fromkeys((*first, *self._refused.reads(), *self.node_reads())))

    def node_reads(self) -> tuple[ReadRequest, ...]:
        """Return what tells why pods wait for a node."""
        return self._nodes.reads()

    def _has_begun(self, reads: tuple[ReadRequest, ...]) -> bool:
        """Return whether nothing of that is only about to be read."""
        store, states = self._session.store, self._session.feed.states()
        return all(store.covered(read).state != "unread" or single_read_request(read) in states for read in reads)

    # What is known by now

    def area(self, maker: AreaMaker) -> OverviewArea:
        """An area with its counts, or with why there are none."""
        return without_problems(self._session.store, self.reads(), self._make(maker).area)

    def refused_workloads(self) -> OverviewArea:
        """Return the workloads whose pods are refused, as of the last look; ``state`` unread before the first one."""
        return self._refused.area

    def workloads(self) -> OverviewArea:
        """Return all workloads, each once, as of the last looks; ``state`` unread before the first one at the pods."""
        return self._running.workloads(self._refused.workloads)

    def problems(self) -> list[Problem]:
        """Return what is wrong in all areas, the worst first, with the remedies that are known by now."""
        areas = [self._refused.area, self._running.area, *(self._make(maker).area for maker in self.makers)]
        # What does not serve the namespace that is shown comes last.
        problems = sorted(map(self._nodes.added_to, worst_first(areas)), key=lambda problem: problem.elsewhere)
        return [
            problem if problem.fixes else replace(problem, fixes=self._remedies.get(_key(problem), ((), ()))[1])
            for problem in problems
        ]

    # What is computed between keys

    @property
    def busy(self) -> bool:
        """Return whether there is something to compute that is computed between keys."""
        refused = self._refused
        if refused.is_under_way or refused.is_due or not refused.are_mended:
            return True
        if self._is_running_due or self._nodes.is_due:
            return True
        return next(self._problems_without_remedies(), None) is not None

    @property
    def _is_running_due(self) -> bool:
        return self._running.is_under_way or (self._running.is_due and self._refused.are_reads_known)

    def step(self, seconds: float) -> bool:
        """Look at workloads, then for remedies, for a while; whether anything is new."""
        end = perf_counter() + seconds
        news = self._refused.step(end)
        if self._refused.is_under_way:
            return news
        if self._is_running_due:
            news = self._running.step(end) or news
        if perf_counter() < end and self._nodes.is_due:
            self._nodes.ask()
            news = True
        if not self._refused.are_mended:
            news = self._refused.mend(end) or news
        while perf_counter() < end and (problem := next(self._problems_without_remedies(), None)) is not None:
            self._find_remedies(problem)
            news = True
        return news

    def _make(self, maker: AreaMaker) -> AreaWithRemedies:
        stamp, result = stamp_of(self._session, maker.kinds), self._made.get(maker.name)
        if result is None or result[0] != stamp:
            session = self._session
            context = AreaInput(session.store, session.namespace, session.evaluation_options, self._quota)
            result = self._made[maker.name] = (stamp, maker.make(context))
        return result[1]

    def _quota(self, quota: ResourceQuota) -> QuotaReport | str:
        row = quota_row(self._session, quota)
        return row.report or row.fault

    def _problems_without_remedies(self) -> Iterator[Problem]:
        """Yield the worst problems whose remedies were not looked for since something of theirs changed."""
        if self._refused.is_under_way:
            return
        areas = [self._make(maker).area for maker in self.makers]
        for problem in worst_first(areas)[:_MENDED]:
            if self._remedies.get(_key(problem), (None,))[0] != self._made[problem.area][0]:
                yield problem

    def _find_remedies(self, problem: Problem) -> None:
        stamp, areas = self._made[problem.area]
        if len(self._remedies) > MOST * len(self._made):
            self._remedies.clear()
        self._remedies[_key(problem)] = stamp, areas.remedies(problem)


def _key(problem: Problem) -> tuple[str, ObjectRef]:
    return problem.area, problem.subject
