"""Nodes, pods and worlds in a few words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from kubectl_kres.model.scheduling import SchedulingNode, SchedulingPod, SchedulingWorld
from kubectl_kres.scheduling.node_info import SchedulingCluster, bind, build_node
from kubectl_kres.scheduling.schedule import Scheduling, schedule

Json = Mapping[str, Any]


def node(name: str, labels: Json | None = None, spec: Json | None = None, **allocatable: str) -> SchedulingNode:
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "10", **allocatable}
    every = {"kubernetes.io/hostname": name, **(labels or {})}
    return msgspec.convert(
        {"metadata": {"name": name, "labels": every}, "spec": spec or {}, "status": {"allocatable": amounts}},
        SchedulingNode,
    )


def pod(name: str = "p", namespace: str = "here", labels: Json | None = None, **spec: Any) -> SchedulingPod:
    """``requests`` are those of its one container, the rest is its spec."""
    one = {"name": "app", "resources": {"requests": spec.pop("requests", {})}, "ports": spec.pop("ports", None)}
    status = spec.pop("status", {})
    return msgspec.convert(
        {
            "metadata": {"name": name, "namespace": namespace, "uid": name, "labels": labels or {}},
            "spec": {"containers": [one], **spec},
            "status": status,
        },
        SchedulingPod,
    )


def run(
    asked: SchedulingPod, nodes: Iterable[SchedulingNode], pods: Iterable[SchedulingPod] = (), **world: Any
) -> Scheduling:
    """The filters on nodes and pods. ``world``: fields of World."""
    held = tuple(pods)
    infos = tuple(
        build_node(one, (bind(other) for other in held if other.spec.node_name == one.metadata.name)) for one in nodes
    )
    nominated = [(other.status.nominated_node_name, bind(other)) for other in held if not other.spec.node_name]
    return schedule(asked, SchedulingCluster(infos, SchedulingWorld(**world)), nominated)


def reasons(found: Scheduling) -> dict[str, tuple[str, ...]]:
    """By node what it says; nothing: it can take the pod."""
    return {name: status.reasons if status else () for name, status in found.answer.statuses.items()}
