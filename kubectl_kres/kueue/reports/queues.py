"""The account of a LocalQueue or a ClusterQueue: whether it admits, what it has left, and who stands in it."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.errors import NotFound
from kubectl_kres.kueue import model
from kubectl_kres.kueue.reports.account import quota_row
from kubectl_kres.kueue.reports.needs import cluster_queue_needs, queue_needs
from kubectl_kres.kueue.reports.record import FlavorRow
from kubectl_kres.kueue.reports.world import owner_name
from kubectl_kres.kueue.rules.flavors import preempts
from kubectl_kres.kueue.rules.world import STOPPED, QueueWorld, holds_quota, is_pending, key_of
from kubectl_kres.kueue.stored import is_known, world_of
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Record
from kubectl_kres.reports.common.explanation import FailedRead, Subject, find_unread
from kubectl_kres.store.store import ReadRequest, Store


class QueuedWork(Record, frozen=True):
    """One that stands in a queue, or has quota of it. ``cause``: as of an account; empty: it has its quota."""

    workload: ObjectRef
    of: str
    priority: int = 0
    cause: str = ""
    says: str = ""


class QueueReport(Record, frozen=True):
    """A queue. ``cluster_queue``: behind a LocalQueue; the queue itself otherwise.

    ``faults``: why it admits nobody: reason and name, as of its condition, beside these LocalQueueStopped and
    NoClusterQueue. ``says``: its own condition Active, where that is not true. ``rows``: its quotas. ``waiting``: in
    order; None: Workloads could not be read.
    """

    object: ObjectRef
    cluster_queue: str = ""
    strategy: str = ""
    cohort: str = ""
    preempts: bool = False
    faults: tuple[tuple[str, str], ...] = ()
    says: str = ""
    rows: tuple[FlavorRow, ...] = ()
    waiting: tuple[QueuedWork, ...] | None = None
    admitted: tuple[QueuedWork, ...] = ()
    unread: tuple[FailedRead, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether all that it needs could be read."""
        return not any(each.required for each in self.unread)


def queue_report_needs(store: Store, subject: Subject) -> Iterator[ReadRequest]:
    """Yield the reads for a queue."""
    ref = subject.ref
    if subject.raw is None:
        yield ReadRequest(ref.kind, ref.namespace, ref.name)
    if ref.kind == model.LOCAL_QUEUE:
        yield from queue_needs(store, ref.namespace, ref.name, listed=False)
    else:
        yield from cluster_queue_needs(store, ref.name)
        yield ReadRequest(model.LOCAL_QUEUE, required=False)
        yield ReadRequest(model.WORKLOAD, required=False)


def queue_report(store: Store, subject: Subject) -> QueueReport:
    """Return the report. Raises NotFound."""
    world, ref = world_of(store), subject.ref
    unread = tuple(find_unread(store, tuple(queue_report_needs(store, subject))))
    local = world.local_queues.get((ref.namespace, ref.name)) if ref.kind == model.LOCAL_QUEUE else None
    name = ref.name if ref.kind == model.CLUSTER_QUEUE else local.spec.cluster_queue if local is not None else ""
    queue = world.queues.get(name)
    asked = local if ref.kind == model.LOCAL_QUEUE else queue
    if asked is None:
        raise NotFound(f'{subject.kind.qualified_name} "{ref.name}" not found', code=404, reason="NotFound")
    status = asked.status
    active = model.condition_of(status.conditions, "Active")
    faults = tuple(_faults(store, world, local, name))
    known = is_known(store, model.WORKLOAD)
    return QueueReport(
        ref,
        name,
        strategy=queue.spec.queueing_strategy if queue is not None else "",
        cohort=queue.cohort if queue is not None else "",
        preempts=queue is not None and preempts(queue),
        faults=faults,
        says=active.message if active is not None and active.status != "True" else "",
        rows=tuple(_rows(world, queue)) if queue is not None else (),
        waiting=tuple(_waiting(world, name, local)) if known else None,
        admitted=tuple(_admitted(world, name, local)),
        unread=unread,
    )


def _faults(store: Store, world: QueueWorld, local: model.LocalQueue | None, name: str) -> Iterator[tuple[str, str]]:
    if local is not None and local.spec.stop_policy in STOPPED:
        yield "LocalQueueStopped", local.metadata.name
    queue = world.queues.get(name)
    if queue is None:
        if is_known(store, model.CLUSTER_QUEUE):
            yield "NoClusterQueue", name
        return
    yield from ((each.reason, each.name) for each in world.queue_faults(queue))


def _rows(world: QueueWorld, queue: model.ClusterQueue) -> Iterator[FlavorRow]:
    if queue.cohort in world.capacity.broken:
        return
    for group in queue.spec.resource_groups or ():
        for flavor in group.flavors or ():
            for quota in flavor.resources or ():
                yield quota_row(world, queue, flavor.name, quota.name)


def _belongs(workload: model.KueueWorkload, local: model.LocalQueue | None) -> bool:
    return local is None or (
        (workload.metadata.namespace, workload.spec.queue_name) == (local.metadata.namespace, local.metadata.name)
    )


def _waiting(world: QueueWorld, name: str, local: model.LocalQueue | None) -> Iterator[QueuedWork]:
    """Yield who waits, in order; of a queue that admits nobody all that name it."""
    standing = world.waiting(name)
    outside = [
        each
        for each in world.workloads.values()
        if is_pending(each)
        and world.outside(each) is not None
        and (queue := world.local_queue_of(each)) is not None
        and queue.spec.cluster_queue == name
    ]
    for workload in (*standing, *sorted(outside, key=key_of)):
        if _belongs(workload, local):
            answer = world.answer(workload)
            space, own = key_of(workload)
            ref = ObjectRef(model.WORKLOAD, own, space)
            text = answer.text or (owner_name(answer.head) if answer.head is not None else "")
            yield QueuedWork(ref, owner_name(workload), workload.spec.priority or 0, answer.cause, text)


def _admitted(world: QueueWorld, name: str, local: model.LocalQueue | None) -> Iterator[QueuedWork]:
    for workload in world.workloads.values():
        admission = workload.status.admission
        if (
            admission is not None
            and admission.cluster_queue == name
            and holds_quota(workload)
            and _belongs(workload, local)
        ):
            space, own = key_of(workload)
            yield QueuedWork(ObjectRef(model.WORKLOAD, own, space), owner_name(workload), workload.spec.priority or 0)
