"""Nodes: what a resize and the cgroup view need to know of the machine below a pod."""

from __future__ import annotations

from kubectl_kres.model.meta import Base, Metadata, ResourceList


class NodeStatus(Base, frozen=True):
    """What the machine has, and what of it pods may use."""

    capacity: ResourceList | None = None
    allocatable: ResourceList | None = None


class Node(Base, frozen=True):
    """A node."""

    metadata: Metadata = Metadata()
    status: NodeStatus = NodeStatus()
    kind: str = "Node"
    api_version: str = "v1"
