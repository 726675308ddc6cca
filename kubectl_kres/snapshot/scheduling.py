"""Objects in a snapshot for the scheduler: nodes, pods that wait for one, and the relevant fields of pods on nodes.

Names of volumes are kept, since claims of pods are called by them; addresses and handles of volumes are compared only,
so that a digest stands for them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubectl_kres.model import scheduling
from kubectl_kres.model.objects import BOUND_PODS
from kubectl_kres.model.pod import SCHEDULED
from kubectl_kres.model.scheduling import (
    DiskVolume,
    PersistentVolume,
    SchedulingContainer,
    SchedulingMetadata,
    SchedulingPod,
    SchedulingSpec,
    SchedulingStatus,
    SchedulingVolume,
)
from kubectl_kres.model.scheduling_views import ScheduledTemplate, ScheduledWorkload, ScheduledWorkloadSpec
from kubectl_kres.model.workload_kinds import PLACED
from kubectl_kres.scheduling import node_info
from kubectl_kres.store.store import ReadRequest

#: Decoded from the same answers of the server as the objects of the kind, since there are many of them.
BESIDE = {
    "Node": scheduling.NODES,
    "Pod": scheduling.POD,
    **{kind: scheduling.view_of(kind) for kind in PLACED},
}

#: Annotations of claims that the filters look at.
_ANNOTATIONS = frozenset(
    {
        "pv.kubernetes.io/bind-completed",
        "volume.beta.kubernetes.io/storage-class",
        "volume.kubernetes.io/selected-node",
    }
)
_MARK = "digest:"
_DISKS = ("gce_persistent_disk", "aws_elastic_block_store", "iscsi", "rbd")


def find_views(kind: str, items: Sequence[Any], *, everywhere: bool) -> Iterator[tuple[str, list[Any]]]:
    """Yield what is kept of one page of nodes, workloads or pods. ``everywhere``: it is of a list of all namespaces.

    Pods on nodes are kept only then: those of one namespace do not say what is free.
    """
    if kind != "Pod":
        yield BESIDE[kind], [item for item in items if not _is_outdated(item)]
        return
    yield scheduling.POD, [pod for pod in items if _is_unschedulable(pod)]
    if everywhere:
        yield BOUND_PODS, list(_build_placed_pods(items))


def needs_beside(read: ReadRequest) -> tuple[ReadRequest, ...]:
    """Return what is known of the views once ``read``, a list, was read."""
    if read.kind not in BESIDE or read.name:
        return ()
    if read.kind != "Pod":
        return (ReadRequest(BESIDE[read.kind], read.namespace),)
    everywhere = () if read.namespace else (ReadRequest(BOUND_PODS),)
    return (ReadRequest(scheduling.POD, read.namespace), *everywhere)


def asks_more(pod: SchedulingPod) -> bool:
    """Return whether the filters look at more than nodes and pods for it: volumes, devices."""
    containers = (*(pod.spec.containers or ()), *(pod.spec.init_containers or ()))
    requests = (name for each in containers if each.resources for name in each.resources.requests or ())
    return bool(pod.spec.volumes or pod.spec.resource_claims) or any("/" in name for name in requests)


def _is_outdated(item: Any) -> bool:
    """Return whether it is a ReplicaSet that a Deployment keeps of an older template: there are many of these."""
    return isinstance(item, ScheduledWorkload) and item.spec.replicas == 0 and bool(item.metadata.owner_references)


def _is_unschedulable(pod: SchedulingPod) -> bool:
    return not pod.spec.node_name and any(
        condition.type == SCHEDULED and condition.reason == "Unschedulable" for condition in pod.status.conditions or ()
    )


def _build_placed_pods(pods: Iterable[SchedulingPod]) -> Iterator[node_info.PlacedPod]:
    return (node_info.place_pod(pod) for pod in pods if node_info.node_of(pod))


def write_placed(pods: node_info.PodsOnNodes) -> Iterator[node_info.PlacedPod]:
    """Yield the pods as they stand in a snapshot."""
    for node, placed in pods.on_nodes.items():
        yield from (node_info.placed_pod(pod, node) for pod in placed)
    yield from (node_info.placed_pod(pod, node) for node, pod in pods.nominated)


def read_placed(pods: Iterable[node_info.PlacedPod]) -> node_info.PodsOnNodes:
    """Return the pods as the filters take them."""
    return node_info.collect_pods((pod.node, _build_bound_pod(pod)) for pod in pods)


def _build_bound_pod(pod: node_info.PlacedPod) -> node_info.BoundPod:
    values = {name: getattr(pod, name) for name in node_info.BoundPod.__struct_fields__}
    return node_info.BoundPod(**{**values, "labels": node_info.share_labels(pod.labels)})


def redact_view(item: Any) -> Any:
    """Return the object with what the filters look at."""
    match item:
        case node_info.PlacedPod():
            return replace(item, volumes=_volumes(item.volumes)) if item.volumes else item
        case SchedulingPod():
            return _reduce_waiting_pod(item)
        case ScheduledWorkload():
            metadata = replace(item.metadata, resource_version="", owner_references=None)
            return replace(item, metadata=metadata, spec=_workload(item.spec))
        case PersistentVolume():
            csi = item.spec.csi
            spec = (
                item.spec
                if csi is None
                else replace(item.spec, csi=replace(csi, volume_handle=_digest(csi.volume_handle)))
            )
            return replace(item, metadata=_metadata(item.metadata), spec=spec)
        case Struct() if isinstance(getattr(item, "metadata", None), SchedulingMetadata):
            kept: Any = item
            return replace(kept, metadata=_metadata(kept.metadata))
    return item


def _metadata(metadata: SchedulingMetadata) -> SchedulingMetadata:
    kept = {key: text for key, text in (metadata.annotations or {}).items() if key in _ANNOTATIONS}
    return replace(metadata, annotations=kept or None, resource_version="")


def _workload(spec: ScheduledWorkloadSpec) -> ScheduledWorkloadSpec:
    """Return where the template is; of claim templates that there are some."""
    job = spec.job_template
    return ScheduledWorkloadSpec(
        template=_template(spec.template),
        job_template=job and replace(job, spec=replace(job.spec, template=_template(job.spec.template))),
        volume_claim_templates=spec.volume_claim_templates and ({},) * len(spec.volume_claim_templates),
    )


def _template(template: ScheduledTemplate | None) -> ScheduledTemplate | None:
    return template and replace(template, spec=_spec(template.spec))


def _spec(spec: SchedulingSpec) -> SchedulingSpec:
    return replace(
        spec,
        containers=_containers(spec.containers),
        init_containers=_containers(spec.init_containers),
        volumes=_volumes(spec.volumes) or None,
    )


def _reduce_waiting_pod(pod: SchedulingPod) -> SchedulingPod:
    changed, status = _spec(pod.spec), pod.status
    kept = SchedulingStatus(
        phase=status.phase,
        nominated_node_name=status.nominated_node_name,
        conditions=status.conditions,
        resource_claim_statuses=status.resource_claim_statuses,
    )
    return replace(pod, metadata=replace(pod.metadata, resource_version=""), spec=changed, status=kept)


def _containers(containers: tuple[SchedulingContainer, ...] | None) -> tuple[SchedulingContainer, ...] | None:
    """With those of their ports alone that they take of the node."""
    return containers and tuple(
        replace(container, ports=tuple(port for port in container.ports or () if port.host_port) or None)
        for container in containers
    )


def _volumes(volumes: tuple[SchedulingVolume, ...] | None) -> tuple[SchedulingVolume, ...]:
    """Return those that bind a pod to nodes: claims by name, disks by digest."""
    return tuple(kept for volume in volumes or () if (kept := _volume(volume)) is not None)


def _volume(volume: SchedulingVolume) -> SchedulingVolume | None:
    disks = {name: _disk(disk) for name in _DISKS if (disk := getattr(volume, name)) is not None}
    if not disks and volume.persistent_volume_claim is None and volume.ephemeral is None:
        return None
    return replace(volume, ephemeral=None if volume.ephemeral is None else {}, **disks)


def _disk(disk: DiskVolume) -> DiskVolume:
    texts = {name: _digest(getattr(disk, name)) for name in ("pd_name", "volume_id", "iqn", "pool", "image")}
    return replace(disk, monitors=disk.monitors and tuple(map(_digest, disk.monitors)), **texts)


def _digest(text: str) -> str:
    """Return what stands for the text; itself if it is a digest already."""
    if not text or text.startswith(_MARK):
        return text
    return _MARK + hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
