"""What is still wanted of an object when its verdict is made: the missing pods, how many fit, who rejected them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from kubectl_kres.admission.quota.quota_admission import charges
from kubectl_kres.errors import UsageError
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.reports.account.stored_workload import applied_to_stored
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Fact
from kubectl_kres.reports.common.owned import controller, owned_by
from kubectl_kres.reports.common.pod_template import manifest_workload
from kubectl_kres.reports.common.replicas import Replicas, newest_set, pods_of_one_job, replicas_of
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.reports.common.system import made_by
from kubectl_kres.reports.pod.events import blocked_by
from kubectl_kres.reports.pod.verdict import Needed
from kubectl_kres.reports.rollout.room import least, pods_in_a_row, room_for
from kubectl_kres.store.store import Store


def needed_of(
    store: Store, subject: Subject, analysis: Analysis, pods: Replicas | None, seen: Sequence[Fact]
) -> Needed:
    """``pods``: of a workload that exists and keeps a number of them. ``seen``: what the cluster says of it."""
    missing = _missing(store, subject, analysis, pods)
    end = applied = None
    if subject.raw is not None and pods is None and missing:
        applied, pods = applied_to_stored(store, subject)
    if pods is not None and missing and _may_end(analysis, pods):
        from kubectl_kres.reports.rollout.rolling_update import under_way

        end = under_way(store, subject, analysis, pods, applied)
    comes = end is not None and end.complete
    if not missing or not all(outcome.allowed for outcome in analysis.outcomes):
        return Needed(missing, comes=comes)
    if analysis.system:
        return Needed(missing)
    if subject.ref.kind == "CronJob":
        jobs = _jobs(analysis)
        if jobs is not None:
            return Needed(missing * jobs.missing, missing * (jobs.fits or 0))
    # An old pod that goes gives room: how far a rollout comes is no matter of what is free now.
    fits = _fits(analysis) if end is None or pods is None else max(0, end.updated - pods.newest)
    if subject.raw is not None or analysis.start.owner is None:
        return Needed(missing, None if comes else fits, comes=comes)
    newest = newest_pod(store, subject, analysis)
    blocked = blocked_by(seen, newest, claims=analysis.claims is not None)
    return Needed(missing, None if comes else fits, blocked, comes=comes)


def _may_end(analysis: Analysis, pods: Replicas) -> bool:
    """Whether old pods that go can help: not where a new one is refused whatever room there is, and all are wanted."""
    account = analysis.account
    if account is not None:
        from kubectl_kres.reports.account.account import first_refusals

        if first_refusals(account.first, analysis.known.policies, analysis.server):
            return False
    refusals = (outcome.refusal for outcome in analysis.outcomes if outcome.refusal is not None)
    return bool(pods.kept) or all(
        finding.rule == "quota/exceeded" for refusal in refusals for finding in refusal.findings
    )


def _missing(store: Store, subject: Subject, analysis: Analysis, pods: Replicas | None) -> int:
    """None is missing of what runs, has ended, or rests. 1: the object itself, or the next pod that it makes."""
    start = analysis.start
    if analysis.system:
        return made_by(analysis).missing(analysis)
    if start.live is not None:
        return int(analysis.account is not None and bool(analysis.account.lacking))
    if subject.raw is not None:
        number = _lacking(store, subject, pods)
        return number if _of_pods(analysis) else max(1, number)
    if pods is None:
        return _of_next_job(start.owner) if start.owner is not None else 1
    # Where the ReplicaSets were not read, a condition alone says that no new pods are created.
    return pods.missing or int(pods.failing)


def _jobs(analysis: Analysis) -> Needed | None:
    """The Jobs that a CronJob still comes to have, where not all of them have room; None: they have, or are unknown."""
    account = analysis.account
    creation = next((made for made in account.first if made.kind == "Job"), None) if account is not None else None
    if creation is None:
        return None
    room = least(room_for(charge) for charge in charges(creation.request, analysis.known.policies.quotas))
    return Needed(creation.count, room) if room is not None and room < creation.count else None


def _fits(analysis: Analysis) -> int | None:
    return pods_in_a_row(analysis.outcomes[0], analysis)


def newest_pod(store: Store, subject: Subject, analysis: Analysis) -> str:
    """When the last pod of the workload was made, of a Deployment's newest ReplicaSet; empty if there is none."""
    owner = analysis.start.owner
    assert owner is not None
    by = (subject.ref.kind, subject.ref.name)
    if subject.ref.kind == "Deployment":
        newest = newest_set(store, owner)
        by = ("ReplicaSet", newest.metadata.name) if newest is not None else by
    pods = owned_by(store, "Pod", subject.ref.namespace, by)
    times = [pod.metadata.creation_timestamp or "" for pod in pods if isinstance(pod, Pod)]
    return max(times, default="")


def of_current_template(store: Store, deployment: Workload, facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """The facts without those about a ReplicaSet of a template that the Deployment has no more, and about its pods.

    A Deployment repeats what any of its ReplicaSets says: then the name of the pod tells whose it is.
    Source: controller/deployment sync.go getReplicaFailures.
    """
    newest = newest_set(store, deployment)
    if newest is None:
        return tuple(facts)
    owned = owned_by(store, "ReplicaSet", deployment.metadata.namespace, ("Deployment", deployment.metadata.name))
    older = {item.metadata.name for item in owned} - {newest.metadata.name}
    return tuple(fact for fact in facts if not _is_of(store, older, fact))


def _is_of(store: Store, sets: Collection[str], fact: Fact) -> bool:
    source = fact.source
    if source.kind == "ReplicaSet":
        return source.name in sets
    if source.kind == "Pod":
        pod = store.get("Pod", source.name, source.namespace)
        return isinstance(pod, Pod) and controller(pod)[0] == "ReplicaSet" and controller(pod)[1] in sets
    named = _POD_NAME.search(fact.text)
    return named is not None and named[1].rpartition("-")[0] in sets


#: The pod that a refusal is about.
_POD_NAME = re.compile(r'pods? "([^"]+)"')


def _of_pods(analysis: Analysis) -> bool:
    """Whether what refuses, if anything does, are policies that pods come under, and not what the object is."""
    findings = [finding for outcome in analysis.outcomes if outcome.refusal for finding in outcome.refusal.findings]
    return not analysis.then and all(finding.rule.startswith(("quota/", "limitrange/")) for finding in findings)


def _of_next_job(owner: Workload) -> int:
    """Of what keeps no number of pods the next one; of a CronJob all that one Job runs at once."""
    if owner.spec.suspend:
        return 0
    return pods_of_one_job(owner) if owner.spec.job_template is not None else 1


def _lacking(store: Store, subject: Subject, pods: Replicas | None) -> int:
    """How many pods are missing; of a file's workload that is new all that it wants. At least the next one."""
    if pods is not None:
        return max(1, pods.missing)
    workload = manifest_workload(subject)
    if workload is None:
        return 1
    if subject.ref.kind == "CronJob":
        return max(1, _of_next_job(workload))
    from kubectl_kres.reports.pod import preflight

    if preflight.exists(store, subject):
        # Nothing but a larger number is added, where pods stay as they are.
        replicas = applied_to_stored(store, subject)[1]
        return replicas.missing if replicas is not None else 1
    try:
        replicas = replicas_of(subject.ref.kind, workload)
    except UsageError:
        return 1
    return max(1, replicas.missing) if replicas is not None else 1
