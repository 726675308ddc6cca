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
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import SCHEDULED, Pod
from kubectl_kres.model.scheduling import SchedulingPod, SchedulingWorld, VolumeAttachment
from kubectl_kres.model.workload import Event
from kubectl_kres.reports.common.explanation import ContainerValues
from kubectl_kres.reports.common.parts import (
    NearestNode,
    NodeGroup,
    NodeReport,
    NodeScaling,
    NodeShortage,
    PodOnNode,
    RequestPart,
    ResourceAsked,
    waits_for_node,
)
from kubectl_kres.reports.common.replicas import events_about
from kubectl_kres.reports.pod.needs import node_needs
from kubectl_kres.reports.scheduling.lowering import amount
from kubectl_kres.reports.scheduling.obstacles import Obstacles, find_obstacles
from kubectl_kres.scheduling.node_info import (
    BoundPod,
    NodeInfo,
    PlacedPod,
    PodsOnNodes,
    build_node,
    collect_pods,
    place_pod,
)
from kubectl_kres.scheduling.plugin import UNRESOLVABLE, Rejection, SchedulingCluster, Shortage
from kubectl_kres.scheduling.requests import requests_of
from kubectl_kres.scheduling.schedule import DEFAULT_SCHEDULER, Scheduling, schedule
from kubectl_kres.store.store import ReadRequest, Store


class SchedulingInput(Struct, frozen=True):
    """The input of the filters. ``nominated``: pods for which others are being evicted, with their nodes."""

    cluster: SchedulingCluster
    nominated: tuple[tuple[str, BoundPod], ...] = ()


def read_cluster(store: Store, minor: int) -> SchedulingInput:
    """Return the scheduler's view of what was read. ``minor``: its version, 1.N."""
    pods = read_pods(store)
    nodes = tuple(build_node(node, pods.on_nodes.get(node.metadata.name, ())) for node in store.all(scheduling.NODES))
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


def read_pods(store: Store) -> PodsOnNodes:
    """Return the pods on nodes: collected when they were read, or one by one where they are watched."""
    pods = list(store.all(scheduling.BOUND_PODS))
    if len(pods) == 1 and isinstance(pods[0], PodsOnNodes):
        return pods[0]
    placed = (pod if isinstance(pod, PlacedPod) else place_pod(pod) for pod in pods)
    return collect_pods((pod.node, pod) for pod in placed if pod.node)


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
    if not waits_for_node(pod) or not store.covered(ReadRequest(scheduling.NODES)).known:
        return None
    asked = store.get(scheduling.POD, pod.metadata.name, pod.metadata.namespace)
    if not isinstance(asked, SchedulingPod):
        return None
    unread = unread_kinds(store, (need for need in node_needs(store, pod) if need.kind != "Event"))
    ref = ObjectRef("Pod", pod.metadata.name, pod.metadata.namespace)
    checked = check_pod(store, asked, minor, containers, ref, unread)
    return (
        replace(checked.report, stated=_scheduler_message(pod), scaling=find_scaling(store, pod)),
        checked.seen.cluster,
        checked.obstacles,
    )


def unread_kinds(store: Store, needs: Iterable[ReadRequest]) -> tuple[str, ...]:
    """The kinds that could not be read, each once."""
    return tuple(dict.fromkeys(need.kind for need in needs if not store.covered(need).known))


class CheckedPod(NamedTuple):
    """The report about a pod, and what it was made of."""

    report: NodeReport
    seen: SchedulingInput
    scheduled: Scheduling
    obstacles: Obstacles


def check_pod(
    store: Store,
    asked: SchedulingPod,
    minor: int,
    containers: Sequence[ContainerValues],
    ref: ObjectRef,
    unread: Sequence[str],
    gaps: Sequence[str] = (),
) -> CheckedPod:
    """What the filters say of the nodes for a pod, which need not exist, without what the scheduler said of it.

    ``ref``: what the report is about. ``unread``: the kinds that could not be read. ``gaps``: what else is not
    computed.
    """
    seen = read_cluster(store, minor)
    scheduled = schedule(_drop_unread_fields(asked, unread), seen.cluster, seen.nominated)
    gaps = (*gaps, *_not_computed(asked, scheduled))
    complete = not unread and not gaps
    answer = scheduled.answer
    fits = answer.feasible
    obstacles = find_obstacles(scheduled, seen.cluster)
    report = NodeReport(
        pod=ref,
        nodes=len(seen.cluster.nodes),
        fitting=len(fits),
        fits=fits[:_NAMED],
        groups=() if answer.rejection is not None else tuple(_groups(answer.statuses.items())),
        asked=tuple(_requested_resources(asked, scheduled, containers)),
        nearest=_find_nearest_node(obstacles) if not fits else None,
        rejection=answer.rejection.message if answer.rejection is not None else "",
        sentence=(scheduled.sentence or "") if complete else "",
        preempts=scheduled.preemption.nodes[:_NAMED],
        complete=complete,
        empty=scheduling.BOUND_PODS in unread and next(store.all(scheduling.BOUND_PODS), None) is None,
        not_read=tuple(dict.fromkeys(map(named_kind, unread))),
        not_computed=gaps,
    )
    return CheckedPod(report, seen, scheduled, obstacles)


#: Reasons of events about pods, and whether a node is added then. Sources: cluster-autoscaler
#: processors/status/eventing_scale_up_processor.go, karpenter pkg/controllers/provisioning/scheduling/events.go.
_SCALING = {
    ("cluster-autoscaler", "TriggeredScaleUp"): True,
    ("cluster-autoscaler", "NotTriggerScaleUp"): False,
    ("karpenter", "Nominated"): True,
    ("karpenter", "FailedScheduling"): False,
}


def find_scaling(store: Store, pod: Pod) -> NodeScaling | None:
    """The last that an autoscaler of nodes said of the pod; None: nothing, or events were not read."""
    words = [
        NodeScaling(by, adds, event.message, _last_time(event))
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


def _groups(statuses: Iterable[tuple[str, Rejection | None]]) -> Iterator[NodeGroup]:
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


def _find_nearest_node(obstacles: Obstacles) -> NearestNode | None:
    near = obstacles.nearest
    if near is None:
        return None
    node, statuses = near
    short = [shortage for status in statuses for shortage in status.shortages]
    others = tuple(
        f"{reason} ({status.about})" if status.about else reason
        for status in statuses
        if not status.shortages
        for reason in status.reasons
    )
    holders = tuple(_holders(node, short))
    return NearestNode(node.name, tuple(map(_shortage, short)), others, len(node.pods), holders)


def _shortage(shortage: Shortage) -> NodeShortage:
    name = shortage.resource
    numbers = (shortage.requested, shortage.capacity, shortage.used, shortage.lacking)
    return NodeShortage(name, *(str(amount(name, number)) for number in numbers))


def _holders(node: NodeInfo, short: Sequence[Shortage]) -> Iterator[PodOnNode]:
    """Yield the pods that request the most of the first missing resource, and would free it."""
    resource = next((shortage.resource for shortage in short if shortage.resource != "pods"), None)
    if resource is None:
        return
    for pod in sorted(node.pods, key=lambda pod: (-pod.requests.get(resource, 0), pod.namespace, pod.name))[:_NAMED]:
        if requested := pod.requests.get(resource, 0):
            yield PodOnNode(ObjectRef("Pod", pod.name, pod.namespace), str(amount(resource, requested)))


def _not_computed(asked: SchedulingPod, scheduled: Scheduling) -> Iterator[str]:
    """Yield what else decides: another scheduler, and conditions that no filter here computes."""
    scheduler = asked.spec.scheduler_name
    if scheduler and scheduler != DEFAULT_SCHEDULER:
        yield f"scheduler {scheduler}"
    yield from scheduled.answer.not_computed


def _drop_unread_fields(pod: SchedulingPod, unread: Sequence[str]) -> SchedulingPod:
    """Return the pod without fields whose filters need kinds that could not be read."""
    spec = pod.spec
    if any(kind not in {scheduling.BOUND_PODS, "Namespace"} for kind in unread):
        spec = replace(spec, volumes=None, resource_claims=None)
    if "Namespace" in unread and spec.affinity is not None:
        spec = replace(spec, affinity=replace(spec.affinity, pod_affinity=None, pod_anti_affinity=None))
    return replace(pod, spec=spec)
