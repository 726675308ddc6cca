"""Remedies that make room without raising a quota: needless objects are deleted, or fewer of them are kept.

A lower ``revisionHistoryLimit`` does not help: old ReplicaSets are cleaned up once the new one exists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import structs

from kubectl_kres.admission.base.outcome import Server
from kubectl_kres.admission.quota.quota_admission import Key, amounts
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.admission.request.pod_objects import Creation
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.reports.account.account import FAILED, SUCCESSFUL
from kubectl_kres.reports.common.explanation import Subject, manifest_workload
from kubectl_kres.reports.common.objects import REVISIONS, unused_revisions
from kubectl_kres.reports.common.parts import DeleteObject, Edit, Scale
from kubectl_kres.reports.common.replicas import owned_by
from kubectl_kres.reports.remedies.candidates import fewest_enough
from kubectl_kres.reports.remedies.plans import plan_of
from kubectl_kres.reports.remedies.pods import OwnedPods, PodFaults
from kubectl_kres.reports.remedies.room import worst_outcome
from kubectl_kres.store.store import Store

#: What one finished Job, with its pods, gives back, by the names of quotas.
_PODS, _JOBS = "count/pods", "count/jobs.batch"
#: So many are deleted by one remedy.
_MOST = 20


class Comes(Protocol):
    """A function that says whether all wanted pods come once so many objects fewer are counted, by the names of
    quotas.
    """

    def __call__(self, freed: Mapping[str, int], place: OwnedPods = ...) -> bool: ...


def freeing_edits(
    store: Store,
    subject: Subject,
    place: OwnedPods,
    pod: Pod,
    evaluated: PodFaults,
    policies: Policies,
    server: Server,
    short: Sequence[Key],
) -> Iterator[tuple[Edit, ...]]:
    """Yield sets of edits, each of which lets all wanted pods come. ``short``: what has no room. Raises Unparsable."""
    names = {name for _, name in short}
    workload = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace)

    def comes(freed: Mapping[str, int], place: OwnedPods = place) -> bool:
        plan, used = plan_of(place, pod, evaluated, policies, server)
        left = {key: amount - freed.get(key[1], 0) * 10**9 for key, amount in used.items()}
        return worst_outcome(plan, left, amounts(policies.quotas)[1]).complete

    if isinstance(workload, Workload) and subject.ref.kind in REVISIONS:
        yield from _without_old(store, subject, workload, names, comes)
    if subject.ref.kind == "CronJob" and _JOBS in names:
        edits = _shorter_history(subject, workload or manifest_workload(subject), place, comes)
        if edits:
            yield edits
    ended = _ended_jobs(store, subject) if names & {_PODS, _JOBS} else []
    gone = fewest_enough(ended, lambda jobs: comes({_PODS: sum(pods for _, pods in jobs), _JOBS: len(jobs)}))
    if gone:
        yield tuple(_build_delete_edit("Job", name, subject, pods) for name, pods in gone)


def _without_old(
    store: Store, subject: Subject, workload: Workload, names: set[str], comes: Comes
) -> Iterator[tuple[Edit, ...]]:
    """Yield the deletion of as few old ReplicaSets or ControllerRevisions as are enough, the oldest first."""
    made, resource = REVISIONS[subject.ref.kind]
    name = f"count/{resource}"
    old = unused_revisions(store, subject.ref.kind, workload)[:_MOST] if name in names else ()
    gone = fewest_enough(old, lambda them: comes({name: len(them)}))
    if gone:
        yield tuple(_build_delete_edit(made, it, subject) for it in gone)


def _build_delete_edit(kind: str, name: str, subject: Subject, pods: int = 0) -> DeleteObject:
    return DeleteObject(ObjectRef(kind, name, subject.ref.namespace), pods=pods)


def _shorter_history(subject: Subject, cron_job: object, place: OwnedPods, comes: Comes) -> tuple[Edit, ...]:
    """Return the largest history limits with which the Jobs that the CronJob keeps, and the next one, have room."""
    if not isinstance(cron_job, Workload):
        return ()
    spec = cron_job.spec
    limits = [
        SUCCESSFUL if spec.successful_jobs_history_limit is None else spec.successful_jobs_history_limit,
        FAILED if spec.failed_jobs_history_limit is None else spec.failed_jobs_history_limit,
    ]
    before = list(limits)
    jobs = next((creation for creation in place.first if creation.kind == "Job"), None)
    fields = ("spec.successfulJobsHistoryLimit", "spec.failedJobsHistoryLimit")
    while jobs is not None and any(limits):
        at = 0 if limits[0] else 1
        limits[at] -= 1
        fewer = sum(before) - sum(limits)
        if comes(_kept_back(jobs, fewer), _with_jobs(place, jobs, fewer)):
            return tuple(
                Scale(subject.ref, field, after, was)
                for field, after, was in zip(fields, limits, before, strict=True)
                if after != was
            )
    return ()


def _kept_back(jobs: Creation, fewer: int) -> dict[str, int]:
    """Return the amounts of existing Jobs that are freed, once as many fewer are kept than are still to come."""
    return {_JOBS: max(0, fewer - (jobs.count - 1))}


def _with_jobs(place: OwnedPods, jobs: Creation, fewer: int) -> OwnedPods:
    left = structs.replace(jobs, count=max(1, jobs.count - fewer))
    return structs.replace(place, first=tuple(left if it is jobs else it for it in place.first))


def _ended_jobs(store: Store, subject: Subject) -> list[tuple[str, int]]:
    """Return the ended Jobs of the namespace that no CronJob keeps, with their finished pods, most pods first."""
    space, own = subject.ref.namespace, (subject.ref.kind, subject.ref.name)
    result = []
    for job in store.all("Job", space):
        conditions = job.status.conditions or ()
        ended = any(it.type in {"Complete", "Failed"} and it.status == "True" for it in conditions)
        if not ended or job.metadata.owner_references or own == ("Job", job.metadata.name):
            continue
        pods = owned_by(store, "Pod", space, ("Job", job.metadata.name))
        finished = sum(pod.status.phase in {"Succeeded", "Failed"} for pod in pods) or job.status.succeeded
        if finished:
            result.append((job.metadata.name, finished))
    return sorted(result, key=lambda it: (-it[1], it[0]))[:_MOST]
