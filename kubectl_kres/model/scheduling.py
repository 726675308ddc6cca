"""What kube-scheduler looks at: nodes, and the parts of pods, claims and volumes that decide where a pod can run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from kubectl_kres.model.objects import AmountsPath, Base, LabelSelector, OwnerReference, Requirement, ResourceList
from kubectl_kres.model.pod import NamedClaim, ResourceRequirements, SchedulingGate, amounts_of_pod


class SchedulingMetadata(Base, frozen=True):
    """The metadata that scheduling looks at."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: Mapping[str, str] | None = None
    annotations: Mapping[str, str] | None = None
    deletion_timestamp: str | None = None
    owner_references: tuple[OwnerReference, ...] | None = None
    resource_version: str = ""


class PodIdentity(Base, frozen=True):
    """The metadata of a pod; its annotations decide nothing and can be long."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: Mapping[str, str] | None = None
    deletion_timestamp: str | None = None
    resource_version: str = ""


class Taint(Base, frozen=True):
    """What keeps pods off a node unless they tolerate it."""

    key: str = ""
    value: str = ""
    effect: str = ""


class Toleration(Base, frozen=True):
    """The taints that a pod tolerates; an empty key, value or effect stands for all of them."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


class NodeSelectorTerm(Base, frozen=True):
    """Expressions about labels, and about fields of the node, ANDed; an empty term matches nothing."""

    match_expressions: tuple[Requirement, ...] | None = None
    match_fields: tuple[Requirement, ...] | None = None


class NodeSelector(Base, frozen=True):
    """Terms, ORed."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] | None = None


class RequiredNodeAffinity(Base, frozen=True):
    """What a pod requires of a node."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None


class AffinityTerm(Base, frozen=True):
    """Pods beside which, or away from which, a pod must run."""

    label_selector: LabelSelector | None = None
    topology_key: str = ""
    namespaces: tuple[str, ...] | None = None
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] | None = None
    mismatch_label_keys: tuple[str, ...] | None = None


class AffinityTerms(Base, frozen=True):
    """What a pod requires of the pods around it."""

    required_during_scheduling_ignored_during_execution: tuple[AffinityTerm, ...] | None = None


class SchedulingAffinity(Base, frozen=True):
    """``spec.affinity`` without what is only preferred."""

    node_affinity: RequiredNodeAffinity | None = None
    pod_affinity: AffinityTerms | None = None
    pod_anti_affinity: AffinityTerms | None = None


class TopologySpreadConstraint(Base, frozen=True):
    """How evenly the pods of a selector must be spread."""

    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] | None = None


class ContainerPort(Base, frozen=True):
    """A port; ``host_port`` 0 means none of the node."""

    host_port: int = 0
    host_ip: str = field(default="", name="hostIP")
    protocol: str = ""


class RestartRule(Base, frozen=True):
    """What happens when a container exits."""

    action: str = ""


class SchedulingContainer(Base, frozen=True):
    """A container: what it requests and which ports of the node it takes."""

    name: str = ""
    restart_policy: str | None = None
    resources: ResourceRequirements | None = None
    ports: tuple[ContainerPort, ...] | None = None
    restart_policy_rules: tuple[RestartRule, ...] | None = None


class PersistentClaimVolume(Base, frozen=True):
    """A volume that is a PersistentVolumeClaim."""

    claim_name: str = ""


class DiskVolume(Base, frozen=True, rename={"pd_name": "pdName", "volume_id": "volumeID", "read_only": "readOnly"}):
    """A disk that not every pod may mount at once: of GCE, AWS, iSCSI or Ceph."""

    pd_name: str = ""
    volume_id: str = ""
    iqn: str = ""
    monitors: tuple[str, ...] | None = None
    pool: str = ""
    image: str = ""
    read_only: bool = False


class SchedulingVolume(Base, frozen=True):
    """A volume, as far as it binds a pod to nodes. ``ephemeral``: it makes a claim of its own."""

    name: str = ""
    persistent_volume_claim: PersistentClaimVolume | None = None
    ephemeral: Mapping[str, Any] | None = None
    gce_persistent_disk: DiskVolume | None = None
    aws_elastic_block_store: DiskVolume | None = None
    iscsi: DiskVolume | None = None
    rbd: DiskVolume | None = None


class PodClaim(NamedClaim, frozen=True):
    """An entry of ``spec.resourceClaims``: a ResourceClaim by name, or one that is made from a template."""

    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class SchedulingSpec(Base, frozen=True):
    """The parts of a pod spec that decide on which nodes it can run."""

    containers: tuple[SchedulingContainer, ...] | None = None
    init_containers: tuple[SchedulingContainer, ...] | None = None
    resources: ResourceRequirements | None = None
    overhead: ResourceList | None = None
    node_name: str = ""
    node_selector: Mapping[str, str] | None = None
    affinity: SchedulingAffinity | None = None
    tolerations: tuple[Toleration, ...] | None = None
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] | None = None
    volumes: tuple[SchedulingVolume, ...] | None = None
    resource_claims: tuple[PodClaim, ...] | None = None
    scheduling_gates: tuple[SchedulingGate, ...] | None = None
    priority: int | None = None
    preemption_policy: str | None = None
    scheduler_name: str = ""
    host_network: bool = False
    host_users: bool | None = None


class SchedulingContainerStatus(Base, frozen=True):
    """What a container has, which may be more than it asks for while a resize is under way."""

    name: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList | None = None


class NamedClaimStatus(Base, frozen=True):
    """The ResourceClaim that was made for an entry of ``spec.resourceClaims``; None: none is needed."""

    name: str = ""
    resource_claim_name: str | None = None


class PodConditionType(Base, frozen=True):
    """Which condition, and why."""

    type: str = ""
    reason: str = ""


class SchedulingStatus(Base, frozen=True):
    """The parts of a pod's status that the scheduler looks at."""

    phase: str = ""
    nominated_node_name: str = ""
    conditions: tuple[PodConditionType, ...] | None = None
    container_statuses: tuple[SchedulingContainerStatus, ...] | None = None
    init_container_statuses: tuple[SchedulingContainerStatus, ...] | None = None
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList | None = None
    resource_claim_statuses: tuple[NamedClaimStatus, ...] | None = None


class SchedulingPod(Base, frozen=True):
    """A pod as the scheduler sees it."""

    metadata: PodIdentity = PodIdentity()
    spec: SchedulingSpec = SchedulingSpec()
    status: SchedulingStatus = SchedulingStatus()
    kind: str = "Pod"
    api_version: str = "v1"

    def stored_amounts(self) -> Iterator[tuple[AmountsPath, ResourceList | None]]:
        yield from amounts_of_pod(self.spec, self.status)
        if (resources := self.status.resources) is not None:
            yield ("status.resources.limits",), resources.limits
            yield ("status.resources.requests",), resources.requests
        yield ("status.allocatedResources",), self.status.allocated_resources


class SchedulingNodeSpec(Base, frozen=True):
    """Whether a node takes pods, and which."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] | None = None


class SchedulingNodeStatus(Base, frozen=True):
    """What of a node pods may use, and the features of its kubelet that pods can ask for."""

    allocatable: ResourceList | None = None
    declared_features: tuple[str, ...] | None = None


class SchedulingNode(Base, frozen=True):
    """A node as the scheduler sees it."""

    metadata: SchedulingMetadata = SchedulingMetadata()
    spec: SchedulingNodeSpec = SchedulingNodeSpec()
    status: SchedulingNodeStatus = SchedulingNodeStatus()
    kind: str = "Node"
    api_version: str = "v1"

    def stored_amounts(self) -> Iterator[tuple[AmountsPath, ResourceList | None]]:
        yield ("status.allocatable",), self.status.allocatable


class StorageClaimSpec(Base, frozen=True):
    """What a claim asks for, and the volume that it is bound to."""

    access_modes: tuple[str, ...] | None = None
    resources: ResourceRequirements | None = None
    selector: LabelSelector | None = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    volume_name: str = ""


class Phase(Base, frozen=True):
    """How far an object is."""

    phase: str = ""


class StorageClaim(Base, frozen=True):
    """A PersistentVolumeClaim as the scheduler sees it."""

    metadata: SchedulingMetadata = SchedulingMetadata()
    spec: StorageClaimSpec = StorageClaimSpec()
    status: Phase = Phase()
    kind: str = "PersistentVolumeClaim"
    api_version: str = "v1"

    def stored_amounts(self) -> Iterator[tuple[AmountsPath, ResourceList | None]]:
        if (resources := self.spec.resources) is not None:
            yield ("spec.resources.requests",), resources.requests


class VolumeNodeAffinity(Base, frozen=True):
    """The nodes that a volume can be reached from."""

    required: NodeSelector | None = None


class ClaimRef(Base, frozen=True):
    """The claim that a volume belongs to."""

    name: str = ""
    namespace: str = ""
    uid: str = ""


class CSIVolume(Base, frozen=True):
    """A volume of a CSI driver."""

    driver: str = ""
    volume_handle: str = ""


class PersistentVolumeSpec(Base, frozen=True):
    """A volume."""

    access_modes: tuple[str, ...] | None = None
    capacity: ResourceList | None = None
    claim_ref: ClaimRef | None = None
    csi: CSIVolume | None = None
    node_affinity: VolumeNodeAffinity | None = None
    storage_class_name: str = ""
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None


class PersistentVolume(Base, frozen=True):
    """A volume of the cluster."""

    metadata: SchedulingMetadata = SchedulingMetadata()
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: Phase = Phase()
    kind: str = "PersistentVolume"
    api_version: str = "v1"

    def stored_amounts(self) -> Iterator[tuple[AmountsPath, ResourceList | None]]:
        yield ("spec.capacity",), self.spec.capacity


class TopologyRequirement(Base, frozen=True):
    """The values that a label of a node may have."""

    key: str = ""
    values: tuple[str, ...] | None = None


class TopologyTerm(Base, frozen=True):
    """Expressions, ANDed; an empty term matches nothing."""

    match_label_expressions: tuple[TopologyRequirement, ...] | None = None


class BindingClass(Base, frozen=True):
    """A StorageClass as the scheduler sees it."""

    metadata: SchedulingMetadata = SchedulingMetadata()
    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologyTerm, ...] | None = None
    kind: str = "StorageClass"
    api_version: str = "storage.k8s.io/v1"


class VolumeCount(Base, frozen=True):
    """How many volumes of a driver a node can hold; None: no limit."""

    count: int | None = None


class CSINodeDriver(Base, frozen=True):
    """A CSI driver on a node."""

    name: str = ""
    allocatable: VolumeCount | None = None


class CSINodeSpec(Base, frozen=True):
    """The CSI drivers of a node."""

    drivers: tuple[CSINodeDriver, ...] | None = None


class CSINode(Base, frozen=True):
    """What CSI drivers said of a node, by whose name it is called."""

    metadata: SchedulingMetadata = SchedulingMetadata()
    spec: CSINodeSpec = CSINodeSpec()
    kind: str = "CSINode"
    api_version: str = "storage.k8s.io/v1"


class CSIDriverSpec(Base, frozen=True):
    """What a CSI driver asks of the scheduler."""

    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(Base, frozen=True):
    """A CSI driver of the cluster."""

    metadata: SchedulingMetadata = SchedulingMetadata()
    spec: CSIDriverSpec = CSIDriverSpec()
    kind: str = "CSIDriver"
    api_version: str = "storage.k8s.io/v1"


class CSIStorageCapacity(Base, frozen=True):
    """How much room for volumes of a class there is on some nodes."""

    metadata: SchedulingMetadata = SchedulingMetadata()
    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: Any = None
    maximum_volume_size: Any = None
    kind: str = "CSIStorageCapacity"
    api_version: str = "storage.k8s.io/v1"


class AttachedVolume(Base, frozen=True):
    """The volume that is attached."""

    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(Base, frozen=True):
    """Which volume is attached to which node by which driver."""

    attacher: str = ""
    node_name: str = ""
    source: AttachedVolume = AttachedVolume()


class VolumeAttachment(Base, frozen=True):
    """A volume on a node."""

    metadata: SchedulingMetadata = SchedulingMetadata()
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
    kind: str = "VolumeAttachment"
    api_version: str = "storage.k8s.io/v1"


class ClaimConsumer(Base, frozen=True):
    """Who uses a ResourceClaim."""

    resource: str = ""
    name: str = ""
    uid: str = ""


class DeviceAllocation(Base, frozen=True):
    """Where the devices of a claim are; None: anywhere."""

    node_selector: NodeSelector | None = None


class DeviceClaimStatus(Base, frozen=True):
    """What a ResourceClaim got and who uses it."""

    allocation: DeviceAllocation | None = None
    reserved_for: tuple[ClaimConsumer, ...] | None = None


class ExactRequest(Base, frozen=True):
    """Devices of one class."""

    device_class_name: str = ""


class SubRequest(Base, frozen=True):
    """One of several alternatives."""

    name: str = ""
    device_class_name: str = ""


class SchedulingRequest(Base, frozen=True):
    """A request of a ResourceClaim."""

    name: str = ""
    exactly: ExactRequest | None = None
    first_available: tuple[SubRequest, ...] | None = None


class SchedulingRequests(Base, frozen=True):
    """The requests of a ResourceClaim."""

    requests: tuple[SchedulingRequest, ...] | None = None


class DeviceClaimSpec(Base, frozen=True):
    """What a ResourceClaim asks for."""

    devices: SchedulingRequests = SchedulingRequests()


class SchedulingDeviceClaim(Base, frozen=True):
    """A ResourceClaim as the scheduler sees it."""

    metadata: SchedulingMetadata = SchedulingMetadata()
    spec: DeviceClaimSpec = DeviceClaimSpec()
    status: DeviceClaimStatus = DeviceClaimStatus()
    kind: str = "ResourceClaim"
    api_version: str = "resource.k8s.io/v1"


class SchedulingDeviceClassSpec(Base, frozen=True):
    """The extended resource by whose name devices of the class can be asked for."""

    extended_resource_name: str | None = None


class SchedulingDeviceClass(Base, frozen=True):
    """A class of devices."""

    metadata: SchedulingMetadata = SchedulingMetadata()
    spec: SchedulingDeviceClassSpec = SchedulingDeviceClassSpec()
    kind: str = "DeviceClass"
    api_version: str = "resource.k8s.io/v1"


class SchedulingWorld(Struct, frozen=True):
    """All that the scheduler looks at for one pod, apart from the nodes and their pods.

    Claims are by namespace and name, attachments by node, the others by name. ``namespaces``: their labels. ``minor``:
    the version of the scheduler, 1.N.
    """

    namespaces: Mapping[str, Mapping[str, str]] = {}
    claims: Mapping[tuple[str, str], StorageClaim] = {}
    volumes: Mapping[str, PersistentVolume] = {}
    classes: Mapping[str, BindingClass] = {}
    csi_nodes: Mapping[str, CSINode] = {}
    drivers: Mapping[str, CSIDriver] = {}
    capacities: tuple[CSIStorageCapacity, ...] = ()
    attachments: Mapping[str, tuple[VolumeAttachment, ...]] = {}
    device_claims: Mapping[tuple[str, str], SchedulingDeviceClaim] = {}
    device_classes: Mapping[str, SchedulingDeviceClass] = {}
    minor: int = 36


#: What the store calls objects that were read for the scheduler: the same objects hold other fields there. A name with
#: a slash is that of no kind of parameters of policies.
_VIEW = ".of/scheduler"
POD, NODES = f"Pod{_VIEW}", f"Node{_VIEW}"
CLAIMS, VOLUMES = f"PersistentVolumeClaim{_VIEW}", f"PersistentVolume{_VIEW}"
CLASSES, CSI_NODES, CSI_DRIVERS = f"StorageClass{_VIEW}", f"CSINode{_VIEW}", f"CSIDriver{_VIEW}"
CAPACITIES, ATTACHMENTS = f"CSIStorageCapacity{_VIEW}", f"VolumeAttachment{_VIEW}"
DEVICE_CLAIMS, DEVICE_CLASSES = f"ResourceClaim{_VIEW}", f"DeviceClass{_VIEW}"


def view_of(kind: str) -> str:
    """Return what the store calls objects of a kind that were read for the scheduler."""
    return f"{kind}{_VIEW}"
