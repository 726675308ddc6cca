"""Overviews of what a source holds: what they need is read, pods page by page."""

from __future__ import annotations

from functools import partial

from kubectl_kres.cli import run_loop
from kubectl_kres.cli.select.workloads import complete
from kubectl_kres.cli.source.object_source import ObjectSource, current_time
from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.all_states import PodStates
from kubectl_kres.reports.overview import MOST, Overview, overview, overview_needs, recount_needs
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.reports.pod.scheduling_needs import list_node_needs
from kubectl_kres.reports.qos.qos_sums import NamespaceSums, SumCollector
from kubectl_kres.reports.quota.denied import may_be_refused, needs_of_systems, subjects_of
from kubectl_kres.store.store import ReadRequest, Store, fill_all


def _node_needs(store: Store, states: PodStates) -> tuple[ReadRequest, ...]:
    """Return what the scheduler looks at for pods that wait for a node, as far as that is known by now."""
    return list_node_needs(store, states.pods_without_node())


def overview_options(request_context: run_loop.RunContext, source: ObjectSource) -> EvaluationOptions:
    """Return what an overview of this source is made with."""
    server, assumptions = request_context.server_of(source.version())
    now = source.store.origin.time or current_time()
    return EvaluationOptions(server, (*source.assumptions, *assumptions), now, run_loop.read_yaml)


def read_overview(
    source: ObjectSource,
    space: str,
    options: EvaluationOptions,
    run_summary: run_loop.RunSummary,
    *,
    mended: int,
    listed: int | None = MOST,
) -> Overview:
    """Return the overview of a namespace (empty: of all), once all that it needs is read."""
    source.fill(overview_needs(space))
    source.fill(read for read in needs_of_systems(source.store, space) if source.store.should_read(read))
    states = PodStates(source.store, options.now)
    sums = _sum_pods(source, space, SumCollector(options.server), states, run_summary)
    # Only now: of pods that are read page by page none stays.
    subjects = (subject for subject in subjects_of(source.store, space) if may_be_refused(source.store, subject))
    complete(source, subjects, list_read_requests, scope=space, listed=True)
    fill_all(source, partial(_node_needs, source.store, states))
    source.fill(recount_needs(source.store, space))
    return overview(source.store, space, options, sums, states, mended=mended, listed=listed)


def _sum_pods(
    source: ObjectSource, space: str, collector: SumCollector, states: PodStates, run_summary: run_loop.RunSummary
) -> list[NamespaceSums] | None:
    """Of the pods; None where they may not be read, which a line says."""

    def add(pod: Pod) -> None:
        collector.add(pod)
        states.add(pod)

    if not run_loop.each_pod(source, space, add, run_summary):
        return None
    return [namespace_sums for namespace_sums in collector.sums() if not namespace_sums.total]
