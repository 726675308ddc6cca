"""Whether nodes take the pods that a change creates: what is read for that, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from kubectl_kres.model import scheduling
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, Raw, to_wire
from kubectl_kres.model.scheduling import SchedulingPod
from kubectl_kres.model.workload import template_in
from kubectl_kres.reports.changes.created_pods import CreatedPods, PodsOfChange
from kubectl_kres.reports.changes.notes import NodesUnknown
from kubectl_kres.reports.changes.report import ChangeReport, Effect, NodesForChange
from kubectl_kres.reports.common.explanation import FailedRead, Subject, find_unread
from kubectl_kres.reports.pod.scheduling_needs import BOUND_PODS, NODES, NewPod, spec_needs, template_of
from kubectl_kres.reports.scheduling.new_pods import new_pod_as_stored, place_pods
from kubectl_kres.reports.scheduling.report import CheckedPod, SchedulingInput, check_among, read_cluster, unread_kinds
from kubectl_kres.scheduling.node_info import NodeInfo, SchedulingCluster, UncomputedFilter, changed_node
from kubectl_kres.scheduling.profile import Filters, prepare_filters
from kubectl_kres.scheduling.selectors import matches, read_selector
from kubectl_kres.simulate.change import Patch, PlacedStep, key_of_step, strategic_merge
from kubectl_kres.store.store import ReadRequest, Store

#: So many templates of a namespace are read by name; more of them as a list.
_BY_NAME = 5
#: What nodes are labelled with by those who add them. Source: karpenter pkg/apis/v1/labels.go NodePoolLabelKey.
_MADE_BY = {"karpenter.sh/nodepool": "Karpenter", "karpenter.sh/provisioner-name": "Karpenter"}


def change_node_needs(store: Store, pods: PodsOfChange, steps: Sequence[PlacedStep]) -> tuple[ReadRequest, ...]:
    """Return the reads, as far as they are known by now; none where no pod is created. None of them is required."""
    created = _created_pods(store, pods)
    wanted: dict[tuple[str, str], list[str]] = {}
    for nodes_for_change in created:
        if nodes_for_change.raw is None:
            wanted.setdefault(
                (scheduling.view_of(nodes_for_change.ref.kind), nodes_for_change.ref.namespace), []
            ).append(nodes_for_change.ref.name)
    reads: list[ReadRequest] = []
    for (view, space), names in wanted.items():
        listed = names if len(names) <= _BY_NAME else [""]
        reads += [ReadRequest(view, space, name, required=False) for name in listed]
    reads += [NODES, BOUND_PODS] if created else []
    for nodes_for_change in created:
        new = _new_pod(store, nodes_for_change, steps)
        reads += spec_needs(store, new.pod) if new is not None else ()
    return tuple(dict.fromkeys(reads))


def _created_pods(store: Store, pods: PodsOfChange) -> list[CreatedPods]:
    """Return what nodes have to take; nothing where the answer is about files alone."""
    return (
        []
        if store.origin.kind in {"files", "file"}
        else [nodes_for_change for nodes_for_change in pods.created if nodes_for_change.number]
    )


def with_nodes(
    report: ChangeReport, store: Store, pods: PodsOfChange, steps: Sequence[PlacedStep], minor: int
) -> ChangeReport:
    """Return the report with what nodes say to new pods, each workload after the one before it.

    Without nodes a note says that they were not looked at. ``minor``: the version of Kubernetes, 1.N.
    """
    pending = _created_pods(store, pods)
    if not pending:
        return report
    reason, failed_reads = _node_read_problem(store)
    if reason:
        return replace(report, notes=(*report.notes, reason), unread=(*report.unread, *failed_reads))
    placing = _Placing(store, minor)
    for gone in pods.removed:
        placing.release_pods(gone.ref, gone.selector)
    news = [(created, _new_pod(store, created, steps)) for created in pending]
    placements = [placing.place_pods(created, new) for created, new in news if new is not None]
    notes = [NodesUnknown("template", nodes_for_change.ref.full_name) for nodes_for_change, new in news if new is None]
    if placing.unread:
        kinds = ", ".join(dict.fromkeys(placing.unread))
        notes.append(NodesUnknown("partly", kinds))
    return replace(
        report, nodes=tuple(placements), notes=(*report.notes, *notes), outcome=_outcome(report.outcome, placements)
    )


def _node_read_problem(store: Store) -> tuple[NodesUnknown | None, tuple[FailedRead, ...]]:
    """Return why nodes cannot be looked at, with what could not be read; None: they can."""
    coverage = store.covered(NODES)
    if not coverage.is_known:
        # Of a snapshot the message is about the kind by which the scheduler's view is kept.
        said = coverage.message if coverage.state != "unread" else ""
        reason = NodesUnknown("said", said) if said else NodesUnknown("unread")
        return reason, tuple(find_unread(store, (NODES,)))
    return (None if next(store.all(scheduling.NODES), None) is not None else NodesUnknown("no-node")), ()


def _outcome(outcome: Any, placements: Iterable[NodesForChange]) -> Any:
    """Return the outcome of a change with what nodes say."""
    lacking = {item.effect for item in placements if item.unplaced}
    if "worse" in lacking:
        return "worse"
    return "other" if lacking and outcome == "none" else outcome


def _new_pod(store: Store, created: CreatedPods, steps: Sequence[PlacedStep]) -> NewPod | None:
    """Return the next pod as the scheduler gets it; None: its template was not read."""
    ref = created.ref
    raw = created.raw if created.raw is not None else _raw_after(store, ref, steps)
    if raw is None:
        return None
    new = template_of(store, Subject(ref, BY_KIND[ref.kind], raw))
    if new is None:
        return None
    template = template_in(raw)
    runtime = template[1]["spec"].get("runtimeClassName") if template is not None else None
    gaps = (f"where nodes run RuntimeClass {runtime}",) if runtime else ()
    stored = new_pod_as_stored(NewPod(new.pod, (*new.gaps, *gaps)), created.stored)
    return stored._replace(pod=_with_priority(store, stored.pod, str(created.stored.get("priorityClassName", ""))))


def _with_priority(store: Store, pod: SchedulingPod, name: str) -> SchedulingPod:
    """Return the pod with what its class gives it, where that was read."""
    named = store.get("PriorityClass", name) if name else None
    if named is None:
        return pod
    policy = pod.spec.preemption_policy or named.preemption_policy or None
    return replace(pod, spec=replace(pod.spec, priority=named.value, preemption_policy=policy))


def _raw_after(store: Store, ref: ObjectRef, steps: Iterable[PlacedStep]) -> Raw | None:
    """Return a stored object, as far as the scheduler looks at it, with the patches of the steps."""
    item = store.get(scheduling.view_of(ref.kind), ref.name, ref.namespace)
    if item is None:
        return None
    raw: Raw = to_wire(item)
    for placed_step in steps:
        step = placed_step.step
        if (
            isinstance(step, Patch)
            and placed_step.namespace == ref.namespace
            and key_of_step(step) == (ref.kind, ref.name)
        ):
            raw = strategic_merge(raw, step.patch)
    return raw


class _Answer(NamedTuple):
    """How many pods find a node, and whether counting ended there."""

    fits: int | None
    at_least: bool = False


class _Placing:
    """The nodes, with the pods of a change that were put on them by now."""

    def __init__(self, store: Store, minor: int) -> None:
        self.store = store
        self.seen: SchedulingInput = read_cluster(store, minor)
        self.nodes: Mapping[str, NodeInfo] = {node.name: node for node in self.seen.cluster.nodes}
        self.unread: list[str] = []
        labels = (label for node in self.nodes.values() for label in node.labels if label in _MADE_BY)
        self.autoscaler = _MADE_BY.get(next(labels, ""), "")

    @property
    def cluster(self) -> SchedulingCluster:
        return replace(self.seen.cluster, nodes=tuple(self.nodes.values()))

    def release_pods(self, ref: ObjectRef, selector: Raw) -> None:
        """The pods of a workload, or a pod, end."""
        self.nodes = self._without_pods(ref, selector)

    def _without_pods(self, ref: ObjectRef, selector: Raw) -> dict[str, NodeInfo]:
        picked = read_selector(selector)
        nodes = dict(self.nodes)
        for name, node in self.nodes.items():
            ending = [
                pod
                for pod in node.pods
                if pod.namespace == ref.namespace
                and (pod.name == ref.name if ref.kind == "Pod" else picked is not None and matches(picked, pod.labels))
            ]
            if ending:
                nodes[name] = changed_node(node, ending, ())
        return nodes

    def place_pods(self, created: CreatedPods, new: NewPod) -> NodesForChange:
        """Put the pods of one workload on nodes, and say how many find one."""
        missing = unread_kinds(self.store, (NODES, BOUND_PODS, *spec_needs(self.store, new.pod)))
        self.unread += missing
        wanted_count, rollout = created.number, created.rollout
        first = self._check(created, new, missing)
        stalls = rollout is not None and not rollout.unavailable and not first.scheduled.answer.feasible
        if rollout is not None and not stalls:
            # Old pods end as new ones come: in the end these are alone.
            self.nodes = self._without_pods(created.ref, created.selector)
            first = self._check(created, new, missing)
        answer = _Answer(0) if stalls else self._put(new, wanted_count, counted=BOUND_PODS.kind not in missing)
        lacks = answer.fits is not None and not answer.at_least and answer.fits < wanted_count
        if answer.fits and lacks:
            first = self._check(created, new, missing)
        effect: Effect = "worse" if lacks and not first.report.undecided else "other"
        return NodesForChange(
            created.ref,
            effect,
            wanted_count,
            *answer,
            rollout=rollout is not None,
            stalls=stalls,
            first=first.report if lacks else None,
            autoscaler=self.autoscaler if lacks else "",
            not_computed=new.gaps,
        )

    def _check(self, created: CreatedPods, new: NewPod, missing: Sequence[str]) -> CheckedPod:
        seen = replace(self.seen, cluster=self.cluster)
        return check_among(seen, new.pod, (), created.ref, missing, new.gaps)

    def _put(self, new: NewPod, wanted_count: int, *, counted: bool) -> _Answer:
        """``counted``: the pods on nodes are known; else nothing but that no empty node takes one is."""
        filters = self._filters(new)
        if filters is None:
            return _Answer(None)
        if filters.rejection is not None:
            return _Answer(0)
        placing = place_pods(new.pod, filters, self.nodes, wanted_count)
        if not counted:
            return _Answer(None if placing.placed else 0)
        self.nodes = placing.nodes
        return _Answer(placing.placed, placing.ended)

    def _filters(self, new: NewPod) -> Filters | None:
        try:
            return prepare_filters(new.pod, self.cluster)
        except UncomputedFilter:
            return None
