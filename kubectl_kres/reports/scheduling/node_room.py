"""The room on nodes: what pods may use of each, what the pods on it request together, and which request most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from kubectl_kres.model import scheduling
from kubectl_kres.model.objects import BOUND_PODS, ObjectRef
from kubectl_kres.record import Record
from kubectl_kres.reports.common.resource_lists import NEARLY_FULL
from kubectl_kres.reports.pod.scheduling_needs import BOUND_PODS as PODS_READ
from kubectl_kres.reports.pod.scheduling_needs import NODES as NODES_READ
from kubectl_kres.reports.scheduling.lowered_requests import amount
from kubectl_kres.scheduling.node_filters import taint_text
from kubectl_kres.scheduling.node_info import BoundPod, PlacedPod, PodsOnNodes, place_pod
from kubectl_kres.scheduling.requests import Amounts, read_amounts
from kubectl_kres.store.store import ReadRequest, Store

#: ``not ready``: it does not answer; ``over``: more of a resource that every pod asks for is requested than there is;
#: ``full``: nothing is left of one; ``unknown``: the pods on it are not known.
NodeState = Literal["not ready", "cordoned", "over", "full", "nearly full", "unknown", "ok"]
#: What every pod takes of a node.
USUAL = ("cpu", "memory", "pods")
#: Taints by which the node controller says that a node does not answer, and the one of ``kubectl cordon``.
_NOT_READY = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
_CORDONED = "node.kubernetes.io/unschedulable"
#: Pods that are counted before others have their turn.
_PAGE = 500
_FULL = 100


class NodeResource(Record, frozen=True):
    """A resource of a node; amounts are quantities.

    ``requested``, ``free`` (0 where more is requested than there is) and ``percent``, rounded down, are absent where
    the pods on the node are not known; ``percent`` also where there is nothing to be a part of.
    """

    resource: str
    allocatable: str
    requested: str = ""
    free: str = ""
    percent: int | None = None


class NodeHolder(Record, frozen=True):
    """A pod that requests something of a node: quantities by resource. ``percent``: the largest part of what is
    allocatable that it requests of a resource. ``ending``: it is being deleted. ``promised``: it is not there yet, and
    others have to go for it.
    """

    pod: ObjectRef
    requests: Mapping[str, str] = {}
    percent: int = 0
    ending: bool = False
    promised: bool = False


class RoomOnNode(Record, frozen=True):
    """A node. ``resources``: cpu, memory and pods first. ``pods``: how many are on it; None: not known. ``promised``:
    how many others have to make room for. ``taints``: as kubectl writes them, without those that ``state`` says.
    """

    node: ObjectRef
    state: NodeState
    resources: tuple[NodeResource, ...] = ()
    pods: int | None = None
    promised: int = 0
    taints: tuple[str, ...] = ()

    def resource(self, name: str) -> NodeResource | None:
        """Return one resource; None: the node has none of it."""
        return next((each for each in self.resources if each.resource == name), None)

    @property
    def fullest_percent(self) -> int | None:
        """Return how much is requested of the usual resource of which the least is left; None: not known."""
        return _fullest_percent(self.resources)


def node_room_needs() -> tuple[ReadRequest, ...]:
    """Return what rooms are made from; without the pods a node says only what it has."""
    return NODES_READ, PODS_READ


def node_rooms(store: Store) -> Iterator[tuple[RoomOnNode, Sequence[BoundPod]] | None]:
    """Yield all nodes that were read, each with its pods; before them None now and then, while these are counted."""
    pods, promised, sums = Counter[str](), Counter[str](), dict[str, dict[str, int]]()
    on_nodes: dict[str, list[BoundPod]] = {}
    for index, (node, pod) in enumerate(_pods_with_node(store)):
        if index % _PAGE == 0:
            yield None
        on_nodes.setdefault(node, []).append(pod)
        if pod.nominated:
            promised[node] += 1
            continue
        pods[node] += 1
        requested = sums.setdefault(node, {})
        for name, number in pod.requests.items():
            requested[name] = requested.get(name, 0) + number
    is_known = bool(pods) or store.covered(PODS_READ).is_known
    for item in store.all(scheduling.NODES):
        name = item.metadata.name
        requested = {**sums.get(name, {}), "pods": pods[name]}
        resources = tuple(_resources(read_amounts(item.status.allocatable), requested if is_known else None))
        count = pods[name] if is_known else None
        taints = tuple(_taints(item))
        state = _state(item, resources)
        room = RoomOnNode(ObjectRef("Node", name), state, resources, count, promised[name], taints)
        yield room, on_nodes.get(name, ())


def node_holders(room: RoomOnNode, pods: Iterable[BoundPod]) -> list[NodeHolder]:
    """Return who holds a node, of the pods that were on it: those with the largest share first."""
    allocatable = read_amounts({each.resource: each.allocatable for each in room.resources})
    holders = [_holder(pod, allocatable) for pod in pods]
    return sorted(holders, key=lambda holder: (holder.promised, -holder.percent, holder.pod.key))


def _pods_with_node(store: Store) -> Iterator[tuple[str, BoundPod]]:
    """Yield the pods that hold something of a node, or that others have to make room for, each with its node."""
    for item in store.all(BOUND_PODS):
        if isinstance(item, PodsOnNodes):
            yield from ((node, pod) for node, pods in item.on_nodes.items() for pod in pods)
            yield from item.nominated
        elif (pod := item if isinstance(item, PlacedPod) else place_pod(item)).node:
            yield pod.node, pod


def _resources(allocatable: Amounts, requested: Amounts | None) -> Iterator[NodeResource]:
    for name in sorted(allocatable, key=lambda name: (USUAL.index(name) if name in USUAL else len(USUAL), name)):
        whole = allocatable[name]
        if requested is None:
            yield NodeResource(name, str(amount(name, whole)))
            continue
        number = requested.get(name, 0)
        percent = number * 100 // whole if whole > 0 else None
        free = amount(name, max(0, whole - number))
        yield NodeResource(name, str(amount(name, whole)), str(amount(name, number)), str(free), percent)


def _state(node: scheduling.SchedulingNode, resources: Sequence[NodeResource]) -> NodeState:
    if any(taint.key in _NOT_READY for taint in node.spec.taints or ()):
        return "not ready"
    if node.spec.unschedulable:
        return "cordoned"
    fullest = _fullest_percent(resources)
    if fullest is None:
        return "unknown"
    if fullest > _FULL:
        return "over"
    return "full" if fullest == _FULL else "nearly full" if fullest >= NEARLY_FULL else "ok"


def _fullest_percent(resources: Sequence[NodeResource]) -> int | None:
    percents = [each.percent for each in resources if each.resource in USUAL and each.percent is not None]
    return max(percents, default=None)


def _taints(node: scheduling.SchedulingNode) -> Iterator[str]:
    for taint in node.spec.taints or ():
        if taint.key not in _NOT_READY and taint.key != _CORDONED:
            yield taint_text(taint)


def _holder(pod: BoundPod, allocatable: Amounts) -> NodeHolder:
    percents = [number * 100 // allocatable[name] for name, number in pod.requests.items() if allocatable.get(name)]
    requests = {name: str(amount(name, number)) for name, number in pod.requests.items()}
    ref = ObjectRef("Pod", pod.name, pod.namespace)
    return NodeHolder(ref, requests, max(percents, default=0), pod.ending, pod.nominated)
