"""Pods, pod templates and the nodes below them: what resources, quota scopes and QoS depend on, and what else decides.

What else decides stands in ``Detailed...``: what Pod Security looks at, and most of what policies ask for. Left out are
values of variables, commands, arguments and the like: they are nobody's business here.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import structs
from msgspec.structs import force_setattr

from kubectl_kres.model import objects

#: The annotation of the VerticalPodAutoscaler on pods whose values it set.
VPA = "vpaUpdates"
#: Types of conditions: whether a node was found, whether it may be sent requests, and how a resize fares.
SCHEDULED, READY = "PodScheduled", "Ready"
RESIZES = frozenset({"PodResizePending", "PodResizeInProgress"})


class ResourceClaimEntry(objects.Base, frozen=True):
    """An entry of ``resources.claims`` (dynamic resource allocation)."""

    name: str = ""
    request: str = ""


class ResourceRequirements(objects.Base, frozen=True):
    """``resources`` of a container or, from PodLevelResources on, of the pod. ``None``: the key was absent or null."""

    limits: objects.ResourceList | None = None
    requests: objects.ResourceList | None = None
    claims: tuple[ResourceClaimEntry, ...] | None = None


class ResizePolicy(objects.Base, frozen=True):
    """What a change of one resource does to a running container."""

    resource_name: str = ""
    restart_policy: str = ""


#: The image of a pod that stands for all of a namespace: which one it is, is not known.
ANY_IMAGE = "image.invalid/any"


class Container(objects.Base, frozen=True):
    """A container, init container or (``restart_policy`` Always) sidecar."""

    name: str = ""
    image: str = ""
    restart_policy: str | None = None
    resources: ResourceRequirements | None = None
    resize_policy: tuple[ResizePolicy, ...] | None = None


class PodAffinityTerm(objects.Base, frozen=True):
    """An affinity term; what counts here is whether it looks into other namespaces, and for which pods."""

    namespaces: tuple[str, ...] | None = None
    namespace_selector: objects.LabelSelector | None = None
    label_selector: objects.LabelSelector | None = None


class WeightedPodAffinityTerm(objects.Base, frozen=True):
    """A preferred affinity term."""

    pod_affinity_term: PodAffinityTerm | None = None


class PodAffinity(objects.Base, frozen=True):
    """podAffinity or podAntiAffinity."""

    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] | None = None


class Affinity(objects.Base, frozen=True):
    """Pod affinity and anti-affinity."""

    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class PodOS(objects.Base, frozen=True):
    """``spec.os``."""

    name: str = ""


class NamedClaim(objects.Base, frozen=True):
    """An entry of ``spec.resourceClaims``: a claim that exists, or the template that one is made from for the pod."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodVolume(objects.Base, frozen=True):
    """A volume; of other kinds than ephemeral ones no more than the name is read.

    ``ephemeral``: as it stands; its ``volumeClaimTemplate`` is the claim that is made for the pod.
    """

    name: str = ""
    ephemeral: Any = None


def claim_template_in(volume: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the spec of the claim that is made for a volume as it stands; None if none is, or it was not read."""
    source = volume.get("ephemeral")
    template = source.get("volumeClaimTemplate") if isinstance(source, Mapping) else None
    spec = template.get("spec") if isinstance(template, Mapping) else None
    return spec if isinstance(spec, Mapping) else None


class SchedulingGate(objects.Base, frozen=True):
    """An entry of ``spec.schedulingGates``: the scheduler passes the pod over until whoever put it there removes it."""

    name: str = ""


class PodSpec(objects.Base, frozen=True):
    """The parts of a pod spec that requests, limits, QoS and quota depend on, and who is to find it a node."""

    containers: tuple[Container, ...] | None = None
    init_containers: tuple[Container, ...] | None = None
    ephemeral_containers: tuple[Container, ...] | None = None
    resources: ResourceRequirements | None = None
    overhead: objects.ResourceList | None = None
    restart_policy: str = ""
    node_name: str = ""
    priority_class_name: str = ""
    priority: int | None = None
    preemption_policy: str | None = None
    runtime_class_name: str | None = None
    active_deadline_seconds: int | None = None
    resource_claims: tuple[NamedClaim, ...] | None = None
    affinity: Affinity | None = None
    os: PodOS | None = None
    scheduler_name: str | None = None
    scheduling_gates: tuple[SchedulingGate, ...] | None = None
    #: Those for which a claim is made; all others are dropped, of which every pod has one.
    volumes: tuple[PodVolume, ...] | None = None

    def running_containers(self) -> Iterator[Container]:
        """Yield the containers that run side by side, sidecars with them; init containers end."""
        yield from self.containers or ()
        yield from (container for container in self.init_containers or () if container.restart_policy == "Always")

    def __post_init__(self) -> None:
        if self.volumes:
            ephemeral = tuple(volume for volume in self.volumes if volume.ephemeral is not None)
            if len(ephemeral) < len(self.volumes):
                force_setattr(self, "volumes", ephemeral or None)


class StateTerminated(objects.Base, frozen=True):
    """How a container ended."""

    reason: str = ""
    exit_code: int = 0
    finished_at: str | None = None


class StateWaiting(objects.Base, frozen=True):
    """Why a container does not run yet."""

    reason: str = ""
    message: str = ""


class StateRunning(objects.Base, frozen=True):
    """A container runs."""


class ContainerState(objects.Base, frozen=True):
    """The state or last state of a container."""

    running: StateRunning | None = None
    terminated: StateTerminated | None = None
    waiting: StateWaiting | None = None


class ContainerStatus(objects.Base, frozen=True):
    """What the kubelet reports of one container."""

    name: str = ""
    restart_count: int = 0
    ready: bool | None = None
    resources: ResourceRequirements | None = None
    allocated_resources: objects.ResourceList | None = None
    state: ContainerState | None = None
    last_state: ContainerState | None = None


class PodClaimStatus(objects.Base, frozen=True):
    """An entry of ``status.resourceClaimStatuses``. ``resource_claim_name`` absent: the pod needs none."""

    name: str = ""
    resource_claim_name: str | None = None


class PodStatus(objects.Base, frozen=True):
    """The parts of a pod's status that change an answer or explain one.

    conditions: those of scheduling, readiness and resizing that say that something is under way or amiss. All others
    would be a fifth of what is kept of a pod. nominated_node_name: the node that the scheduler means it for.
    """

    phase: str = ""
    reason: str = ""
    message: str = ""
    qos_class: str = ""
    conditions: tuple[objects.Condition, ...] | None = None
    container_statuses: tuple[ContainerStatus, ...] | None = None
    init_container_statuses: tuple[ContainerStatus, ...] | None = None
    resize: str = ""
    resource_claim_statuses: tuple[PodClaimStatus, ...] | None = None
    nominated_node_name: str = ""

    def __post_init__(self) -> None:
        if self.conditions:
            telling = tuple(filter(_is_telling, self.conditions))
            if len(telling) < len(self.conditions):
                force_setattr(self, "conditions", telling or None)


def _is_telling(condition: objects.Condition) -> bool:
    if condition.type == READY:
        return condition.status != "True" and condition.reason not in {"PodCompleted", "PodFailed"}
    return condition.type in RESIZES or (condition.type == SCHEDULED and condition.status != "True")


def amounts_of_pod(spec: Any, status: Any) -> Iterator[tuple[objects.AmountsPath, objects.ResourceList | None]]:
    """Yield what a pod asks for and what its status says that it has, by any struct of a pod."""
    for field, containers in (("spec.containers", spec.containers), ("spec.initContainers", spec.init_containers)):
        for index, container in enumerate(containers or ()):
            if (resources := container.resources) is not None:
                yield (field, index, "resources.limits"), resources.limits
                yield (field, index, "resources.requests"), resources.requests
    if spec.resources is not None:
        yield ("spec.resources.limits",), spec.resources.limits
        yield ("spec.resources.requests",), spec.resources.requests
    if spec.overhead:
        yield ("spec.overhead",), spec.overhead
    for field, statuses in (
        ("status.containerStatuses", status.container_statuses),
        ("status.initContainerStatuses", status.init_container_statuses),
    ):
        for index, reported in enumerate(statuses or ()):
            yield (field, index, "allocatedResources"), reported.allocated_resources
            if (resources := reported.resources) is not None:
                yield (field, index, "resources.limits"), resources.limits
                yield (field, index, "resources.requests"), resources.requests


class Pod(objects.Base, frozen=True):
    """A pod as stored, or as it would be sent."""

    metadata: objects.Metadata = objects.Metadata()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()
    kind: str = "Pod"
    api_version: str = "v1"

    def stored_amounts(self) -> Iterator[tuple[objects.AmountsPath, objects.ResourceList | None]]:
        return amounts_of_pod(self.spec, self.status)


class ManagedPod(Pod, frozen=True):
    """A pod with its field managers; decoded when one pod is explained, never in lists."""

    metadata: objects.ManagedMetadata = objects.ManagedMetadata()


class PodTemplateSpec(objects.Base, frozen=True):
    """The template that a workload makes its pods from."""

    metadata: objects.Metadata = objects.Metadata()
    spec: PodSpec = PodSpec()


class NodeStatus(objects.Base, frozen=True):
    """What the machine has, what of it pods may use, and the feature gates of its kubelet that others ask for."""

    capacity: objects.ResourceList | None = None
    allocatable: objects.ResourceList | None = None
    declared_features: tuple[str, ...] | None = None


class Node(objects.Base, frozen=True):
    """A node."""

    metadata: objects.Metadata = objects.Metadata()
    status: NodeStatus = NodeStatus()
    kind: str = "Node"
    api_version: str = "v1"

    def stored_amounts(self) -> Iterator[tuple[objects.AmountsPath, objects.ResourceList | None]]:
        yield ("status.capacity",), self.status.capacity
        yield ("status.allocatable",), self.status.allocatable


class Socket(objects.Base, frozen=True):
    """Where a probe connects to."""

    host: str = ""
    port: Any = None


class HttpGet(Socket, frozen=True):
    """What a probe asks for."""

    path: str | None = None
    scheme: str | None = None


class ExecProbe(objects.Base, frozen=True):
    """That a probe runs a command; not which."""


class Probe(objects.Base, frozen=True):
    """A check of a container."""

    http_get: HttpGet | None = None
    tcp_socket: Socket | None = None
    grpc: Any = None
    exec: ExecProbe | None = None
    initial_delay_seconds: int | None = None
    period_seconds: int | None = None
    timeout_seconds: int | None = None
    failure_threshold: int | None = None
    success_threshold: int | None = None


class DetailedContainer(Container, frozen=True):
    """A container of a template."""

    image_pull_policy: str | None = None
    ports: Any = None
    security_context: Any = None
    liveness_probe: Probe | None = None
    readiness_probe: Probe | None = None
    startup_probe: Probe | None = None


class DetailedSpec(PodSpec, frozen=True):
    """The spec of a template. ``volumes``: as they stand; snapshots keep their kinds alone."""

    containers: tuple[DetailedContainer, ...] | None = None
    init_containers: tuple[DetailedContainer, ...] | None = None
    security_context: Any = None
    host_network: bool | None = None
    host_pid: bool | None = msgspec.field(default=None, name="hostPID")
    host_ipc: bool | None = msgspec.field(default=None, name="hostIPC")
    host_users: bool | None = None
    volumes: tuple[Mapping[str, Any], ...] | None = None  # type: ignore[assignment]
    service_account_name: str = ""
    automount_service_account_token: bool | None = None
    node_selector: Mapping[str, str] | None = None
    tolerations: Any = None
    termination_grace_period_seconds: int | None = None
    share_process_namespace: bool | None = None

    def __post_init__(self) -> None:
        """All volumes are kept."""


class SentPod(Pod, frozen=True):
    """A pod as a request holds it."""

    spec: DetailedSpec = DetailedSpec()


class DetailedTemplate(PodTemplateSpec, frozen=True):
    """The template that a workload of the cluster makes its pods from."""

    spec: DetailedSpec = DetailedSpec()


#: Fields of a container that are read of templates alone.
OF_TEMPLATES = frozenset(name.encode_name for name in msgspec.structs.fields(DetailedContainer)) - frozenset(
    name.encode_name for name in msgspec.structs.fields(Container)
)
#: Fields of a pod that no struct here holds, so that a policy that asks for one of them has no answer.
WITHHELD = frozenset({
    *("affinity", "args", "command", "dnsConfig", "dnsPolicy", "enableServiceLinks", "env", "envFrom", "exec"),
    *("ephemeralContainers", "hostAliases", "hostname", "httpHeaders", "imagePullSecrets", "lifecycle", "nodeName"),
    *("ownerReferences", "readinessGates", "schedulingGates", "setHostnameAsFQDN", "stdin", "subdomain"),
    *("topologySpreadConstraints", "tty", "volumeDevices", "volumeMounts", "workingDir", "finalizers"),
    *("terminationMessagePath", "terminationMessagePolicy", "restartPolicyRules"),
})  # fmt: skip


def unread_fields(*, whole: bool, additions: bool) -> frozenset[str]:
    """Fields of a pod that policies may ask for and that were not read. ``whole``: it is as a file holds it.

    ``added``: some of its containers are those of live pods.
    """
    return (frozenset() if whole else WITHHELD) | (OF_TEMPLATES if additions else frozenset())


#: Containers that are added to a pod: the field of the list, containers or initContainers, and the container.
AddedContainers = tuple[tuple[str, Container], ...]


def with_containers(pod: Pod, added: AddedContainers) -> Pod:
    """Return the pod with containers behind its own."""
    if not added:
        return pod
    fields = {"containers": "containers", "initContainers": "init_containers"}
    lists = {
        field: (*(getattr(pod.spec, field) or ()), *(container for of, container in added if of == key)) or None
        for key, field in fields.items()
    }
    return structs.replace(pod, spec=structs.replace(pod.spec, **lists))
