"""PersistentVolumeClaim, Service and ResourceClaim, which quotas measure, and quotas that are no ResourceQuota."""

from collections.abc import Iterator

from kubectl_kres.model.objects import AmountsPath, Base, LabelSelector, Metadata, ResourceList
from kubectl_kres.model.pod import ResourceRequirements


class ClusterQuotaTotal(Base, frozen=True):
    """What a ClusterResourceQuota enforces, and what is used, over all its namespaces."""

    hard: ResourceList | None = None
    used: ResourceList | None = None


class ClusterQuotaUse(Base, frozen=True):
    """What one namespace uses of it."""

    namespace: str = ""
    status: ClusterQuotaTotal = ClusterQuotaTotal()


class ClusterQuotaStatus(Base, frozen=True):
    """The sums, and the namespaces that they are made of."""

    total: ClusterQuotaTotal = ClusterQuotaTotal()
    namespaces: tuple[ClusterQuotaUse, ...] | None = None


class ClusterResourceQuota(Base, frozen=True):
    """A quota over several namespaces of OpenShift. Source: openshift/api quota/v1 types.go."""

    metadata: Metadata = Metadata()
    status: ClusterQuotaStatus = ClusterQuotaStatus()
    kind: str = "ClusterResourceQuota"
    api_version: str = "quota.openshift.io/v1"


class ClaimSpec(Base, frozen=True):
    """What a claim asks for. ``access_modes`` None: not read, as in older snapshots; ``volume_name``, ``selector``:
    which volumes it wants.
    """

    access_modes: tuple[str, ...] | None = None
    resources: ResourceRequirements | None = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    volume_name: str = ""
    selector: LabelSelector | None = None


class ModifyVolumeStatus(Base, frozen=True):
    """An attributes class that is being applied."""

    target_volume_attributes_class_name: str = ""


class ClaimStatus(Base, frozen=True):
    """What a claim got; ``allocated_resources`` counts for quota when larger than the request."""

    phase: str = ""
    capacity: ResourceList | None = None
    allocated_resources: ResourceList | None = None
    current_volume_attributes_class_name: str | None = None
    modify_volume_status: ModifyVolumeStatus | None = None


class PersistentVolumeClaim(Base, frozen=True):
    """A claim on storage."""

    metadata: Metadata = Metadata()
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()
    kind: str = "PersistentVolumeClaim"
    api_version: str = "v1"

    def stored_amounts(self) -> Iterator[tuple[AmountsPath, ResourceList | None]]:
        if (resources := self.spec.resources) is not None:
            yield ("spec.resources.limits",), resources.limits
            yield ("spec.resources.requests",), resources.requests
        yield ("status.capacity",), self.status.capacity
        yield ("status.allocatedResources",), self.status.allocated_resources


class ServicePort(Base, frozen=True):
    """A port; ``node_port`` 0 means none was asked for."""

    port: int = 0
    node_port: int = 0


class ServiceSpec(Base, frozen=True):
    """Type and ports."""

    type: str = "ClusterIP"
    ports: tuple[ServicePort, ...] | None = None
    allocate_load_balancer_node_ports: bool | None = None


class Service(Base, frozen=True):
    """A service."""

    metadata: Metadata = Metadata()
    spec: ServiceSpec = ServiceSpec()
    kind: str = "Service"
    api_version: str = "v1"


class DeviceRequest(Base, frozen=True):
    """Devices of one class: ``count`` of them, or with ``allocation_mode`` All as many as there are."""

    device_class_name: str = ""
    allocation_mode: str = ""
    count: int = 0


class ClaimRequest(DeviceRequest, frozen=True):
    """One request of a claim: ``exactly`` this, or the first of some alternatives that can be had.

    Before resource.k8s.io/v1beta2 the fields of ``exactly`` stand in the request itself.
    """

    name: str = ""
    exactly: DeviceRequest | None = None
    first_available: tuple[DeviceRequest, ...] | None = None


class DeviceClaim(Base, frozen=True):
    """The requests of a claim."""

    requests: tuple[ClaimRequest, ...] | None = None


class ResourceClaimSpec(Base, frozen=True):
    """What a claim asks for."""

    devices: DeviceClaim = DeviceClaim()


class ResourceClaimTemplateSpec(Base, frozen=True):
    """The claim, without its status."""

    metadata: Metadata = Metadata()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaim(Base, frozen=True):
    """A claim on devices (dynamic resource allocation)."""

    metadata: Metadata = Metadata()
    spec: ResourceClaimSpec = ResourceClaimSpec()
    kind: str = "ResourceClaim"
    api_version: str = "resource.k8s.io/v1"


class ResourceClaimTemplate(Base, frozen=True):
    """What a ResourceClaim is made from for each pod that names it."""

    metadata: Metadata = Metadata()
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()
    kind: str = "ResourceClaimTemplate"
    api_version: str = "resource.k8s.io/v1"


class DeviceClassSpec(Base, frozen=True):
    """``extended_resource_name``: the extended resource that devices of the class also count as."""

    extended_resource_name: str = ""


class DeviceClass(Base, frozen=True):
    """A kind of devices."""

    metadata: Metadata = Metadata()
    spec: DeviceClassSpec = DeviceClassSpec()
    kind: str = "DeviceClass"
    api_version: str = "resource.k8s.io/v1"


class CountedObject(Base, frozen=True):
    """Of what quotas merely count no more than the name is looked at."""

    metadata: Metadata = Metadata()
