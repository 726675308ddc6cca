"""The nodes for a pod that waits for one, as a report says them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from kubectl_kres.model.objects import Condition, ObjectRef
from kubectl_kres.model.pod import SCHEDULED, Node, Pod
from kubectl_kres.provenance.journal import Source
from kubectl_kres.record import Record, Sentence, Wording
from kubectl_kres.store.store import ReadRequest, Store

NodeAction = Literal[
    "lower-request", "tolerate", "label-node", "uncordon", "spread-anyway", "drop-affinity", "drop-host-port",
    "replace-pod", "no-surge", "cap-request", "wait-for-end",
    "create-claim", "use-claim", "change-class", "provide-volume", "release-claim", "change-selector",
]  # fmt: skip


class RequestPart(Record, frozen=True):
    """What one container, or the overhead, adds to a request. ``rule``, ``source``: what set it, if nobody wrote it."""

    name: str
    amount: str
    rule: str = ""
    source: Source | None = None


class ResourceAsked(Record, frozen=True):
    """The pod's request of a resource that some node is short of, and how that came about."""

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
    """A resource that a node has too little of: allocatable, requested, and lacking."""

    resource: str
    pod_request: str
    allocatable: str
    requested: str
    short_by: str


class PodOnNode(Record, frozen=True):
    """A pod of a node and what it requests of the resource that is short."""

    pod: ObjectRef
    amount: str


class NearestNode(Record, frozen=True):
    """The node with the fewest obstacles. ``obstacles``: what its filters say beside missing resources.

    ``holders``: at most three of ``pods``, those first that request most of the missing resource.
    """

    node: str
    shortages: tuple[NodeShortage, ...] = ()
    obstacles: tuple[str, ...] = ()
    pods: int = 0
    holders: tuple[PodOnNode, ...] = ()


class PinnedNode(Record, frozen=True):
    """The only node on which a pod can run, and ``by`` what: a pod that it must be beside, or a bound claim.

    ``obstacle``: what keeps it off that node; absent: nothing does.
    """

    node: str
    by: ObjectRef
    obstacle: NearestNode | None = None


class LoweredRequest(Record, frozen=True):
    """A request that is lowered. ``container`` empty: that of the pod as a whole."""

    container: str
    resource: str
    from_: str
    to: str
    source: Source | None = None


class StorageWanted(Record, frozen=True):
    """What a claim or volume that is to be made must have. ``storage``: the most of a claim, the least of a volume;
    empty: any, as with ``volume``, its name. ``provisioner``: the driver that is to make it. ``labels``: its own.
    """

    storage_class: str
    access_modes: tuple[str, ...]
    storage: str = ""
    mode: str = "Filesystem"
    volume: str = ""
    labels: Mapping[str, str] = {}
    class_missing: bool = False
    provisioner: str = ""


class NodeRemedy(Record, frozen=True):
    """A change after which ``node``, one of ``nodes`` many, takes the pod: the filters were run again with it.

    ``about``: the taint that is tolerated, the label that is set, the constraint, term or port that the pod would not
    ask for any longer, the pod that is replaced or goes first, what caps a request, the claim, or the labels of
    nodeSelector. ``to``: the claim, class or labels in place of it. ``holders``: the pods that use the claim.
    ``commands``: lines for kubectl; ``no_command_reason``: why there are none. ``helped``: how many of the ``waiting``
    pods of the workload find a node then; both 0: it was tried for the one pod. ``replaced``: pods that have to be
    deleted, since their controller does not replace them. ``also``: what has to be changed besides; ``commands`` are
    those of all.
    """

    action: NodeAction
    node: str
    nodes: int = 1
    helped: int = 0
    waiting: int = 0
    replaced: tuple[str, ...] = ()
    also: tuple[NodeRemedy, ...] = ()
    lowered: tuple[LoweredRequest, ...] = ()
    about: str = ""
    to: str = ""
    wanted: StorageWanted | None = None
    holders: tuple[ObjectRef, ...] = ()
    commands: tuple[str, ...] = ()
    no_command_reason: Wording = ""


class NodeFix(Sentence, frozen=True):
    """What to change so that a node takes a pod, and what comes of it."""

    change: NodeRemedy


class NodeScaling(Record, frozen=True):
    """What an autoscaler of nodes said last of a pod: whether it ``adds`` a node, in its own words, and when."""

    by: str
    adds: bool
    message: str
    time: str = ""


class NodeReport(Record, frozen=True):
    """The nodes for a pod that waits, by the filters of kube-scheduler's default profile.

    ``fits``: nodes that can take it, at most three of ``fitting``. ``sentence``: what the scheduler would say, as
    computed; empty where a node fits or it is not computed. ``stated``: what it said last. ``preempts``: nodes where
    less important pods would have to go. ``rejection``: why no node was looked at. ``complete`` False: more decides
    than is computed here; ``not_read`` are kinds that could not be read, ``not_computed`` says what else.
    ``free_unknown``: the pods on nodes could not be read, so that all of this holds for empty nodes. ``undecided``:
    of so many nodes it was not computed. ``unread``: the server's words where the nodes could not be read;
    ``of_list``: the pod is one of a list, in which the nodes are looked at for a few. ``pinned``: the nodes that
    pods or claims pin it to; they differ where it can run nowhere.

    Of a workload whose next pod is asked about, ``pod`` is the workload, and ``room`` how many such pods find a node
    one after the other; None: that was not counted. ``room_at_least``: counting ended there.

    Of a DaemonSet ``without_pod`` are the nodes that are to have a pod of it and cannot take one, ``excluded``
    those that its template does not let in: both by reason.
    """

    pod: ObjectRef
    nodes: int
    fitting: int = 0
    fits: tuple[str, ...] = ()
    groups: tuple[NodeGroup, ...] = ()
    requests: tuple[ResourceAsked, ...] = ()
    nearest: NearestNode | None = None
    fixes: tuple[NodeRemedy, ...] = ()
    rejection: str = ""
    sentence: str = ""
    stated: str = ""
    preempts: tuple[str, ...] = ()
    complete: bool = True
    free_unknown: bool = False
    undecided: int = 0
    unread: str = ""
    of_list: bool = False
    not_read: tuple[str, ...] = ()
    not_computed: tuple[str, ...] = ()
    room: int | None = None
    room_at_least: bool = False
    scaling: NodeScaling | None = None
    pinned: tuple[PinnedNode, ...] = ()
    without_pod: tuple[NodeGroup, ...] = ()
    excluded: tuple[NodeGroup, ...] = ()

    @property
    def is_read(self) -> bool:
        """Return whether the nodes could be looked at."""
        return bool(self.nodes) or "Node" not in self.not_read

    @property
    def no_node_fits(self) -> bool:
        """Return whether there are nodes and none can take the pod, whatever was not read or not computed."""
        return bool(self.nodes) and not self.fitting and not self.undecided


def unscheduled_condition(pod: Pod) -> Condition | None:
    """Return what the scheduler says of a pod that has no node; None: nothing yet."""
    conditions = pod.status.conditions or ()
    return next((item for item in conditions if item.type == SCHEDULED and item.status == "False"), None)


def waits_for_node(pod: Pod) -> bool:
    """Return whether the scheduler has looked for a node and found none."""
    condition = unscheduled_condition(pod) if not pod.spec.node_name else None
    return condition is not None and condition.reason == "Unschedulable"


def node_need(pod: Pod) -> ReadRequest:
    """Return the read of the pod's node. Without the node there is still an answer."""
    return ReadRequest("Node", name=pod.spec.node_name, required=False)


def node_of(store: Store, pod: Pod) -> Node | None:
    """Return the node; None: the pod has none, or it is not known. Without a name: the server has none that is called
    so.
    """
    if not pod.spec.node_name:
        return None
    node = store.get("Node", pod.spec.node_name)
    if isinstance(node, Node):
        return node
    return Node() if store.covered(node_need(pod)).is_known else None
