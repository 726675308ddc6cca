"""Other workloads of the namespace that lack pods: they use part of the room that a remedy makes.

They are known from workloads that were read, and from events, which a live answer about one workload reads anyway.
"""

# ruff: noqa: PLC0415 - only a pod that waits for a node reads what the scheduler does, and few have rivals
from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import admit
from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload import Event, Workload, selector_text, template_of
from kubectl_kres.model.workload_kinds import MADE_BY, RETRIED
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.effective_policies import NamespacePolicies
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.owners import controller, owned_by
from kubectl_kres.reports.common.replicas import is_settled, pods_of
from kubectl_kres.reports.common.system import apply_admitters
from kubectl_kres.reports.pod import events
from kubectl_kres.reports.pod.last_refusal import refused_by_others
from kubectl_kres.reports.pod.manifest_source import find_manifest
from kubectl_kres.reports.pod.needs import list_read_requests, node_needs
from kubectl_kres.store.store import ReadRequest, Store

if TYPE_CHECKING:
    from kubectl_kres.reports.remedies.pods import Rival

_REFUSED = "exceeded quota"
#: So many are read one by one for an answer about one workload, and so many are counted with.
_MOST_READ, _MOST_COUNTED = 3, 20


class Rivals(Struct, frozen=True):
    """The rivals of a workload. ``unknown``: those that quotas refused and of which no more is known, or that exceed
    the number that is counted.
    """

    counted: tuple[Rival, ...] = ()
    unknown: tuple[ObjectRef, ...] = ()


class _NamespaceRivals(Struct, frozen=True):
    """The workloads of a namespace that lack pods, and the evaluated ones as rivals, under some policies."""

    policies: NamespacePolicies
    lacking: list[tuple[ObjectRef, Workload]]
    rivals: dict[ObjectRef, Rival | None]


def needs_with_rivals(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    """Return the reads of an explanation, the nodes where a pod of a workload waits for one, and the workloads that
    events name as refused by a quota where pods are missing.

    The latter are a few more GETs than other answers need. Of a file the nodes are read for its next pod.
    """
    if subject.raw is not None:
        return needs_with_nodes(store, subject)
    reads = list_read_requests(store, subject)
    stored_workload = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace)
    if not isinstance(stored_workload, Workload) or is_settled(subject.ref.kind, stored_workload):
        return reads
    waiting = events.waiting_pod(store, subject.ref.kind, stored_workload)
    reads = (*reads, *(node_needs(store, waiting) if waiting is not None else ()))
    if _is_made(stored_workload) or not _has_missing_pods(store, subject.ref.kind, stored_workload):
        return reads
    more_reads = [
        read for ref in _refused_workloads(store, subject)[:_MOST_READ] for read in _reads_of_rival(store, ref)
    ]
    return tuple(dict.fromkeys((*reads, *more_reads)))


def needs_with_nodes(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    """Return the reads of an answer, and of what the scheduler looks at for the next pod of the object."""
    from kubectl_kres.reports.pod.scheduling_needs import new_pod_needs

    return tuple(dict.fromkeys((*list_read_requests(store, subject), *new_pod_needs(store, subject))))


def _reads_of_rival(store: Store, ref: ObjectRef) -> Iterator[ReadRequest]:
    """Yield the reads of the workload, the Deployment that makes it with its other ReplicaSets, and the classes of its
    pods.

    The Deployment of a ReplicaSet is looked for by name first: its ReplicaSets are read with one more request.
    """
    made, _, _ = ref.name.rpartition("-") if ref.kind == "ReplicaSet" else ("", "", "")
    if made and (yield from _with_sets(store, ref.namespace, made)):
        return
    stored_object = store.get(ref.kind, ref.name, ref.namespace)
    if not isinstance(stored_object, Workload):
        yield ReadRequest(ref.kind, ref.namespace, ref.name, required=False)
        return
    kind, name = controller(stored_object)
    if kind == "Deployment" and name != made:
        yield from _with_sets(store, ref.namespace, name)
    template = template_of(stored_object)[1]
    if template is not None and template.spec.runtime_class_name:
        yield ReadRequest("RuntimeClass", name=template.spec.runtime_class_name, required=False)


def _with_sets(store: Store, namespace: str, name: str) -> Generator[ReadRequest, None, bool]:
    """Yield the reads of a Deployment and its ReplicaSets; return whether they have yet to be read."""
    maker = ReadRequest("Deployment", namespace, name, required=False)
    yield maker
    deployment = store.get("Deployment", name, namespace)
    if not isinstance(deployment, Workload):
        return store.should_read(maker)
    selector = selector_text(deployment.spec.selector)
    sets = ReadRequest("ReplicaSet", namespace, label_selector=selector, required=False)
    yield sets
    return store.should_read(sets)


def find_rivals(store: Store, subject: Subject, policies: NamespacePolicies, server: Server) -> Rivals:
    """Return all workloads beside the subject that are known to lack pods. Raises Unparsable.

    A ReplicaSet that a Deployment makes has none: the Deployment is the subject to explain.
    """
    stored_workload = (
        store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace) if subject.raw is None else None
    )
    if isinstance(stored_workload, Workload) and _is_made(stored_workload):
        return Rivals()
    family = _family(store, subject)
    rivals: list[Rival] = []
    unknown: list[ObjectRef] = []
    namespace_rivals = _rivals_of(store, subject.ref.namespace, policies, server)
    for ref, workload in namespace_rivals.lacking:
        if ref in family:
            continue
        if len(rivals) >= _MOST_COUNTED or not _has_known_costs(store, workload):
            unknown.append(ref)
            continue
        if ref not in namespace_rivals.rivals:
            namespace_rivals.rivals[ref] = _rival(store, Subject(ref, BY_KIND[ref.kind]), policies, server)
        rival = namespace_rivals.rivals[ref]
        if rival is not None:
            rivals.append(rival)
    for ref in _refused_workloads(store, subject):
        stored_object = store.get(ref.kind, ref.name, ref.namespace)
        if stored_object is None and not store.covered(ReadRequest(ref.kind, ref.namespace, ref.name)).is_known:
            unknown.append(ref)
    return Rivals(tuple(rivals), tuple(unknown))


def _rivals_of(store: Store, space: str, policies: NamespacePolicies, server: Server) -> _NamespaceRivals:
    """Return the rivals of a namespace: many of one are asked about one after the other."""

    def find() -> _NamespaceRivals:
        lacking = [
            (ObjectRef(kind, item.metadata.name, space), item)
            for kind in RETRIED
            for item in store.all(kind, space)
            if not _made_by_one(store, item) and _has_missing_pods(store, kind, item)
        ]
        return _NamespaceRivals(policies, lacking, {})

    # The rivals hold their policies, so that no others are found under the same identity.
    return store.memo("rivals", None, (space, server, id(policies)), find)


def _rival(store: Store, subject: Subject, policies: NamespacePolicies, server: Server) -> Rival | None:
    """Return the rival; None where more room does not help it: something else refuses its pods, or it makes none at
    present.
    """
    from kubectl_kres.reports.remedies.pods import TRIED, Rival, find_owned_pods, findings_of

    manifest = find_manifest(store, subject)
    if manifest.owner is None or refused_by_others(events.workload_facts(store, subject.ref.kind, manifest.owner)):
        return None
    outcomes = admit(manifest.pod, policies.policies, server, journal=False)
    analysis = Analysis(manifest, policies, outcomes, server=server)
    analysis = apply_admitters(store, subject, EvaluationOptions(server), analysis)
    if any(finding.rule not in TRIED for outcome in analysis.outcomes for finding in findings_of(outcome)):
        return None
    owned_pods = find_owned_pods(store, subject, analysis, server)
    # Nobody changes its template, so that its pods stay.
    return None if owned_pods is None else Rival(subject.ref, manifest.pod, structs.replace(owned_pods, fresh=False))


def _has_missing_pods(store: Store, kind: str, workload: Workload) -> bool:
    try:
        replicas = pods_of(store, kind, workload)
    except UsageError:
        return False
    return replicas is not None and (replicas.missing_pods > 0 or replicas.failing)


def _has_known_costs(store: Store, workload: Workload) -> bool:
    """Return whether all costs of its pods are known."""
    template = template_of(workload)[1]
    name = template.spec.runtime_class_name if template is not None else None
    return not name or store.get("RuntimeClass", name) is not None


def _is_made(workload: Workload) -> bool:
    """Return whether it has an owner that is a workload, read or not."""
    return controller(workload)[0] in RETRIED


def _made_by_one(store: Store, workload: Workload) -> bool:
    """Return whether another workload makes it and is counted itself."""
    kind, name = controller(workload)
    return kind in RETRIED and store.get(kind, name, workload.metadata.namespace) is not None


def _family(store: Store, subject: Subject) -> set[ObjectRef]:
    """Return the subject, the objects that it makes, and its maker."""
    ref = subject.ref
    object_refs = {ref}
    stored_workload = store.get(ref.kind, ref.name, ref.namespace) if subject.raw is None else None
    if isinstance(stored_workload, Workload):
        kind, name = controller(stored_workload)
        object_refs.add(ObjectRef(kind, name, ref.namespace))
    for kind in MADE_BY:
        owned = owned_by(store, kind, ref.namespace, (ref.kind, ref.name))
        object_refs.update(ObjectRef(kind, item.metadata.name, ref.namespace) for item in owned)
    return object_refs


def _refused_workloads(store: Store, subject: Subject) -> Sequence[ObjectRef]:
    """Return workloads beside the subject whose pods a quota refused, the latest refusal first."""
    family, space = _family(store, subject), subject.ref.namespace
    result: dict[ObjectRef, str] = {}
    for event in store.all("Event", space):
        about = event.involved_object
        if event.reason != "FailedCreate" or about.kind not in RETRIED or _REFUSED not in event.message:
            continue
        ref = ObjectRef(about.kind, about.name, space)
        if ref not in family and not _looks_like_own_set(store, subject, ref):
            result[ref] = max(result.get(ref, ""), _time(event))
    return sorted(result, key=lambda ref: result[ref], reverse=True)


def _looks_like_own_set(store: Store, subject: Subject, ref: ObjectRef) -> bool:
    """Return whether the name looks like a ReplicaSet of the subject, a Deployment whose ReplicaSets were not read."""
    head = f"{subject.ref.name}-"
    if subject.ref.kind != "Deployment" or ref.kind != "ReplicaSet" or not ref.name.startswith(head):
        return False
    return "-" not in ref.name.removeprefix(head) and not any(store.all("ReplicaSet", ref.namespace))


def _time(event: Event) -> str:
    series = event.series.last_observed_time if event.series else None
    return series or event.last_timestamp or event.event_time or ""
