"""The reads of what the scheduler looks at for a pod that waits for a node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubectl_kres.model import scheduling
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.scheduling import SchedulingPod
from kubectl_kres.store.store import ReadRequest, Store

_NODES = ReadRequest(scheduling.NODES, required=False)
#: Of all namespaces. Those that ended come, too: to leave them out costs a server more than to send them.
BOUND_PODS = ReadRequest(scheduling.BOUND_PODS, required=False)
_LABELS = ReadRequest("Namespace", required=False)


def scheduling_needs(store: Store, pod: Pod) -> Iterator[ReadRequest]:
    """Yield the reads of the nodes, the pods on them, and the objects that the pod refers to, which are known once it
    is read.
    """
    namespace, name = pod.metadata.namespace, pod.metadata.name
    yield ReadRequest(scheduling.POD, namespace, name, required=False)
    yield _NODES
    yield BOUND_PODS
    whole = store.get(scheduling.POD, name, namespace)
    if isinstance(whole, SchedulingPod):
        yield from spec_needs(store, whole)


def spec_needs(store: Store, pod: SchedulingPod) -> Iterator[ReadRequest]:
    """Yield the reads of what the filters look at besides nodes and pods."""
    spec, namespace = pod.spec, pod.metadata.namespace
    if any(volume.persistent_volume_claim or volume.ephemeral is not None for volume in spec.volumes or ()):
        yield ReadRequest(scheduling.CLAIMS, namespace, required=False)
        for kind in (scheduling.VOLUMES, scheduling.CLASSES, scheduling.CSI_NODES, scheduling.CSI_DRIVERS):
            yield ReadRequest(kind, required=False)
        yield from _of_storage(store)
    if spec.resource_claims:
        yield ReadRequest(scheduling.DEVICE_CLAIMS, namespace, required=False)
    if spec.resource_claims or _asks_devices(pod):
        yield ReadRequest(scheduling.DEVICE_CLASSES, required=False)
    affinity = spec.affinity
    terms = (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity is not None else ()
    listed = (
        term
        for terms_of_kind in terms
        if terms_of_kind
        for term in terms_of_kind.required_during_scheduling_ignored_during_execution or ()
    )
    if any(term.namespace_selector is not None for term in listed):
        yield _LABELS
    elif any(map(_selects_namespaces, store.all(scheduling.BOUND_PODS))):
        yield ReadRequest("Namespace", name=namespace, required=False)


def _selects_namespaces(pods: Any) -> bool:
    """Return whether collected pods, or one of the watched ones, repel pods of namespaces by labels."""
    terms = getattr(pods, "anti_affinity", ())
    return getattr(pods, "selects_namespaces", False) or any(term.namespace_selector is not None for term in terms)


def _of_storage(store: Store) -> Iterator[ReadRequest]:
    """Yield the reads of storage: volumes on nodes where a driver limits them; the room for new ones where a driver
    reports it.
    """
    limited = any(
        driver.allocatable is not None and driver.allocatable.count is not None
        for node in store.all(scheduling.CSI_NODES)
        for driver in node.spec.drivers or ()
    )
    if limited:
        yield ReadRequest(scheduling.CLAIMS, required=False)
        yield ReadRequest(scheduling.ATTACHMENTS, required=False)
    if any(driver.spec.storage_capacity for driver in store.all(scheduling.CSI_DRIVERS)):
        yield ReadRequest(scheduling.CAPACITIES, required=False)


def _asks_devices(pod: SchedulingPod) -> bool:
    """Return whether a container requests a resource that devices may stand for."""
    containers = (*(pod.spec.containers or ()), *(pod.spec.init_containers or ()))
    return any(
        "/" in name for container in containers if container.resources for name in container.resources.requests or ()
    )
