"""``fleet quota``: each resource of each quota of each cluster."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.fleet.rows import FleetRow, number_of
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.resource_lists import NEARLY_FULL
from kubectl_kres.reports.quota.quota_report import QuotaReport, QuotaUse

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
        self._worst_percent = -1
        self._worst_quota = ("", "", "")

    def add(self, report: QuotaReport) -> Iterator[QuotaRow]:
        """Yield a row for each resource."""
        self._quotas += 1
        for use in report.uses:
            self._count(report, use)
            hard, unit = number_of(use.name, parse(use.hard))
            used, left = (
                None if text is None else number_of(use.name, parse(text))[0] for text in (use.used, use.left)
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
                use.left,
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
        if percent > self._worst_percent:
            self._worst_percent, self._worst_quota = percent, (report.subject.namespace, report.subject.name, use.name)

    def figures(self) -> dict[str, int | str]:
        """Return how many there are, and which is the fullest. ``full`` and ``nearly-full`` count resources of
        quotas.
        """
        namespace, quota, resource = self._worst_quota
        counts: dict[str, int | str] = {"quotas": self._quotas, "full": self._full_quotas, "nearly-full": self._nearly}
        if self._worst_percent < 0:
            return counts
        return {**counts, "percent": self._worst_percent, "namespace": namespace, "quota": quota, "resource": resource}

    def rank(self) -> tuple[int, ...]:
        """Return the highest percent, then how many are full and nearly full."""
        return self._worst_percent, self._full_quotas, self._nearly

    def negative(self) -> bool:
        """Return whether more is used than allowed anywhere, as for ``quota --exit-code``."""
        return self._overused_quotas > 0
