"""An area of the overview: how many objects there are, how they fare, and what is wrong. A system adds its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.policy import ResourceQuota
from kubectl_kres.reports.common.explanation import RunState, Verdict
from kubectl_kres.reports.common.record import Record
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.subject import Ask
from kubectl_kres.reports.common.system_parts import Severity
from kubectl_kres.reports.quota.quota_report import QuotaReport
from kubectl_kres.store.store import Store


class Problem(Record, frozen=True):
    """One object that is not as it should be. ``state``: how it is, in a word.

    ``name``, ``used``, ``hard``, ``percent``: the resource that is nearest to its end, where there is one. ``lacks``:
    what is missing, by resource. ``behind``: the resources for which others in a queue come first. ``reason``: the
    server's or controller's word. ``verdict``: of the next pod, where pods are refused; ``missing`` of ``wanted`` pods
    do not exist then. ``waiting``: how many wait for it. ``since``: since when, as RFC 3339. ``remedies``: what mends
    it, each complete alone; empty: none is known, or it was not looked for. ``run_state``: of what waits or fails.
    ``elsewhere``: it is in no namespace, and does not serve the one that is asked about.
    """

    area: str
    subject: ObjectRef
    severity: Severity
    state: str
    name: str = ""
    used: str = ""
    hard: str = ""
    percent: int | None = None
    lacks: Mapping[str, str] = {}
    behind: tuple[str, ...] = ()
    reason: str = ""
    verdict: Verdict | None = None
    missing: int = 0
    wanted: int = 0
    waiting: int = 0
    since: str = ""
    remedies: tuple[Remedy, ...] = ()
    run_state: RunState | None = None
    elsewhere: bool = False


class AreaPart(Record, frozen=True):
    """So many of an area fare like this."""

    word: str
    count: int
    severity: Severity = ""


class OverviewArea(Record, frozen=True):
    """All objects of a kind. ``parts``: how they fare, the worst first; of pods their QoS classes.

    ``count``: how many objects; absent: not known, as ``state`` says: absent (the server has no such kind), denied,
    failed, unread. ``of``: what the parts count, where that is not the objects. ``problems``: the worst first.
    """

    name: str
    kind: str
    count: int | None = None
    parts: tuple[AreaPart, ...] = ()
    of: str = ""
    state: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def severity(self) -> Severity:
        """That of its worst part."""
        result = {part.severity for part in self.parts if part.count} | {problem.severity for problem in self.problems}
        return next((severity for severity in SEVERITIES if severity in result), "")


#: The worst first.
SEVERITIES: tuple[Severity, ...] = ("bad", "warn", "unknown", "")


class AreaInput(NamedTuple):
    """What areas are made from. ``namespace`` empty: all. ``quota``: the report of one; a text: why there is none."""

    store: Store
    namespace: str
    ask: Ask
    quota: Callable[[ResourceQuota], QuotaReport | str]


def _none(_problem: Problem) -> tuple[Remedy, ...]:
    return ()


class Made(NamedTuple):
    """An area, and what finds the remedies of one of its problems, which costs more than the area itself."""

    area: OverviewArea
    remedies: Callable[[Problem], tuple[Remedy, ...]] = _none


class AreaMaker(NamedTuple):
    """``name``: what its list is called. ``kinds``: what it is made from, the counted one first.

    ``everywhere``: its objects are in no namespace.
    """

    name: str
    kinds: tuple[str, ...]
    make: Callable[[AreaInput], Made]
    everywhere: bool = False


def parts_of(counts: Mapping[str, int], order: Mapping[str, Severity]) -> tuple[AreaPart, ...]:
    """The parts that are not empty, in that order."""
    return tuple(AreaPart(word, counts[word], severity) for word, severity in order.items() if counts.get(word))
