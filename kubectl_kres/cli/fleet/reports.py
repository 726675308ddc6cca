"""The reports about many clusters: commands whose answer about each cluster becomes rows and a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final, cast

from kubectl_kres.cli.program import module_of
from kubectl_kres.cli.run.run_loop import Plan
from kubectl_kres.cli.system import FleetReport, systems
from kubectl_kres.fleet.rows import Summary

_SUMMARIES: Final = "kubectl_kres.fleet.summaries"

#: Each by the command that it asks. A further one is a line here, or in the system of that command.
REPORTS: Final[Mapping[str, FleetReport]] = {
    "qos": FleetReport((f"{_SUMMARIES}.qos", "QosSummary"), {"summary": True}),
    "quota": FleetReport((f"{_SUMMARIES}.quota", "QuotaSummary")),
    "overview": FleetReport((f"{_SUMMARIES}.overview", "OverviewSummary")),
    "check": FleetReport((f"{_SUMMARIES}.check", "CheckSummary")),
    **{name: report for system in systems() for name, report in system.fleet.items()},
}


def summary_of(report: str) -> Callable[[str], Summary]:
    """Makes the summary of a cluster, out of its name."""
    module, name = REPORTS[report].summary
    return cast("Callable[[str], Summary]", getattr(import_module(module), name))


def summed_by(report: str) -> tuple[str, ...]:
    """The figures that add up over clusters."""
    return cast("tuple[str, ...]", summary_of(report).summed)  # type: ignore[attr-defined]  # the class says it, too


def plan_of(report: str) -> Plan:
    """What makes the query of the report's command."""
    return cast("Plan", import_module(module_of(report)).plan)
