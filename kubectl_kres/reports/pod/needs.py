"""The reads that an explanation depends on; computed again after each reading, since owners are known only then."""

# ruff: noqa: PLC0415 - few pods have volumes of their own, wait for a node, come from a file or get containers added
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct, structs

from kubectl_kres.admission import sentences
from kubectl_kres.admission.quota.usage import claim_names, counts_by_class, object_usage, pod_names
from kubectl_kres.errors import UsageError
from kubectl_kres.model import workload_kinds
from kubectl_kres.model.admission_objects import WEBHOOKS
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, decode_object, to_wire
from kubectl_kres.model.pod import DetailedTemplate, Pod, PodSpec
from kubectl_kres.model.quota_objects import PersistentVolumeClaim
from kubectl_kres.model.workload import Workload, selector_text, template_of
from kubectl_kres.reports.common.effective_policies import selects_priority
from kubectl_kres.reports.common.explanation import Subject, manifest_pod, manifest_workload, raw_template
from kubectl_kres.reports.common.nodes import node_need, waits_for_node
from kubectl_kres.reports.common.owners import controller, owned_by
from kubectl_kres.reports.common.replicas import is_settled, pods_of, sole_replica_set
from kubectl_kres.reports.common.system import (
    AboutClaims,
    AboutHeld,
    AboutKept,
    AboutObject,
    AboutPod,
    AboutPolicies,
    kinds_of,
    reads_for,
    systems,
)
from kubectl_kres.reports.pod.events import workload_facts
from kubectl_kres.store.store import ReadRequest, Store

_REVISION = "controller-revision-hash"

#: What an answer about one pod does not look at, although an explanation tells it.
_TOLD = {"Event", "Pod", "ReplicaSet", "Job", "HorizontalPodAutoscaler"}
#: What tells which containers the pods of a workload were given.
_SEEN = {"Pod", "ReplicaSet"}
#: GETs that one object may cost. Of what only adds to an answer, the kinds named last here are left out first.
MOST = 6
_WORTH = (
    "Event",
    "PersistentVolumeClaim",
    "Pod",
    "Job",
    "ReplicationController",
    "ControllerRevision",
    "PriorityClass",
    "ReplicaSet",
    "HorizontalPodAutoscaler",
)


def list_read_requests(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    """Return the reads that the answer and its fixes depend on, as far as they are known by now.

    Once all is read, the answer asks again what it lacks.
    """
    known: dict[int, tuple[Subject, tuple[ReadRequest, ...]]] = store.memo("reads of subjects", None, None, dict)
    last = known.get(id(subject))
    if last is not None and last[0] is subject:
        return last[1]
    reads = tuple(dict.fromkeys((*evaluation_needs(store, subject), *keeper_needs(store, subject))))
    known[id(subject)] = subject, reads
    return reads


def evaluation_needs(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    """Return the reads that the answer depends on, as far as they are known by now.

    Required are the object, the LimitRanges and the quotas; owners, events and classes only add to the answer, except
    where a quota or the pod names a class. There are at most MOST of them, beside one that is not required where the
    others are, those of systems and, for a pod that waits for a node, the scheduler's.
    """
    namespace = subject.ref.namespace
    for system in systems():
        answer = system.reads(store, AboutObject(subject)) if system.reads is not None else None
        if answer is not None:
            enforced = _enforced_reads(store, namespace) if namespace else ()
            return (*answer, *reads_for(store, AboutHeld(subject)), *enforced)
    reads = [ReadRequest("LimitRange", namespace), ReadRequest("ResourceQuota", namespace)]
    nodes: tuple[ReadRequest, ...] = ()
    if subject.raw is None:
        reads.insert(0, ReadRequest(subject.ref.kind, namespace, subject.ref.name))
        result = store.get(subject.ref.kind, subject.ref.name, namespace)
        if isinstance(result, Pod):
            reads += made_from(result)
            nodes = (*node_needs(store, result), *partner_needs(result))
            reads += start_needs(result)
            if waits_for_node(result):
                reads += account_needs(store, subject, result.spec, pod=result)
        elif isinstance(result, Workload):
            reads += _reads_of_workload(store, subject.ref.kind, result)
            reads += claim_needs(store, namespace, result)
            reads += account_needs(store, subject, _spec(result), workload=result)
            reads += autoscaler_needs(store, subject.ref.kind, namespace)
            reads += refusing_quota_needs(store, subject.ref.kind, result)
        spec = _spec(result)
    else:
        spec, workload = _spec_of_raw(subject), manifest_workload(subject)
        reads += _own_read_requests(store, subject, workload)
        if subject.file:
            from kubectl_kres.reports.pod.preflight import namespace_needs

            reads += namespace_needs(store, namespace)
        reads += claim_needs(store, namespace, workload)
        reads += account_needs(store, subject, spec, workload=workload)
    if spec is not None:
        live = subject.raw is None and subject.ref.kind == "Pod"
        reads += _classes(store, namespace, spec, new=not live)
    if _all_pods(namespace) in reads:
        reads = [read for read in reads if read.kind != "Pod" or read.required or not read.label_selector]
    required = {structs.replace(read, required=False) for read in reads if read.required}
    affordable = _affordable(tuple(dict.fromkeys(read for read in reads if read.required or read not in required)))
    new = subject.raw is not None or subject.ref.kind != "Pod"
    texts = spec if new else None
    more_reads = reads_for(store, AboutPod(namespace, texts, new)) if new else _reads_of_live(store, namespace)
    enforced = _enforced_reads(store, namespace)
    held = reads_for(store, AboutHeld(subject))
    missing = _needs_of_missing_pods(store, subject)
    return tuple(dict.fromkeys((*affordable, *nodes, *more_reads, *enforced, *held, *missing)))


def _reads_of_live(store: Store, namespace: str) -> tuple[ReadRequest, ...]:
    """Return what systems read for a pod that exists: the same for all pods of a namespace."""
    question = AboutPod(namespace, None, new=False)
    return store.memo(("reads of live pods", namespace), None, None, lambda: tuple(reads_for(store, question)))


def _enforced_reads(store: Store, namespace: str) -> tuple[ReadRequest, ...]:
    """Return what systems read of what is enforced in a namespace."""
    question = AboutPolicies(namespace)
    return store.memo(("reads of what is enforced", namespace), None, None, lambda: tuple(reads_for(store, question)))


def _needs_of_missing_pods(store: Store, subject: Subject) -> Iterator[ReadRequest]:
    """Yield what tells which containers webhooks add, where no pod of the subject itself does, and what refused the
    pods of a workload that a file is of.
    """
    ref = subject.ref
    if subject.raw is not None:
        stored = store.get(ref.kind, ref.name, ref.namespace) if ref.kind in workload_kinds.WORKLOADS else None
        if isinstance(stored, Workload) and _lacks_pods(store, ref.kind, stored):
            # Why pods are missing that the file does not change.
            yield ReadRequest("Event", ref.namespace, field_selector="type=Warning", required=False)
        pod = manifest_pod(subject)
        labels = pod.metadata.labels if pod is not None else None
    else:
        item = store.get(ref.kind, ref.name, ref.namespace)
        if not isinstance(item, Workload) or item.status.replicas or not _lacks_pods(store, ref.kind, item):
            return
        template = template_of(item)[1]
        if template is None:
            return
        labels = template.metadata.labels
    if next(store.all(WEBHOOKS[0]), None) is not None:
        from kubectl_kres.reports.pod.injecting_webhooks import injector_needs

        yield from injector_needs(store, ref.namespace, labels)


def keeper_needs(store: Store, subject: Subject) -> Iterator[ReadRequest]:
    """Yield what tells whether an edit stays of what may have to be edited, where pods are missing or wait."""
    ref, namespace = subject.ref, subject.ref.namespace
    item = store.get(ref.kind, ref.name, namespace) if subject.raw is None else None
    if not isinstance(item, (Pod, Workload)):
        return
    if not (waits_for_node(item) if isinstance(item, Pod) else _lacks_pods(store, ref.kind, item)):
        return
    if isinstance(item, Workload):
        yield from autoscaler_needs(store, ref.kind, namespace)
    kind, owner = controller(item)
    made = store.get(kind, owner, namespace) if kind else None
    policies = (each for name in ("ResourceQuota", "LimitRange") for each in store.all(name, namespace))
    objects = (item, *((made,) if made is not None else ()), *policies)
    yield from reads_for(store, AboutKept(tuple(each.metadata for each in objects)))


def _lacks_pods(store: Store, kind: str, item: Workload) -> bool:
    """Return whether a workload lacks pods of its newest template, or has some that are not ready."""
    try:
        pods = pods_of(store, kind, item)
    except UsageError:
        return False
    if pods is None:
        return False
    return bool(pods.missing_pods or pods.old_pods or pods.failing) or (
        kind in workload_kinds.SCALED and not is_settled(kind, item)
    )


def node_needs(store: Store, pod: Pod) -> Iterator[ReadRequest]:
    """Yield the scheduler's reads for a pod that waits for a node; an answer without them leaves the nodes open."""
    if waits_for_node(pod):
        from kubectl_kres.reports.pod.scheduling_needs import scheduling_needs

        yield from scheduling_needs(store, pod)


def partner_needs(pod: Pod) -> Iterator[ReadRequest]:
    """Yield the pods beside which a pod that waits for a node has to run: they may wait for one themselves."""
    if not waits_for_node(pod):
        return
    affinity = pod.spec.affinity.pod_affinity if pod.spec.affinity is not None else None
    terms = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    for term in terms or ():
        if term.label_selector is not None:
            selector = selector_text(to_wire(term.label_selector))
            yield ReadRequest("Pod", pod.metadata.namespace, label_selector=selector, required=False)


def makes_objects(spec: PodSpec) -> bool:
    """Return whether objects are made for such pods; fast for the many pods without such volumes."""
    if not (spec.volumes or spec.resource_claims):
        return False
    from kubectl_kres.admission.request.pod_objects import makes_objects

    return makes_objects(spec)


class PodOrigin(Struct, frozen=True):
    """The part of a live pod that its reads depend on, without its name: pods of a workload have the same."""

    namespace: str
    kind: str
    owner: str
    revision: str
    priority_class: str
    runtime_class: str
    waits: bool
    starts: bool = False


def pod_origin(pod: Pod) -> PodOrigin:
    """``kind`` and ``owner`` are those of the controller, ``revision`` is its label; each empty if there is none."""
    spec, metadata = pod.spec, pod.metadata
    revision = (metadata.labels or {}).get(_REVISION, "")
    classes = (spec.priority_class_name, spec.runtime_class_name or "")
    return PodOrigin(
        metadata.namespace, *controller(pod), revision, *classes, waits_for_node(pod), any(start_needs(pod))
    )


class WorkloadOrigin(Struct, frozen=True):
    """The part of a listed workload that its reads depend on, without its name and selector.

    ``has_account``: it names a service account; all of these are read where one is. ``reads``: the kinds that say
    whether its pods run.
    """

    namespace: str
    kind: str
    priority_class: str
    runtime_class: str
    has_account: bool
    reads: frozenset[str]


def origin_of_workload(store: Store, kind: str, workload: Workload) -> WorkloadOrigin | None:
    """Return the origin; None for a workload for which claims are made, whose own old pods are read, or which lacks
    pods, since it needs more.
    """
    spec = _spec(workload)
    if spec is None or workload.spec.volume_claim_templates or makes_objects(spec):
        return None
    if _replaces(store, kind, workload) or _lacks_pods(store, kind, workload):
        return None
    has_account = getattr(spec, "service_account_name", "") not in {"", "default"}
    classes = (spec.priority_class_name, spec.runtime_class_name or "", has_account)
    subject = Subject(ObjectRef(kind, workload.metadata.name, workload.metadata.namespace), BY_KIND[kind])
    more = account_needs(store, subject, spec, workload=workload)
    reads = frozenset(read.kind for read in (*_reads_of_workload(store, kind, workload), *more))
    return WorkloadOrigin(workload.metadata.namespace, kind, *classes, reads)


def needs_with_node(store: Store, subject: Subject, *, seen: bool = False) -> tuple[ReadRequest, ...]:
    """Return the reads of the start and the policies of the subject, and for a live pod the node that it is bound to.

    ``seen``: values that pods of a workload got are expected of its next one, too.
    """
    reads = list_read_requests(store, subject)
    if subject.ref.kind != "Pod":
        # Of the ways that a run can go its pod tells which one it went.
        runs = kinds_of("waits")
        texts = _TOLD - _SEEN if seen else _TOLD - {"Pod"} if subject.ref.kind in runs else _TOLD
        return tuple(read for read in reads if read.required or read.kind not in texts)
    pod = None if subject.raw is not None else store.get("Pod", subject.ref.name, subject.ref.namespace)
    if not isinstance(pod, Pod) or not pod.spec.node_name:
        return reads
    return (*reads, node_need(pod))


def _own_read_requests(store: Store, subject: Subject, workload: Workload | None) -> Iterator[ReadRequest]:
    """Yield the read of the object that a file would change: a pod is not created again, the pods of a workload are
    there already, a quota counts it if it is new, and the existing pods of a StatefulSet need no claims.
    """
    ref = subject.ref
    written = ref.kind == "Pod" or (ref.kind in workload_kinds.WORKLOADS and subject.kind == BY_KIND[ref.kind])
    if written and subject.file and store.origin.kind != "files":
        yield ReadRequest(ref.kind, ref.namespace, ref.name, required=False)
        return
    if ref.kind not in workload_kinds.WORKLOADS or subject.kind != BY_KIND[ref.kind]:
        return
    names = {**object_usage(subject.kind.qualified_name)}
    if ref.kind in workload_kinds.REVISIONS:
        names |= object_usage(workload_kinds.REVISIONS[ref.kind].resource)
    if ref.kind == "CronJob":
        names |= object_usage("jobs.batch")
    counted = any(names.keys() & (quota.spec.hard or {}).keys() for quota in store.all("ResourceQuota", ref.namespace))
    claims = claim_needs(store, ref.namespace, workload)
    if counted or any(read.kind == "PersistentVolumeClaim" for read in claims):
        yield ReadRequest(ref.kind, ref.namespace, ref.name, required=False)


def start_needs(pod: Pod) -> Iterator[ReadRequest]:
    """Yield the reads of the events, which say why a pod does not start on its node, or why a claim is not made that it
    waits for before it has one.
    """
    claims = pod.spec.volumes or pod.spec.resource_claims
    if pod.status.phase == "Pending" and (pod.spec.node_name or claims):
        yield ReadRequest("Event", pod.metadata.namespace, field_selector="type=Warning", required=False)


def claim_needs(store: Store, namespace: str, workload: Workload | None) -> Iterator[ReadRequest]:
    """Yield the reads of claims, where a workload makes some for its pods and a policy of the namespace bounds them."""
    if workload is None or not workload.spec.volume_claim_templates:
        return
    from kubectl_kres.reports.common.objects import judged_kinds

    quotas, ranges = (store.all(kind, namespace) for kind in ("ResourceQuota", "LimitRange"))
    bounded = any(claim_names(quota.spec.hard or ()) for quota in quotas) or any(
        item.type == "PersistentVolumeClaim" for entry in ranges for item in entry.spec.limits or ()
    )
    if bounded or "PersistentVolumeClaim" in judged_kinds(store):
        yield ReadRequest("PersistentVolumeClaim", namespace, required=False)
    yield from storage_needs(store, namespace, workload.spec.volume_claim_templates)


def _revisions_of(kind: str, workload: Workload) -> ReadRequest:
    return ReadRequest(
        workload_kinds.REVISIONS[kind].kind,
        workload.metadata.namespace,
        label_selector=selector_text(workload.spec.selector),
    )


def account_needs(
    store: Store, subject: Subject, spec: PodSpec | None, *, pod: Pod | None = None, workload: Workload | None = None
) -> Iterator[ReadRequest]:
    """Yield the reads that tell which of the objects made beside pods exist, where a policy looks at such objects.

    ``pod``: one that exists and waits for a node. All of them are required: without them the answer may be another one.
    """
    space, kind = subject.ref.namespace, subject.ref.kind
    hard = {name for quota in store.all("ResourceQuota", space) for name in quota.spec.hard or ()}
    stored = store.get(kind, subject.ref.name, space) if subject.raw is not None else workload
    if workload is not None and kind == "CronJob" and {*object_usage("jobs.batch"), "count/pods"} & hard and stored:
        yield ReadRequest("Job", space)
    if workload is not None and isinstance(stored, Workload) and kind in workload_kinds.REVISIONS:
        stale = stored.status.observed_generation < stored.metadata.generation
        counted = bool(object_usage(workload_kinds.REVISIONS[kind].resource).keys() & hard)
        if counted if subject.raw is not None else stale:
            yield _revisions_of(kind, stored)
    if workload is not None and _holds_finished_pods(store, space):
        # Finished Jobs hold the count of their pods.
        yield ReadRequest("Job", space, required=False)
    yield from _needs_of_pods(store, subject, spec, hard, stored, pod)


def _needs_of_pods(
    store: Store, subject: Subject, spec: PodSpec | None, hard: set[str], stored: object, pod: Pod | None
) -> Iterator[ReadRequest]:
    """Yield the reads of objects made for pods of the template, or of older ones, and of the pods themselves."""
    space, kind = subject.ref.namespace, subject.ref.kind
    going = isinstance(stored, Workload) and not is_settled(kind, stored)
    old = _old_specs(store, kind, stored) if going and isinstance(stored, Workload) else ()
    specs = [item for item in (spec, *old) if item is not None and makes_objects(item)]
    if specs:
        for made in specs:
            yield from _object_needs(store, space, made, hard, pod=pod)
        if isinstance(stored, Workload) and not is_settled(kind, stored):
            yield _pods_of(kind, stored)
            # By these it is known whose pods they are.
            if kind == "Deployment":
                yield _revisions_of(kind, stored)
            elif kind == "CronJob":
                yield ReadRequest("Job", space)
    elif isinstance(stored, Workload) and pod_names(hard) and _replaces(store, kind, stored):
        # What an old pod gives back tells where a rollout ends; a Deployment's ReplicaSets tell it, too.
        yield _pods_of(kind, stored)


def _pods_of(kind: str, workload: Workload) -> ReadRequest:
    selector = "job-name" if kind == "CronJob" else selector_text(workload.spec.selector)
    return ReadRequest("Pod", workload.metadata.namespace, label_selector=selector)


def _replaces(store: Store, kind: str, workload: Workload) -> bool:
    """Return whether a rollout is under way, or a Job lacks some of its pods, so that a new pod may give back an old
    one's costs; False of kinds that make no new pods of a template, or hold the templates of the old ones.
    """
    if kind not in workload_kinds.REVISION_OWNERS and kind != "Job":
        return False
    try:
        pods = pods_of(store, kind, workload)
    except UsageError:
        return False
    return pods is not None and pods.missing_pods > 0 and (pods.existing if kind == "Job" else pods.old_pods) > 0


def _holds_finished_pods(store: Store, space: str) -> bool:
    """Return whether a quota of the namespace has no room for one more of what finished pods still count for."""
    for quota in store.all("ResourceQuota", space):
        hard, used = (amounts.get("count/pods") for amounts in (quota.status.hard or {}, quota.status.used or {}))
        if hard is not None and str(hard) == str(used):
            return True
    return False


def _old_specs(store: Store, kind: str, workload: Workload) -> list[PodSpec]:
    """Return the specs of its ReplicaSets that have pods, or of its ControllerRevisions, as far as they were read."""
    space, owner = workload.metadata.namespace, (kind, workload.metadata.name)
    if kind == "Deployment":
        sets = [item for item in owned_by(store, "ReplicaSet", space, owner) if item.status.replicas]
        templates = [item.spec.template for item in sets]
    else:
        templates = [item.data.spec.template for item in owned_by(store, "ControllerRevision", space, owner)]
    return [template.spec for template in templates if template is not None]


def _object_needs(store: Store, space: str, spec: PodSpec, hard: set[str], *, pod: Pod | None) -> Iterator[ReadRequest]:
    from kubectl_kres.admission.request.pod_objects import ephemeral_volumes, template_names

    volumes = [*ephemeral_volumes(spec)]
    from kubectl_kres.reports.common.objects import bounded_kinds

    kinds = bounded_kinds(store, space)
    if volumes and "PersistentVolumeClaim" in kinds:
        if pod is None:
            yield ReadRequest("PersistentVolumeClaim", space)
        else:
            yield from (
                ReadRequest("PersistentVolumeClaim", space, f"{pod.metadata.name}-{spec_item.name}")
                for spec_item in volumes
            )
        unnamed = any(volume.spec is not None and volume.spec.get("storageClassName") is None for volume in volumes)
        if unnamed and counts_by_class(hard):
            yield ReadRequest("StorageClass")
    if spec.resource_claims and "ResourceClaim" in kinds:
        yield from (ReadRequest("ResourceClaimTemplate", space, name) for _, name in template_names(spec))
        yield ReadRequest("DeviceClass")


def autoscaler_needs(store: Store, kind: str, namespace: str) -> Iterator[ReadRequest]:
    """Yield the reads of autoscalers, where a quota can limit what one asks for."""
    if kind in workload_kinds.SCALED and any(
        pod_names(quota.spec.hard or ()) for quota in store.all("ResourceQuota", namespace)
    ):
        yield ReadRequest("HorizontalPodAutoscaler", namespace, required=False)


def refusing_quota_needs(store: Store, kind: str, workload: Workload) -> Iterator[ReadRequest]:
    """Yield the read of a quota that refused pods and that is no ResourceQuota of the namespace; for one of it the
    pods, some of which may end, or be counted no longer.
    """
    namespace = workload.metadata.namespace
    if is_settled(kind, workload) or not store.covered(ReadRequest("ResourceQuota", namespace)).is_known:
        return
    last = next((fact for fact in workload_facts(store, kind, workload) if fact.reason == "FailedCreate"), None)
    refusal = sentences.read_refusal(last.text) if last is not None else None
    if not isinstance(refusal, sentences.QuotaExceeded):
        return
    if store.get("ResourceQuota", refusal.quota, namespace) is None:
        yield ReadRequest("ClusterResourceQuota", name=refusal.quota, required=False)
    elif pod_names(refusal.requested):
        yield _all_pods(namespace)


def _all_pods(namespace: str) -> ReadRequest:
    return ReadRequest("Pod", namespace, required=False)


def storage_needs(store: Store, namespace: str, claims: Iterable[PersistentVolumeClaim]) -> Iterator[ReadRequest]:
    """Yield the reads of storage classes, one of which is the default, where a quota counts by class a claim that names
    none, and of what systems look at of volumes that claims name.
    """
    claims = tuple(claims)
    volumes = tuple(claim.spec.volume_name for claim in claims if claim.spec.volume_name)
    if volumes:
        yield from reads_for(store, AboutClaims(namespace, volumes))
    unnamed = any(claim.spec.storage_class_name is None for claim in claims)
    if unnamed and any(
        counts_by_class(resource_quota.spec.hard or ()) for resource_quota in store.all("ResourceQuota", namespace)
    ):
        yield ReadRequest("StorageClass")


def _affordable(reads: Sequence[ReadRequest]) -> tuple[ReadRequest, ...]:
    """Return as many reads as are allowed, in the order given; beside those that are required one at least, which says
    why something is missing. Revisions that are required push nothing out: they are read while a status is behind, of
    which the pods then say more.
    """
    extra = sorted((read for read in reads if not read.required), key=_read_priority)
    room = MOST - sum(read.required and read.kind != "ControllerRevision" for read in reads)
    return tuple(read for read in reads if read.required or read in extra[: max(1, room)])


def _read_priority(read: ReadRequest) -> int:
    """Return the priority of a read: its index in ``_WORTH``; a kind that is not in it is the object itself, and is
    read first.
    """
    return _WORTH.index(read.kind) if read.kind in _WORTH else -1


def _spec(value: Any) -> PodSpec | None:
    if isinstance(value, Pod):
        return value.spec
    template = template_of(value)[1] if isinstance(value, Workload) else None
    return template.spec if template is not None else None


def _spec_of_raw(subject: Subject) -> PodSpec | None:
    """Return the pod spec of the raw object's template, which says more than that of a pod."""
    pod = manifest_pod(subject)
    if pod is None or subject.raw is None:
        return None
    try:
        raw = subject.raw if subject.ref.kind == "Pod" else raw_template(subject.raw)[1]
        return decode_object(raw, DetailedTemplate).spec
    except (msgspec.ValidationError, UsageError):
        return pod.spec


def revision_name(pod: Pod, kind: str, owner: str) -> str:
    """Return the ControllerRevision that made a pod: StatefulSets label its name, DaemonSets only its hash."""
    label = (pod.metadata.labels or {}).get(_REVISION, "")
    if not label or kind == "StatefulSet":
        return label
    return f"{owner}-{label}"


def made_from(pod: Pod) -> Iterator[ReadRequest]:
    """Yield the reads of objects that hold the template that made the pod."""
    kind, owner = controller(pod)
    namespace = pod.metadata.namespace
    if kind in workload_kinds.TEMPLATE_OWNERS:
        yield ReadRequest(kind, namespace, owner, required=False)
    elif kind in workload_kinds.REVISION_OWNERS and (name := revision_name(pod, kind, owner)):
        yield ReadRequest("ControllerRevision", namespace, name, required=False)


def _reads_of_workload(store: Store, kind: str, workload: Workload) -> Iterator[ReadRequest]:
    namespace = workload.metadata.namespace
    if kind not in workload_kinds.POD_MAKERS:
        return
    selector, settled = selector_text(workload.spec.selector), is_settled(kind, workload)
    # A CronJob selects no pods itself; those of all jobs carry this label.
    pods = ReadRequest("Pod", namespace, label_selector="job-name" if kind == "CronJob" else selector, required=False)
    if kind == "Deployment" and not (settled and _tells_its_pods(store, workload, pods)):
        yield ReadRequest("ReplicaSet", namespace, label_selector=selector, required=False)
    if kind == "CronJob":
        yield ReadRequest("Job", namespace, required=False)
    yield pods
    spec = _spec(workload)
    claims = spec is not None and bool(spec.volumes or spec.resource_claims)
    if not settled or (claims and not workload.status.ready_replicas):
        # Events say why pods are missing, or why claims of theirs are.
        yield ReadRequest("Event", namespace, field_selector="type=Warning", required=False)


def _tells_its_pods(store: Store, deployment: Workload, pods: ReadRequest) -> bool:
    """Return whether a settled Deployment, and its pods once they were read, say by themselves which ReplicaSet is
    theirs.
    """
    status = deployment.status
    if status.updated_replicas < status.replicas:
        return False
    return not status.replicas or store.should_read(pods) or bool(sole_replica_set(store, deployment))


def _classes(store: Store, namespace: str, spec: PodSpec, *, new: bool) -> Iterator[ReadRequest]:
    """Yield the reads of the pod's classes. ``new``: the pod does not exist yet, so that a missing class refuses it."""
    scoped = any(selects_priority(quota) for quota in store.all("ResourceQuota", namespace))
    if spec.priority_class_name or scoped:
        yield ReadRequest("PriorityClass", required=scoped or new)
    if spec.runtime_class_name:
        yield ReadRequest("RuntimeClass", name=spec.runtime_class_name)
