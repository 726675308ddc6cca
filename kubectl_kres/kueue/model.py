"""Kueue's objects as stored: kueue.x-k8s.io/v1beta2, and v1beta1, which names some fields otherwise.

Source: kueue 0.19.0 apis/kueue/v1beta2.
"""

from collections.abc import Mapping
from typing import Any

from kubectl_kres.model.objects import Base, Condition, Kind, LabelSelector, Metadata, ResourceList
from kubectl_kres.model.pod import ResourceRequirements

GROUP, VERSION = "kueue.x-k8s.io", "v1beta2"
WORKLOAD, LOCAL_QUEUE, CLUSTER_QUEUE = "Workload", "LocalQueue", "ClusterQueue"
FLAVOR, COHORT, CHECK, PRIORITY = "ResourceFlavor", "Cohort", "AdmissionCheck", "WorkloadPriorityClass"
#: Labels and annotations. Source: pkg/controller/constants/constants.go, pkg/controller/jobs/pod/constants.
QUEUE_LABEL, PRIORITY_LABEL, UID_LABEL = f"{GROUP}/queue-name", f"{GROUP}/priority-class", f"{GROUP}/job-uid"
GROUP_LABEL, GROUP_COUNT = f"{GROUP}/pod-group-name", f"{GROUP}/pod-group-total-count"
#: tekton-kueue: the resource that it charges of each run, what its annotations with more of them begin with, its
#: webhook, and the ConfigMap of its configuration where its release puts it. Source: konflux-ci/tekton-kueue v0.3.0.
RUNS, REQUESTS = "tekton.dev/pipelineruns", "kueue.konflux-ci.dev/requests-"
RUN_WEBHOOK = "pipelinerun-kueue-defaulter.tekton-kueue.io"
RUN_CONFIG, RUN_CONFIG_NAMESPACE = "tekton-kueue-config", "tekton-kueue"
#: Conditions of Workloads.
RESERVED, ADMITTED, EVICTED, FINISHED = "QuotaReserved", "Admitted", "Evicted", "Finished"


class QueuedContainer(Base, frozen=True):
    """A container with what is charged for it."""

    name: str = ""
    restart_policy: str | None = None
    resources: ResourceRequirements | None = None


class PodSetSpec(Base, frozen=True):
    """What of a pod spec decides what is charged, and which flavors it can have; nothing else of it is kept.

    ``affinity`` and ``tolerations``: as they stand. ``rules.placing`` reads them, which few answers need.
    """

    containers: tuple[QueuedContainer, ...] | None = None
    init_containers: tuple[QueuedContainer, ...] | None = None
    resources: ResourceRequirements | None = None
    overhead: ResourceList | None = None
    runtime_class_name: str | None = None
    priority_class_name: str = ""
    priority: int | None = None
    affinity: Any = None
    node_selector: Mapping[str, str] | None = None
    tolerations: Any = None


class PodSetTemplate(Base, frozen=True):
    """The template of the pods of a pod set."""

    spec: PodSetSpec = PodSetSpec()


class PodSet(Base, frozen=True):
    """Pods that are alike. ``min_count``: how many are enough; None: all."""

    name: str = ""
    count: int = 1
    min_count: int | None = None
    template: PodSetTemplate = PodSetTemplate()
    topology_request: Any = None


class KueueWorkloadSpec(Base, frozen=True):
    """What is queued. ``active`` None: true."""

    pod_sets: tuple[PodSet, ...] | None = None
    queue_name: str = ""
    priority: int | None = None
    active: bool | None = None


class PodSetAssignment(Base, frozen=True):
    """What a pod set was given: ``flavors`` and ``resource_usage`` by resource, the sum of ``count`` pods."""

    name: str = ""
    flavors: Mapping[str, str] | None = None
    resource_usage: ResourceList | None = None
    count: int | None = None


class Admission(Base, frozen=True):
    """The reservation of a Workload."""

    cluster_queue: str = ""
    pod_set_assignments: tuple[PodSetAssignment, ...] | None = None


class ReclaimablePod(Base, frozen=True):
    """Pods of a pod set that are done and give their share back."""

    name: str = ""
    count: int = 0


class CheckState(Base, frozen=True):
    """How an admission check of a Workload stands: Pending, Ready, Retry or Rejected."""

    name: str = ""
    state: str = ""
    message: str = ""


class RequeueState(Base, frozen=True):
    """How often it was queued again, and when it is next. ``requeue_at`` None: it does not wait for a time."""

    count: int | None = None
    requeue_at: str | None = None


class PodSetRequestState(Base, frozen=True):
    """What Kueue last charged for all pods of a pod set that waits."""

    name: str = ""
    resources: ResourceList | None = None


class KueueWorkloadStatus(Base, frozen=True):
    """What Kueue says. ``admission`` None: nothing is reserved."""

    resource_requests: tuple[PodSetRequestState, ...] | None = None
    admission: Admission | None = None
    conditions: tuple[Condition, ...] | None = None
    requeue_state: RequeueState | None = None
    reclaimable_pods: tuple[ReclaimablePod, ...] | None = None
    admission_checks: tuple[CheckState, ...] | None = None


class KueueWorkload(Base, frozen=True):
    """The place of a Job, a pod, a group of pods or a run in its queue."""

    metadata: Metadata = Metadata()
    spec: KueueWorkloadSpec = KueueWorkloadSpec()
    status: KueueWorkloadStatus = KueueWorkloadStatus()
    kind: str = WORKLOAD
    api_version: str = f"{GROUP}/{VERSION}"


class FlavorQuota(Base, frozen=True):
    """The quota of a resource; limits None: none."""

    name: str = ""
    nominal_quota: Any = None
    borrowing_limit: Any = None
    lending_limit: Any = None


class FlavorQuotas(Base, frozen=True):
    """The quotas in one flavor."""

    name: str = ""
    resources: tuple[FlavorQuota, ...] | None = None


class ResourceGroup(Base, frozen=True):
    """Resources that are all taken from the same flavor, the first one that fits."""

    covered_resources: tuple[str, ...] | None = None
    flavors: tuple[FlavorQuotas, ...] | None = None


class Fungibility(Base, frozen=True):
    """Whether a later flavor is looked at where this one only fits by borrowing."""

    when_can_borrow: str = ""


class PreemptionPolicies(Base, frozen=True):
    """Whom a workload may preempt; empty: Never."""

    within_cluster_queue: str = ""
    reclaim_within_cohort: str = ""


class ChecksStrategy(Base, frozen=True):
    """The admission checks, some of them for flavors alone."""

    admission_checks: tuple[Any, ...] | None = None


class ClusterQueueSpec(Base, frozen=True):
    """``cohort`` is what v1beta1 called ``cohort_name``. No ``namespace_selector``: no namespace."""

    resource_groups: tuple[ResourceGroup, ...] | None = None
    cohort_name: str = ""
    cohort: str = ""
    queueing_strategy: str = ""
    namespace_selector: LabelSelector | None = None
    stop_policy: str = ""
    flavor_fungibility: Fungibility = Fungibility()
    preemption: PreemptionPolicies = PreemptionPolicies()
    admission_checks_strategy: ChecksStrategy | None = None
    admission_checks: tuple[str, ...] | None = None
    fair_sharing: Any = None
    admission_scope: Any = None


class FlavorTotal(Base, frozen=True):
    """How much of a resource is reserved."""

    name: str = ""
    total: Any = None


class FlavorUsage(Base, frozen=True):
    """What is reserved in one flavor."""

    name: str = ""
    resources: tuple[FlavorTotal, ...] | None = None


class QueueStatus(Base, frozen=True):
    """What Kueue counted."""

    flavors_reservation: tuple[FlavorUsage, ...] | None = None
    conditions: tuple[Condition, ...] | None = None


class ClusterQueue(Base, frozen=True):
    """Quotas by flavor, which several namespaces share."""

    metadata: Metadata = Metadata()
    spec: ClusterQueueSpec = ClusterQueueSpec()
    status: QueueStatus = QueueStatus()
    kind: str = CLUSTER_QUEUE
    api_version: str = f"{GROUP}/{VERSION}"

    @property
    def cohort(self) -> str:
        """The cohort that it lends to and borrows from; empty: none."""
        return self.spec.cohort_name or self.spec.cohort


class LocalQueueSpec(Base, frozen=True):
    """``cluster_queue`` never changes."""

    cluster_queue: str = ""
    stop_policy: str = ""


class LocalQueue(Base, frozen=True):
    """The door of a namespace to a ClusterQueue."""

    metadata: Metadata = Metadata()
    spec: LocalQueueSpec = LocalQueueSpec()
    status: QueueStatus = QueueStatus()
    kind: str = LOCAL_QUEUE
    api_version: str = f"{GROUP}/{VERSION}"


class FlavorSpec(Base, frozen=True):
    """The nodes that a flavor stands for; taints and tolerations as they stand."""

    node_labels: Mapping[str, str] | None = None
    node_taints: Any = None
    tolerations: Any = None


class ResourceFlavor(Base, frozen=True):
    """A sort of nodes."""

    metadata: Metadata = Metadata()
    spec: FlavorSpec = FlavorSpec()
    kind: str = FLAVOR
    api_version: str = f"{GROUP}/{VERSION}"


class CohortSpec(Base, frozen=True):
    """Quota of the cohort itself, and the cohort above it."""

    parent_name: str = ""
    parent: str = ""
    resource_groups: tuple[ResourceGroup, ...] | None = None
    fair_sharing: Any = None


class Cohort(Base, frozen=True):
    """ClusterQueues that lend to each other; there need not be an object for it."""

    metadata: Metadata = Metadata()
    spec: CohortSpec = CohortSpec()
    kind: str = COHORT
    api_version: str = f"{GROUP}/{VERSION}"


class CheckStatus(Base, frozen=True):
    """Whether its controller answers: Active."""

    conditions: tuple[Condition, ...] | None = None


class AdmissionCheck(Base, frozen=True):
    """Something else that has to say yes."""

    metadata: Metadata = Metadata()
    status: CheckStatus = CheckStatus()
    kind: str = CHECK
    api_version: str = f"{GROUP}/{VERSION}"


class WorkloadPriorityClass(Base, frozen=True):
    """A priority in queues alone."""

    metadata: Metadata = Metadata()
    value: int = 0
    kind: str = PRIORITY
    api_version: str = f"{GROUP}/{VERSION}"


def condition_of(conditions: tuple[Condition, ...] | None, kind: str) -> Condition | None:
    """Return the condition of a type; None: there is none."""
    return next((condition for condition in conditions or () if condition.type == kind), None)


def is_true(conditions: tuple[Condition, ...] | None, kind: str) -> bool:
    """Return whether a condition holds."""
    condition = condition_of(conditions, kind)
    return condition is not None and condition.status == "True"


def is_gated(item: Any) -> bool:
    """Return whether a gate of Kueue holds a stored object; pods alone have gates."""
    gates = getattr(getattr(item, "spec", None), "scheduling_gates", None) or ()
    return any(gate.name.startswith(f"{GROUP}/") for gate in gates)


def _kind(kind: str, plural: str, struct: Any, *short: str, namespaced: bool = False) -> Kind:
    names = (plural, kind.lower(), *short)
    return Kind(kind, names, GROUP, VERSION, namespaced=namespaced, struct=struct, older="v1beta1")


KINDS = (
    _kind(WORKLOAD, "workloads", KueueWorkload, "wl", namespaced=True),
    _kind(LOCAL_QUEUE, "localqueues", LocalQueue, "queue", "queues", "lq", namespaced=True),
    _kind(CLUSTER_QUEUE, "clusterqueues", ClusterQueue, "cq"),
    _kind(FLAVOR, "resourceflavors", ResourceFlavor, "flavor", "flavors", "rf"),
    _kind(COHORT, "cohorts", Cohort, "co"),
    _kind(CHECK, "admissionchecks", AdmissionCheck),
    _kind(PRIORITY, "workloadpriorityclasses", WorkloadPriorityClass),
)
