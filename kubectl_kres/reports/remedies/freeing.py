"""Remedies that make room without raising a quota: needless objects are deleted, or fewer of them are kept.

A lower ``revisionHistoryLimit`` helps a StatefulSet alone: ReplicaSets and a DaemonSet's revisions go once the new one
exists. Source: controller/statefulset stateful_set_control.go UpdateStatefulSet, truncateHistory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import structs

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload import KEPT_FAILED, KEPT_SUCCESSFUL, Workload
from kubectl_kres.model.workload_kinds import REVISIONS
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.objects import unused_revisions
from kubectl_kres.reports.common.owners import owned_by
from kubectl_kres.reports.common.remedy import DeleteObject, Edit, Scale
from kubectl_kres.reports.remedies.engine import State
from kubectl_kres.reports.remedies.pods import OwnedPods
from kubectl_kres.simulate.state import HISTORY
from kubectl_kres.store.store import Store

#: What one finished Job, with its pods, gives back, by the names of quotas.
_PODS, _JOBS = "count/pods", "count/jobs.batch"
_REVISIONS, _REVISIONS_KEPT = "count/controllerrevisions.apps", "spec.revisionHistoryLimit"
#: So many are deleted by one remedy.
_MOST = 20


#: What a state of the engine is made of.
Parts = list[tuple[ObjectRef, DeleteObject]]


def unused_objects(store: Store, subject: Subject, workload: object, short: set[str]) -> Parts:
    """Return the deletion of the old ReplicaSets or ControllerRevisions of a workload, the oldest first; nothing where
    they are not what is short.
    """
    made, resource = REVISIONS.get(subject.ref.kind, ("", ""))
    if not isinstance(workload, Workload) or f"count/{resource}" not in short:
        return []
    names = unused_revisions(store, subject.ref.kind, workload)[:_MOST]
    return [_build_part(made, name, subject) for name in names]


def _build_part(kind: str, name: str, subject: Subject, pods: int = 0) -> tuple[ObjectRef, DeleteObject]:
    ref = ObjectRef(kind, name, subject.ref.namespace)
    return ref, DeleteObject(ref, pods=pods)


def count_freed(edits: Iterable[Edit]) -> dict[str, int]:
    """Return how many objects fewer quotas count once some are deleted, by their names."""
    freed: dict[str, int] = {}
    for edit in edits:
        if isinstance(edit, DeleteObject):
            for name, count in ((f"count/{BY_KIND[edit.object.kind].qualified_name}", 1), (_PODS, edit.pods)):
                freed[name] = freed.get(name, 0) + count
    return freed


def fewer_kept_jobs(ref: ObjectRef, cron_job: object, short: set[str], state: State, _trial: object) -> State | None:
    """Return the history limits with one Job less; None: the CronJob keeps none, or neither Jobs nor pods that ended
    are short.
    """
    if ref.kind != "CronJob" or not isinstance(cron_job, Workload) or short.isdisjoint({_JOBS, _PODS}):
        return None
    spec = cron_job.spec
    limits = (
        ("spec.successfulJobsHistoryLimit", spec.successful_jobs_history_limit, KEPT_SUCCESSFUL),
        ("spec.failedJobsHistoryLimit", spec.failed_jobs_history_limit, KEPT_FAILED),
    )
    for field, limit, default in limits:
        before = default if limit is None else limit
        after = state[field].to if field in state else before
        if after:
            return {**state, field: Scale(ref, field, after - 1, before)}
    return None


def shorter_history(ref: ObjectRef, workload: object, unused: Parts, gone: State) -> State:
    """Return the history limit of a StatefulSet with which as many of its ControllerRevisions go as are enough; empty
    for other kinds.
    """
    if ref.kind != "StatefulSet" or not isinstance(workload, Workload) or not gone:
        return {}
    limit = HISTORY if workload.spec.revision_history_limit is None else workload.spec.revision_history_limit
    kept = len(unused) - len(gone)
    return {_REVISIONS_KEPT: Scale(ref, _REVISIONS_KEPT, kept, limit)} if kept < limit else {}


def with_fewer_kept(
    owned_pods: OwnedPods, scales: Sequence[Scale], unused: Callable[[], Parts]
) -> tuple[OwnedPods, dict[str, int]]:
    """Return the workload with lower history limits, and what the existing objects that go then give back. ``unused``:
    returns the revisions that may go.
    """
    if scales[0].field == _REVISIONS_KEPT:
        return owned_pods, {_REVISIONS: len(unused()) - scales[0].to}
    fewer = sum((scale.from_ or 0) - scale.to for scale in scales)
    jobs = next((creation for creation in owned_pods.first if creation.kind == "Job"), None)
    if jobs is None:
        return owned_pods, {}
    fewer_to_come = min(fewer, jobs.count - 1)
    left = structs.replace(jobs, count=jobs.count - fewer_to_come)
    kept = tuple(
        structs.replace(pods, count=pods.count - fewer_to_come * ((pods.count + owned_pods.wanted) // jobs.count))
        for pods in owned_pods.kept
    )
    first = tuple(left if item is jobs else item for item in owned_pods.first)
    return structs.replace(owned_pods, first=first, kept=kept), {_JOBS: fewer - fewer_to_come}


def ended_jobs(store: Store, subject: Subject, short: set[str]) -> Parts:
    """Return the deletion of the ended Jobs of the namespace that no CronJob keeps, with their finished pods, most pods
    first; nothing where neither pods nor Jobs are short.
    """
    if short.isdisjoint({_PODS, _JOBS}):
        return []
    space, owner = subject.ref.namespace, (subject.ref.kind, subject.ref.name)
    result: list[tuple[str, int]] = []
    for job in store.all("Job", space):
        conditions = job.status.conditions or ()
        ended = any(condition.type in {"Complete", "Failed"} and condition.status == "True" for condition in conditions)
        if not ended or job.metadata.owner_references or owner == ("Job", job.metadata.name):
            continue
        pods = owned_by(store, "Pod", space, ("Job", job.metadata.name))
        finished = sum(pod.status.phase in {"Succeeded", "Failed"} for pod in pods) or job.status.succeeded
        if finished:
            result.append((job.metadata.name, finished))
    most = sorted(result, key=lambda job: (-job[1], job[0]))[:_MOST]
    return [_build_part("Job", name, subject, pods) for name, pods in most]
