"""Workloads whose pods are refused now, with the server's answer to the next pod and its remedies."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import Metadata, ObjectRef
from kubectl_kres.model.workload import Workload
from kubectl_kres.model.workload_kinds import POD_MAKERS, RETRIED
from kubectl_kres.record import HOLDER, Record
from kubectl_kres.reports.common.explanation import (
    EvaluationOptions,
    Explanation,
    Fact,
    FailedRead,
    QuotaCost,
    Subject,
    Verdict,
)
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.replicas import Replicas, is_settled, pods_of
from kubectl_kres.reports.common.system import AboutRefused, describe, kinds_of, reads_for
from kubectl_kres.reports.common.system_parts import Parts
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.pod.verdict import is_negative
from kubectl_kres.store.store import ReadRequest, Store

#: What says that a pod was refused; other events and conditions are about pods that exist.
_REFUSED = {"FailedCreate"}


class Denied(Record, frozen=True):
    """A workload that lacks pods because they are refused. ``verdict``: of the next pod; ``fixes`` get it admitted.

    ``replicas`` absent: a CronJob, or an object of a system, see ``pod_parts``. ``facts``: the cluster's facts about
    earlier tries; none: there was no try yet, or the events have expired.
    """

    subject: ObjectRef
    replicas: Replicas | None
    verdict: Verdict
    fixes: tuple[Remedy, ...]
    quotas: tuple[QuotaCost, ...] = ()
    facts: tuple[Fact, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True
    pod_parts: Parts = msgspec.field(default_factory=dict, name=f"{HOLDER}pods")


def denied_needs(namespace: str) -> tuple[ReadRequest, ...]:
    """Return the reads for all workloads of a namespace, without pods. Claims are those of StatefulSets."""
    policies = (ReadRequest("LimitRange", namespace), ReadRequest("ResourceQuota", namespace))
    workloads = tuple(ReadRequest(kind, namespace) for kind in POD_MAKERS)
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
    for kind in POD_MAKERS:
        for item in store.all(kind, namespace or None):
            if is_top_level(item):
                yield Subject(ObjectRef(kind, item.metadata.name, item.metadata.namespace), BY_KIND[kind])
    yield from (Subject(ref, BY_KIND[ref.kind]) for ref, _ in waiting_objects(store, namespace))


def is_top_level(workload: Workload) -> bool:
    """Return whether no other subject makes this workload."""
    return controller(workload)[0] not in RETRIED


def may_be_refused(store: Store, subject: Subject) -> bool:
    """Return whether pods of it may be refused, as far as it says itself: for any other nothing more is read."""
    ref = subject.ref
    item = store.get(ref.kind, ref.name, ref.namespace)
    return not (isinstance(item, Workload) and is_settled(ref.kind, item))


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


def refusal_or_none(store: Store, subject: Subject, options: EvaluationOptions) -> Denied | None:
    """As ``find_refusal``, of one of many; None, too, where it went meanwhile or holds what is no quantity: its own
    answer says so.
    """
    try:
        return find_refusal(store, subject, options)
    except KresError:
        return None


def _build_waiting_denied(store: Store, subject: Subject, options: EvaluationOptions) -> Denied:
    """Return the answer for an object that waits for a quota; any other refusal of its pod has ended it."""
    explanation = explain(store, subject, options)
    return _build_denied(explanation, None, explanation.facts[:1])


def _build_denied(explanation: Explanation, replicas: Replicas | None, facts: tuple[Fact, ...]) -> Denied:
    return Denied(
        explanation.subject,
        replicas,
        explanation.verdict,
        explanation.fixes,
        tuple(cost for cost in explanation.quotas if cost.exceeded),
        facts,
        tuple(failed_read for failed_read in explanation.unread if failed_read.required),
        explanation.complete,
        explanation.pod_parts,
    )
