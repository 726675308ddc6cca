"""The account of an object: what is made for it beside its pods, what of that exists, and what refuses the rest.

The order is the controllers': the object itself, the ReplicaSet or ControllerRevision of its template or the Jobs of a
CronJob, the claims of a StatefulSet's pod, the pod, what is made for the pod once it exists. Of the Jobs of a CronJob
those count that its history limits let stay, and the one that runs.

Source: controller/cronjob cronjob_controllerv2.go cleanupFinishedJobs, syncCronJob.

The stored workload that a file changes: its pods stay where the file changes nothing about them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Outcome, Refusal
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.quota_admission import charges, count_request, names_of, with_used
from kubectl_kres.admission.request.new_pod import ObjectReview, Policies, admit, quota_request
from kubectl_kres.admission.request.pod_objects import (
    Creation,
    job_raw,
    objects_of,
    refusals_of,
    revision_raw,
)
from kubectl_kres.errors import QuantityError, UsageError
from kubectl_kres.model.objects import ObjectRef, struct_as_json
from kubectl_kres.model.pod import Pod, PodTemplateSpec, ResourceRequirements
from kubectl_kres.model.workload import KEPT_FAILED, KEPT_SUCCESSFUL, Workload, template_of
from kubectl_kres.model.workload_kinds import REVISIONS
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.analysis import (
    Account,
    AccountStep,
    Analysis,
    messages_of,
    state_of,
    with_refusal,
)
from kubectl_kres.reports.common.explanation import (
    Subject,
    manifest_workload,
    not_computed,
    pod_of_template,
)
from kubectl_kres.reports.common.objects import absent_objects, changed_template, waiting_pods
from kubectl_kres.reports.common.owners import owned_by
from kubectl_kres.reports.common.replicas import (
    Replicas,
    finished_pods_of_one_job,
    lacks_revision,
    pods_of,
    pods_of_one_job,
)
from kubectl_kres.store.store import ReadRequest, Store


def applied_to_stored(store: Store, subject: Subject) -> tuple[Workload | None, Replicas | None]:
    """Return the stored workload with the other fields of a file of the same pods, and its pods then; None: it is
    another one.

    A number that the file does not state stays.
    """
    stored = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace)
    workload = manifest_workload(subject)
    if not isinstance(stored, Workload) or workload is None or not _same_pods(stored, workload, subject):
        return None, None
    replicas = stored.spec.replicas if workload.spec.replicas is None else workload.spec.replicas
    spec = structs.replace(workload.spec, template=stored.spec.template, replicas=replicas)
    applied = structs.replace(stored, spec=spec)
    try:
        return applied, pods_of(store, subject.ref.kind, applied)
    except UsageError:
        return None, None


def _same_pods(stored: Workload, workload: Workload, subject: Subject) -> bool:
    """Return whether both templates make pods that admission cannot tell apart; what the server fills in plays
    no part.
    """
    return _compared_fields(stored, subject) == _compared_fields(workload, subject) and _says_nothing_else(
        template_of(stored)[1], template_of(workload)[1]
    )


def _says_nothing_else(stored: PodTemplateSpec | None, written: PodTemplateSpec | None) -> bool:
    """Return whether all labels of a written template stand in the stored one, which may have more.

    A template has some on every server: without any they were not kept.
    """
    if stored is None or written is None or not stored.metadata.labels:
        return True
    return (stored.metadata.labels or {}).items() >= (written.metadata.labels or {}).items()


def _compared_fields(workload: Workload, subject: Subject) -> object:
    template = template_of(workload)[1]
    if template is None:
        return None
    spec = pod_of_template(template, subject).spec
    groups = (spec.containers or (), spec.init_containers or ())
    return (
        [
            [
                (container.name, container.image, container.restart_policy or "", _amounts(container.resources))
                for container in group
            ]
            for group in groups
        ],
        _amounts(spec.resources),
        spec.runtime_class_name or "",
        spec.priority_class_name or "",
        getattr(spec, "service_account_name", ""),
    )


def _amounts(resources: ResourceRequirements | None) -> list[dict[str, object]]:
    sides = (resources.limits, resources.requests) if resources is not None else (None, None)
    return [{name: _amount(str(text)) for name, text in (side or {}).items()} for side in sides]


def _amount(text: str) -> object:
    try:
        return parse(text).nano
    except QuantityError:
        return text


Raw = Mapping[str, Any]

#: What counts pods that ended, too.
_COUNTS_FINISHED = "count/pods"


def build_account(store: Store, subject: Subject, analysis: Analysis) -> Account | None:
    """Return the account; None where no policy of the namespace looks at anything that is made beside the pods. Raises
    Unparsable.
    """
    policies, server = analysis.policies.policies, analysis.server
    manifest = analysis.manifest
    if analysis.made_pod is not None:
        return None
    first = () if manifest.live is not None else tuple(_first_creations(store, subject, analysis))
    objects = () if manifest.live is not None else objects_of(manifest.pod, policies, server)
    absent = [
        creations
        for pod in _pods(store, subject, analysis)
        if (creations := tuple(_find_absent_objects(store, pod, analysis)))
    ]
    missing_objects = tuple(creation for creations in absent for creation in creations)
    kept = tuple(_kept_pods(first, subject, analysis)) if subject.ref.kind == "CronJob" else ()
    all_creations = [*first, *objects, *missing_objects, *kept]
    if not all_creations or not any(is_bounded(creation, policies) for creation in all_creations):
        return None
    return Account(first, objects, missing_objects, len(absent), kept)


def is_bounded(creation: Creation, policies: Policies) -> bool:
    """Return whether a policy of the namespace says anything of such an object."""
    if creation.review.refusals or creation.review.gaps:
        return True
    if any(creation.request.names(quota.hard) for quota in policies.quotas):
        return True
    if creation.kind != "PersistentVolumeClaim":
        return False
    return any(item.type == "PersistentVolumeClaim" for limit in policies.limits for item in limit.items)


def steps_of(subject: Subject, analysis: Analysis) -> tuple[AccountStep, ...]:
    """Return all that has to be created, in the order in which controllers make it, each with what refuses it alone.
    Raises Unparsable.
    """
    return tuple(_steps(subject.ref, analysis))


def _steps(maker: ObjectRef, analysis: Analysis) -> Iterator[AccountStep]:
    account, claims = analysis.account or Account(), analysis.claims
    policies, server = analysis.policies.policies, analysis.server
    yield from (creation_step(creation, maker, policies, server) for creation in account.first)
    if claims is not None:
        messages = tuple(refusal.message for refusal in claims.refusals)
        claim = ObjectRef("PersistentVolumeClaim", "", maker.namespace)
        yield AccountStep(claim, maker, "refused" if messages else "admitted", messages, claims.charges)
    pod = analysis.manifest.pod
    if analysis.manifest.live is None:
        yield pod_step(pod, admit(pod, policies, server, journal=False), maker, policies)
    owner = ObjectRef("Pod", pod.metadata.name, maker.namespace)
    yield from (creation_step(made, owner, policies, server) for made in (*account.with_pod, *account.lacking))


def creation_step(creation: Creation, maker: ObjectRef, policies: Policies, server: Server) -> AccountStep:
    """Return the step of one object. Raises Unparsable."""
    messages = tuple(refusal.message for refusal in refusals_of((creation,), policies, server))
    made = ObjectRef(creation.kind, creation.name, maker.namespace)
    costs = tuple(charges(creation.request, policies.quotas))
    return AccountStep(made, maker, "refused" if messages else "admitted", messages, costs)


def pod_step(pod: Pod, outcomes: Sequence[Outcome], maker: ObjectRef, policies: Policies, **more: Any) -> AccountStep:
    """Return the step of a pod, which costs what its first draft does. ``more``: other fields of the step."""
    draft = next((outcome.draft for outcome in outcomes if outcome.draft is not None), None)
    costs = tuple(charges(quota_request(pod, draft), policies.quotas)) if draft is not None else ()
    made = ObjectRef("Pod", pod.metadata.name, maker.namespace)
    fields = {"state": state_of(outcomes), "messages": messages_of(outcomes), **more}
    return AccountStep(made, maker, charges=costs, **fields)


def with_objects(store: Store, subject: Subject, analysis: Analysis) -> Analysis:
    """Return the analysis with its account, and refused where what is made for a pod is: such a pod never starts."""
    try:
        account = build_account(store, subject, analysis)
        if account is None:
            return analysis
        gaps = (
            gap for creation in (*account.first, *account.with_pod, *account.lacking) for gap in creation.review.gaps
        )
        failed_reads = (*analysis.unread, *map(not_computed, dict.fromkeys(gaps)))
        analysis = structs.replace(analysis, account=account, unread=failed_reads)
        due = (*account.lacking, *account.with_pod)
        outcomes = tuple(item for outcome in analysis.outcomes for item in _after_pod(outcome, due, analysis))
    except Unparsable:
        return analysis
    return structs.replace(analysis, outcomes=outcomes)


def _after_pod(outcome: Outcome, due: Sequence[Creation], analysis: Analysis) -> Iterator[Outcome]:
    """Yield the outcome of the pod, or what refuses the first object that is made for it."""
    if not outcome.allowed or not due:
        yield outcome
        return
    policies = analysis.policies.policies
    if outcome.draft is not None and analysis.manifest.live is None:
        costs = charges(quota_request(analysis.manifest.pod, outcome.draft), policies.quotas)
        policies = structs.replace(policies, quotas=with_used(policies.quotas, costs))
    refusals = refusals_of(due, policies, analysis.server)
    if not refusals:
        yield outcome
    prefix = analysis.manifest.prefix
    for refusal in refusals:
        yield with_refusal(outcome, _prefix_finding_paths(refusal, prefix), warned=True)


def _prefix_finding_paths(refusal: Refusal, prefix: str) -> Refusal:
    """Return the refusal with the paths of a LimitRange's bounds as those of the workload's template."""
    findings = tuple(
        structs.replace(finding, path=f"{prefix}{finding.path}")
        if finding.path.startswith("spec.volumes[")
        else finding
        for finding in refusal.findings
    )
    return structs.replace(refusal, findings=findings)


def with_first(analysis: Analysis) -> Analysis:
    """Return the analysis, or the refusal of what is made before any pod; what comes after it is ``then``."""
    account = analysis.account
    if account is None or not account.first:
        return analysis
    refusals = first_refusals(account.first, analysis.policies.policies, analysis.server)
    if not refusals:
        return analysis
    pods = analysis.outcomes
    outcomes = tuple(with_refusal(pod, refusal, warned=True) for refusal in refusals for pod in pods)
    return structs.replace(analysis, outcomes=outcomes, then=(*pods, *analysis.then))


def first_refusals(first: Iterable[Creation], policies: Policies, server: Server) -> tuple[Refusal, ...]:
    """Return what refuses the next of the objects that come before any pod."""
    return refusals_of([structs.replace(creation, count=1) for creation in first], policies, server)


def _first_creations(store: Store, subject: Subject, analysis: Analysis) -> Iterator[Creation]:
    kind = subject.ref.kind
    workload = analysis.manifest.owner or manifest_workload(subject)
    if workload is None:
        return
    if kind == "CronJob":
        for creation in lacking_jobs(store, subject, workload):
            yield structs.replace(creation, review=_review_created_object(subject, analysis, job_raw))
    elif kind in REVISIONS and _makes_revision(store, subject, workload):
        yield revision_of_template(subject, analysis)


def _kept_pods(jobs: Iterable[Creation], subject: Subject, analysis: Analysis) -> Iterator[Creation]:
    """Yield the finished pods of the Jobs that a CronJob has yet to create and that its history keeps: ``count/pods``
    counts them until their Job goes. Those that run at once are counted as pods. Nothing where a Job goes by its age.
    """
    cron_job = analysis.manifest.owner or manifest_workload(subject)
    draft = next((outcome.draft for outcome in analysis.outcomes if outcome.draft is not None), None)
    if cron_job is None or cron_job.spec.job_template is None or draft is None:
        return
    spec = cron_job.spec.job_template.spec
    if spec is None or spec.ttl_seconds_after_finished is not None:
        return
    request = quota_request(analysis.manifest.pod, draft)
    if not any(_COUNTS_FINISHED in quota.hard for quota in analysis.policies.policies.quotas):
        return
    usage = {_COUNTS_FINISHED: request.usage[_COUNTS_FINISHED]}
    kept = structs.replace(request, usage=usage, names=lambda hard: [*usage.keys() & {*hard}], containers=None)
    for job in jobs:
        count = job.count * finished_pods_of_one_job(cron_job) - pods_of_one_job(cron_job)
        if count > 0:
            yield Creation("Pod", subject.ref.name, kept, count=count)


def revision_of_template(subject: Subject, analysis: Analysis) -> Creation:
    """Return the ReplicaSet or ControllerRevision of another template."""
    (revision_kind, resource), name = REVISIONS[subject.ref.kind], subject.ref.name
    review = _review_created_object(subject, analysis, revision_raw)
    return Creation(revision_kind, name, count_request(resource, name), review=review)


def _review_created_object(subject: Subject, analysis: Analysis, made: Callable[[Raw, str], Raw]) -> ObjectReview:
    """Return what policies say of what is made of the object that is asked about. ``made``: builds it."""
    policies, raw, owner = analysis.policies.policies, subject.raw, analysis.manifest.owner
    if policies.reviewer is None or (raw is None and owner is None):
        return ObjectReview({})
    maker = raw if raw is not None else struct_as_json(owner, subject.kind.api_version, subject.ref.kind)
    return policies.review(made(maker, subject.ref.name), analysis.server, whole=raw is not None)


def _makes_revision(store: Store, subject: Subject, workload: Workload) -> bool:
    ref = subject.ref
    if subject.raw is None:
        return lacks_revision(store, ref.kind, workload)
    if workload.spec.paused:
        return False
    stored = store.get(ref.kind, ref.name, ref.namespace)
    if not isinstance(stored, Workload):
        return True
    return changed_template(stored, workload) or lacks_revision(store, ref.kind, stored)


def _pods(store: Store, subject: Subject, analysis: Analysis) -> Sequence[Pod]:
    """Return the pods that exist and may lack something: the one that is asked about, or those of a stored workload."""
    live, owner = analysis.manifest.live, analysis.manifest.owner
    if live is not None:
        return (live,)
    if subject.raw is not None:
        owner = applied_to_stored(store, subject)[0]
    return waiting_pods(store, subject.ref.kind, owner) if owner is not None else ()


def _find_absent_objects(store: Store, pod: Pod, analysis: Analysis) -> Iterator[Creation]:
    """Yield the objects made for an existing pod that do not exist yet."""
    return absent_objects(store, pod, objects_of(pod, analysis.policies.policies, analysis.server))


def room_for_revision(analysis: Analysis, subject: Subject) -> bool:
    """Return whether another template of the workload would get its ReplicaSet or ControllerRevision."""
    kind = subject.ref.kind
    if kind not in REVISIONS:
        return True
    policies, server = analysis.policies.policies, analysis.server
    counted = any(names_of(REVISIONS[kind].resource, server)(quota.hard) for quota in policies.quotas)
    if not counted and policies.reviewer is None:
        return True
    return not first_refusals([revision_of_template(subject, analysis)], policies, server)


def kept_jobs(cron_job: Workload) -> int:
    """Return how many Jobs there are at most once its history is full, one of them running."""
    spec = cron_job.spec
    successful = KEPT_SUCCESSFUL if spec.successful_jobs_history_limit is None else spec.successful_jobs_history_limit
    failed = KEPT_FAILED if spec.failed_jobs_history_limit is None else spec.failed_jobs_history_limit
    return successful + failed + 1


def lacking_jobs(store: Store, subject: Subject, cron_job: Workload) -> Iterator[Creation]:
    """Yield the Jobs that the CronJob has yet to create; nothing of one that is suspended."""
    if cron_job.spec.suspend or cron_job.spec.job_template is None:
        return
    ref = subject.ref
    existing = len(owned_by(store, "Job", ref.namespace, ("CronJob", ref.name)))
    is_known = (
        store.covered(ReadRequest("Job", ref.namespace)).is_known
        or store.get("CronJob", ref.name, ref.namespace) is None
    )
    # Which Jobs there are is not known: at least the next one comes.
    count = max(1, kept_jobs(cron_job) - existing) if is_known else 1
    yield Creation("Job", ref.name, count_request("jobs.batch", ref.name), count=count)
