"""The nodes for the next pods of a template: whether one takes them, and how many of them find one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from kubectl_kres.admission.base.draft import Draft
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.model.scheduling import SchedulingContainer, SchedulingPod, Toleration
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import ContainerValues, Subject
from kubectl_kres.reports.common.parts import NodeReport
from kubectl_kres.reports.pod.scheduling_needs import BOUND_PODS, NODES, PLACED_KINDS, NewPod, spec_needs, template_of
from kubectl_kres.reports.scheduling.report import CheckedPod, check_pod, unread_kinds
from kubectl_kres.scheduling.node_info import BoundPod, NodeInfo, bind, changed_node
from kubectl_kres.scheduling.plugin import UncomputedFilter
from kubectl_kres.scheduling.profile import Filters
from kubectl_kres.store.store import Store

#: Given to each pod by the server (DefaultTolerationSeconds).
_GIVEN = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
#: How many pods are placed one by one where each changes what the next one finds.
_MOST = 100


def report_new_pods(
    store: Store, subject: Subject, analysis: Analysis, containers: Sequence[ContainerValues], wanted: int = 1
) -> NodeReport | None:
    """What the filters say of the next pod, and how many find a node, of ``wanted`` at least.

    None: its pods are not placed by the scheduler, there are no nodes, or nothing is known of them or of the template.
    Where the nodes may not be read the report says that.
    """
    draft: Draft | None = analysis.outcomes[0].draft
    if subject.ref.kind not in PLACED_KINDS or draft is None or store.covered(NODES).state == "unread":
        return None
    template = template_of(store, subject)
    if template is None:
        return None
    if not store.covered(NODES).known:
        return NodeReport(subject.ref, nodes=0, complete=False, not_read=("Node",))
    if next(store.all(NODES.kind), None) is None:
        return None
    stored = analysis.outcomes[0].object or {}
    new = _apply_admission(template, draft, stored.get("spec") or {})
    unread = unread_kinds(store, (NODES, BOUND_PODS, *spec_needs(store, new.pod)))
    checked = check_pod(store, new.pod, analysis.server.version[1], containers, subject.ref, unread, new.gaps)
    room, at_least = _count_room(new.pod, checked, max(1, wanted))
    return replace(checked.report, room=room, room_at_least=at_least)


def _apply_admission(new: NewPod, draft: Draft, stored: Mapping[str, Any]) -> NewPod:
    """The pod with what admission gives it: requests, overhead, priority, tolerations.

    ``stored``: the spec that the server would store, as far as admission computes it.
    """
    spec = new.pod.spec
    requests = {slot.path: {name: str(amount) for name, amount in slot.requests.items()} for slot in draft.slots()}
    runtime = draft.spec.runtime_class_name
    gaps = (f"where nodes run RuntimeClass {runtime}",) if runtime else ()
    level = ResourceRequirements(requests=requests["spec"]) if "spec" in requests else None
    spec = replace(
        spec,
        containers=_with_requests("spec.containers", spec.containers, requests),
        init_containers=_with_requests("spec.initContainers", spec.init_containers, requests),
        resources=level,
        overhead={name: str(amount) for name, amount in draft.overhead.items()} or None,
        tolerations=(*(spec.tolerations or ()), *_default_tolerations(spec.tolerations or ())),
        priority=stored.get("priority", spec.priority),
        preemption_policy=stored.get("preemptionPolicy", spec.preemption_policy),
    )
    return NewPod(replace(new.pod, spec=spec), (*new.gaps, *gaps))


def _with_requests(
    path: str, containers: Sequence[SchedulingContainer] | None, requests: Mapping[str, Mapping[str, str]]
) -> tuple[SchedulingContainer, ...]:
    return tuple(
        replace(container, resources=ResourceRequirements(requests=requests.get(f"{path}[{place}]")))
        for place, container in enumerate(containers or ())
    )


def _default_tolerations(tolerations: Iterable[Toleration]) -> Iterator[Toleration]:
    """What DefaultTolerationSeconds adds where nothing written covers it."""
    written = tuple(tolerations)
    for key in _GIVEN:
        if not any(each.key in {key, ""} and each.effect in {"NoExecute", ""} for each in written):
            yield Toleration(key, "Exists", "", "NoExecute")


def _count_room(pod: SchedulingPod, checked: CheckedPod, wanted: int) -> tuple[int | None, bool]:
    """How many such pods find a node one after the other, and whether there may be more; None: not known."""
    answer = checked.scheduled.answer
    if checked.report.empty or checked.report.not_read:
        return None, False
    if answer.rejection is not None or not answer.feasible:
        return 0, False
    fitting = {node.name: node for node in checked.seen.cluster.nodes if node.name in answer.feasible}
    if _is_local(pod):
        each = bind(pod)
        return sum(_room_of(node, each) for node in fitting.values()), False
    most = min(wanted, _MOST)
    placed = _count_placed_pods(pod, answer.filters, {node.name: node for node in checked.seen.cluster.nodes}, most)
    return placed, placed == most


def _is_local(pod: SchedulingPod) -> bool:
    """Whether such a pod on a node changes nothing for others elsewhere, nor more for the node than its room."""
    spec = pod.spec
    return not (spec.affinity and (spec.affinity.pod_affinity or spec.affinity.pod_anti_affinity)) and not (
        spec.topology_spread_constraints or spec.volumes or spec.resource_claims
    )


def _room_of(node: NodeInfo, pod: BoundPod) -> int:
    room = max(0, node.allocatable.get("pods", 0) - len(node.pods))
    for resource, amount in pod.requests.items():
        if amount > 0:
            free = node.allocatable.get(resource, 0) - node.requested.get(resource, 0)
            room = min(room, free // amount)
    return min(room, 1) if pod.ports else room


def _count_placed_pods(pod: SchedulingPod, filters: Filters, nodes: dict[str, NodeInfo], most: int) -> int:
    """How many such pods the first node that takes each holds in the end, up to ``most``."""
    for placed in range(most):
        each = replace(bind(pod), name=f"{pod.metadata.name}-{placed}", nominated=False)
        node = next((node for node in nodes.values() if _is_node_accepted(filters, node)), None)
        if node is None:
            return placed
        filters = filters.change(node, (), (each,))
        nodes[node.name] = changed_node(node, (), (each,))
    return most


def _is_node_accepted(filters: Filters, node: NodeInfo) -> bool:
    try:
        return filters.check(node) is None
    except UncomputedFilter:
        return False
