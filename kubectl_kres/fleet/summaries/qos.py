"""``fleet qos``: pods by class, requests and limits of each namespace of each cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.fleet.rows import FleetRow, number_of
from kubectl_kres.quantity import ZERO, parse
from kubectl_kres.reports.qos.qos_sums import NamespaceSums

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
    return number_of(name, parse(_text(values, name)))[0]


def _other_resources(values: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if name not in _COLUMNS}
