"""Rules of ``check`` about queues of Kueue.

- KRES501: an object names a LocalQueue that its namespace does not have.
- KRES502: an object names a WorkloadPriorityClass that does not exist.
- KRES503: a job is one that its queue never admits.
- KRES504: a LocalQueue leads to no ClusterQueue.
- KRES505: a ClusterQueue does not take the namespace of a LocalQueue.
- KRES506: a ClusterQueue names something that does not exist.
- KRES507: a queue is stopped while something waits in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.kueue import model
from kubectl_kres.kueue.reports.account import account_of, nearest
from kubectl_kres.kueue.reports.record import QueueAccount, WhyItWaits
from kubectl_kres.kueue.reports.world import labels_of_subject
from kubectl_kres.kueue.rules.world import is_pending
from kubectl_kres.kueue.stored import is_known, world_of
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.check.context import CheckContext, Rule
from kubectl_kres.reports.check.finding import Diagnostic
from kubectl_kres.reports.check.system import CheckSystem
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.scheduling.selectors import matches
from kubectl_kres.store.store import ReadRequest, Store

_LABELS = "metadata.labels"


def _queued(context: CheckContext) -> Iterator[tuple[Subject, str, str]]:
    """Yield what names a queue, with the queue and the priority class."""
    for subject in context.subjects:
        labels = labels_of_subject(context.store, subject)
        if labels is not None and labels.queue and context.selects(subject.ref):
            yield subject, labels.queue, labels.priority


def _meant(name: str, names: Iterable[str]) -> str:
    near = nearest(name, tuple(names))
    return f"; did you mean {near}?" if near else ""


def find_no_local_queue(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield objects whose queue their namespace does not have."""
    store, space = context.store, context.namespace
    names = [each.metadata.name for each in store.all(model.LOCAL_QUEUE, space)]
    for subject, queue, _ in _queued(context):
        if queue not in names and is_known(store, model.LOCAL_QUEUE, space):
            values = {"queue": queue, "meant": _meant(queue, names)}
            yield Diagnostic(subject.ref, values, f"{_LABELS}[{model.QUEUE_LABEL}]")


NO_LOCAL_QUEUE = Rule(
    code="KRES501",
    title="an object names a LocalQueue that its namespace does not have",
    severity="error",
    reason="Kueue holds it back until a LocalQueue of that name is there; one of another namespace does not count.",
    remedy="Correct the label kueue.x-k8s.io/queue-name, or create the LocalQueue.",
    message="LocalQueue {queue} is not in its namespace{meant}",
    find=find_no_local_queue,
)


def find_no_priority(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield objects whose WorkloadPriorityClass does not exist."""
    names = [each.metadata.name for each in context.store.all(model.PRIORITY)]
    for subject, _, priority in _queued(context):
        if priority and priority not in names and is_known(context.store, model.PRIORITY):
            values = {"name": priority, "meant": _meant(priority, names)}
            yield Diagnostic(subject.ref, values, f"{_LABELS}[{model.PRIORITY_LABEL}]")


NO_PRIORITY = Rule(
    code="KRES502",
    title="an object names a WorkloadPriorityClass that does not exist",
    severity="error",
    reason="Kueue makes no Workload of it and says nothing: it stays suspended.",
    remedy="Correct the label kueue.x-k8s.io/priority-class, or create the class.",
    message="WorkloadPriorityClass {name} does not exist{meant}",
    find=find_no_priority,
)


def find_never_fits(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield what its queue never admits, also where nothing else runs."""
    for subject, _, _ in _queued(context):
        account = account_of(context.store, subject)
        if account is not None and _never_fits(account):
            why = WhyItWaits(account, "quota" if account.cause == "behind" else "cause")
            yield Diagnostic(subject.ref, {"why": why}, "spec")


def _never_fits(account: QueueAccount) -> bool:
    """Return whether something is wrong with it beside what is only in use now."""
    if account.cause in {"NoMatchingFlavor", "ExceedsMaxQuota", "resources", "limit-range"}:
        return True
    waits = any(row.why == "WaitingForQuota" for row in account.flavors)
    return account.cause == "behind" and any(row.why for row in account.flavors) and not waits


NEVER_FITS = Rule(
    code="KRES503",
    title="a job is one that its queue never admits",
    severity="error",
    reason="It waits however much others give back, and in a StrictFIFO queue all behind it wait with it.",
    remedy="Ask for less, or let the queue give more: its explanation has fixes that were tried.",
    message="{why}",
    find=find_never_fits,
)


def find_no_cluster_queue(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield LocalQueues of a ClusterQueue that does not exist."""
    if not is_known(context.store, model.CLUSTER_QUEUE):
        return
    names = [each.metadata.name for each in context.store.all(model.CLUSTER_QUEUE)]
    for local in context.store.all(model.LOCAL_QUEUE, context.namespace):
        ref = ObjectRef(model.LOCAL_QUEUE, local.metadata.name, context.namespace)
        if local.spec.cluster_queue not in names and context.selects(ref):
            name = local.spec.cluster_queue
            yield Diagnostic(ref, {"name": name, "meant": _meant(name, names)}, "spec.clusterQueue")


NO_CLUSTER_QUEUE = Rule(
    code="KRES504",
    title="a LocalQueue leads to no ClusterQueue",
    severity="error",
    reason="Nothing that names the LocalQueue is admitted; its spec.clusterQueue cannot be changed.",
    remedy="Create the ClusterQueue, or delete the LocalQueue and create it anew.",
    message="ClusterQueue {name} does not exist{meant}",
    find=find_no_cluster_queue,
)


def find_namespace_left_out(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield LocalQueues of a namespace that their ClusterQueue does not take."""
    space = context.store.get("Namespace", context.namespace)
    for local in context.store.all(model.LOCAL_QUEUE, context.namespace) if space is not None else ():
        queue = context.store.get(model.CLUSTER_QUEUE, local.spec.cluster_queue)
        ref = ObjectRef(model.LOCAL_QUEUE, local.metadata.name, context.namespace)
        if queue is None or space is None or not context.selects(ref):
            continue
        if not matches(queue.spec.namespace_selector, space.metadata.labels or {}):
            yield Diagnostic(ref, {"queue": queue.metadata.name}, "spec.clusterQueue")


NAMESPACE_LEFT_OUT = Rule(
    code="KRES505",
    title="a ClusterQueue does not take the namespace of a LocalQueue",
    severity="error",
    reason="Its namespaceSelector does not match the labels of the namespace; without a selector it matches none.",
    remedy="Label the namespace, or open the selector.",
    message="ClusterQueue {queue} does not take this namespace",
    find=find_namespace_left_out,
)


def find_missing_parts(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield ClusterQueues that name a flavor or an admission check that is not there, or not active."""
    world = world_of(context.store)
    for name, queue in sorted(world.queues.items()):
        ref = ObjectRef(model.CLUSTER_QUEUE, name)
        faults = tuple((each.reason, each.name) for each in world.queue_faults(queue) if each.reason != "Stopped")
        if faults and context.selects(ref):
            why = WhyItWaits(QueueAccount("waits", "", cluster_queue=name, faults=faults), "faults")
            yield Diagnostic(ref, {"why": why}, "spec.resourceGroups")


MISSING_PARTS = Rule(
    code="KRES506",
    title="a ClusterQueue names something that does not exist",
    severity="error",
    reason="It admits nobody until its flavors and admission checks are there, and the checks are active.",
    remedy="Create what is missing, or correct the name.",
    message="{why}",
    find=find_missing_parts,
    scope="cluster",
)


def find_stopped(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield stopped LocalQueues in which something waits."""
    world = world_of(context.store)
    for local in context.store.all(model.LOCAL_QUEUE, context.namespace):
        ref = ObjectRef(model.LOCAL_QUEUE, local.metadata.name, context.namespace)
        queue = world.queues.get(local.spec.cluster_queue)
        stopped = [each for each in (local, queue) if each is not None and each.spec.stop_policy not in {"", "None"}]
        if not stopped or not context.selects(ref):
            continue
        count = sum(
            is_pending(each) and each.spec.queue_name == local.metadata.name
            for each in context.store.all(model.WORKLOAD, context.namespace)
        )
        if count:
            names = " and ".join(f"{each.kind} {each.metadata.name}" for each in stopped)
            yield Diagnostic(ref, {"names": names, "count": str(count)}, "spec.stopPolicy")


STOPPED = Rule(
    code="KRES507",
    title="a queue is stopped while something waits in it",
    severity="warning",
    reason="Nothing is admitted while stopPolicy is Hold or HoldAndDrain.",
    remedy="Set stopPolicy to None once it may admit again.",
    message="{names} is stopped, and {count} wait",
    find=find_stopped,
)


def _reads(store: Store) -> Iterable[ReadRequest]:
    """Only where a queue stands on some object, so that its Workloads were asked for."""
    if not any(store.reads_of_kind(model.WORKLOAD)) and not any(store.all(model.CLUSTER_QUEUE)):
        return
    for kind in (model.CLUSTER_QUEUE, model.FLAVOR, model.CHECK):
        yield ReadRequest(kind, required=False)


SYSTEM = CheckSystem(
    rules=(NO_LOCAL_QUEUE, NO_PRIORITY, NEVER_FITS, NO_CLUSTER_QUEUE, NAMESPACE_LEFT_OUT, MISSING_PARTS, STOPPED),
    reads=_reads,
    exempted=(model.LOCAL_QUEUE, model.CLUSTER_QUEUE),
)
