"""What becomes of each Workload: who is asked first, what keeps it out before any quota, and what flavors say.

Source: pkg/scheduler/scheduler.go nominate, pkg/controller/core/workload_controller.go, pkg/cache/queue.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, product
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.errors import QuantityError
from kubectl_kres.kueue import model
from kubectl_kres.kueue.rules.capacity import Capacity, Cell
from kubectl_kres.kueue.rules.charge import Charge, PodFault, amount_text, charges, faults, to_units
from kubectl_kres.kueue.rules.flavors import PodSetDecision, PodSetRequest, QuotaDecision, decide_partly
from kubectl_kres.model.objects import Condition, Namespace, RuntimeClass
from kubectl_kres.quantity import stored_quantity
from kubectl_kres.scheduling.selectors import matches

#: What keeps a Workload from its quota, in the order in which Kueue looks.
Cause = Literal[
    "deactivated",
    "no-local-queue",
    "local-queue-stopped",
    "no-cluster-queue",
    "cluster-queue-inactive",
    "backoff",
    "namespace",
    "resources",
    "limit-range",
    "NoMatchingFlavor",
    "ExceedsMaxQuota",
    "WaitingForQuota",
    "behind",
    "fits",
    "unknown",
]
#: Those in which it stands in the way of those behind it where the queue is strict.
BLOCKING = frozenset({
    "resources", "limit-range", "NoMatchingFlavor", "ExceedsMaxQuota", "WaitingForQuota", "fits", "unknown",
})  # fmt: skip
#: Those that are no matter of its place in the queue.
OUTSIDE = frozenset({
    "deactivated", "no-local-queue", "local-queue-stopped", "no-cluster-queue", "cluster-queue-inactive", "backoff",
})  # fmt: skip
#: So many combinations of orders of LimitRanges are looked at.
_MOST_ORDERS = 24
#: Values of ``stopPolicy`` with which nothing is admitted.
STOPPED = frozenset({"Hold", "HoldAndDrain"})
NAMESPACE_MISMATCH = "workload namespace doesn't match ClusterQueue selector"


class QueueFault(NamedTuple):
    """Why a ClusterQueue admits nobody: its reason as in its condition Active, and the object that it is about."""

    reason: str
    name: str = ""


class QueueVerdict(NamedTuple):
    """What keeps a Workload out. ``text``: Kueue's sentence, empty where it says none.

    ``decision``: what the flavors say, also of one that stands behind another, which is ``head``. ``pods``: values that
    are refused. ``queue_faults``: of an inactive ClusterQueue.
    """

    cause: Cause
    text: str = ""
    decision: QuotaDecision | None = None
    pods: tuple[PodFault, ...] = ()
    queue_faults: tuple[QueueFault, ...] = ()
    head: model.KueueWorkload | None = None


def key_of(workload: model.KueueWorkload) -> tuple[str, str]:
    """Return namespace and name."""
    return workload.metadata.namespace, workload.metadata.name


def holds_quota(workload: model.KueueWorkload) -> bool:
    """Return whether quota is reserved for it; that of one that has finished is given back."""
    conditions = workload.status.conditions
    return (
        workload.status.admission is not None
        and model.is_true(conditions, model.RESERVED)
        and not model.is_true(conditions, model.FINISHED)
    )


def is_pending(workload: model.KueueWorkload) -> bool:
    """Return whether it waits for quota."""
    return not holds_quota(workload) and not model.is_true(workload.status.conditions, model.FINISHED)


def reserved(workload: model.KueueWorkload) -> dict[Cell, int]:
    """Return what it holds, less what pods that are done give back. Source: pkg/workload/workload.go Usage."""
    done = {pods.name: pods.count for pods in workload.status.reclaimable_pods or ()}
    taken: dict[Cell, int] = {}
    admission = workload.status.admission
    for assignment in (admission.pod_set_assignments if admission is not None else None) or ():
        count = assignment.count if assignment.count is not None else 1
        left = max(0, count - done.get(assignment.name, 0))
        for resource, value in (assignment.resource_usage or {}).items():
            flavor = (assignment.flavors or {}).get(resource)
            try:
                units = to_units(resource, stored_quantity(value))
            except QuantityError:
                continue
            if flavor is not None and count > 0:
                cell = (flavor, resource)
                taken[cell] = taken.get(cell, 0) + units // count * left
    return taken


def order_key(workload: model.KueueWorkload) -> tuple[int, str, str]:
    """Return what a queue is ordered by: priority, time, and the uid where these are equal.

    Source: pkg/cache/queue/cluster_queue.go queueOrderingFunc, pkg/workload/workload.go GetQueueOrderTimestamp.
    """
    evicted = model.condition_of(workload.status.conditions, model.EVICTED)
    late = evicted is not None and evicted.status == "True" and evicted.reason in {"PodsReadyTimeout", "AdmissionCheck"}
    time = (evicted.last_transition_time if evicted is not None and late else None) or (
        workload.metadata.creation_timestamp or ""
    )
    return -(workload.spec.priority or 0), time, workload.metadata.uid


class QueueWorld(Struct, frozen=True, dict=True):
    """All that Kueue looks at. ``limits``: by namespace. ``flavors``, ``checks`` None: they were not read, and are
    taken as there.
    """

    queues: Mapping[str, model.ClusterQueue] = {}
    local_queues: Mapping[tuple[str, str], model.LocalQueue] = {}
    flavors: Mapping[str, model.ResourceFlavor] | None = {}
    cohorts: tuple[model.Cohort, ...] = ()
    checks: Mapping[str, model.AdmissionCheck] | None = {}
    workloads: Mapping[tuple[str, str], model.KueueWorkload] = {}
    namespaces: Mapping[str, Namespace] = {}
    limits: Mapping[str, Sequence[Limits]] = {}
    runtimes: tuple[RuntimeClass, ...] = ()
    #: Namespaces whose LimitRanges were read; None: of all. For Workloads of others what Kueue last charged counts.
    limits_known: frozenset[str] | None = None
    #: In place of the sums of Workloads, by queue; None: these are known.
    counted: Mapping[str, Mapping[Cell, int]] | None = None
    #: By namespace and id of a pod spec, which is kept so that no other gets that id: what was charged so far, with a
    #: journal or without. Worlds that differ in other things than LimitRanges and RuntimeClasses share it.
    charged: dict[tuple[str, int], tuple[model.PodSetSpec, bool, tuple[Charge, ...]]] = {}

    @cached_property
    def capacity(self) -> Capacity:
        """What each ClusterQueue has, with what is in use."""
        usage: dict[str, dict[Cell, int]] = {}
        if self.counted is not None:
            return Capacity(self.queues.values(), self.cohorts, self.counted)
        for workload in self.workloads.values():
            if not holds_quota(workload):
                continue
            admission = workload.status.admission
            sums = usage.setdefault(admission.cluster_queue if admission is not None else "", {})
            for cell, amount in reserved(workload).items():
                sums[cell] = sums.get(cell, 0) + amount
        return Capacity(self.queues.values(), self.cohorts, usage)

    def local_queue_of(self, workload: model.KueueWorkload) -> model.LocalQueue | None:
        """Return the LocalQueue that a Workload names, of its own namespace."""
        return self.local_queues.get((workload.metadata.namespace, workload.spec.queue_name))

    def queue_of(self, workload: model.KueueWorkload) -> model.ClusterQueue | None:
        """Return the ClusterQueue behind it."""
        local = self.local_queue_of(workload)
        return self.queues.get(local.spec.cluster_queue) if local is not None else None

    @cached_property
    def _waiting(self) -> Mapping[str, tuple[model.KueueWorkload, ...]]:
        found: dict[str, list[model.KueueWorkload]] = {}
        for workload in self.workloads.values():
            queue = self.queue_of(workload) if is_pending(workload) else None
            if queue is not None and self.outside(workload) is None:
                found.setdefault(queue.metadata.name, []).append(workload)
        return {name: tuple(sorted(each, key=order_key)) for name, each in found.items()}

    def waiting(self, queue: str) -> tuple[model.KueueWorkload, ...]:
        """Return who stands in a ClusterQueue, first come first."""
        return self._waiting.get(queue, ())

    def place(self, queue: str, workload: model.KueueWorkload) -> int:
        """Return where it stands in a ClusterQueue, 1 for the first; 0: not in it."""
        places: dict[str, dict[tuple[str, str], int]] = self.__dict__.setdefault("places", {})
        if queue not in places:
            places[queue] = {key_of(each): number for number, each in enumerate(self.waiting(queue), 1)}
        return places[queue].get(key_of(workload), 0)

    def outside(self, workload: model.KueueWorkload) -> QueueVerdict | None:
        """Return what keeps it out of the queue itself; None: it stands in it."""
        if workload.spec.active is False:
            return QueueVerdict("deactivated", "The workload is deactivated")
        local = self.local_queue_of(workload)
        if local is None:
            return QueueVerdict("no-local-queue", f"LocalQueue {workload.spec.queue_name} doesn't exist")
        if local.spec.stop_policy in STOPPED:
            return QueueVerdict("local-queue-stopped", f"LocalQueue {workload.spec.queue_name} is inactive")
        name = local.spec.cluster_queue
        queue = self.queues.get(name)
        if queue is None:
            return QueueVerdict("no-cluster-queue", f"ClusterQueue {name} doesn't exist")
        inactive = tuple(self.queue_faults(queue))
        if inactive:
            return QueueVerdict("cluster-queue-inactive", f"ClusterQueue {name} is inactive", queue_faults=inactive)
        requeued = model.condition_of(workload.status.conditions, "Requeued")
        if requeued is not None and requeued.status == "False":
            return QueueVerdict("backoff", requeued.message)
        return None

    def queue_faults(self, queue: model.ClusterQueue) -> Iterator[QueueFault]:
        """Yield why a ClusterQueue is inactive. Where Kueue says that it is active, all that it names is there.

        Source: pkg/cache/scheduler/clusterqueue.go inactiveReason.
        """
        if queue.spec.stop_policy in STOPPED:
            yield QueueFault("Stopped")
        active = model.condition_of(queue.status.conditions, "Active")
        if active is not None and active.status == "True":
            return
        missing = tuple(self._missing(queue))
        yield from missing
        if active is not None and not missing and queue.spec.stop_policy not in STOPPED:
            yield QueueFault(active.reason)

    def _missing(self, queue: model.ClusterQueue) -> Iterator[QueueFault]:
        for group in queue.spec.resource_groups or ():
            for flavor in group.flavors or ():
                if self.flavors is not None and flavor.name not in self.flavors:
                    yield QueueFault("FlavorNotFound", flavor.name)
        if self.checks is None:
            return
        for name in check_names(queue):
            check = self.checks.get(name)
            if check is None:
                yield QueueFault("AdmissionCheckNotFound", name)
            elif not model.is_true(check.status.conditions, "Active"):
                yield QueueFault("AdmissionCheckInactive", name)

    def _flavors_of(self, queue: model.ClusterQueue) -> Mapping[str, model.ResourceFlavor] | None:
        """Return the flavors; one that an active queue names is there, also where it was not read."""
        if self.flavors is None or not model.is_true(queue.status.conditions, "Active"):
            return self.flavors
        named = (flavor.name for group in queue.spec.resource_groups or () for flavor in group.flavors or ())
        return {**{name: model.ResourceFlavor() for name in named}, **self.flavors}

    def charges(self, workload: model.KueueWorkload, *, journal: bool = False) -> tuple[tuple[Charge, ...], ...]:
        """Return what a pod of each pod set is charged, for each order of LimitRanges. Raises Unparsable."""
        space, limits = workload.metadata.namespace, self.limits.get(workload.metadata.namespace, ())

        def charged(spec: model.PodSetSpec) -> tuple[Charge, ...]:
            known = self.charged.get((space, id(spec)))
            if known is None or known[1] < journal:
                known = spec, journal, charges(spec, limits, self.runtimes, journal=journal)
                self.charged[space, id(spec)] = known
            return known[2]

        return tuple(charged(pod_set.template.spec) for pod_set in workload.spec.pod_sets or ())

    def answer(self, workload: model.KueueWorkload) -> QueueVerdict:
        """Return what keeps a pending Workload out now."""
        outside = self.outside(workload)
        if outside is not None:
            return outside
        own = self.evaluate(workload)
        queue = self.queue_of(workload)
        if queue is None or own.cause == "namespace":
            return own
        head = self.head(queue)
        if head is not None and key_of(head) != key_of(workload):
            return QueueVerdict("behind", decision=own.decision, pods=own.pods, head=head)
        return own

    def head(self, queue: model.ClusterQueue) -> model.KueueWorkload | None:
        """Return the Workload that stands in the way of all others; None: the queue is not strict, or is empty."""
        if queue.spec.queueing_strategy != "StrictFIFO":
            return None
        return next((each for each in self.waiting(queue.metadata.name) if self.evaluate(each).cause in BLOCKING), None)

    def evaluate(self, workload: model.KueueWorkload) -> QueueVerdict:
        """Return what Kueue says of a Workload whose turn it is. Source: ValidateAdmissibility, Assign."""
        memo: dict[tuple[str, str], QueueVerdict] = self.__dict__.setdefault("evaluated", {})
        key = key_of(workload)
        known = memo.get(key) if self.workloads.get(key) is workload else None
        if known is None:
            known = self._evaluate(workload)
            if self.workloads.get(key) is workload:
                memo[key] = known
        return known

    def _evaluate(self, workload: model.KueueWorkload) -> QueueVerdict:
        queue = self.queue_of(workload)
        if queue is None or (queue.cohort and queue.cohort in self.capacity.broken):
            return QueueVerdict("unknown")
        space = self.namespaces.get(workload.metadata.namespace)
        if space is not None and not matches(queue.spec.namespace_selector, space.metadata.labels or {}):
            return QueueVerdict("namespace", NAMESPACE_MISMATCH)
        if self.limits_known is not None and workload.metadata.namespace not in self.limits_known:
            return self._as_charged(queue, workload)
        try:
            every = self.charges(workload)
        except Unparsable:
            return QueueVerdict("unknown")
        answers = (self._with_charges(queue, workload, chosen) for chosen in islice(product(*every), _MOST_ORDERS))
        first = next(answers)
        told = model.condition_of(workload.status.conditions, model.RESERVED)
        if told is None or told.status == "True":
            return first
        # Of several orders of LimitRanges Kueue's sentence tells which one it took.
        return next((each for each in (first, *answers) if _agrees(each, told.message)), first)

    def _with_charges(
        self, queue: model.ClusterQueue, workload: model.KueueWorkload, chosen: Sequence[Charge]
    ) -> QueueVerdict:
        pod_sets = workload.spec.pod_sets or ()
        limits = self.limits.get(workload.metadata.namespace, ())
        refused = faults(pod_sets, [each.draft for each in chosen], limits)
        if refused:
            return _refused(refused)
        done = {pods.name: pods.count for pods in workload.status.reclaimable_pods or ()}
        requests = [
            PodSetRequest(
                structs.replace(pod_set, count=max(0, pod_set.count - done.get(pod_set.name, 0))), each.amounts
            )
            for pod_set, each in zip(pod_sets, chosen, strict=True)
        ]
        return self.by_quota(queue, requests)

    def _as_charged(self, queue: model.ClusterQueue, workload: model.KueueWorkload) -> QueueVerdict:
        """Return the verdict by what Kueue last charged, where LimitRanges were not read."""
        stated = {each.name: each.resources or {} for each in workload.status.resource_requests or ()}
        pod_sets = workload.spec.pod_sets or ()
        if any(pod_set.name not in stated or pod_set.count < 1 for pod_set in pod_sets):
            return QueueVerdict("unknown")
        try:
            requests = [
                PodSetRequest(
                    pod_set,
                    {
                        name: -(-to_units(name, stored_quantity(value)) // pod_set.count)
                        for name, value in stated[pod_set.name].items()
                        if name != "pods"
                    },
                )
                for pod_set in pod_sets
            ]
        except QuantityError:
            return QueueVerdict("unknown")
        return self.by_quota(queue, requests)

    def by_quota(self, queue: model.ClusterQueue, requests: Sequence[PodSetRequest]) -> QueueVerdict:
        """Return what flavors say of pods that are charged so much."""
        decision = decide_partly(queue, self._flavors_of(queue), self.capacity, requests)
        if decision.why is None:
            return QueueVerdict("fits", decision=decision)
        return QueueVerdict(decision.why, _sentence(decision.pod_sets), decision)

    def with_workload(self, workload: model.KueueWorkload) -> QueueWorld:
        """Return the world with a Workload, in place of the one of its name if there is one."""
        return structs.replace(self, workloads={**self.workloads, key_of(workload): workload})

    def admitted(self, workload: model.KueueWorkload, decision: QuotaDecision) -> QueueWorld:
        """Return the world once a Workload is admitted as was decided."""
        queue = self.queue_of(workload)
        assignments = tuple(
            model.PodSetAssignment(
                each.name,
                each.flavors,
                {name: amount_text(name, units) for name, units in each.charge.items()},
                each.pods,
            )
            for each in decision.pod_sets
        )
        status = model.KueueWorkloadStatus(
            admission=model.Admission(queue.metadata.name if queue is not None else "", assignments),
            conditions=(Condition(model.RESERVED, "True"), Condition(model.ADMITTED, "True")),
        )
        return self.with_workload(structs.replace(workload, status=status))

    def next_admission(self) -> tuple[model.KueueWorkload, QuotaDecision] | None:
        """Return who is admitted next, without preemption; None: nobody.

        Of several queues one that does not borrow comes first, then by priority and time.
        Source: pkg/scheduler/scheduler.go entryOrdering.
        """
        found: list[tuple[bool, tuple[int, str, str], model.KueueWorkload, QuotaDecision]] = []
        for name, queue in self.queues.items():
            for workload in self.waiting(name):
                answer = self.evaluate(workload)
                if answer.cause == "fits" and answer.decision is not None:
                    borrows = any(each.borrows for each in answer.decision.pod_sets)
                    found.append((borrows, order_key(workload), workload, answer.decision))
                    break
                if queue.spec.queueing_strategy == "StrictFIFO" and answer.cause in BLOCKING:
                    break
        if not found:
            return None
        return min(found, key=lambda each: each[:2])[2:]


def _agrees(answer: QueueVerdict, message: str) -> bool:
    """Return whether Kueue's sentence has nothing that the answer has not."""
    if answer.text == message:
        return True
    texts = [fault.text for fault in answer.decision.faults] if answer.decision is not None else []
    return bool(texts) and sum(text in message for text in texts) >= message.count("insufficient") > 0


def check_names(queue: model.ClusterQueue) -> Iterator[str]:
    """Yield the admission checks of a ClusterQueue."""
    yield from queue.spec.admission_checks or ()
    strategy = queue.spec.admission_checks_strategy
    for each in (strategy.admission_checks if strategy is not None else None) or ():
        if isinstance(each, dict) and isinstance(each.get("name"), str):
            yield each["name"]


def _refused(refused: tuple[PodFault, ...]) -> QueueVerdict:
    texts = [
        f"{fault.path}: Invalid value: {msgspec.json.encode(fault.resources).decode()}: {fault.text}"
        for fault in refused
    ]
    joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    if refused[0].text.startswith("requests must not exceed"):
        return QueueVerdict("resources", f"resources validation failed: {joined}", pods=refused)
    return QueueVerdict("limit-range", f"resources didn't satisfy LimitRange constraints: {joined}", pods=refused)


def _sentence(pod_sets: Iterable[PodSetDecision]) -> str:
    """Return Kueue's sentence with every reason; it names by chance one resource of several that can never fit."""
    return "; ".join(
        f"couldn't assign flavors to pod set {each.name}: {', '.join(sorted(fault.text for fault in each.faults))}"
        for each in pod_sets
        if each.faults and each.why is not None
    )
