"""The node of a pod, whether a pod waits for one, and where one that waits could run.

The report has what the scheduler's filters say of the nodes, and what would change that.
"""

from __future__ import annotations

from typing import Literal

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.pod import SCHEDULED, Node, Pod
from kubectl_kres.provenance.journal import Source
from kubectl_kres.reports.common.record import Record
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

NodeAction = Literal["lower-request", "tolerate", "label-node", "uncordon"]


class RequestPart(Record, frozen=True):
    """What one container, or the overhead, adds to a request. ``rule``, ``source``: what set it, if nobody wrote it."""

    name: str
    amount: str
    rule: str = ""
    source: Source | None = None


class ResourceAsked(Record, frozen=True):
    """What the pod requests of a resource that some node is short of, and how that came about."""

    resource: str
    amount: str
    parts: tuple[RequestPart, ...] = ()


class NodeGroup(Record, frozen=True):
    """Nodes that are rejected for one reason, in the scheduler's words. ``nodes`` names at most three of ``count``.

    ``unresolvable``: how many of them would reject the pod without any other pod, too. ``about``: the taints, labels or
    claims behind it, the most frequent first, each with its number of nodes.
    """

    reason: str
    plugin: str
    count: int
    unresolvable: int = 0
    nodes: tuple[str, ...] = ()
    about: tuple[tuple[str, int], ...] = ()


class NodeShortage(Record, frozen=True):
    """A resource of which a node has too little: what it has for pods, what they request, and what is lacking."""

    resource: str
    asked: str
    allocatable: str
    requested: str
    lacking: str


class PodOnNode(Record, frozen=True):
    """A pod of a node and what it requests of the resource that is short."""

    pod: ObjectRef
    amount: str


class NearestNode(Record, frozen=True):
    """The node with the fewest obstacles. ``obstacles``: all that its filters say besides what it is short of.

    ``holders``: the pods that request the most of what is short first, at most three of ``pods``.
    """

    node: str
    shortages: tuple[NodeShortage, ...] = ()
    obstacles: tuple[str, ...] = ()
    pods: int = 0
    holders: tuple[PodOnNode, ...] = ()


class LoweredRequest(Record, frozen=True):
    """A request that is written lower. ``container`` empty: that of the pod as a whole."""

    container: str
    resource: str
    from_: str
    to: str
    source: Source | None = None


class NodeRemedy(Record, frozen=True):
    """A change after which ``node``, one of ``nodes`` many, takes the pod: the filters were run again with it.

    ``about``: the taint that is tolerated or the label that is set. ``commands``: lines for kubectl; ``why``: why there
    are none.
    """

    action: NodeAction
    node: str
    nodes: int = 1
    lowered: tuple[LoweredRequest, ...] = ()
    about: str = ""
    commands: tuple[str, ...] = ()
    why: str = ""


class NodeReport(Record, frozen=True):
    """The nodes for a pod that waits, by the filters of kube-scheduler's default profile.

    ``fits``: nodes that can take it, at most three of ``fitting``. ``sentence``: what the scheduler would say, as
    computed; empty where a node fits or it is not computed. ``stated``: what it said last. ``preempts``: nodes where
    less important pods would have to go. ``rejection``: why no node was looked at. ``complete`` False: more decides
    than is computed here; ``not_read`` are kinds that could not be read, ``not_computed`` says what else. ``empty``:
    the pods on nodes could not be read, so that all of this holds for empty nodes.
    """

    pod: ObjectRef
    nodes: int
    fitting: int = 0
    fits: tuple[str, ...] = ()
    groups: tuple[NodeGroup, ...] = ()
    asked: tuple[ResourceAsked, ...] = ()
    nearest: NearestNode | None = None
    remedies: tuple[NodeRemedy, ...] = ()
    rejection: str = ""
    sentence: str = ""
    stated: str = ""
    preempts: tuple[str, ...] = ()
    complete: bool = True
    empty: bool = False
    not_read: tuple[str, ...] = ()
    not_computed: tuple[str, ...] = ()


def waits_for_node(pod: Pod) -> bool:
    """Whether the scheduler has looked for a node and found none."""
    return not pod.spec.node_name and any(
        condition.type == SCHEDULED and condition.status == "False" and condition.reason == "Unschedulable"
        for condition in pod.status.conditions or ()
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
