"""PersistentVolumeClaim and Service: the kinds besides pods that quotas measure."""

from __future__ import annotations

from kubectl_kres.model.meta import Base, Metadata, ResourceList
from kubectl_kres.model.pod import ResourceRequirements


class ClaimSpec(Base, frozen=True):
    """What a claim asks for."""

    resources: ResourceRequirements | None = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None


class ModifyVolumeStatus(Base, frozen=True):
    """An attributes class that is being applied."""

    target_volume_attributes_class_name: str = ""


class ClaimStatus(Base, frozen=True):
    """What a claim got; ``allocated_resources`` counts for quota when larger than the request."""

    phase: str = ""
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
