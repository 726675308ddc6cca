"""The pods that are still wanted when a verdict is made: how many are missing, how many fit, who rejected them.

It also says how many more objects of one cost there is room for, how far an autoscaler can scale, and what one more pod
would lack.
"""

# ruff: noqa: PLC0415 - only workloads that lack pods roll out, only files are not there yet, and few make objects beside pods
from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_kres.admission.base.outcome import Finding, Outcome, QuotaCharge
from kubectl_kres.admission.quota.quota_admission import charges, with_used
from kubectl_kres.admission.request.new_pod import quota_request
from kubectl_kres.errors import UsageError
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import HorizontalPodAutoscaler, Workload
from kubectl_kres.model.workload_kinds import SCALED
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common import explanation
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.owners import controller, owned_by
from kubectl_kres.reports.common.replicas import Replicas, newest_set, pods_of, pods_of_one_job, replicas_of
from kubectl_kres.reports.pod.applied_pod import stored_pod_of
from kubectl_kres.reports.pod.events import workload_facts
from kubectl_kres.reports.pod.last_refusal import last_refusal
from kubectl_kres.reports.pod.pod_claims import add_charges
from kubectl_kres.reports.pod.verdict import NeededPods, outcome_word
from kubectl_kres.store.store import Store

if TYPE_CHECKING:
    from kubectl_kres.reports.rollout.rolling_update import RolloutResult


def room_for(charge: QuotaCharge) -> int | None:
    """Return how often the charge still fits the quota; None if it costs nothing."""
    rooms = [
        (parse(charge.hard[name]).nano - parse(charge.used[name]).nano) // parse(asked).nano
        for name, asked in charge.requested.items()
        if parse(asked).nano > 0
    ]
    return max(0, min(rooms)) if rooms else None


def count_admitted_pods(outcome: Outcome, analysis: Analysis) -> int | None:
    """Return how many pods in a row are admitted where each ends as ``outcome``; None: any number."""
    claims = analysis.claims
    if outcome.refusal is not None or outcome.draft is None:
        return 0
    rooms = [room_for(cost) for cost in charges_of_next(outcome, analysis)]
    if claims is not None:
        # Pods whose claims are there come first.
        more = smallest_count(room_for(cost) for cost in claims.charges)
        rooms.append(None if more is None else claims.ready + more)
    room = smallest_count(rooms)
    account = analysis.account
    if room is None or account is None:
        return room
    return room + account.waiting


def charges_of_next(outcome: Outcome, analysis: Analysis) -> tuple[QuotaCharge, ...]:
    """Return the cost of a further pod with all objects made for it, once the existing pods have got what they lack."""
    quotas, account = analysis.policies.policies.quotas, analysis.account
    if outcome.draft is None:
        return ()
    if account is None:
        return charges(quota_request(analysis.manifest.pod, outcome.draft), quotas)
    from kubectl_kres.admission.request.pod_objects import object_charges

    quotas = with_used(quotas, add_charges(object_charges(account.lacking, quotas)))
    own_charges = charges(quota_request(analysis.manifest.pod, outcome.draft), quotas)
    return tuple(add_charges((*own_charges, *object_charges(account.with_pod, quotas))))


def smallest_count(counts: Iterable[int | None]) -> int | None:
    """Return the smallest count, where None is any number."""
    stated_counts = [count for count in counts if count is not None]
    return min(stated_counts) if stated_counts else None


def list_spare_pods(verdict: explanation.Verdict) -> tuple[explanation.SparePod, ...]:
    """Return what one more pod lacks; empty unless the verdict is ``full``."""
    if outcome_word(verdict) != "full":
        return ()
    text = verdict.message
    return tuple(
        explanation.SparePod(
            text := finding.text or text, finding.resource, str(quota_shortfall(finding) or ""), finding.source
        )
        for finding in verdict.findings
    )


#: Rules of a quota that is exceeded: by a pod, by a run of Tekton.
EXCEEDED = frozenset({"quota/exceeded", "tekton/object-refused"})


def quota_shortfall(finding: Finding) -> Quantity | None:
    """Return the amount that a quota lacks; None for a refusal with another reason."""
    if finding.rule not in EXCEEDED or not finding.limit:
        return None
    used, requested, limit = parse(finding.used), parse(finding.requested), parse(finding.limit)
    return requested + used - limit


def autoscaler_of(store: Store, kind: str, name: str, namespace: str) -> HorizontalPodAutoscaler | None:
    """Return the autoscaler of a workload, the one with the largest maximum of several; None if none is known."""
    horizontal_pod_autoscalers: list[HorizontalPodAutoscaler] = [
        item
        for item in store.all("HorizontalPodAutoscaler", namespace)
        if (item.spec.scale_target_ref.kind, item.spec.scale_target_ref.name) == (kind, name)
        and item.spec.max_replicas > 0
    ]
    return max(horizontal_pod_autoscalers, key=lambda item: item.spec.max_replicas, default=None)


def autoscaler_scaling(
    store: Store, subject: explanation.Subject, analysis: Analysis, pods: Replicas | None
) -> explanation.Autoscaled | None:
    """Return how far the workload's autoscaler can scale under the quotas; None if it is known to have none.

    ``pods``: the existing ones, None where they are not known; for a file those of its workload in the store.
    """
    ref = subject.ref
    scaler = autoscaler_of(store, ref.kind, ref.name, ref.namespace) if ref.kind in SCALED else None
    return None if scaler is None else autoscaler_reach(scaler, store, subject, analysis, pods)


def autoscaler_reach(
    scaler: HorizontalPodAutoscaler,
    store: Store,
    subject: explanation.Subject,
    analysis: Analysis,
    pods: Replicas | None,
) -> explanation.Autoscaled:
    """Return the same for a known autoscaler of the workload."""
    ref = subject.ref
    if pods is None:
        stored = store.get(ref.kind, ref.name, ref.namespace)
        pods = pods_of(store, ref.kind, stored) if isinstance(stored, Workload) else None
    existing = pods.existing if pods is not None else 0
    maximum = scaler.spec.max_replicas
    room = smallest_count(count_admitted_pods(outcome, analysis) for outcome in analysis.outcomes)
    fits = maximum if room is None else min(maximum, existing + room)
    lacks = tuple(_quota_shortages(analysis, maximum - existing)) if fits < maximum else ()
    return explanation.Autoscaled(scaler.metadata.name, maximum, fits, lacks)


def _quota_shortages(analysis: Analysis, more: int) -> Iterator[explanation.Shortfall]:
    """Yield what quotas lack for so many more pods."""
    draft = analysis.outcomes[0].draft
    if draft is None:
        return
    for charge in charges_of_next(analysis.outcomes[0], analysis):
        for name, asked in charge.requested.items():
            hard, used, quantity = parse(charge.hard[name]), parse(charge.used[name]), parse(asked)
            short = used.nano + more * quantity.nano - hard.nano
            if quantity.nano > 0 and short > 0:
                yield explanation.Shortfall(charge.quota, name, str(Quantity(short, quantity.format)))


def count_needed_pods(
    store: Store,
    subject: explanation.Subject,
    analysis: Analysis,
    pods: Replicas | None,
    facts: Sequence[explanation.Fact],
) -> NeededPods:
    """Return what is still wanted. ``pods``: of a workload that exists and keeps a number of them. ``facts``: the
    cluster's facts about it. ``facts``: what the cluster says of it.
    """
    if stored_pod_of(store, subject) is not None:
        # An update makes no pod.
        return NeededPods()
    missing = _count_missing_pods(store, subject, analysis, pods)
    rollout_result = applied = None
    if subject.raw is not None and pods is None and missing:
        from kubectl_kres.reports.account import applied_to_stored

        applied, pods = applied_to_stored(store, subject)
    if pods is not None and missing and _may_end(analysis, pods):
        from kubectl_kres.reports.rollout.rolling_update import rollout_in_progress

        rollout_result = rollout_in_progress(store, subject, analysis, pods, applied)
    started = subject.raw is not None and pods is None and bool(missing)
    if started:
        rollout_result = _rollout_of_file(store, subject, analysis)
    comes = rollout_result is not None and rollout_result.complete
    if started and rollout_result is not None and not comes and all(it.allowed for it in analysis.outcomes):
        return NeededPods(rollout_result.wanted, rollout_result.updated)
    if not missing or not all(outcome.allowed for outcome in analysis.outcomes):
        return NeededPods(missing, comes=comes)
    if analysis.made_pod is not None:
        last = last_refusal(store, subject, analysis, facts, "") if subject.raw is None else None
        return NeededPods(missing) if last is None else NeededPods(missing, None, last.blocked, last.changes)
    if subject.ref.kind == "CronJob":
        jobs = _jobs(analysis, missing)
        if jobs is not None:
            return NeededPods(missing * jobs.missing, missing * (jobs.fits or 0))
    # An old pod that goes gives room: how far a rollout comes is no matter of what is free now.
    fits = _fits(analysis) if rollout_result is None or pods is None else max(0, rollout_result.updated - pods.newest)
    owner = analysis.manifest.owner or applied
    if owner is None:
        return NeededPods(missing, None if comes else fits, comes=comes)
    if subject.raw is not None:
        # A file that changes nothing of the pods makes the server say nothing else.
        facts = workload_facts(store, subject.ref.kind, owner)
        facts = template_facts(store, owner, facts) if subject.ref.kind == "Deployment" else facts
    last = last_refusal(store, subject, analysis, facts, newest_pod(store, subject, owner))
    blocked, changed = (last.blocked, last.changes) if last is not None else (None, ())
    return NeededPods(missing, None if comes else fits, blocked, changed, comes)


def _rollout_of_file(store: Store, subject: explanation.Subject, analysis: Analysis) -> RolloutResult | None:
    """Return where the rollout ends that a file starts of a workload with pods; None: there is none, or none ends."""
    stored = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace)
    written = explanation.manifest_workload(subject)
    if not isinstance(stored, Workload) or written is None:
        return None
    replicas = stored.spec.replicas if written.spec.replicas is None else written.spec.replicas
    spec = structs.replace(written.spec, replicas=replicas)
    try:
        pods = pods_of(store, subject.ref.kind, structs.replace(stored, spec=spec))
    except UsageError:
        return None
    if pods is None or not pods.existing or pods.waiting or not _may_end(analysis, pods):
        return None
    from kubectl_kres.reports.rollout.rolling_update import if_started

    return if_started(store, subject, analysis, pods)


def _may_end(analysis: Analysis, pods: Replicas) -> bool:
    """Return whether the end of old pods can help: not where a new one is refused whatever room there is, and all are
    wanted.
    """
    account = analysis.account
    if account is not None:
        from kubectl_kres.reports.account import first_refusals

        if first_refusals(account.first, analysis.policies.policies, analysis.server):
            return False
    refusals = (outcome.refusal for outcome in analysis.outcomes if outcome.refusal is not None)
    return bool(pods.kept) or all(
        finding.rule == "quota/exceeded" for refusal in refusals for finding in refusal.findings
    )


def _count_missing_pods(store: Store, subject: explanation.Subject, analysis: Analysis, pods: Replicas | None) -> int:
    """Return how many pods are missing: none of an object that runs, has ended, or is paused; 1: the object itself, or
    the next pod that it makes.
    """
    manifest = analysis.manifest
    if analysis.made_pod is not None:
        return analysis.made_pod.missing
    if manifest.live is not None:
        return int(analysis.account is not None and bool(analysis.account.lacking))
    if subject.raw is not None:
        number = _count_pods_to_create(store, subject, pods)
        return number if _only_pods_are_refused(analysis) else max(1, number)
    if pods is None:
        return _pods_of_next_step(manifest.owner) if manifest.owner is not None else 1
    # Where the ReplicaSets were not read, a condition alone says that no new pods are created.
    return pods.missing_pods or int(pods.failing)


def _jobs(analysis: Analysis, at_once: int) -> NeededPods | None:
    """Return the number of Jobs that a CronJob has yet to create, where not all of them have room; None: they have, or
    it is not known. ``at_once``: the pods that one Job runs at once.
    """
    account, quotas = analysis.account, analysis.policies.policies.quotas
    jobs = next((created for created in account.first if created.kind == "Job"), None) if account is not None else None
    if account is None or jobs is None:
        return None
    room = [room_for(charge) for charge in charges(jobs.request, quotas)]
    for pods in account.kept:
        of_one_job = (pods.count + at_once) // jobs.count
        free = (room_for(charge) for charge in charges(pods.request, quotas))
        room += (count // of_one_job for count in free if count is not None)
    fits = smallest_count(room)
    return NeededPods(jobs.count, fits) if fits is not None and fits < jobs.count else None


def _fits(analysis: Analysis) -> int | None:
    return count_admitted_pods(analysis.outcomes[0], analysis)


def newest_pod(store: Store, subject: explanation.Subject, owner: Workload) -> str:
    """Return when the last pod of the workload was made, for a Deployment of its newest ReplicaSet, for a CronJob of
    any of its Jobs, or when one of them last ended well; empty if there is none.
    """
    by = (subject.ref.kind, subject.ref.name)
    if subject.ref.kind == "Deployment":
        newest = newest_set(store, owner)
        by = ("ReplicaSet", newest.metadata.name) if newest is not None else by
    pods = [*owned_by(store, "Pod", subject.ref.namespace, by)]
    times = [owner.status.last_successful_time or ""]
    if subject.ref.kind == "CronJob":
        jobs = [("Job", job.metadata.name) for job in owned_by(store, "Job", subject.ref.namespace, by)]
        pods = [pod for job in jobs for pod in owned_by(store, "Pod", subject.ref.namespace, job)]
    times += [pod.metadata.creation_timestamp or "" for pod in pods if isinstance(pod, Pod)]
    return max(times, default="")


def template_facts(
    store: Store, deployment: Workload, facts: Iterable[explanation.Fact]
) -> tuple[explanation.Fact, ...]:
    """Return the facts without those about a ReplicaSet of a former template of the Deployment, and about its pods.

    A Deployment repeats the conditions of any of its ReplicaSets: the name of the pod tells whose it is.
    Source: controller/deployment sync.go getReplicaFailures.
    """
    newest = newest_set(store, deployment)
    if newest is None:
        return tuple(facts)
    owned = owned_by(store, "ReplicaSet", deployment.metadata.namespace, ("Deployment", deployment.metadata.name))
    older = {item.metadata.name for item in owned} - {newest.metadata.name}
    return tuple(fact for fact in facts if not _is_of(store, older, fact))


def _is_of(store: Store, sets: Collection[str], fact: explanation.Fact) -> bool:
    source = fact.source
    if source.kind == "ReplicaSet":
        return source.name in sets
    if source.kind == "Pod":
        pod = store.get("Pod", source.name, source.namespace)
        return isinstance(pod, Pod) and controller(pod)[0] == "ReplicaSet" and controller(pod)[1] in sets
    named = re.search(_POD_NAME, fact.text)
    return named is not None and named[1].rpartition("-")[0] in sets


#: The pod that a refusal is about.
_POD_NAME = r'pods? "([^"]+)"'


def _only_pods_are_refused(analysis: Analysis) -> bool:
    """Return whether only policies about pods may refuse, and not the object itself."""
    findings = [finding for outcome in analysis.outcomes if outcome.refusal for finding in outcome.refusal.findings]
    return not analysis.then and all(finding.rule.startswith(("quota/", "limitrange/")) for finding in findings)


def _pods_of_next_step(owner: Workload) -> int:
    """Return the pods of one step: the next one of an object without a number of pods; for a CronJob all that one Job
    runs at once.
    """
    if owner.spec.suspend:
        return 0
    return pods_of_one_job(owner) if owner.spec.job_template is not None else 1


def _count_pods_to_create(store: Store, subject: explanation.Subject, pods: Replicas | None) -> int:
    """Return how many pods are missing, at least the next one; for a new workload of a file all that it wants. At least
    the next one.
    """
    if pods is not None:
        return max(1, pods.missing_pods)
    workload = explanation.manifest_workload(subject)
    if workload is None:
        return 1
    if subject.ref.kind == "CronJob":
        return max(1, _pods_of_next_step(workload))
    from kubectl_kres.reports.account import applied_to_stored
    from kubectl_kres.reports.pod import preflight

    if preflight.exists(store, subject):
        # Nothing but a larger number is added, where pods stay as they are.
        replicas = applied_to_stored(store, subject)[1]
        return replicas.missing_pods if replicas is not None else 1
    try:
        replicas = replicas_of(subject.ref.kind, workload)
    except UsageError:
        return 1
    return max(1, replicas.missing_pods) if replicas is not None else 1
