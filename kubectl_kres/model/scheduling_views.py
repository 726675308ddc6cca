"""What is read for the scheduler, as kinds; and pods as nodes count them.

Of each pod on a node as little is decoded as that takes, since all pods of a cluster are read for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Raw

from kubectl_kres.model import scheduling
from kubectl_kres.model.kinds import BOUND_PODS
from kubectl_kres.model.objects import Base, Kind, ResourceList


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
    ports: tuple[scheduling.ContainerPort, ...] | None = None


class CountedContainerStatus(Base, frozen=True):
    """What a container has, as it was sent."""

    name: str = ""
    resources: Raw = Raw()
    allocated_resources: Raw = Raw()


class CountedAffinity(Base, frozen=True):
    """The pods that a pod does not want beside it."""

    pod_anti_affinity: scheduling.AffinityTerms | None = None


class CountedSpec(Base, frozen=True):
    """What a pod takes of its node."""

    containers: tuple[CountedContainer, ...] | None = None
    init_containers: tuple[CountedContainer, ...] | None = None
    resources: Raw = Raw()
    overhead: ResourceList | None = None
    node_name: str = ""
    affinity: CountedAffinity | None = None
    volumes: tuple[scheduling.SchedulingVolume, ...] | None = None
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

    metadata: scheduling.PodIdentity = scheduling.PodIdentity()
    spec: scheduling.SchedulingSpec = scheduling.SchedulingSpec()


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

    metadata: scheduling.PodIdentity = scheduling.PodIdentity()
    spec: ScheduledWorkloadSpec = ScheduledWorkloadSpec()
    kind: str = ""
    api_version: str = ""


_STORAGE, _DEVICES = "storage.k8s.io", "resource.k8s.io"


VIEWS: Mapping[str, Kind] = {
    kind.kind: kind
    for kind in (
        Kind(scheduling.POD, ("pods",), struct=scheduling.SchedulingPod),
        Kind(BOUND_PODS, ("pods",), struct=CountedPod),
        Kind(scheduling.NODES, ("nodes",), namespaced=False, struct=scheduling.SchedulingNode),
        Kind(scheduling.CLAIMS, ("persistentvolumeclaims",), struct=scheduling.StorageClaim),
        Kind(scheduling.VOLUMES, ("persistentvolumes",), namespaced=False, struct=scheduling.PersistentVolume),
        Kind(scheduling.CLASSES, ("storageclasses",), _STORAGE, namespaced=False, struct=scheduling.BindingClass),
        Kind(scheduling.CSI_NODES, ("csinodes",), _STORAGE, namespaced=False, struct=scheduling.CSINode),
        Kind(scheduling.CSI_DRIVERS, ("csidrivers",), _STORAGE, namespaced=False, struct=scheduling.CSIDriver),
        Kind(scheduling.CAPACITIES, ("csistoragecapacities",), _STORAGE, struct=scheduling.CSIStorageCapacity),
        Kind(
            scheduling.ATTACHMENTS,
            ("volumeattachments",),
            _STORAGE,
            namespaced=False,
            struct=scheduling.VolumeAttachment,
        ),
        Kind(scheduling.DEVICE_CLAIMS, ("resourceclaims",), _DEVICES, struct=scheduling.SchedulingDeviceClaim),
        Kind(
            scheduling.DEVICE_CLASSES,
            ("deviceclasses",),
            _DEVICES,
            namespaced=False,
            struct=scheduling.SchedulingDeviceClass,
        ),
        *(
            Kind(scheduling.view_of(kind), (f"{kind.lower()}s",), group, struct=ScheduledWorkload)
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
