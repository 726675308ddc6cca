"""What Python asks of a change: the steps played with what is read for them, and the findings of what they leave."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from kubectl_kres.api.clusters import Cluster, ReadObjects
from kubectl_kres.api.question import AnswerScope, OtherKinds, manifests_of, prepare_answers, server_options
from kubectl_kres.errors import UsageError
from kubectl_kres.manifests.typed_manifest import decode_manifest, kind_of
from kubectl_kres.model.kinds import Kind
from kubectl_kres.model.pod_places import unique_kind_name
from kubectl_kres.model.workload_kinds import SCALED
from kubectl_kres.reports.changes.compare import Rollouts, report_with_pods
from kubectl_kres.reports.changes.given_steps import (
    GivenStep,
    cluster_needs,
    namespace_needs,
    plugin_needs,
    remarks,
    split_followed_steps,
)
from kubectl_kres.reports.changes.nodes import change_node_needs, with_nodes
from kubectl_kres.reports.changes.report import ChangeReport
from kubectl_kres.reports.changes.system import system_remarks, unread_by_systems
from kubectl_kres.reports.check.check import check, worst_first
from kubectl_kres.reports.check.context import CheckContext
from kubectl_kres.reports.check.finding import CheckFinding
from kubectl_kres.reports.check.store_contexts import context_needs, contexts_of
from kubectl_kres.reports.common.explanation import find_unread
from kubectl_kres.reports.common.system import answers_about
from kubectl_kres.reports.namespace.explain_policy import policy_needs
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.reports.rollout.injected_containers import find_added
from kubectl_kres.simulate.change import Apply, Delete, PlacedStep, ScaleStep
from kubectl_kres.simulate.cluster import simulate_steps
from kubectl_kres.store.store import Store, fill_all


def simulate_change(
    items: Sequence[Any],
    cluster: Cluster,
    space: str,
    scale: Mapping[str, int],
    delete: Sequence[str],
    rollouts: int | None = None,
) -> tuple[ChangeReport, Store]:
    """Return what is different after all steps: what is deleted, then what is applied, then what is scaled.

    ``rollouts``: so many workloads are restarted at once afterwards; None: one alone, and only after steps.

    Raises UsageError, InputError, ClusterError.
    """
    reading = cluster.reading()
    given_steps = [*_list_delete_steps(reading, delete), *_list_apply_steps(items), *_list_scale_steps(reading, scale)]
    if not given_steps and not rollouts:
        raise UsageError("simulate needs a change: items, scale=..., delete=... or rollouts=...")
    at_once = 1 if rollouts is None else rollouts
    if at_once < 0:
        raise UsageError(f"{at_once} is no number of rollouts")
    spaces = tuple(dict.fromkeys(filter(None, (space, *(step.namespace for step in given_steps)))))
    reading.fill([*namespace_needs(spaces), *cluster_needs()])
    for _ in range(3):
        reading.fill(
            plugin_needs(reading.store, spaces, [(step.step, step.namespace or space) for step in given_steps])
        )
    carried, left = split_followed_steps(given_steps, reading.store, space, lambda _kind, _version: True)
    steps = [PlacedStep(step.step, (step.namespace or space) if _is_namespaced(step) else "") for step in carried]
    options = server_options(reading.store, "")
    outcome = simulate_steps(
        reading.store, steps, options.server, spaces, seen=True, find_added=find_added(reading.store)
    )
    change = report_with_pods(outcome, steps, Rollouts(at_once if given_steps else 0, at_once))
    fill_all(reading, lambda: change_node_needs(reading.store, change.pods, steps))
    change_report = with_nodes(change.report, reading.store, change.pods, steps, options.server.version[1])
    reads = [read for read in namespace_needs(spaces) if read.required]
    failed_reads = (*find_unread(reading.store, reads), *unread_by_systems(reading.store, spaces), *left)
    notes = (
        *change_report.notes,
        *options.assumptions,
        *remarks(given_steps),
        *system_remarks(given_steps, reading.store, space),
    )
    return replace(
        change_report, notes=notes, unread=(*failed_reads, *change_report.unread), complete=not failed_reads
    ), reading.store


def _is_namespaced(step: GivenStep) -> bool:
    return step.kind is None or step.kind.namespaced


def _list_apply_steps(items: Sequence[Any]) -> Iterator[GivenStep]:
    for manifest in manifests_of(items):
        kind = kind_of(manifest)
        if kind is not None:
            decode_manifest(manifest, kind)
        raw = {**manifest.raw, "kind": unique_kind_name(manifest.raw)}
        yield GivenStep(Apply(raw, kept=True), kind, manifest.namespace, "")


def _list_delete_steps(reading: ReadObjects, names: Sequence[str]) -> Iterator[GivenStep]:
    for text in names:
        kind, name = _read_type_and_name(reading, text)
        yield GivenStep(Delete(kind.kind, name), kind, "", "")


def _list_scale_steps(reading: ReadObjects, wanted: Mapping[str, int]) -> Iterator[GivenStep]:
    for text, number in wanted.items():
        kind, name = _read_type_and_name(reading, text)
        if kind.kind not in SCALED:
            raise UsageError(f"{text}: {kind.qualified_name} have no replicas to scale")
        if number < 0:
            raise UsageError(f"{text}: {number} is no number of replicas")
        yield GivenStep(ScaleStep(kind.kind, name, number), kind, "", "")


def _read_type_and_name(reading: ReadObjects, text: str) -> tuple[Kind, str]:
    word, slash, name = text.partition("/")
    if not slash or not name or "/" in name:
        raise UsageError(f'"{text}" is not TYPE/NAME such as deploy/web')
    return reading.kind(word), name


def found_in(
    cluster: Cluster, namespace: str, kube_version: str, codes: Collection[str]
) -> tuple[list[CheckFinding], Store]:
    """Raises what ``server_options`` raises, and Unreachable and the like."""
    reading = cluster.reading()
    fill_all(reading, lambda: context_needs(reading.store, namespace))
    contexts = contexts_of(reading.store, server_options(reading.store, kube_version), namespace)
    return worst_first(check_finding for context in contexts for check_finding in check(context, codes)), reading.store


def list_check_findings(
    items: Sequence[Any], scope: AnswerScope, codes: Collection[str]
) -> tuple[list[CheckFinding], Store]:
    """Raises what ``prepare_answers`` raises."""
    prepared = prepare_answers(
        items, scope, list_read_requests, OtherKinds(lambda kind: answers_about(kind).counted, policy_needs)
    )
    spaces = dict.fromkeys(subject.ref.namespace for subject in (*prepared.subjects, *prepared.counted))
    contexts = (
        CheckContext(
            prepared.store,
            prepared.options,
            space,
            [subject for subject in prepared.subjects if subject.ref.namespace == space],
            of_files=True,
            counted=[subject for subject in prepared.counted if subject.ref.namespace == space],
        )
        for space in spaces
    )
    return worst_first(check_finding for context in contexts for check_finding in check(context, codes)), prepared.store
