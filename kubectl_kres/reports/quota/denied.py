"""Workloads whose pods are refused now, with the server's answer to the next pod and its remedies."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import Metadata, ObjectRef
from kubectl_kres.model.workload import Workload
from kubectl_kres.reports.common.explanation import (
    EvaluationOptions,
    Explanation,
    Fact,
    FailedRead,
    QuotaCost,
    Subject,
    Verdict,
)
from kubectl_kres.reports.common.parts import Record, Remedy, TektonPart
from kubectl_kres.reports.common.replicas import Replicas, controller, pods_of
from kubectl_kres.reports.common.system import AboutRefused, describe, kinds_of, reads_for
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.pod.verdict import is_negative
from kubectl_kres.store.store import ReadRequest, Store

#: Kinds that keep a number of pods, so that a pod of theirs can be missing.
KINDS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "ReplicationController")
#: All kinds that are asked; those of a CronJob are about the Jobs to come.
ASKED = (*KINDS, "CronJob")
#: What says that a pod was refused; other events and conditions are about pods that exist.
_REFUSED = {"FailedCreate"}


class Denied(Record, frozen=True):
    """A workload that lacks pods because they are refused. ``verdict``: of the next pod; ``remedies`` get it admitted.

    ``replicas`` absent: a CronJob, or a TaskRun, see ``tekton``. ``seen``: the cluster's facts about earlier tries;
    none: there was no try yet, or the events have expired.
    """

    subject: ObjectRef
    replicas: Replicas | None
    verdict: Verdict
    remedies: tuple[Remedy, ...]
    quotas: tuple[QuotaCost, ...] = ()
    seen: tuple[Fact, ...] = ()
    unseen: tuple[FailedRead, ...] = ()
    complete: bool = True
    tekton: TektonPart | None = None


def denied_needs(namespace: str) -> tuple[ReadRequest, ...]:
    """Return the reads for all workloads of a namespace, without pods. Claims are those of StatefulSets."""
    policies = (ReadRequest("LimitRange", namespace), ReadRequest("ResourceQuota", namespace))
    workloads = tuple(ReadRequest(kind, namespace) for kind in ASKED)
    events = ReadRequest("Event", namespace, field_selector="type=Warning", required=False)
    runs = tuple(ReadRequest(kind, namespace, required=False) for kind in kinds_of("waits"))
    claims = ReadRequest("PersistentVolumeClaim", namespace, required=False)
    return (
        *policies,
        *workloads,
        *runs,
        claims,
        events,
        ReadRequest("PriorityClass", required=False),
        ReadRequest("RuntimeClass", required=False),
    )


def needs_of_systems(store: Store, namespace: str) -> tuple[ReadRequest, ...]:
    """Return further reads of systems, which depend on the quotas of the namespace."""
    return tuple(reads_for(store, AboutRefused(namespace)))


def waiting_objects(store: Store, namespace: str) -> Iterator[tuple[ObjectRef, Metadata]]:
    """Yield objects of systems that can still get a pod."""
    for kind in kinds_of("waits"):
        for item in store.all(kind, namespace or None):
            description = describe(item)
            if description is None or not description.ended:
                yield ObjectRef(kind, item.metadata.name, item.metadata.namespace), item.metadata


def subjects_of(store: Store, namespace: str) -> Iterator[Subject]:
    """Return all subjects: workloads by kind, then the objects of systems. ``namespace`` empty: all."""
    for kind in ASKED:
        for item in store.all(kind, namespace or None):
            if is_top_level(item):
                yield Subject(ObjectRef(kind, item.metadata.name, item.metadata.namespace), BY_KIND[kind])
    yield from (Subject(ref, BY_KIND[ref.kind]) for ref, _ in waiting_objects(store, namespace))


def is_top_level(workload: Workload) -> bool:
    """Return whether no other subject makes this workload."""
    return controller(workload)[0] not in KINDS


def find_refusal(store: Store, subject: Subject, options: EvaluationOptions) -> Denied | None:
    """Return the refused workload; None if no pod of the workload is being refused."""
    workload = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace)
    if subject.ref.kind in kinds_of("waits"):
        description = describe(workload)
        return _build_waiting_denied(store, subject, options) if description is not None and description.waits else None
    if not isinstance(workload, Workload):
        return None
    replicas = pods_of(store, subject.ref.kind, workload)
    if replicas is None and subject.ref.kind != "CronJob":
        return None
    if replicas is not None and not (replicas.failing or replicas.missing_pods):
        return None
    explanation = explain(store, subject, options)
    if replicas is None:
        return _build_denied(explanation, None, ()) if is_negative(explanation.verdict) else None
    facts = tuple(fact for fact in explanation.facts if fact.reason in _REFUSED)
    verdict = explanation.verdict
    if not (replicas.failing or facts) and verdict.allowed is True and not is_negative(verdict):
        return None
    return _build_denied(explanation, replicas, facts)


def _build_waiting_denied(store: Store, subject: Subject, options: EvaluationOptions) -> Denied:
    """Return the answer for an object that waits for a quota; any other refusal of its pod has ended it."""
    explanation = explain(store, subject, options)
    return _build_denied(explanation, None, explanation.facts[:1])


def _build_denied(explanation: Explanation, replicas: Replicas | None, facts: tuple[Fact, ...]) -> Denied:
    return Denied(
        explanation.subject,
        replicas,
        explanation.verdict,
        explanation.remedies,
        tuple(cost for cost in explanation.quotas if cost.exceeded),
        facts,
        tuple(failed_read for failed_read in explanation.unseen if failed_read.required),
        explanation.complete,
        explanation.tekton,
    )
