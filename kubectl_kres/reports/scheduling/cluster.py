"""The nodes, pods, claims and volumes of a store as the scheduler sees them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from kubectl_kres.model import scheduling
from kubectl_kres.model.scheduling import SchedulingPod, VolumeAttachment, World
from kubectl_kres.scheduling.node_info import BoundPod, bind, build_node
from kubectl_kres.scheduling.plugin import Cluster
from kubectl_kres.store.store import Store


class Seen(Struct, frozen=True):
    """What the filters are run on. ``nominated``: pods that others make room for, with their nodes."""

    cluster: Cluster
    nominated: tuple[tuple[str, BoundPod], ...] = ()


def read_cluster(store: Store, minor: int) -> Seen:
    """What was read for the scheduler. ``minor``: its version, 1.N."""
    on_nodes: dict[str, list[BoundPod]] = {}
    nominated: list[tuple[str, BoundPod]] = []
    for pod in _bound(store):
        if pod.nominated and pod.node:
            nominated.append((pod.node, pod))
        elif pod.node:
            on_nodes.setdefault(pod.node, []).append(pod)
    nodes = tuple(build_node(node, on_nodes.get(node.metadata.name, ())) for node in store.all(scheduling.NODES))
    attachments: dict[str, tuple[VolumeAttachment, ...]] = {}
    for attachment in store.all(scheduling.ATTACHMENTS):
        node_name = attachment.spec.node_name
        attachments[node_name] = (*attachments.get(node_name, ()), attachment)
    world = World(
        namespaces={one.metadata.name: one.metadata.labels or {} for one in store.all("Namespace")},
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
    return Seen(Cluster(nodes, world), tuple(nominated))


def _bound(store: Store) -> Iterator[BoundPod]:
    for item in store.all(scheduling.BOUND_PODS):
        yield bind(item) if isinstance(item, SchedulingPod) else item


def _by_name(store: Store, kind: str) -> dict[str, Any]:
    return {one.metadata.name: one for one in store.all(kind)}


def _by_key(store: Store, kind: str) -> dict[tuple[str, str], Any]:
    return {(one.metadata.namespace, one.metadata.name): one for one in store.all(kind)}
