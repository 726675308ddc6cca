"""``fleet claims``: each resource of each claim on a pool of each cluster."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.reports.claim.claims import ClaimReport
from kubectl_kres.errors import QuantityError
from kubectl_kres.fleet.rows import FleetRow, parse_cell_amount
from kubectl_kres.quantity import parse


class ClaimRow(FleetRow, frozen=True):
    """One resource of a claim; of a claim that asks for nothing one row without resource.

    ``requested``, ``short_by``: exact texts; ``requested_number`` in ``unit``. ``position`` of ``waiting``: in the
    pool's queue.
    """

    namespace: str
    claim: str
    pool: str
    state: str
    waits: bool
    position: int | None
    waiting: int | None
    created: str
    resource: str
    unit: str
    requested: str
    requested_number: int | None
    short_by: str | None


class ClaimsSummary:
    """A cluster is the worse, the more of its claims wait."""

    row = ClaimRow
    summed = ("claims", "waiting")

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._claims = self._waiting_claims = 0
        #: The one that waits the longest.
        self._longest_waiting: ClaimReport | None = None

    def add(self, report: ClaimReport) -> Iterator[ClaimRow]:
        """Yield a row for each resource that it asks for."""
        self._claims += 1
        if report.is_waiting:
            self._waiting_claims += 1
            if self._longest_waiting is None or _age_sort_key(report) < _age_sort_key(self._longest_waiting):
                self._longest_waiting = report
        lacks, queue_place = report.missing_amounts, report.queue
        for name, text in (report.requested or {"": ""}).items():
            number, unit = _number(name, text)
            yield ClaimRow(
                self._cluster,
                report.subject.namespace,
                report.subject.name,
                report.pool or report.wanted_pool,
                report.state,
                report.is_waiting,
                None if queue_place is None else queue_place.position,
                None if queue_place is None else queue_place.length,
                report.created,
                name,
                unit,
                text,
                number,
                lacks.get(name),
            )

    def figures(self) -> dict[str, int | str]:
        """Return how many there are and wait, and which one has waited the longest."""
        counts: dict[str, int | str] = {"claims": self._claims, "waiting": self._waiting_claims}
        if self._longest_waiting is None:
            return counts
        ref = self._longest_waiting.subject
        return {
            **counts,
            "namespace": ref.namespace,
            "claim": ref.name,
            "since": self._longest_waiting.created,
        }

    def rank(self) -> tuple[int, ...]:
        """Return how many wait."""
        return (self._waiting_claims,)

    def negative(self) -> bool:
        """Return whether one waits, as for ``claims --exit-code``."""
        return self._waiting_claims > 0


def _age_sort_key(report: ClaimReport) -> tuple[bool, str, str, str]:
    """Return the oldest first, those of which that is not known last."""
    return not report.created, report.created, report.subject.namespace, report.subject.name


def _number(name: str, text: str) -> tuple[int | None, str]:
    """A claim may hold what is no quantity, before any webhook has seen it."""
    try:
        return parse_cell_amount(name, parse(text)) if name else (None, "")
    except QuantityError:
        return None, ""
