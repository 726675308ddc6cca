"""The account of one object in its queue: why it waits, who stands before it, what it is charged, what is short."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from msgspec import structs

from kubectl_kres.admission.base.draft import Draft, Unparsable
from kubectl_kres.admission.pod.aggregate import sum_pod
from kubectl_kres.kueue import model
from kubectl_kres.kueue.reports.record import (
    ChargedAmount,
    ChargedPodSet,
    FlavorRow,
    OpenCheck,
    QueueAccount,
    SlotDifference,
    Standing,
    Waiter,
    WhyItWaits,
)
from kubectl_kres.kueue.reports.world import group_size, labels_of_subject, owner_name, pods_of_group, workload_of
from kubectl_kres.kueue.rules.charge import Charge, amount_text, to_units
from kubectl_kres.kueue.rules.flavors import FlavorFault, QuotaDecision, group_of
from kubectl_kres.kueue.rules.world import (
    OUTSIDE,
    QueueVerdict,
    QueueWorld,
    holds_quota,
    key_of,
    reserved,
)
from kubectl_kres.kueue.stored import QueueLabels, created, is_known, planned_workload, world_of
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.provenance.journal import Set, Source
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import FailedRead, Subject, find_unread
from kubectl_kres.store.store import ReadRequest, Store

#: Beginnings of the sentences that Kueue 0.19 says of what it does not admit.
_SENTENCES = (
    *("couldn't assign flavors", "failed to assign flavors", "workload namespace", "resources validation failed"),
    *("resources didn't satisfy", "Workload is pending evaluation", "Bypassed scheduling", "At least one admission"),
    *("LocalQueue ", "ClusterQueue ", "The LocalQueue", "The ClusterQueue", "The localQueue", "The clusterQueue"),
    *("The workload ", "Preempted", "Evicted ", "Exceeded the PodsReady", "Not all pods", "Quota reserved"),
    *("Workload no longer fits", "Workload didn't fit"),
)
_AHEAD = 3


def account_of(store: Store, subject: Subject, analysis: Analysis | None = None) -> QueueAccount | None:
    """Return the account of an object; None where no queue stands on it and it is none of Kueue's.

    ``analysis``: of the pods that it will make, for what these will ask.
    """
    if subject.raw is not None and (account := _account_of_webhook(store, subject)) is not None:
        return account
    labels = labels_of_subject(store, subject)
    if subject.ref.kind != model.WORKLOAD and (labels is None or not (labels.queue or labels.gated)):
        return None
    if store.covered(ReadRequest(model.WORKLOAD, subject.ref.namespace)).state == "absent":
        return None
    workload = workload_of(store, subject)
    queue = labels.queue if labels is not None else ""
    if workload is None and subject.raw is not None and labels is not None:
        return _planned_account(store, subject, labels, analysis)
    if workload is None:
        return _account_without_workload(store, subject, labels or QueueLabels(queue))
    drafts = (analysis.outcomes[0].draft,) if analysis is not None and analysis.outcomes else ()
    return account_of_workload(store, workload, drafts)


def _account_of_webhook(store: Store, subject: Subject) -> QueueAccount | None:
    """Return that tekton-kueue's webhook refuses a run, or that nobody knows what it makes of it; None: it is known."""
    run = created(store, subject.ref, subject.raw or {})
    if not (run.refused or run.unknown):
        return None
    cause = "webhook" if run.refused else "webhook-unknown"
    return QueueAccount("waits", "", cause=cause, says=run.refused or run.unknown)


def account_of_workload(
    store: Store, workload: model.KueueWorkload, drafts: Sequence[Draft | None] = ()
) -> QueueAccount:
    """Return the account of a Workload. ``drafts``: what pods will ask for, by pod set, as far as that is known."""
    world, status = world_of(store), workload.status
    namespace, name = key_of(workload)
    condition = model.condition_of(status.conditions, model.RESERVED)
    evicted = model.condition_of(status.conditions, model.EVICTED)
    told = evicted if evicted is not None and evicted.status == "True" else condition
    account = QueueAccount(
        "waits",
        workload.spec.queue_name,
        cluster_queue=_cluster_queue_name(world, workload),
        workload=ObjectRef(model.WORKLOAD, name, namespace),
        priority=workload.spec.priority or 0,
        reason=told.reason if told is not None else "",
        says=told.message if told is not None else "",
        since=(told.last_transition_time if told is not None else None) or workload.metadata.creation_timestamp or "",
        checks=tuple(OpenCheck(each.name, each.state, each.message) for each in status.admission_checks or ()),
        others=_others(store, namespace),
    )
    if model.is_true(status.conditions, model.FINISHED):
        return structs.replace(account, standing="finished")
    charges = tuple(_charged(world, workload, drafts))
    account = structs.replace(account, charges=charges)
    if holds_quota(workload):
        admitted = model.is_true(status.conditions, model.ADMITTED)
        standing: Standing = "admitted" if admitted else "reserved"
        names = tuple(dict.fromkeys(flavor for flavor, _ in reserved(workload)))
        return structs.replace(account, standing=standing, cause="" if admitted else "checks", flavor_names=names)
    return _with_verdict(store, world, account, workload, world.answer(workload))


def _with_verdict(
    store: Store, world: QueueWorld, account: QueueAccount, workload: model.KueueWorkload, verdict: QueueVerdict
) -> QueueAccount:
    """Return the account with why it waits, as far as what that depends on could be read."""
    namespace, _ = key_of(workload)
    missing = tuple(_unread(store, namespace))
    account = structs.replace(account, unread=missing, cause=verdict.cause)
    absent = {"no-local-queue": model.LOCAL_QUEUE, "no-cluster-queue": model.CLUSTER_QUEUE}.get(verdict.cause)
    spaces = namespace if absent == model.LOCAL_QUEUE else ""
    if absent is not None and not is_known(store, absent, spaces):
        return structs.replace(account, cause="unknown")
    if account.says and verdict.cause not in OUTSIDE and not account.says.startswith(_SENTENCES):
        return structs.replace(account, cause="quoted")
    account = structs.replace(account, faults=tuple((each.reason, each.name) for each in verdict.queue_faults))
    if verdict.cause == "no-local-queue":
        return structs.replace(account, meant=nearest(account.local_queue, account.others))
    if verdict.cause == "no-cluster-queue":
        return structs.replace(account, meant=nearest(account.cluster_queue, tuple(world.queues)))
    queue = world.queue_of(workload)
    if queue is None or verdict.cause in OUTSIDE:
        return account
    if verdict.decision is not None:
        account = structs.replace(
            account,
            flavors=tuple(sorted(_rows(world, queue, verdict.decision), key=_order_of(queue))),
            beyond=verdict.decision.beyond,
        )
    details = tuple(f"{fault.path}: {', '.join(fault.resources)}: {fault.text}" for fault in verdict.pods)
    account = structs.replace(account, details=details, strategy=queue.spec.queueing_strategy)
    if verdict.head is not None:
        own = QueueAccount("waits", verdict.head.spec.queue_name, cluster_queue=account.cluster_queue)
        head = _with_verdict(store, world, own, verdict.head, world.evaluate(verdict.head))
        account = structs.replace(
            account, head=_waiter(verdict.head), head_cause=head.cause, head_says=WhyItWaits(head)
        )
    return _with_place(store, world, account, workload)


def _with_place(store: Store, world: QueueWorld, account: QueueAccount, workload: model.KueueWorkload) -> QueueAccount:
    """Return the account with the place in the queue; without it where Workloads elsewhere could not be read."""
    place = world.place(account.cluster_queue, workload)
    if not place or not is_known(store, model.WORKLOAD):
        return account
    waiting = world.waiting(account.cluster_queue)
    ahead = tuple(_waiter(each) for each in waiting[: min(place - 1, _AHEAD)])
    return structs.replace(account, place=place, waiting=len(waiting), ahead=ahead)


def _waiter(workload: model.KueueWorkload) -> Waiter:
    namespace, name = key_of(workload)
    return Waiter(ObjectRef(model.WORKLOAD, name, namespace), owner_name(workload), workload.spec.priority or 0)


def _cluster_queue_name(world: QueueWorld, workload: model.KueueWorkload) -> str:
    admission = workload.status.admission
    if admission is not None and holds_quota(workload):
        return admission.cluster_queue
    local = world.local_queue_of(workload)
    return local.spec.cluster_queue if local is not None else ""


def _others(store: Store, namespace: str) -> tuple[str, ...]:
    return tuple(each.metadata.name for each in store.all(model.LOCAL_QUEUE, namespace))


def nearest(name: str, names: Sequence[str]) -> str:
    """Return the name that was probably meant; empty: none is near."""
    return next(iter(get_close_matches(name, names, 1, 0.6)), "")


def _unread(store: Store, namespace: str) -> Iterator[FailedRead]:
    """Yield what the answer depends on and the server refused to tell, or that failed."""
    reads = (
        ReadRequest(model.WORKLOAD, namespace, required=False),
        ReadRequest(model.LOCAL_QUEUE, namespace, required=False),
        ReadRequest(model.CLUSTER_QUEUE, required=False),
        ReadRequest(model.FLAVOR, required=False),
        ReadRequest(model.WORKLOAD, required=False),
    )
    for each in find_unread(store, reads):
        if each.state in {"denied", "failed"}:
            yield each


def _charged(
    world: QueueWorld, workload: model.KueueWorkload, drafts: Sequence[Draft | None]
) -> Iterator[ChargedPodSet]:
    try:
        every = world.charges(workload, journal=True)
    except Unparsable:
        return
    pod_sets = workload.spec.pod_sets or ()
    for index, (pod_set, charges) in enumerate(zip(pod_sets, every, strict=True)):
        first = _reserved_charge(workload, pod_set.name, charges) or charges[0]
        draft = drafts[index] if index < len(drafts) and len(pod_sets) == 1 else None
        yield ChargedPodSet(pod_set.name, pod_set.count, tuple(_amounts(first, charges, pod_set.count, draft)))


def _reserved_charge(workload: model.KueueWorkload, name: str, charges: Sequence[Charge]) -> Charge | None:
    """Return the one of several charges, under other orders of LimitRanges, that Kueue has taken."""
    if len(charges) == 1 or workload.status.admission is None:
        return None
    usage = {
        each.name: (each.resource_usage or {}, each.count or 1)
        for each in workload.status.admission.pod_set_assignments or ()
    }
    amounts, count = usage.get(name, ({}, 1))
    return next(
        (
            charge
            for charge in charges
            if all(str(amounts.get(key)) == amount_text(key, units * count) for key, units in charge.amounts.items())
        ),
        None,
    )


def _amounts(charge: Charge, others: Sequence[Charge], count: int, draft: Draft | None) -> Iterator[ChargedAmount]:
    asked = sum_pod(draft, "requests") if draft is not None else {}
    names = dict.fromkeys((*charge.amounts, *asked))
    for name in sorted(names):
        units = charge.amounts.get(name, 0)
        pod = amount_text(name, units)
        other = amount_text(name, to_units(name, asked[name])) if name in asked else "0"
        known = draft is not None
        alternatives = {amount_text(name, each.amounts.get(name, 0)) for each in others} - {pod}
        yield ChargedAmount(
            name,
            pod,
            amount_text(name, units * count),
            charge.derivation(name),
            tuple(_sets(charge, name)),
            other if known and other != pod else "",
            tuple(_differences(charge, draft, name)) if draft is not None and other != pod else (),
            tuple(sorted(alternatives)),
        )


def _sets(charge: Charge, resource: str) -> Iterator[Set]:
    """Yield what set the requests of a resource."""
    suffix = f".resources.requests[{resource}]"
    for entry in charge.journal:
        if isinstance(entry, Set) and entry.path.endswith(suffix):
            yield entry


def _differences(charge: Charge, draft: Draft, resource: str) -> Iterator[SlotDifference]:
    """Yield the places whose requests are others in the pod than for Kueue."""
    theirs = {slot.path: slot for slot in draft.slots()}
    for slot in charge.draft.slots():
        other = theirs.get(slot.path)
        ours, made = slot.requests.get(resource), other.requests.get(resource) if other is not None else None
        if ours != made:
            yield SlotDifference(slot.path, slot.title, str(ours or 0), str(made or 0))


def _rows(world: QueueWorld, queue: model.ClusterQueue, decision: QuotaDecision) -> Iterator[FlavorRow]:
    """Yield each flavor that can serve the pods, by resource, with what of it is asked for, used and left."""
    for pod_set in decision.pod_sets:
        faults: dict[tuple[str, str], FlavorFault] = {(each.flavor, each.resource): each for each in pod_set.faults}
        for resource, units in pod_set.charge.items():
            group = group_of(queue, resource)
            if group is None:
                if (fault := faults.get(("", resource))) is not None:
                    yield FlavorRow("", resource, amount_text(resource, units), why=fault.part, text=fault.text)
                continue
            for flavor in group.flavors or ():
                whole, fault = faults.get((flavor.name, "")), faults.get((flavor.name, resource))
                yield structs.replace(
                    quota_row(world, queue, flavor.name, resource),
                    asked=amount_text(resource, units),
                    short=amount_text(resource, fault.short) if fault is not None else "",
                    why=whole.part if whole is not None else fault.why if fault is not None else "",
                    text=whole.text if whole is not None else fault.text if fault is not None else "",
                )


def quota_row(world: QueueWorld, queue: model.ClusterQueue, flavor: str, resource: str) -> FlavorRow:
    """Return what a queue has of a resource in a flavor, whoever asks."""
    name, capacity, cell = queue.metadata.name, world.capacity, (flavor, resource)
    return FlavorRow(
        flavor,
        resource,
        nominal=amount_text(resource, capacity.quota(name, cell).nominal),
        used=amount_text(resource, capacity.used(name, cell)),
        most=amount_text(resource, capacity.most(name, cell)),
        left=amount_text(resource, capacity.left(name, cell)),
        source=Source(model.CLUSTER_QUEUE, name, field=quota_field(queue, flavor, resource)),
    )


def _order_of(queue: model.ClusterQueue) -> Callable[[FlavorRow], int]:
    names = [flavor.name for group in queue.spec.resource_groups or () for flavor in group.flavors or ()]
    return lambda row: names.index(row.flavor) if row.flavor in names else -1


def quota_field(queue: model.ClusterQueue, flavor: str, resource: str) -> str:
    """Return the path of a nominalQuota; empty where there is none."""
    for at, group in enumerate(queue.spec.resource_groups or ()):
        for index, quotas in enumerate(group.flavors or ()):
            for position, quota in enumerate(quotas.resources or ()):
                if (quotas.name, quota.name) == (flavor, resource):
                    return f"spec.resourceGroups[{at}].flavors[{index}].resources[{position}].nominalQuota"
    return ""


def _account_without_workload(store: Store, subject: Subject, labels: QueueLabels) -> QueueAccount | None:
    """Return the account of an object that Kueue has made no Workload for, with the reason where it can be told."""
    ref = subject.ref
    item: Any = store.get(ref.kind, ref.name, ref.namespace)
    if item is None or not (labels.gated or _is_held(ref.kind, item)):
        return None
    account = QueueAccount(
        "waits", labels.queue, "no-workload", since=item.metadata.creation_timestamp or "",
        others=_others(store, ref.namespace),
    )  # fmt: skip
    if not is_known(store, model.WORKLOAD, ref.namespace):
        missing = tuple(_unread(store, ref.namespace))
        return structs.replace(account, standing="unknown", cause="unknown", unread=missing)
    if _has_no_priority_class(store, labels.priority):
        return _without_priority_class(store, account, labels.priority)
    size = group_size(item) if ref.kind == "Pod" else None
    if size is not None and store.covered(pods_of_group(ref.namespace, size[0])).is_known:
        pods = [each for each in store.all("Pod", ref.namespace) if group_size(each) == size]
        if len(pods) < size[1]:
            details = (size[0], str(len(pods)), str(size[1]))
            return structs.replace(account, cause="group-incomplete", details=details)
    return account


def _has_no_priority_class(store: Store, name: str) -> bool:
    """Return whether a WorkloadPriorityClass is named that is known not to be there."""
    return bool(name) and is_known(store, model.PRIORITY) and store.get(model.PRIORITY, name) is None


def _without_priority_class(store: Store, account: QueueAccount, name: str) -> QueueAccount:
    names = [each.metadata.name for each in store.all(model.PRIORITY)]
    return structs.replace(account, cause="no-priority-class", says=name, meant=nearest(name, names))


def _is_held(kind: str, item: Any) -> bool:
    """Return whether an object is suspended, as Kueue leaves what it has not admitted."""
    spec = item.spec
    if getattr(spec, "status", "") == "PipelineRunPending":
        return True
    return bool(getattr(spec, "suspend", None)) and kind != "CronJob"


def _planned_account(
    store: Store, subject: Subject, labels: QueueLabels, analysis: Analysis | None
) -> QueueAccount | None:
    """Return the account of an object of a file, as it would stand once it is created."""
    workload = planned_workload(store, subject.ref, subject.raw, labels)
    world = world_of(store)
    if workload is None:
        return None
    world = world.with_workload(workload)
    drafts = (analysis.outcomes[0].draft,) if analysis is not None and analysis.outcomes else ()
    account = QueueAccount(
        "waits", labels.queue, cluster_queue=_cluster_queue_name(world, workload),
        priority=workload.spec.priority or 0, others=_others(store, subject.ref.namespace),
        charges=tuple(_charged(world, workload, drafts)),
    )  # fmt: skip
    if _has_no_priority_class(store, labels.priority):
        return _without_priority_class(store, account, labels.priority)
    result = _with_verdict(store, world, account, workload, world.answer(workload))
    return structs.replace(result, standing="new") if result.cause == "fits" else result


def waits(account: QueueAccount) -> bool:
    """Return whether it waits for its queue."""
    return account.standing in {"waits", "reserved", "over"}
