"""The explanation of a Workload: the account of it, and what lets it be admitted."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.errors import NotFound
from kubectl_kres.kueue import model
from kubectl_kres.kueue.reports.account import account_of_workload, waits
from kubectl_kres.kueue.reports.needs import queue_needs
from kubectl_kres.kueue.reports.record import QueueAccount
from kubectl_kres.kueue.reports.remedies import remedies_of
from kubectl_kres.kueue.reports.world import owner_name
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Record
from kubectl_kres.reports.common.explanation import FailedRead, Subject, find_unread
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.waiting import WaitingObject
from kubectl_kres.store.store import ReadRequest, Store


class WorkloadExplanation(Record, frozen=True):
    """A Workload. ``of``: the object that it is of, as ``Job/alpha``."""

    object: ObjectRef
    of: str
    account: QueueAccount
    fixes: tuple[Remedy, ...] = ()
    unread: tuple[FailedRead, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether all that it needs could be read."""
        return not any(each.required for each in self.unread)

    @property
    def negative(self) -> bool:
        """Whether it waits."""
        return waits(self.account)


def workload_needs(store: Store, subject: Subject) -> Iterator[ReadRequest]:
    """Yield the reads of a Workload and its queues."""
    ref = subject.ref
    if subject.raw is None:
        yield ReadRequest(ref.kind, ref.namespace, ref.name)
    workload = store.get(model.WORKLOAD, ref.name, ref.namespace)
    if workload is not None:
        yield from queue_needs(store, ref.namespace, workload.spec.queue_name, listed=False)
        runtimes = {pod_set.template.spec.runtime_class_name for pod_set in workload.spec.pod_sets or ()}
        yield from (ReadRequest("RuntimeClass", name=name, required=False) for name in sorted(filter(None, runtimes)))


def waits_in_queue(explanation: WorkloadExplanation) -> WaitingObject:
    """Return that a Workload waits for the quota of its ClusterQueue, or of its LocalQueue where that is not known."""
    account, space = explanation.account, explanation.object.namespace
    queue = ObjectRef(model.CLUSTER_QUEUE, account.cluster_queue)
    if not account.cluster_queue:
        queue = ObjectRef(model.LOCAL_QUEUE, account.local_queue, space)
    # Of several flavors any one would do: what is missing is not one number.
    one_flavor = len({row.flavor for row in account.flavors}) == 1
    short_by = {row.resource: row.short for row in account.flavors if row.short} if one_flavor else {}
    return WaitingObject(
        explanation.object,
        queue,
        account.place,
        account.waiting,
        short_by,
        says=account.says,
        since=account.since,
        priority=account.priority,
    )


def workload_explanation(store: Store, subject: Subject, *, remedies: bool = True) -> WorkloadExplanation:
    """Return the explanation. Raises NotFound."""
    ref = subject.ref
    workload = store.get(model.WORKLOAD, ref.name, ref.namespace)
    if workload is None:
        raise NotFound(f'{subject.kind.qualified_name} "{ref.name}" not found', code=404, reason="NotFound")
    account = account_of_workload(store, workload)
    name = owner_name(workload)
    kind, _, own = name.partition("/")
    of = ObjectRef(kind, own, ref.namespace)
    fixes = remedies_of(store, workload, account, of) if remedies and waits(account) else ()
    unread = tuple(find_unread(store, tuple(workload_needs(store, subject))))
    return WorkloadExplanation(ref, name, account, fixes, unread)
