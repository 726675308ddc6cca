"""The node of a pod, and what nodes have for a pod that waits: allocatable, requested, the largest that is free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.admission.base.draft import Unparsable, draft_pod
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import add_into, of_pod
from kubectl_kres.model.pod import SCHEDULED, Node, Pod
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.record import Record
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

#: Pods that hold nothing of a node any more.
_ENDED = frozenset({"Succeeded", "Failed"})
_NODES = Need("Node", required=False)
#: What is requested of nodes is told of single objects only: in a list each page would read all pods once more.
ALL_PODS = Need("Pod", required=False)

Quantities = dict[str, Quantity]


class NodeRoom(Record, frozen=True):
    """One resource that a pod asks for, on all nodes.

    ``nodes``: how many there are; ``enough``: on how many of them it is free, ``possible``: on how many it would be if
    they were empty. ``requested``, ``free`` and ``on``, the largest that is free and where, are absent where the pods
    of all namespaces were not read, and ``enough`` then is, too. Taints, affinity and volumes are not looked at.
    """

    resource: str
    asked: str
    nodes: int
    allocatable: str
    possible: int
    requested: str | None = None
    free: str | None = None
    on: str = ""
    enough: int | None = None


def waits_for_node(pod: Pod) -> bool:
    """Whether the scheduler has looked for a node and found none."""
    return not pod.spec.node_name and any(
        condition.type == SCHEDULED and condition.status == "False" and condition.reason == "Unschedulable"
        for condition in pod.status.conditions or ()
    )


def node_needs(pod: Pod) -> Iterator[Need]:
    """The nodes and all pods, of a pod that waits for a node; an answer without them leaves it open."""
    if waits_for_node(pod):
        yield from (_NODES, ALL_PODS)


def node_room(store: Store, pod: Pod, server: Server) -> tuple[NodeRoom, ...]:
    """Resource by resource, the scarcest first; none where the pod does not wait or the nodes were not read."""
    if not waits_for_node(pod) or not store.covered(_NODES).known:
        return ()
    try:
        asked = of_pod(draft_pod(pod, server), "requests")
        allocatable = {node.metadata.name: _allocatable(node) for node in store.all("Node")}
        used = _used(store, server) if store.covered(ALL_PODS).known else None
    except (Unparsable, ValueError):
        return ()
    asked = {name: amount for name, amount in {**asked, "pods": parse("1")}.items() if amount > parse("0")}
    rooms = (_room(name, amount, allocatable, used) for name, amount in sorted(asked.items()))
    return tuple(
        sorted(rooms, key=lambda node_room: node_room.possible if node_room.enough is None else node_room.enough)
    )


def _allocatable(node: Node) -> Quantities:
    return {name: parse(text) for name, text in (node.status.allocatable or {}).items()}


def _used(store: Store, server: Server) -> dict[str, Quantities]:
    """What the pods of each node request."""
    quantities: dict[str, Quantities] = {}
    for pod in store.all("Pod"):
        if pod.spec.node_name and pod.status.phase not in _ENDED:
            sums = quantities.setdefault(pod.spec.node_name, {})
            add_into(sums, {**of_pod(draft_pod(pod, server), "requests"), "pods": parse("1")})
    return quantities


def _room(
    name: str, asked: Quantity, allocatable: Mapping[str, Quantities], used: Mapping[str, Quantities] | None
) -> NodeRoom:
    zero = parse("0")
    have = {node: amounts.get(name, zero) for node, amounts in allocatable.items()}
    largest = max(have.values(), default=zero)
    possible = sum(amount >= asked for amount in have.values())
    if used is None:
        return NodeRoom(name, str(asked), len(have), str(largest), possible)
    free = {node: amount - used.get(node, {}).get(name, zero) for node, amount in have.items()}
    on = max(sorted(free), key=lambda node: free[node], default="")
    requested = zero
    for node in have:
        requested = requested + used.get(node, {}).get(name, zero)
    return NodeRoom(
        name,
        str(asked),
        len(have),
        str(largest),
        possible,
        requested=str(requested),
        free=str(free.get(on, zero)),
        on=on,
        enough=sum(amount >= asked for amount in free.values()),
    )


def node_need(pod: Pod) -> Need:
    """Without the node there is an answer that leaves it open."""
    return Need("Node", name=pod.spec.node_name, required=False)


def node_of(store: Store, pod: Pod) -> Node | None:
    """None: the pod has none, or nothing is known of it. Without a name: the server has none that is called so."""
    if not pod.spec.node_name:
        return None
    node = store.get("Node", pod.spec.node_name)
    if isinstance(node, Node):
        return node
    return Node() if store.covered(node_need(pod)).known else None
