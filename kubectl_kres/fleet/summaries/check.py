"""``fleet check``: each finding of each cluster."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.fleet.rows import FleetRow
from kubectl_kres.reports.check.finding import SEVERITIES, CheckFinding


class CheckRow(FleetRow, frozen=True):
    """One finding. ``field``: the path in the object that is to blame; empty: the whole of it. ``ignored``: why."""

    severity: str
    code: str
    kind: str
    namespace: str
    name: str
    field: str
    message: str
    remedy: str
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
        """Yield a row for the finding. They come the worst first."""
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
            report.message,
            report.remedy,
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
