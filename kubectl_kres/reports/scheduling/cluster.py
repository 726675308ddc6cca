"""The nodes, pods, claims and volumes of a store as the scheduler sees them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from kubectl_kres.model import scheduling
from kubectl_kres.model.scheduling import SchedulingWorld, VolumeAttachment
from kubectl_kres.scheduling.node_info import BoundPod, PlacedPod, PodsOnNodes, build_node, collect_pods, place_pod
from kubectl_kres.scheduling.plugin import SchedulingCluster
from kubectl_kres.store.store import Store


class SchedulingInput(Struct, frozen=True):
    """What the filters are run on. ``nominated``: pods that others make room for, with their nodes."""

    cluster: SchedulingCluster
    nominated: tuple[tuple[str, BoundPod], ...] = ()


def read_cluster(store: Store, minor: int) -> SchedulingInput:
    """What was read for the scheduler. ``minor``: its version, 1.N."""
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
    """Return the pods on nodes: gathered when they were read, or one by one where they are watched."""
    pods = list(store.all(scheduling.BOUND_PODS))
    if len(pods) == 1 and isinstance(pods[0], PodsOnNodes):
        return pods[0]
    placed = (pod if isinstance(pod, PlacedPod) else place_pod(pod) for pod in pods)
    return collect_pods((pod.node, pod) for pod in placed if pod.node)


def _by_name(store: Store, kind: str) -> dict[str, Any]:
    return {item.metadata.name: item for item in store.all(kind)}


def _by_key(store: Store, kind: str) -> dict[tuple[str, str], Any]:
    return {(item.metadata.namespace, item.metadata.name): item for item in store.all(kind)}
