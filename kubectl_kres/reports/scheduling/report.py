"""The report about the nodes for a waiting pod: reasons, the nearest node, where requests come from.

Its input is the nodes, pods, claims and volumes of a store as the scheduler sees them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from kubectl_kres.model import scheduling
from kubectl_kres.model.kinds import named_kind
from kubectl_kres.model.objects import BOUND_PODS, ObjectRef
from kubectl_kres.model.pod import SCHEDULED, Pod
from kubectl_kres.model.scheduling import SchedulingPod, SchedulingWorld, VolumeAttachment
from kubectl_kres.model.workload import Event
from kubectl_kres.reports.common.explanation import ContainerValues
from kubectl_kres.reports.common.nodes import (
    NearestNode,
    NodeGroup,
    NodeReport,
    NodeScaling,
    NodeShortage,
    PinnedNode,
    PodOnNode,
    RequestPart,
    ResourceAsked,
    waits_for_node,
)
from kubectl_kres.reports.common.owners import events_about
from kubectl_kres.reports.pod.needs import node_needs
from kubectl_kres.reports.scheduling.lowered_requests import amount
from kubectl_kres.reports.scheduling.obstacles import Obstacles, find_obstacles
from kubectl_kres.scheduling import node_info
from kubectl_kres.scheduling.node_info import UNRESOLVABLE, Rejection, SchedulingCluster, Shortage
from kubectl_kres.scheduling.requests import requests_of
from kubectl_kres.scheduling.schedule import DEFAULT_SCHEDULER, Scheduling, schedule
from kubectl_kres.scheduling.selectors import matches, selector_matches
from kubectl_kres.store.store import ReadRequest, Store


class SchedulingInput(Struct, frozen=True):
    """The input of the filters. ``nominated``: pods for which others are being evicted, with their nodes."""

    cluster: SchedulingCluster
    nominated: tuple[tuple[str, node_info.BoundPod], ...] = ()


def read_cluster(store: Store, minor: int) -> SchedulingInput:
    """Return the scheduler's view of what was read. ``minor``: its version, 1.N."""
    # Of a list many pods are asked about among the same nodes.
    return store.memo("scheduler", _VIEWED, minor, lambda: _read_cluster(store, minor))


#: The kinds of what the scheduler sees.
_VIEWED = (
    scheduling.NODES, BOUND_PODS, scheduling.CLAIMS, scheduling.VOLUMES, scheduling.CLASSES,
    scheduling.CSI_NODES, scheduling.CSI_DRIVERS, scheduling.CAPACITIES, scheduling.ATTACHMENTS,
    scheduling.DEVICE_CLAIMS, scheduling.DEVICE_CLASSES, "Namespace",
)  # fmt: skip


def _read_cluster(store: Store, minor: int) -> SchedulingInput:
    pods = read_pods(store)
    nodes = tuple(
        node_info.build_node(node, pods.on_nodes.get(node.metadata.name, ())) for node in store.all(scheduling.NODES)
    )
    attachments: dict[str, tuple[VolumeAttachment, ...]] = {}
    for attachment in store.all(scheduling.ATTACHMENTS):
        node_name = attachment.spec.node_name
        attachments[node_name] = (*attachments.get(node_name, ()), attachment)
    world = SchedulingWorld(
        namespaces={namespace.metadata.name: namespace.metadata.labels or {} for namespace in store.all("Namespace")},
        claims=_by_key(store, scheduling.CLAIMS),
        volumes=_by_name(store, scheduling.VOLUMES),
        classes=_by_name(store, scheduling.CLASSES),
        csi_nodes=_by_name(store, scheduling.CSI_NODES),
        drivers=_by_name(store, scheduling.CSI_DRIVERS),
        capacities=tuple(store.all(scheduling.CAPACITIES)),
        attachments=attachments,
        device_claims=_by_key(store, scheduling.DEVICE_CLAIMS),
        device_classes=_by_name(store, scheduling.DEVICE_CLASSES),
        minor=minor,
    )
    return SchedulingInput(SchedulingCluster(nodes, world), pods.nominated)


def read_pods(store: Store) -> node_info.PodsOnNodes:
    """Return the pods on nodes: collected when they were read, or one by one where they are watched."""
    pods = list(store.all(BOUND_PODS))
    if len(pods) == 1 and isinstance(pods[0], node_info.PodsOnNodes):
        return pods[0]
    placed = (pod if isinstance(pod, node_info.PlacedPod) else node_info.place_pod(pod) for pod in pods)
    return node_info.collect_pods((pod.node, pod) for pod in placed if pod.node)


def _by_name(store: Store, kind: str) -> dict[str, Any]:
    return {item.metadata.name: item for item in store.all(kind)}


def _by_key(store: Store, kind: str) -> dict[tuple[str, str], Any]:
    return {(item.metadata.namespace, item.metadata.name): item for item in store.all(kind)}


#: Nodes and pods that are named; of the rest there is a number.
_NAMED = 3


def report_nodes(
    store: Store, pod: Pod, minor: int, containers: Sequence[ContainerValues] = ()
) -> tuple[NodeReport, SchedulingCluster, Obstacles] | None:
    """Return the filters' answers about the nodes, without remedies; None where the pod waits for none or too little
    was read.

    ``containers``: the values of the pod's containers, which say what set them.
    """
    if not waits_for_node(pod) or not store.covered(ReadRequest(scheduling.NODES)).is_known:
        return None
    asked = store.get(scheduling.POD, pod.metadata.name, pod.metadata.namespace)
    if not isinstance(asked, SchedulingPod):
        return None
    reads = node_needs(store, pod)
    unread = unread_kinds(store, (read for read in reads if read.kind not in {"Event", scheduling.POD}))
    ref = ObjectRef("Pod", pod.metadata.name, pod.metadata.namespace)
    checked = check_pod(store, asked, minor, containers, ref, unread)
    pinned = tuple(find_pins(asked, checked))
    return (
        replace(checked.report, stated=_scheduler_message(pod), scaling=find_scaling(store, pod), pinned=pinned),
        checked.seen.cluster,
        checked.obstacles,
    )


def nodes_in_list(store: Store, pod: Pod, minor: int) -> NodeReport | None:
    """Return what a list says of the nodes for a pod: the filters' answers, or that the nodes may not be read."""
    reported = report_nodes(store, pod, minor)
    if reported is not None:
        return reported[0]
    if not waits_for_node(pod) or store.covered(ReadRequest(scheduling.NODES)).state not in {"denied", "failed"}:
        return None
    return unread_nodes(store, ObjectRef("Pod", pod.metadata.name, pod.metadata.namespace))


def unread_nodes(store: Store, ref: ObjectRef) -> NodeReport:
    """Return that the nodes may not be read, in the server's words."""
    coverage = store.covered(ReadRequest(scheduling.NODES))
    words = coverage.message or coverage.state
    return NodeReport(ref, nodes=0, complete=False, not_read=("Node",), unread=words)


def unread_kinds(store: Store, reads: Iterable[ReadRequest]) -> tuple[str, ...]:
    """The kinds that could not be read, each once."""
    return tuple(dict.fromkeys(read.kind for read in reads if not store.covered(read).is_known))


class CheckedPod(NamedTuple):
    """The report about a pod, and what it was made of."""

    report: NodeReport
    seen: SchedulingInput
    scheduled: Scheduling
    obstacles: Obstacles


def check_pod(
    store: Store,
    pod: SchedulingPod,
    minor: int,
    containers: Sequence[ContainerValues],
    ref: ObjectRef,
    unread: Sequence[str],
    gaps: Sequence[str] = (),
) -> CheckedPod:
    """Return what the filters say of the nodes for a pod, which need not exist, without what the scheduler said of it.

    ``ref``: what the report is about. ``unread``: the kinds that could not be read. ``gaps``: what else is not
    computed.
    """
    checked = check_among(read_cluster(store, minor), pod, containers, ref, unread, gaps)
    free_unknown = BOUND_PODS in unread and next(store.all(BOUND_PODS), None) is None
    return checked._replace(report=replace(checked.report, free_unknown=free_unknown))


def check_among(
    seen: SchedulingInput,
    pod: SchedulingPod,
    containers: Sequence[ContainerValues],
    ref: ObjectRef,
    unread: Sequence[str] = (),
    gaps: Sequence[str] = (),
) -> CheckedPod:
    """Return the same among given nodes."""
    scheduled = schedule(_drop_unread_fields(pod, unread), seen.cluster, seen.nominated)
    gaps = (*gaps, *_not_computed(pod, scheduled))
    complete = not unread and not gaps
    answer = scheduled.answer
    fits = answer.feasible
    obstacles = find_obstacles(scheduled, seen.cluster)
    report = NodeReport(
        pod=ref,
        nodes=len(seen.cluster.nodes),
        fitting=len(fits),
        fits=fits[:_NAMED],
        groups=() if answer.rejection is not None else tuple(group_nodes(answer.statuses.items())),
        requests=tuple(_requested_resources(pod, scheduled, containers)),
        nearest=_find_nearest_node(obstacles) if not fits else None,
        rejection=answer.rejection.message if answer.rejection is not None else "",
        sentence=(scheduled.sentence or "") if complete else "",
        preempts=scheduled.preemption.nodes[:_NAMED],
        complete=complete,
        undecided=len(seen.cluster.nodes) if _is_of_another(pod) else len(answer.open),
        not_read=tuple(dict.fromkeys(map(named_kind, unread))),
        not_computed=gaps,
    )
    return CheckedPod(report, seen, scheduled, obstacles)


#: Reasons of events about pods, and whether a node is added then. Sources: kubernetes/autoscaler cluster-autoscaler
#: processors/status/eventing_scale_up_processor.go and utils/kubernetes/factory.go (16c271a), kubernetes-sigs/karpenter
#: pkg/controllers/provisioning/scheduling/events.go and pkg/events/reason.go (0b88d7c).
#: Of a pod that Karpenter expects on a node that is there; a new one is named by its NodeClaim first.
_ON_ITS_WAY = "Pod should schedule on: node/"
_SCALING = {
    ("cluster-autoscaler", "TriggeredScaleUp"): True,
    ("cluster-autoscaler", "NotTriggerScaleUp"): False,
    ("karpenter", "Nominated"): True,
    ("karpenter", "FailedScheduling"): False,
}


def find_scaling(store: Store, pod: Pod) -> NodeScaling | None:
    """The last that an autoscaler of nodes said of the pod; None: nothing, or events were not read."""
    words = [
        NodeScaling(by, adds and not event.message.startswith(_ON_ITS_WAY), event.message, _last_time(event))
        for event in events_about(store, pod.metadata.namespace, ("Pod", pod.metadata.name))
        if (by := event.reporting_component or event.source.component)
        and (adds := _SCALING.get((by, event.reason))) is not None
    ]
    return max(words, key=lambda each: each.time, default=None)


def _last_time(event: Event) -> str:
    series = event.series.last_observed_time if event.series is not None else ""
    return series or event.last_timestamp or event.event_time or event.first_timestamp or ""


def _scheduler_message(pod: Pod) -> str:
    """Return the scheduler's message when it last looked."""
    conditions = (condition for condition in pod.status.conditions or () if condition.type == SCHEDULED)
    return next((condition.message for condition in conditions), "")


def group_nodes(statuses: Iterable[tuple[str, Rejection | None]]) -> Iterator[NodeGroup]:
    """Yield the groups of nodes by reason, the most frequent first."""
    nodes: dict[tuple[str, str], list[str]] = {}
    about: dict[tuple[str, str], Counter[str]] = {}
    unresolvable: Counter[tuple[str, str]] = Counter()
    for name, status in statuses:
        if status is None:
            continue
        for reason in status.reasons:
            key = (reason, status.plugin)
            nodes.setdefault(key, []).append(name)
            about.setdefault(key, Counter()).update([status.about] if status.about else [])
        unresolvable.update((reason, status.plugin) for reason in _unresolvable(status))
    for key in sorted(nodes, key=lambda key: (-len(nodes[key]), key)):
        common = tuple(sorted(about[key].items(), key=lambda item: (-item[1], item[0])))
        yield NodeGroup(*key, len(nodes[key]), unresolvable[key], tuple(nodes[key][:_NAMED]), common[:_NAMED])


def _unresolvable(status: Rejection) -> Iterator[str]:
    """Yield the reasons that stay without any other pod on the node; for resources those that the whole node is short
    of.
    """
    if not status.shortages:
        yield from status.reasons if status.code == UNRESOLVABLE else ()
        return
    for reason, shortage in zip(status.reasons, status.shortages, strict=True):
        if shortage.requested > shortage.capacity:
            yield reason


def _requested_resources(
    pod: SchedulingPod, scheduled: Scheduling, containers: Sequence[ContainerValues]
) -> Iterator[ResourceAsked]:
    """Yield each resource that some node is short of, but for the number of pods."""
    short = {
        shortage.resource for status in scheduled.answer.statuses.values() if status for shortage in status.shortages
    }
    requests = requests_of(pod, on_node=False)
    for resource in sorted(short - {"pods"}):
        parts = tuple(_request_parts(resource, containers))
        yield ResourceAsked(resource, str(amount(resource, requests.get(resource, 0))), parts)


def _request_parts(resource: str, containers: Sequence[ContainerValues]) -> Iterator[RequestPart]:
    """Yield each container's request. What set a value is said where the pod has just what would be set today. What set
    a value is said where the pod has just what would be set today.
    """
    for container in containers:
        for value in container.values:
            if value.resource != resource or value.side != "requests":
                continue
            has = value.live if value.live is not None else value.value
            if has is None:
                continue
            set_by = value.rule if has == value.value and value.written is None else ""
            yield RequestPart(container.name, has, set_by, value.source if set_by else None)


def find_pins(pod: SchedulingPod, checked: CheckedPod) -> Iterator[PinnedNode]:
    """Yield the nodes that a pod beside which it must run, or a bound claim, pins it to."""
    obstacles = {node.name: (node, statuses) for node, statuses in checked.obstacles.nodes}
    for node, by in (*_find_affinity_pods(pod, checked.seen.cluster), *_list_bound_nodes(pod, checked.seen.cluster)):
        yield PinnedNode(node, by, _nearest_node(*obstacles[node]) if node in obstacles else None)


def _find_affinity_pods(asked: SchedulingPod, cluster: SchedulingCluster) -> Iterator[tuple[str, ObjectRef]]:
    """Yield node and pod for each pod that alone meets a required term of affinity on one node."""
    terms = asked.spec.affinity.pod_affinity if asked.spec.affinity is not None else None
    for term in node_info.required_terms(asked, terms):
        if term.topology_key != _HOSTNAME or term.namespace_selector is not None:
            continue
        holders = [
            (node.name, ObjectRef("Pod", pod.name, pod.namespace))
            for node in cluster.nodes
            for pod in node.pods
            if pod.namespace in (term.namespaces or ()) and matches(term.label_selector, pod.labels)
        ]
        if len({name for name, _ in holders}) == 1:
            yield holders[0]


def _list_bound_nodes(pod: SchedulingPod, cluster: SchedulingCluster) -> Iterator[tuple[str, ObjectRef]]:
    """Yield node and claim for each bound claim whose volume one node alone can reach."""
    space, world = pod.metadata.namespace, cluster.world
    for volume in pod.spec.volumes or ():
        name = volume.persistent_volume_claim.claim_name if volume.persistent_volume_claim is not None else ""
        claim = world.claims.get((space, name))
        bound = world.volumes.get(claim.spec.volume_name) if claim is not None else None
        affinity = bound.spec.node_affinity.required if bound is not None and bound.spec.node_affinity else None
        if affinity is None:
            continue
        nodes = [node.name for node in cluster.nodes if selector_matches(affinity, node.labels, node.name)]
        if len(nodes) == 1:
            yield nodes[0], ObjectRef("PersistentVolumeClaim", name, space)


_HOSTNAME = "kubernetes.io/hostname"


def _find_nearest_node(obstacles: Obstacles) -> NearestNode | None:
    return _nearest_node(*obstacles.nearest_nodes) if obstacles.nearest_nodes is not None else None


def _nearest_node(node: node_info.NodeInfo, statuses: Sequence[Rejection]) -> NearestNode:
    """Return what keeps the pod off one node."""
    short = [shortage for status in statuses for shortage in status.shortages]
    others = tuple(
        f"{reason} ({status.about})" if status.about else reason
        for status in statuses
        if not status.shortages
        for reason in status.reasons
    )
    holders = tuple(_holders(node, short))
    return NearestNode(node.name, tuple(map(node_shortage, short)), others, len(node.pods), holders)


def node_shortage(shortage: Shortage) -> NodeShortage:
    """Return the amounts of a shortage as quantities."""
    name = shortage.resource
    numbers = (shortage.requested, shortage.capacity, shortage.used, shortage.missing_amount)
    return NodeShortage(name, *(str(amount(name, number)) for number in numbers))


def _holders(node: node_info.NodeInfo, short: Sequence[Shortage]) -> Iterator[PodOnNode]:
    """Yield the pods that request the most of the first missing resource, and would free it."""
    resource = next((shortage.resource for shortage in short if shortage.resource != "pods"), None)
    if resource is None:
        return
    for pod in sorted(node.pods, key=lambda pod: (-pod.requests.get(resource, 0), pod.namespace, pod.name))[:_NAMED]:
        if requested := pod.requests.get(resource, 0):
            yield PodOnNode(ObjectRef("Pod", pod.name, pod.namespace), str(amount(resource, requested)))


def _not_computed(pod: SchedulingPod, scheduled: Scheduling) -> Iterator[str]:
    """Yield what else decides: another scheduler, and conditions that no filter here computes."""
    if _is_of_another(pod):
        yield f"scheduler {pod.spec.scheduler_name}"
    yield from scheduled.answer.not_computed


def _is_of_another(pod: SchedulingPod) -> bool:
    """Return whether another scheduler looks for a node."""
    return (pod.spec.scheduler_name or DEFAULT_SCHEDULER) != DEFAULT_SCHEDULER


def _drop_unread_fields(pod: SchedulingPod, unread: Sequence[str]) -> SchedulingPod:
    """Return the pod without fields whose filters need kinds that could not be read."""
    spec = pod.spec
    if any(kind not in {BOUND_PODS, "Namespace"} for kind in unread):
        spec = replace(spec, volumes=None, resource_claims=None)
    if "Namespace" in unread and spec.affinity is not None:
        spec = replace(spec, affinity=replace(spec.affinity, pod_affinity=None, pod_anti_affinity=None))
    return replace(pod, spec=spec)
