"""What is read for the scheduler, as kinds; and pods as nodes count them.

Of each pod on a node as little is decoded as that takes, since all pods of a cluster are read for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Raw

from kubectl_kres.model.kinds import BOUND_PODS
from kubectl_kres.model.objects import Base, Kind, ResourceList
from kubectl_kres.model.scheduling import (
    ATTACHMENTS,
    CAPACITIES,
    CLAIMS,
    CLASSES,
    CSI_DRIVERS,
    CSI_NODES,
    DEVICE_CLAIMS,
    DEVICE_CLASSES,
    NODES,
    POD,
    VOLUMES,
    AffinityTerms,
    BindingClass,
    ContainerPort,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PodIdentity,
    SchedulingDeviceClaim,
    SchedulingDeviceClass,
    SchedulingNode,
    SchedulingPod,
    SchedulingSpec,
    SchedulingVolume,
    StorageClaim,
    VolumeAttachment,
    view_of,
)


class CountedMetadata(Base, frozen=True):
    """By what a pod is found and selected."""

    name: str = ""
    namespace: str = ""
    labels: Mapping[str, str] | None = None
    deletion_timestamp: str | None = None
    resource_version: str = ""


class CountedContainer(Base, frozen=True):
    """A container. ``resources`` are left as they were sent: those of most pods are the same text."""

    name: str = ""
    restart_policy: str | None = None
    resources: Raw = Raw()
    ports: tuple[ContainerPort, ...] | None = None


class CountedContainerStatus(Base, frozen=True):
    """What a container has, as it was sent."""

    name: str = ""
    resources: Raw = Raw()
    allocated_resources: Raw = Raw()


class CountedAffinity(Base, frozen=True):
    """The pods that a pod does not want beside it."""

    pod_anti_affinity: AffinityTerms | None = None


class CountedSpec(Base, frozen=True):
    """What a pod takes of its node."""

    containers: tuple[CountedContainer, ...] | None = None
    init_containers: tuple[CountedContainer, ...] | None = None
    resources: Raw = Raw()
    overhead: ResourceList | None = None
    node_name: str = ""
    affinity: CountedAffinity | None = None
    volumes: tuple[SchedulingVolume, ...] | None = None
    priority: int | None = None


class CountedStatus(Base, frozen=True):
    """Whether a pod holds anything still, and what it was given. ``conditions`` as they were sent: few decide."""

    phase: str = ""
    nominated_node_name: str = ""
    conditions: Raw = Raw()
    container_statuses: tuple[CountedContainerStatus, ...] | None = None
    init_container_statuses: tuple[CountedContainerStatus, ...] | None = None
    resources: Raw = Raw()
    allocated_resources: Raw = Raw()


class CountedPod(Base, frozen=True):
    """A pod on a node."""

    metadata: CountedMetadata = CountedMetadata()
    spec: CountedSpec = CountedSpec()
    status: CountedStatus = CountedStatus()
    kind: str = "Pod"
    api_version: str = "v1"


class ScheduledTemplate(Base, frozen=True):
    """What pods are made of, as the scheduler will see them."""

    metadata: PodIdentity = PodIdentity()
    spec: SchedulingSpec = SchedulingSpec()


class ScheduledJobSpec(Base, frozen=True):
    """The spec of a Job that a CronJob makes."""

    template: ScheduledTemplate | None = None


class ScheduledJob(Base, frozen=True):
    """A Job that a CronJob makes."""

    spec: ScheduledJobSpec = ScheduledJobSpec()


class ScheduledWorkloadSpec(Base, frozen=True):
    """Where the template is. ``volume_claim_templates``: of a StatefulSet, whose pods get a claim of each."""

    template: ScheduledTemplate | None = None
    job_template: ScheduledJob | None = None
    volume_claim_templates: tuple[Any, ...] | None = None


class ScheduledWorkload(Base, frozen=True):
    """A workload, for its template alone."""

    metadata: PodIdentity = PodIdentity()
    spec: ScheduledWorkloadSpec = ScheduledWorkloadSpec()
    kind: str = ""
    api_version: str = ""


_STORAGE, _DEVICES = "storage.k8s.io", "resource.k8s.io"


VIEWS: Mapping[str, Kind] = {
    kind.kind: kind
    for kind in (
        Kind(POD, ("pods",), struct=SchedulingPod),
        Kind(BOUND_PODS, ("pods",), struct=CountedPod),
        Kind(NODES, ("nodes",), namespaced=False, struct=SchedulingNode),
        Kind(CLAIMS, ("persistentvolumeclaims",), struct=StorageClaim),
        Kind(VOLUMES, ("persistentvolumes",), namespaced=False, struct=PersistentVolume),
        Kind(CLASSES, ("storageclasses",), _STORAGE, namespaced=False, struct=BindingClass),
        Kind(CSI_NODES, ("csinodes",), _STORAGE, namespaced=False, struct=CSINode),
        Kind(CSI_DRIVERS, ("csidrivers",), _STORAGE, namespaced=False, struct=CSIDriver),
        Kind(CAPACITIES, ("csistoragecapacities",), _STORAGE, struct=CSIStorageCapacity),
        Kind(ATTACHMENTS, ("volumeattachments",), _STORAGE, namespaced=False, struct=VolumeAttachment),
        Kind(DEVICE_CLAIMS, ("resourceclaims",), _DEVICES, struct=SchedulingDeviceClaim),
        Kind(DEVICE_CLASSES, ("deviceclasses",), _DEVICES, namespaced=False, struct=SchedulingDeviceClass),
        *(
            Kind(view_of(kind), (f"{kind.lower()}s",), group, struct=ScheduledWorkload)
            for kind, group in (
                ("ReplicationController", ""),
                ("Deployment", "apps"),
                ("ReplicaSet", "apps"),
                ("StatefulSet", "apps"),
                ("Job", "batch"),
                ("CronJob", "batch"),
            )
        ),
    )
}
