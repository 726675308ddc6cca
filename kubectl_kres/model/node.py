"""Nodes: what a resize and the cgroup view need to know of the machine below a pod."""

from __future__ import annotations

from kubectl_kres.model.meta import Base, Metadata, ResourceList


class NodeStatus(Base, frozen=True):
    """What the machine has, what of it pods may use, and the feature gates of its kubelet that others ask for."""

    capacity: ResourceList | None = None
    allocatable: ResourceList | None = None
    declared_features: tuple[str, ...] | None = None


class Node(Base, frozen=True):
    """A node."""

    metadata: Metadata = Metadata()
    status: NodeStatus = NodeStatus()
    kind: str = "Node"
    api_version: str = "v1"
