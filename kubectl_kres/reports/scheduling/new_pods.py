"""The nodes for the next pods of a template: whether one takes them, and how many of them find one.

They are put on nodes one after the other, which says what the nodes are like then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from kubectl_kres.admission.base.draft import Draft
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.model.scheduling import SchedulingContainer, SchedulingPod, Toleration
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import ContainerValues, Subject
from kubectl_kres.reports.common.nodes import NodeRemedy, NodeReport
from kubectl_kres.reports.pod.scheduling_needs import BOUND_PODS, NODES, PLACED_KINDS, NewPod, spec_needs, template_of
from kubectl_kres.reports.scheduling.report import CheckedPod, check_pod, unread_kinds, unread_nodes
from kubectl_kres.scheduling.node_info import BoundPod, NodeInfo, UncomputedFilter, bind, changed_node
from kubectl_kres.scheduling.profile import Filters
from kubectl_kres.store.store import Store

#: Given to each pod by the server (DefaultTolerationSeconds).
_GIVEN = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


#: Changes after which a node takes a pod, from what the filters say of it.
FindFixes = Callable[[SchedulingPod, CheckedPod], tuple[NodeRemedy, ...]]


def report_new_pods(
    store: Store,
    subject: Subject,
    analysis: Analysis,
    containers: Sequence[ContainerValues],
    wanted_count: int = 1,
    find_fixes: FindFixes | None = None,
) -> NodeReport | None:
    """Return what the filters say of the next pod, and how many find a node, of ``wanted_count`` at least.

    None: its pods are not placed by the scheduler, or nothing is known of nodes or of the template. Where the nodes may
    not be read, or there is none, the report says that, and nothing is counted. ``find_fixes``: asked where no node
    takes one.
    """
    draft: Draft | None = analysis.outcomes[0].draft
    if subject.ref.kind not in PLACED_KINDS or draft is None or store.covered(NODES).state == "unread":
        return None
    if not store.covered(NODES).is_known:
        return unread_nodes(store, subject.ref)
    if next(store.all(NODES.kind), None) is None:
        return NodeReport(subject.ref, nodes=0)
    template = template_of(store, subject)
    if template is None:
        return None
    stored = analysis.outcomes[0].object or {}
    new = with_admission(template, draft, stored.get("spec") or {})
    unread = unread_kinds(store, (NODES, BOUND_PODS, *spec_needs(store, new.pod)))
    checked = check_pod(store, new.pod, analysis.server.version[1], containers, subject.ref, unread, new.gaps)
    room, at_least = _count_room(new.pod, checked, max(1, wanted_count))
    report = checked.report
    wanted = find_fixes is not None and report.complete and not report.fitting and not report.free_unknown
    fixes = find_fixes(new.pod, checked) if find_fixes is not None and wanted else ()
    return replace(report, room=room, room_at_least=at_least, fixes=fixes)


def with_admission(new: NewPod, draft: Draft, stored: Mapping[str, Any]) -> NewPod:
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
        replace(container, resources=ResourceRequirements(requests=requests.get(f"{path}[{index}]")))
        for index, container in enumerate(containers or ())
    )


def _default_tolerations(tolerations: Iterable[Toleration]) -> Iterator[Toleration]:
    """Yield what DefaultTolerationSeconds adds where nothing written covers it."""
    written = tuple(tolerations)
    for key in _GIVEN:
        if not any(each.key in {key, ""} and each.effect in {"NoExecute", ""} for each in written):
            yield Toleration(key, "Exists", "", "NoExecute")


def _count_room(pod: SchedulingPod, checked: CheckedPod, wanted_count: int) -> tuple[int | None, bool]:
    """Return how many such pods find a node one after the other, and whether there may be more; None: not known."""
    answer = checked.scheduled.answer
    if checked.report.free_unknown or checked.report.not_read:
        return None, False
    if answer.rejection is not None or not answer.feasible:
        return 0, False
    nodes = {node.name: node for node in checked.seen.cluster.nodes}
    if is_local(pod):
        bound_pod = bind(pod)
        return sum(count_free_places(nodes[name], bound_pod) for name in answer.feasible), False
    placed = place_pods(pod, answer.filters, nodes, min(wanted_count, MOST_ONE_BY_ONE)).placed
    return placed, placed == min(wanted_count, MOST_ONE_BY_ONE)


def new_pod_as_stored(new: NewPod, stored: Mapping[str, Any]) -> NewPod:
    """Return the pod with what admission gives it. ``stored``: its spec as the server stores it, as far as resources
    decide; empty: not known, so that nothing is added.
    """
    if not stored:
        return new
    spec = new.pod.spec
    spec = replace(
        spec,
        containers=_as_stored(spec.containers, stored.get("containers")),
        init_containers=_as_stored(spec.init_containers, stored.get("initContainers")),
        resources=_requests_in(stored),
        overhead=stored.get("overhead") or None,
        tolerations=(*(spec.tolerations or ()), *_default_tolerations(spec.tolerations or ())),
    )
    return NewPod(replace(new.pod, spec=spec), new.gaps)


def _as_stored(written: Sequence[SchedulingContainer] | None, stored: Any) -> tuple[SchedulingContainer, ...]:
    """Return the containers that are stored, those that something adds, too."""
    own_containers = {container.name: container for container in written or ()}
    return tuple(
        replace(
            own_containers.get(each.get("name", "")) or SchedulingContainer(each.get("name", "")),
            resources=_requests_in(each),
        )
        for each in stored or ()
    )


def _requests_in(stored: Mapping[str, Any]) -> ResourceRequirements | None:
    resources = stored.get("resources")
    if not resources:
        return None
    return ResourceRequirements(requests={name: str(text) for name, text in (resources.get("requests") or {}).items()})


#: How many pods are placed one by one where each changes what the next one finds.
MOST_ONE_BY_ONE = 100


class Placing(NamedTuple):
    """How many pods found a node, and the nodes with them. ``ended``: counting ended before one found none."""

    placed: int
    nodes: Mapping[str, NodeInfo]
    ended: bool = False


def is_local(pod: SchedulingPod) -> bool:
    """Return whether such a pod on a node changes nothing for others elsewhere, nor more there than its room."""
    spec = pod.spec
    return not (spec.affinity and (spec.affinity.pod_affinity or spec.affinity.pod_anti_affinity)) and not (
        spec.topology_spread_constraints or spec.volumes or spec.resource_claims
    )


def count_free_places(node: NodeInfo, pod: BoundPod) -> int:
    """Return how many such pods a node has room for that takes one, where only room decides."""
    room = max(0, node.allocatable.get("pods", 0) - len(node.pods))
    for resource, amount in pod.requests.items():
        if amount > 0:
            free = node.allocatable.get(resource, 0) - node.requested.get(resource, 0)
            room = min(room, free // amount)
    return min(room, 1) if pod.ports else room


def place_pods(pod: SchedulingPod, filters: Filters, nodes: Mapping[str, NodeInfo], wanted_count: int) -> Placing:
    """Return how many of ``wanted_count`` pods find a node, each put on the first that takes it.

    ``filters``: prepared for the pod among these nodes.
    """
    left = dict(nodes)
    if is_local(pod):
        return _place_local(pod, filters, left, wanted_count)
    maximum = min(wanted_count, MOST_ONE_BY_ONE)
    for placed in range(maximum):
        bound_pod = _numbered(pod, placed)
        node = next((node for node in left.values() if can_take(filters, node)), None)
        if node is None:
            return Placing(placed, left)
        filters = filters.change(node, (), (bound_pod,))
        left[node.name] = changed_node(node, (), (bound_pod,))
    return Placing(maximum, left, ended=maximum < wanted_count)


def _place_local(pod: SchedulingPod, filters: Filters, nodes: dict[str, NodeInfo], wanted_count: int) -> Placing:
    """Return the same where a node that is full stays so."""
    bound_pod, placed = bind(pod), 0
    for name, node in nodes.items():
        if placed >= wanted_count:
            break
        number = min(wanted_count - placed, count_free_places(node, bound_pod)) if can_take(filters, node) else 0
        if number:
            nodes[name] = changed_node(node, (), [_numbered(pod, placed + index) for index in range(number)])
            placed += number
    return Placing(placed, nodes)


def _numbered(pod: SchedulingPod, number: int) -> BoundPod:
    return replace(bind(pod), name=f"{pod.metadata.name}-{number}", nominated=False)


def can_take(filters: Filters, node: NodeInfo) -> bool:
    """Return whether the node is known to take the pod."""
    try:
        return filters.check(node) is None
    except UncomputedFilter:
        return False
