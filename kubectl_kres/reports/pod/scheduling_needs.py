"""The reads of what the scheduler looks at for a pod that waits for a node, or for the next one of a template.

The template as the pod that the scheduler would get.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from kubectl_kres.model import objects, scheduling
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.scheduling import SchedulingPod, SchedulingSpec
from kubectl_kres.model.scheduling_views import ScheduledTemplate, ScheduledWorkload
from kubectl_kres.model.workload import Workload, template_in
from kubectl_kres.model.workload_kinds import PLACED
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.nodes import waits_for_node
from kubectl_kres.reports.common.owners import controller, events_read
from kubectl_kres.reports.common.replicas import is_older_revision, is_settled
from kubectl_kres.reports.pod.events import waiting_pod
from kubectl_kres.store.store import ReadRequest, Store

NODES = ReadRequest(scheduling.NODES, required=False)
#: Of all namespaces. Those that ended come, too: to leave them out costs a server more than to send them.
BOUND_PODS = ReadRequest(objects.BOUND_PODS, required=False)
_LABELS = ReadRequest("Namespace", required=False)
#: What the scheduler places, or the pods of it. Those of a DaemonSet have a node each that is theirs from the start.
PLACED_KINDS = frozenset({"Pod", *PLACED})
#: Labels that controllers give to each pod of a template.
_OF_CONTROLLERS = frozenset({"pod-template-hash", "controller-revision-hash", "controller-uid", "job-name"})


#: Pods of a list, of different owners, for which the nodes are looked at.
MOST_LISTED = 10


class NewPod(NamedTuple):
    """A pod of a template as the scheduler would get it; ``gaps``: what of it is known only once it exists."""

    pod: SchedulingPod
    gaps: tuple[str, ...] = ()


def scheduling_needs(store: Store, pod: Pod) -> Iterator[ReadRequest]:
    """Yield the reads of the nodes, the pods on them, and the objects that the pod refers to, which are known once it
    is read.

    Of a live cluster also the events of the pod: autoscalers say there whether they add a node.
    """
    namespace, name = pod.metadata.namespace, pod.metadata.name
    yield ReadRequest(scheduling.POD, namespace, name, required=False)
    yield NODES
    yield BOUND_PODS
    kind, owner = controller(pod)
    made_by = store.get(kind, owner, namespace) if kind == "StatefulSet" else None
    if made_by is not None and is_older_revision(made_by, pod):
        # What replaces it is of the template that there is now.
        yield ReadRequest(scheduling.view_of(kind), namespace, owner, required=False)
    if store.origin.kind == "cluster" and store.covered(NODES).state != "unread":
        yield events_read(namespace, ("Pod", name))
    whole = store.get(scheduling.POD, name, namespace)
    if isinstance(whole, SchedulingPod):
        yield from spec_needs(store, whole)


def waiting_pods(store: Store, subjects: Iterable[Subject]) -> Iterator[Pod]:
    """Yield the pods among listed objects that wait for a node, and of each workload the first."""
    for subject in subjects:
        ref = subject.ref
        item = store.get(ref.kind, ref.name, ref.namespace) if subject.raw is None else None
        if isinstance(item, Workload):
            pod = None if is_settled(ref.kind, item) else waiting_pod(store, ref.kind, item)
        else:
            pod = item if isinstance(item, Pod) and waits_for_node(item) else None
        if pod is not None:
            yield pod


def _first_pods_of_owners(pods: Iterable[Pod]) -> Iterator[Pod]:
    """Yield the first pod of each owner."""
    owners: set[tuple[str, str, str]] = set()
    for pod in pods:
        kind, name = controller(pod)
        owner = (pod.metadata.namespace, kind, name or pod.metadata.name)
        if owner not in owners:
            owners.add(owner)
            yield pod


def list_node_needs(store: Store, waiting: Iterable[Pod]) -> tuple[ReadRequest, ...]:
    """Return the reads of the nodes for a list: once for all pods that wait, and for MOST_LISTED of them, each of
    another owner, what decides of it.

    Nothing where nothing waits for a node.
    """
    reads: dict[ReadRequest, None] = {}
    looked = sum(1 for pod in store.all(scheduling.POD) if not pod.spec.node_name)
    for pod in _first_pods_of_owners(waiting):
        is_known = store.get(scheduling.POD, pod.metadata.name, pod.metadata.namespace) is not None
        if not is_known and looked >= MOST_LISTED:
            continue
        looked += not is_known
        reads |= dict.fromkeys(read for read in scheduling_needs(store, pod) if read.kind != "Event")
    return tuple(reads)


def spec_needs(store: Store, pod: SchedulingPod) -> Iterator[ReadRequest]:
    """Yield the reads of what the filters look at besides nodes and pods."""
    spec, namespace = pod.spec, pod.metadata.namespace
    if any(volume.persistent_volume_claim or volume.ephemeral is not None for volume in spec.volumes or ()):
        yield ReadRequest(scheduling.CLAIMS, namespace, required=False)
        for kind in (scheduling.VOLUMES, scheduling.CLASSES, scheduling.CSI_NODES, scheduling.CSI_DRIVERS):
            yield ReadRequest(kind, required=False)
        yield from _storage_reads(store)
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
    elif any(map(_selects_namespaces, store.all(objects.BOUND_PODS))):
        yield ReadRequest("Namespace", name=namespace, required=False)


def _selects_namespaces(pods: Any) -> bool:
    """Return whether collected pods, or one of the watched ones, repel pods of namespaces by labels."""
    terms = getattr(pods, "anti_affinity", ())
    return getattr(pods, "selects_namespaces", False) or any(term.namespace_selector is not None for term in terms)


def _storage_reads(store: Store) -> Iterator[ReadRequest]:
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


def new_pod_needs(store: Store, subject: Subject) -> Iterator[ReadRequest]:
    """Yield what the scheduler looks at for the next pod of an object; none of it is required for an answer."""
    ref = subject.ref
    if ref.kind not in PLACED_KINDS:
        return
    if subject.raw is None:
        yield ReadRequest(scheduling.view_of(ref.kind), ref.namespace, ref.name, required=False)
    yield NODES
    yield BOUND_PODS
    new = template_of(store, subject)
    if new is not None:
        yield from spec_needs(store, new.pod)


def template_of(store: Store, subject: Subject) -> NewPod | None:
    """The template without what is made for each pod; None: it was not read, or is none."""
    ref = subject.ref
    if subject.raw is not None:
        written = template_in(subject.raw)
        claims = _read_path(subject.raw, "spec", "volumeClaimTemplates")
        template = _read_template(written[1]) if written is not None else None
    else:
        item = store.get(scheduling.view_of(ref.kind), ref.name, ref.namespace)
        template, claims = _stored_template(item)
    if template is None:
        return None
    metadata = replace(template.metadata, name=ref.name, namespace=ref.namespace, deletion_timestamp=None)
    spec, gaps = _without_made(replace(template.spec, node_name=template.spec.node_name if subject.raw else ""))
    if claims and ref.kind == "StatefulSet":
        gaps = ("the volumes of its volumeClaimTemplates", *gaps)
    return NewPod(SchedulingPod(metadata, spec), gaps)


def _read_path(raw: Any, *path: str) -> Any:
    for key in path:
        raw = raw.get(key) if isinstance(raw, Mapping) else None
    return raw


def _read_template(raw: Mapping[str, Any]) -> ScheduledTemplate | None:
    try:
        return msgspec.convert({key: raw.get(key) or {} for key in ("metadata", "spec")}, ScheduledTemplate)
    except msgspec.ValidationError:
        return None  # admission says what is wrong with it


def _stored_template(item: Any) -> tuple[ScheduledTemplate | None, Any]:
    match item:
        case SchedulingPod():
            return ScheduledTemplate(item.metadata, item.spec), None
        case ScheduledWorkload():
            job = item.spec.job_template
            return (job.spec.template if job is not None else item.spec.template), item.spec.volume_claim_templates
    return None, None


def _without_made(spec: SchedulingSpec) -> tuple[SchedulingSpec, tuple[str, ...]]:
    """The spec without claims that are made for each pod, and what is not known before it exists."""
    volumes = tuple(volume for volume in spec.volumes or () if volume.ephemeral is None)
    claims = tuple(claim for claim in spec.resource_claims or () if claim.resource_claim_name)
    gaps = []
    if len(volumes) < len(spec.volumes or ()):
        gaps.append("its ephemeral volumes")
    if len(claims) < len(spec.resource_claims or ()):
        gaps.append("the devices of its ResourceClaimTemplates")
    if spec.scheduling_gates:
        gaps.append(f"scheduling gates ({', '.join(gate.name for gate in spec.scheduling_gates)})")
    ports = (port for container in spec.containers or () for port in container.ports or ())
    if spec.host_network and not all(port.host_port for port in ports):
        gaps.append("ports of the node that hostNetwork takes")
    if _matches_own(spec):
        gaps.append("matchLabelKeys of labels that a controller gives")
    return replace(spec, volumes=volumes or None, resource_claims=claims or None), tuple(gaps)


def _matches_own(spec: SchedulingSpec) -> bool:
    """Return whether it selects by a label that only its controller writes."""
    affinity = spec.affinity
    affinities = (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity is not None else ()
    terms = (
        term for kind in affinities if kind for term in kind.required_during_scheduling_ignored_during_execution or ()
    )
    keys = [key for term in terms for key in (*(term.match_label_keys or ()), *(term.mismatch_label_keys or ()))]
    keys += [key for constraint in spec.topology_spread_constraints or () for key in constraint.match_label_keys or ()]
    return not _OF_CONTROLLERS.isdisjoint(key.rpartition("/")[2] for key in keys)
