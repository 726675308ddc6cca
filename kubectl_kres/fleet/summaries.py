"""Summaries of a cluster for each report: rows and figures. Those of a system are in the system's folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from kubectl_kres.fleet.rows import FleetRow, parse_cell_amount
from kubectl_kres.quantity import ZERO, parse
from kubectl_kres.reports.check.finding import SEVERITIES, CheckFinding
from kubectl_kres.reports.common.resource_lists import NEARLY_FULL
from kubectl_kres.reports.qos.qos_sums import NamespaceSums

if TYPE_CHECKING:  # a worker answers one of them
    from kubectl_kres.reports.overview import Overview
    from kubectl_kres.reports.overview_changes import OverviewChanges
    from kubectl_kres.reports.quota.quota_report import QuotaReport, QuotaUse


class CheckRow(FleetRow, frozen=True):
    """One finding. ``field``: the path in the object that is to blame; empty: the whole of it. ``ignored``: why."""

    severity: str
    code: str
    kind: str
    namespace: str
    name: str
    field: str
    message: str
    fix: str
    ignored: str


class CheckSummary:
    """A cluster is the worse, the more errors there are, then warnings."""

    row = CheckRow
    summed = ("errors", "warnings", "notes", "ignored")

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._counts = dict.fromkeys(SEVERITIES, 0)
        self._ignored = 0
        self._first_finding: CheckFinding | None = None

    def add(self, report: CheckFinding) -> Iterator[CheckRow]:
        """Yield a row for the finding, which is in words. They come the worst first."""
        if report.counts:
            self._counts[report.severity] += 1
            self._first_finding = self._first_finding or report
        else:
            self._ignored += 1
        ref = report.object
        yield CheckRow(
            self._cluster,
            report.severity,
            report.code,
            ref.kind,
            ref.namespace,
            ref.name,
            report.field,
            cast("str", report.message),
            cast("str", report.fix),
            report.ignored,
        )

    def figures(self) -> dict[str, int | str]:
        """Return how many there are, and which is the worst."""
        errors, warnings, notes = self._counts.values()
        result: dict[str, int | str] = {
            "errors": errors,
            "warnings": warnings,
            "notes": notes,
            "ignored": self._ignored,
        }
        if self._first_finding is None:
            return result
        ref = self._first_finding.object
        return {
            **result,
            "rule": self._first_finding.code,
            "namespace": ref.namespace,
            "kind": ref.kind,
            "name": ref.name,
        }

    def rank(self) -> tuple[int, ...]:
        """Return how many there are, by severity."""
        return tuple(self._counts.values())

    def negative(self) -> bool:
        """Return whether there is an error, as for ``check`` itself."""
        return self._counts["error"] > 0


class OverviewRow(FleetRow, frozen=True):
    """So many ``parts`` of an area fare like this, in a word. ``total``: objects of the area; null: not known.

    ``severity``: bad, warn, unknown, or empty where nothing is wrong. ``unread``: why the area is not known.
    """

    namespace: str
    area: str
    kind: str
    total: int | None
    state: str
    parts: int
    severity: str
    unread: str


class OverviewSummary:
    """A cluster is the worse, the more of it is bad, then near it."""

    row = OverviewRow
    summed = ("bad", "warn")

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._bad = self._warn = 0
        self._worst_row: tuple[str, ...] = ()

    def add(self, report: Overview) -> Iterator[OverviewRow]:
        """Yield a row for each part of each area; of an area without parts one row."""
        for problem in report.problems:
            self._bad += problem.severity == "bad"
            self._warn += problem.severity == "warn"
        if report.problems and not self._worst_row:
            first = report.problems[0]
            self._worst_row = (first.area, first.state, first.subject.namespace, first.subject.name)
        for area in report.areas:
            for word, parts, severity in [(part.state, part.count, part.severity) for part in area.parts] or [
                ("", 0, "")
            ]:
                yield OverviewRow(
                    self._cluster, report.namespace, area.name, area.kind, area.count, word, parts, severity, area.state
                )

    def figures(self) -> dict[str, int | str]:
        """Return how many problems there are, and which is the worst."""
        result: dict[str, int | str] = {"bad": self._bad, "warn": self._warn}
        return {**result, **dict(zip(("area", "problem", "namespace", "name"), self._worst_row, strict=False))}

    def rank(self) -> tuple[int, ...]:
        """Return how many problems there are."""
        return self._bad, self._warn

    def negative(self) -> bool:
        """Return whether there is one that is bad, as for ``overview --exit-code``."""
        return self._bad > 0


class ChangeRow(FleetRow, frozen=True):
    """What became of one object between two moments. ``before``, ``now``: its state in a word, null: no problem.

    ``severity``: of how it is now, or was if it has no problem any more.
    """

    change: str
    namespace: str
    kind: str
    name: str
    severity: str
    before: str | None
    now: str | None


class ChangeSummary:
    """A cluster is the worse, the more became bad there, then the more changed."""

    row = ChangeRow
    summed = ("new", "worse", "changed", "better", "gone", "as-before")

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._counts: dict[str, int] = dict.fromkeys(self.summed[:-1], 0)
        self._bad = self._unchanged = 0
        self._first: ChangeRow | None = None

    def add(self, report: OverviewChanges) -> Iterator[ChangeRow]:
        """Yield a row for each object that changed. They come the worst first."""
        self._unchanged += report.unchanged
        for change in report.changes:
            before, after, ref = change.before, change.after, change.subject
            shown = after or before
            row = ChangeRow(
                self._cluster,
                change.change,
                ref.namespace,
                ref.kind,
                ref.name,
                shown.severity if shown is not None else "",
                before.state if before is not None else None,
                after.state if after is not None else None,
            )
            self._counts[change.change] += 1
            self._bad += change.got_worse
            self._first = self._first or row
            yield row

    def figures(self) -> dict[str, int | str]:
        """Return how many changed how, and which is the worst."""
        result: dict[str, int | str] = {**self._counts, "as-before": self._unchanged}
        first = self._first
        if first is None:
            return result
        return {**result, "namespace": first.namespace, "kind": first.kind, "name": first.name, "now": first.now or "-"}

    def rank(self) -> tuple[int, ...]:
        """Return how many became bad, then how many changed."""
        return self._bad, *self._counts.values()

    def negative(self) -> bool:
        """Return whether something became bad, as for ``diff --from --exit-code``."""
        return self._bad > 0


_FULL = 100


class QuotaRow(FleetRow, frozen=True):
    """One resource of a quota. ``hard``, ``used``, ``remaining``: exact texts; as whole numbers in ``unit``.

    ``used`` is null until the quota controller has counted. ``percent``: null where nothing is used of nothing.
    """

    namespace: str
    kind: str
    quota: str
    resource: str
    unit: str
    hard: str
    hard_number: int | None
    used: str | None
    used_number: int | None
    remaining: str | None
    remaining_number: int | None
    percent: int | None
    over: bool
    enforced: bool
    pool: str


class QuotaSummary:
    """A cluster is as bad as its fullest quota."""

    row = QuotaRow
    summed = ("quotas", "full", "nearly-full")

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._quotas = self._full_quotas = self._nearly = self._overused_quotas = 0
        self._worst_row = -1
        self._worst_quota = ("", "", "")

    def add(self, report: QuotaReport) -> Iterator[QuotaRow]:
        """Yield a row for each resource."""
        self._quotas += 1
        for use in report.uses:
            self._count(report, use)
            hard, unit = parse_cell_amount(use.name, parse(use.hard))
            used, left = (
                None if text is None else parse_cell_amount(use.name, parse(text))[0] for text in (use.used, use.free)
            )
            yield QuotaRow(
                self._cluster,
                report.subject.namespace,
                report.subject.kind,
                report.subject.name,
                use.name,
                unit,
                use.hard,
                hard,
                use.used,
                used,
                use.free,
                left,
                use.percent,
                use.is_exceeded,
                report.enforced,
                report.pool,
            )

    def _count(self, report: QuotaReport, use: QuotaUse) -> None:
        percent = -1 if use.percent is None else use.percent
        self._full_quotas += percent >= _FULL
        self._nearly += NEARLY_FULL <= percent < _FULL
        self._overused_quotas += use.is_exceeded
        if percent > self._worst_row:
            self._worst_row, self._worst_quota = percent, (report.subject.namespace, report.subject.name, use.name)

    def figures(self) -> dict[str, int | str]:
        """Return how many there are, and which is the fullest. ``full`` and ``nearly-full`` count resources of
        quotas.
        """
        namespace, quota, resource = self._worst_quota
        counts: dict[str, int | str] = {"quotas": self._quotas, "full": self._full_quotas, "nearly-full": self._nearly}
        if self._worst_row < 0:
            return counts
        return {**counts, "percent": self._worst_row, "namespace": namespace, "quota": quota, "resource": resource}

    def rank(self) -> tuple[int, ...]:
        """Return the highest percent, then how many are full and nearly full."""
        return self._worst_row, self._full_quotas, self._nearly

    def negative(self) -> bool:
        """Return whether more is used than allowed anywhere, as for ``quota --exit-code``."""
        return self._overused_quotas > 0


#: Resources with columns of their own.
_COLUMNS = ("cpu", "memory")


class QosRow(FleetRow, frozen=True):
    """The pods of a namespace that have not ended. Whole numbers are null where 64 bits do not hold them."""

    namespace: str
    pods: int
    guaranteed: int
    burstable: int
    best_effort: int
    finished: int
    requests_cpu: str
    requests_cpu_millicores: int | None
    limits_cpu: str
    limits_cpu_millicores: int | None
    requests_memory: str
    requests_memory_bytes: int | None
    limits_memory: str
    limits_memory_bytes: int | None
    other_requests: dict[str, str]
    other_limits: dict[str, str]


class QosSummary:
    """A cluster is the worse, the larger its part of BestEffort pods is."""

    row = QosRow
    summed = (
        *("namespaces", "pods", "guaranteed", "burstable", "best-effort", "finished"),
        *("requests.cpu", "limits.cpu", "requests.memory", "limits.memory"),
    )

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._total = NamespaceSums(total=True)

    def add(self, report: NamespaceSums) -> Iterator[QosRow]:
        """Yield a row for a namespace; the total is none, since rows are there to be added up."""
        if report.total:
            self._total = report
            return
        classes, requests, limits = report.classes, report.requests, report.limits
        yield QosRow(
            self._cluster,
            report.namespace,
            report.pods,
            classes.get("Guaranteed", 0),
            classes.get("Burstable", 0),
            classes.get("BestEffort", 0),
            report.finished,
            _text(requests, "cpu"),
            _number(requests, "cpu"),
            _text(limits, "cpu"),
            _number(limits, "cpu"),
            _text(requests, "memory"),
            _number(requests, "memory"),
            _text(limits, "memory"),
            _number(limits, "memory"),
            _other_resources(requests),
            _other_resources(limits),
        )

    def figures(self) -> dict[str, int | str]:
        """Return those of the total."""
        namespace_sums = self._total
        classes = namespace_sums.classes
        return {
            "namespaces": namespace_sums.namespaces,
            "pods": namespace_sums.pods,
            "guaranteed": classes.get("Guaranteed", 0),
            "burstable": classes.get("Burstable", 0),
            "best-effort": classes.get("BestEffort", 0),
            "finished": namespace_sums.finished,
            "requests.cpu": _text(namespace_sums.requests, "cpu"),
            "limits.cpu": _text(namespace_sums.limits, "cpu"),
            "requests.memory": _text(namespace_sums.requests, "memory"),
            "limits.memory": _text(namespace_sums.limits, "memory"),
        }

    def rank(self) -> tuple[int, ...]:
        """Thousandths of the pods that are BestEffort, then how many those are."""
        best_effort = self._total.classes.get("BestEffort", 0)
        return best_effort * 1000 // max(1, self._total.pods), best_effort

    def negative(self) -> bool:
        """Classes are no fault."""
        return False


def _text(values: Mapping[str, str], name: str) -> str:
    return values.get(name, str(ZERO))


def _number(values: Mapping[str, str], name: str) -> int | None:
    return parse_cell_amount(name, parse(_text(values, name)))[0]


def _other_resources(values: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if name not in _COLUMNS}
