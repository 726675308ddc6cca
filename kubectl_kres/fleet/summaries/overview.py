"""``fleet overview``: how each area of each cluster fares."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.fleet.rows import FleetRow
from kubectl_kres.reports.overview import Overview


class OverviewRow(FleetRow, frozen=True):
    """So many ``parts`` of an area fare like this, in a word. ``total``: objects of the area; null: not known.

    ``severity``: bad, warn, unknown, or empty where nothing is wrong. ``unread``: why the area is not known.
    """

    namespace: str
    area: str
    kind: str
    total: int | None
    word: str
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
        self._worst_problem: tuple[str, ...] = ()

    def add(self, report: Overview) -> Iterator[OverviewRow]:
        """Yield a row for each part of each area; of an area without parts one row."""
        for problem in report.problems:
            self._bad += problem.severity == "bad"
            self._warn += problem.severity == "warn"
        if report.problems and not self._worst_problem:
            first = report.problems[0]
            self._worst_problem = (first.area, first.state, first.subject.namespace, first.subject.name)
        for area in report.areas:
            for word, parts, severity in [(part.word, part.count, part.severity) for part in area.parts] or [
                ("", 0, "")
            ]:
                yield OverviewRow(
                    self._cluster, report.namespace, area.name, area.kind, area.count, word, parts, severity, area.state
                )

    def figures(self) -> dict[str, int | str]:
        """Return how many problems there are, and which is the worst."""
        result: dict[str, int | str] = {"bad": self._bad, "warn": self._warn}
        return {**result, **dict(zip(("area", "problem", "namespace", "name"), self._worst_problem, strict=False))}

    def rank(self) -> tuple[int, ...]:
        """Return how many problems there are."""
        return self._bad, self._warn

    def negative(self) -> bool:
        """Return whether there is one that is bad, as for ``overview --exit-code``."""
        return self._bad > 0
