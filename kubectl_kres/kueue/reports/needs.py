"""What is read for an object that names a queue: its Workload, then its queues, as far as they are known by now."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.kueue import model
from kubectl_kres.kueue.reports.world import labels_of_subject, pods_of_group, workload_of
from kubectl_kres.kueue.rules.world import check_names, is_pending
from kubectl_kres.kueue.stored import is_run_queued
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.store.store import ReadRequest, Store


def held_needs(store: Store, subject: Subject, *, listed: bool) -> Iterator[ReadRequest]:
    """Yield the reads for an object that may wait; none where no queue stands on it, or Kueue is not served.

    ``listed``: one of many, of which a line is shown: who stands before it in other namespaces is not looked for.
    """
    if subject.raw is not None and is_run_queued(store, subject.ref.kind, subject.ref.namespace):
        yield ReadRequest("ConfigMap", model.RUN_CONFIG_NAMESPACE, model.RUN_CONFIG, required=False)
    labels = labels_of_subject(store, subject)
    if labels is None or not (labels.queue or labels.gated):
        return
    namespace = subject.ref.namespace
    first = ReadRequest(model.WORKLOAD, namespace, required=False)
    yield first
    if store.covered(first).state == "absent":
        return
    workload = workload_of(store, subject)
    if workload is None and labels.group and subject.ref.kind == "Pod":
        yield pods_of_group(namespace, labels.group)
    if workload is None and labels.priority:
        yield ReadRequest(model.PRIORITY, required=False)
    if workload is not None and not is_pending(workload):
        return
    yield from queue_needs(store, namespace, labels.queue, listed=listed)


def queue_needs(store: Store, namespace: str, queue: str, *, listed: bool) -> Iterator[ReadRequest]:
    """Yield the reads for what is said of a LocalQueue and of what stands in it."""
    yield ReadRequest(model.LOCAL_QUEUE, namespace, required=False)
    local = store.get(model.LOCAL_QUEUE, queue, namespace)
    if local is None:
        return
    yield from cluster_queue_needs(store, local.spec.cluster_queue)
    yield ReadRequest("Namespace", name=namespace, required=False)
    yield ReadRequest("LimitRange", namespace, required=False)
    if not listed:
        yield ReadRequest(model.WORKLOAD, required=False)


def cluster_queue_needs(store: Store, name: str) -> Iterator[ReadRequest]:
    """Yield the reads of a ClusterQueue, of those that lend to it, of its flavors and checks."""
    yield ReadRequest(model.CLUSTER_QUEUE, required=False)
    queue = store.get(model.CLUSTER_QUEUE, name)
    if queue is None:
        return
    yield ReadRequest(model.FLAVOR, required=False)
    if queue.cohort:
        yield ReadRequest(model.COHORT, required=False)
    if any(check_names(queue)):
        yield ReadRequest(model.CHECK, required=False)
