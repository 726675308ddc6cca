"""Kinds as they are read for the scheduler, and pods as nodes count them.

Of each pod on a node as little is decoded as that takes, since all pods of a cluster are read for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Raw

from kubectl_kres.model import scheduling
from kubectl_kres.model.objects import BOUND_PODS, AmountsPath, Base, Kind, OwnerReference, ResourceList
from kubectl_kres.model.workload_kinds import PLACED, WORKLOADS
from kubectl_kres.quantity import first_unreadable


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

    def stored_amounts(self) -> Iterator[tuple[AmountsPath, ResourceList | None]]:
        """Yield the lists that cannot be read: each text of those that many pods have is looked at once."""
        spec, status = self.spec, self.status
        for field, containers in (("spec.containers", spec.containers), ("spec.initContainers", spec.init_containers)):
            for index, container in enumerate(containers or ()):
                if container.resources and (amounts := _find_unreadable(bytes(container.resources))):
                    yield (field, index, "resources.requests"), amounts
        for field, statuses in (
            ("status.containerStatuses", status.container_statuses),
            ("status.initContainerStatuses", status.init_container_statuses),
        ):
            for index, reported in enumerate(statuses or ()):
                if reported.resources and (amounts := _find_unreadable(bytes(reported.resources))):
                    yield (field, index, "resources.requests"), amounts
                if reported.allocated_resources and (
                    amounts := _find_unreadable(as_requests(reported.allocated_resources))
                ):
                    yield (field, index, "allocatedResources"), amounts
        for path, text in (
            ("spec.resources.requests", bytes(spec.resources)),
            ("status.resources.requests", bytes(status.resources)),
            ("status.allocatedResources", as_requests(status.allocated_resources)),
        ):
            if text and (amounts := _find_unreadable(text)):
                yield (path,), amounts
        yield ("spec.overhead",), spec.overhead


class _Requests(Base, frozen=True):
    requests: ResourceList | None = None


_REQUESTS = msgspec.json.Decoder(_Requests | None, float_hook=str)


def as_requests(amounts: Raw) -> bytes:
    """Return the text of a resource list as that of what has it under ``requests``; empty where there is none."""
    return b'{"requests":%b}' % bytes(amounts) if amounts else b""


@lru_cache(20_000)
def _find_unreadable(text: bytes) -> ResourceList | None:
    """Return what stands under ``requests`` if one of it is no quantity."""
    amounts = decode_requests(text)
    return amounts if first_unreadable(amounts) is not None else None


def decode_requests(text: bytes) -> ResourceList:
    """Return what stands under ``requests``; what is no list of amounts is one that is none."""
    try:
        resources = _REQUESTS.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {"": text.decode(errors="replace")}
    return (resources and resources.requests) or {}


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
    """Where the template is. ``volume_claim_templates``: of a StatefulSet, whose pods get a claim of each.

    replicas: how many pods are wanted, where the kind says that there.
    """

    replicas: int | None = None
    template: ScheduledTemplate | None = None
    job_template: ScheduledJob | None = None
    volume_claim_templates: tuple[Any, ...] | None = None


class WorkloadIdentity(scheduling.PodIdentity, frozen=True):
    """The metadata of a workload: also what made it."""

    owner_references: tuple[OwnerReference, ...] | None = None


class ScheduledWorkload(Base, frozen=True):
    """A workload, for its template alone."""

    metadata: WorkloadIdentity = WorkloadIdentity()
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
            Kind(scheduling.view_of(kind), WORKLOADS[kind].names, WORKLOADS[kind].group, struct=ScheduledWorkload)
            for kind in PLACED
        ),
    )
}
