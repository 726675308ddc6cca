"""Pods that are alike put on nodes one after the other: how many find one, and what the nodes are like then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from kubectl_kres.model.scheduling import SchedulingPod
from kubectl_kres.scheduling.node_info import BoundPod, NodeInfo, bind, changed_node
from kubectl_kres.scheduling.plugin import UncomputedFilter
from kubectl_kres.scheduling.profile import Filters

#: How many pods are placed one by one where each changes what the next one finds.
MOST_ONE_BY_ONE = 100


class Placing(NamedTuple):
    """How many pods found a node, and the nodes with them. ``ended``: counting ended before one found none."""

    placed: int
    nodes: Mapping[str, NodeInfo]
    ended: bool = False


def is_local(pod: SchedulingPod) -> bool:
    """Return whether such a pod on a node changes nothing for others elsewhere, nor more there than its room."""
    spec = pod.spec
    return not (spec.affinity and (spec.affinity.pod_affinity or spec.affinity.pod_anti_affinity)) and not (
        spec.topology_spread_constraints or spec.volumes or spec.resource_claims
    )


def room_of(node: NodeInfo, pod: BoundPod) -> int:
    """Return how many such pods a node has room for that takes one, where only room decides."""
    room = max(0, node.allocatable.get("pods", 0) - len(node.pods))
    for resource, amount in pod.requests.items():
        if amount > 0:
            free = node.allocatable.get(resource, 0) - node.requested.get(resource, 0)
            room = min(room, free // amount)
    return min(room, 1) if pod.ports else room


def place_pods(pod: SchedulingPod, filters: Filters, nodes: Mapping[str, NodeInfo], wanted: int) -> Placing:
    """Return how many of ``wanted`` pods find a node, each put on the first that takes it.

    ``filters``: prepared for the pod among these nodes.
    """
    left = dict(nodes)
    if is_local(pod):
        return _place_local(pod, filters, left, wanted)
    most = min(wanted, MOST_ONE_BY_ONE)
    for placed in range(most):
        each = _numbered(pod, placed)
        node = next((node for node in left.values() if can_take(filters, node)), None)
        if node is None:
            return Placing(placed, left)
        filters = filters.change(node, (), (each,))
        left[node.name] = changed_node(node, (), (each,))
    return Placing(most, left, ended=most < wanted)


def _place_local(pod: SchedulingPod, filters: Filters, nodes: dict[str, NodeInfo], wanted: int) -> Placing:
    """Return the same where a node that is full stays so."""
    each, placed = bind(pod), 0
    for name, node in nodes.items():
        if placed >= wanted:
            break
        number = min(wanted - placed, room_of(node, each)) if can_take(filters, node) else 0
        if number:
            nodes[name] = changed_node(node, (), [_numbered(pod, placed + at) for at in range(number)])
            placed += number
    return Placing(placed, nodes)


def _numbered(pod: SchedulingPod, number: int) -> BoundPod:
    return replace(bind(pod), name=f"{pod.metadata.name}-{number}", nominated=False)


def can_take(filters: Filters, node: NodeInfo) -> bool:
    """Return whether the node is known to take the pod."""
    try:
        return filters.check(node) is None
    except UncomputedFilter:
        return False
