"""Room in a quota that comes without raising it: what is being deleted, what has ended, what the status overcounts.

Each is tried: without it the next pod is admitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import structs

from kubectl_kres.admission.base.draft import Quantities, Unparsable
from kubectl_kres.admission.base.outcome import QuotaCharge
from kubectl_kres.admission.pod.aggregate import add_into
from kubectl_kres.admission.quota.quota_admission import PodRequests, Quota, charges
from kubectl_kres.admission.quota.usage import is_terminal
from kubectl_kres.admission.request.new_pod import admit
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import ZERO, parse
from kubectl_kres.record import Record, Sentence
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.common.remedy import DeleteObject, PassingRoom, Remedy, SetField
from kubectl_kres.reports.remedies.commands import commands, delete_command
from kubectl_kres.reports.remedies.keepers import kept_by, named_keeper
from kubectl_kres.reports.rollout.wanted_pods import count_admitted_pods
from kubectl_kres.store.store import ReadRequest, Store

#: It alone counts pods that have ended.
_COUNT = "count/pods"
#: Policies of CronJobs that let Jobs run beside each other.
_OVERLAP = frozenset({"", "Allow"})
#: So many objects are deleted by one fix.
_MOST = 20
#: Owners that are deleted as a whole with their ended pods; others make new ones.
_RUNS = frozenset({"Job", "TaskRun"})


class AwaitPods(Sentence, frozen=True):
    """Pods that are being deleted, until when at the latest (RFC 3339), and the amounts that come back with them."""

    pods: tuple[str, ...]
    until: str
    amounts: tuple[str, ...]


class DeleteEnded(Sentence, frozen=True):
    """Objects that have ended and whose pods are counted under ``resource``; ``ended``: so many pods have."""

    objects: tuple[ObjectRef, ...]
    resource: str
    ended: int


class ForbidOverlap(Sentence, frozen=True):
    """Jobs of a CronJob that run beside each other, so many now."""

    running: int


class StaleCount(Record, frozen=True):
    """What a quota counts of a resource, and what a recount finds."""

    quota: str
    resource: str
    used: str
    counted: str


class AwaitRecount(Sentence, frozen=True):
    """Quotas that count more than there is."""

    counts: tuple[StaleCount, ...]


def find_passing_room(store: Store, subject: Subject, analysis: Analysis) -> PassingRoom:
    """Return the fixes for pods that full quotas alone refuse; none for others."""
    findings = [finding for outcome in analysis.outcomes if outcome.refusal for finding in outcome.refusal.findings]
    if not findings or any(finding.rule != "quota/exceeded" for finding in findings):
        return PassingRoom()
    short = {finding.source.name: set[str]() for finding in findings if finding.source is not None}
    for finding in findings:
        if finding.source is not None:
            short[finding.source.name].add(finding.resource)
    space, requests = subject.ref.namespace, PodRequests(analysis.server)
    try:
        pods = [pod for pod in store.all("Pod", space) if isinstance(pod, Pod)]
        ending = list(_find_ending(analysis, requests, short, pods))
        ended = list(_find_ended(store, analysis, short, pods))
        recounted = list(_find_stale(store, analysis, requests, short, pods, space))
    except Unparsable:
        return PassingRoom()
    return PassingRoom((*ending, *recounted), (*ended, *_find_overlap(store, subject, analysis)))


def _find_ending(
    analysis: Analysis, requests: PodRequests, short: Mapping[str, set[str]], pods: Iterable[Pod]
) -> Iterator[Remedy]:
    """Yield that pods which are being deleted give back what is short."""
    held: dict[str, list[QuotaCharge]] = {}
    holders: list[Pod] = []
    for pod in pods:
        if not pod.metadata.deletion_timestamp or is_terminal(pod):
            continue
        costs = [
            charge
            for charge in charges(requests.request_of(pod), analysis.policies.policies.quotas)
            if short.get(charge.quota, set()) & charge.requested.keys()
        ]
        for charge in costs:
            held.setdefault(charge.quota, []).append(charge)
        if costs:
            holders.append(pod)
    freed = {name: _sum(costs) for name, costs in held.items()}
    if not freed or not _passes(analysis, freed):
        return
    amounts = [
        f"{freed[quota][name]} of {name}" for quota in freed for name in sorted(short[quota]) if name in freed[quota]
    ]
    last = max(pod.metadata.deletion_timestamp or "" for pod in holders)
    yield Remedy(AwaitPods(tuple(pod.metadata.name for pod in holders), last, tuple(amounts)), proven=True)


def _find_ended(
    store: Store, analysis: Analysis, short: Mapping[str, set[str]], pods: Iterable[Pod]
) -> Iterator[Remedy]:
    """Yield the deletion of the fewest runs or pods that have ended, which ``count/pods`` counts until they go."""
    names = [quota for quota, resources in short.items() if resources == {_COUNT}]
    if not names or len(names) < len(short):
        return
    by_owner: dict[ObjectRef, int] = {}
    for pod in sorted(pods, key=lambda pod: (pod.metadata.creation_timestamp or "", pod.metadata.name)):
        if is_terminal(pod) and not pod.metadata.deletion_timestamp and (ref := _deleted_with(pod)):
            by_owner[ref] = by_owner.get(ref, 0) + 1
    gone: list[ObjectRef] = []
    for ref in [*by_owner][:_MOST]:
        gone.append(ref)
        count = parse(str(sum(by_owner[each] for each in gone)))
        if _passes(analysis, {name: {_COUNT: count} for name in names}):
            total = sum(by_owner.values())
            yield Remedy(
                DeleteEnded(tuple(gone), _COUNT, total),
                tuple(DeleteObject(each, pods=by_owner[each]) for each in gone),
                tuple(delete_command(store.origin, each) for each in gone),
                proven=True,
            )
            return


def _find_overlap(store: Store, subject: Subject, analysis: Analysis) -> Iterator[Remedy]:
    """Yield that a CronJob whose Jobs run beside each other starts none while one runs; when those end is not known."""
    owner = analysis.manifest.owner
    running = owner.status.active if owner is not None and subject.ref.kind == "CronJob" else 0
    if owner is None or isinstance(running, int) or len(running) <= 1 or owner.spec.concurrency_policy not in _OVERLAP:
        return
    edit = SetField(subject.ref, "spec.concurrencyPolicy", "Forbid", owner.spec.concurrency_policy or None)
    kept = kept_by(store, owner.metadata)
    yield Remedy(
        ForbidOverlap(len(running)),
        (edit,),
        commands(store.origin, (edit,), {subject.ref: kept} if kept else {}),
        named_keeper(store, subject.ref, owner.metadata),
    )


def _deleted_with(pod: Pod) -> ObjectRef | None:
    """Return what is deleted to be rid of an ended pod; None: its owner keeps it, or makes another one."""
    kind, name = controller(pod)
    if not kind:
        return ObjectRef("Pod", pod.metadata.name, pod.metadata.namespace)
    return ObjectRef(kind, name, pod.metadata.namespace) if kind in _RUNS and kind in BY_KIND else None


def _find_stale(
    store: Store,
    analysis: Analysis,
    requests: PodRequests,
    short: Mapping[str, set[str]],
    pods: Iterable[Pod],
    space: str,
) -> Iterator[Remedy]:
    """Yield that a quota counts more than there is of pods, so that its controller mends it."""
    if not store.covered(ReadRequest("Pod", space)).is_known:
        return
    stored = [requests.request_of(pod) for pod in pods]
    freed: dict[str, Quantities] = {}
    counts: list[StaleCount] = []
    for quota in (quota for quota in analysis.policies.policies.quotas if quota.name in short):
        counted = _sum(charge for request in stored for charge in charges(request, [quota]))
        for name in sorted(short[quota.name]):
            used, count = quota.used.get(name), counted.get(name)
            # Where nothing at all is counted, more likely the list is not whole.
            if used is not None and count and count < used:
                freed.setdefault(quota.name, {})[name] = used - count
                counts.append(StaleCount(quota.name, name, str(used), str(count)))
    if freed and _passes(analysis, freed):
        yield Remedy(AwaitRecount(tuple(counts)), proven=True)


def _sum(costs: Iterable[QuotaCharge]) -> Quantities:
    total: Quantities = {}
    for cost in costs:
        add_into(total, {name: parse(text) for name, text in cost.requested.items()})
    return total


def _passes(analysis: Analysis, freed: Mapping[str, Quantities]) -> bool:
    """Return whether the next pod is admitted once quotas count so much less."""
    policies = analysis.policies.policies
    quotas = tuple(_with_less(quota, freed.get(quota.name, {})) for quota in policies.quotas)
    changed = structs.replace(policies, quotas=quotas)
    outcomes = admit(analysis.manifest.pod, changed, analysis.server, journal=False)
    later = structs.replace(
        analysis, policies=structs.replace(analysis.policies, policies=changed), outcomes=tuple(outcomes)
    )
    return all(outcome.allowed and count_admitted_pods(outcome, later) != 0 for outcome in outcomes)


def _with_less(quota: Quota, freed: Quantities) -> Quota:
    if not freed:
        return quota
    used = {name: max(ZERO, amount - freed[name]) if name in freed else amount for name, amount in quota.used.items()}
    return quota.with_used(used)
