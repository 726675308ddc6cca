"""Structs that several reports share: their base, nodes for a waiting pod, remedies, and the parts of Tekton and
Capsule.

The parts of Tekton and Capsule are data alone, made in ``tekton.reports`` and ``capsule.reports``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import msgspec
from msgspec import Struct

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import SCHEDULED, Node, Pod
from kubectl_kres.provenance.journal import Problem, QuotaShortfall, Source
from kubectl_kres.store.store import ReadRequest, Store


class Record(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Base of all reports: camel case in JSON, what is empty left out.

    ``TRANSIENT``: fields that only say when something was, how often, or how long it still takes. ``ORDERED`` False:
    its place among others only says when it was.
    """

    TRANSIENT: ClassVar[frozenset[str]] = frozenset()
    ORDERED: ClassVar[bool] = True

    def stable_fields(self) -> tuple[Any, ...]:
        """Return the fields that make the report a different one if they change."""
        fields = (field for field in self.__struct_fields__ if field not in self.TRANSIENT)
        return tuple(comparable_value(getattr(self, field)) for field in fields)


def comparable_value(value: Any) -> Any:
    """Return the value to compare two answers by: reports in it without their transient fields."""
    if isinstance(value, Record):
        return type(value), value.stable_fields()
    if isinstance(value, tuple | list):
        unordered = value and isinstance(value[0], Record) and not value[0].ORDERED
        return (frozenset if unordered else tuple)(comparable_value(item) for item in value)
    if isinstance(value, Mapping):
        return {key: comparable_value(item) for key, item in value.items()}
    return value


NodeAction = Literal[
    "lower-request", "tolerate", "label-node", "uncordon", "spread-anyway", "drop-affinity", "drop-host-port",
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
    asked: str
    allocatable: str
    requested: str
    lacking: str


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

    ``lacks``: what keeps it off that node; absent: nothing does.
    """

    node: str
    by: ObjectRef
    lacks: NearestNode | None = None


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
    ask for any longer, the claim, or the labels of nodeSelector. ``to``: the claim, class or labels in place of it.
    ``holders``: the pods that use the claim. ``commands``: lines for kubectl; ``why``: why there are none.
    """

    action: NodeAction
    node: str
    nodes: int = 1
    lowered: tuple[LoweredRequest, ...] = ()
    about: str = ""
    to: str = ""
    wanted: StorageWanted | None = None
    holders: tuple[ObjectRef, ...] = ()
    commands: tuple[str, ...] = ()
    why: str = ""


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
    than is computed here; ``not_read`` are kinds that could not be read, ``not_computed`` says what else. ``empty``:
    the pods on nodes could not be read, so that all of this holds for empty nodes. ``open``: of so many nodes it was
    not computed. ``unread``: the server's words where the nodes could not be read; ``of_list``: the pod is one of a
    list, in which the nodes are looked at for a few. ``pinned``: the nodes that pods or claims pin it to; they differ
    where it can run nowhere.

    Of a workload whose next pod is asked about, ``pod`` is the workload, and ``room`` how many such pods find a node
    one after the other; None: that was not counted. ``room_at_least``: counting ended there.

    Of a DaemonSet ``lacking`` are the nodes that are to have a pod of it and cannot take one, ``left_out`` those that
    its template does not let in: both by reason.
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
    open: int = 0
    unread: str = ""
    of_list: bool = False
    not_read: tuple[str, ...] = ()
    not_computed: tuple[str, ...] = ()
    room: int | None = None
    room_at_least: bool = False
    scaling: NodeScaling | None = None
    pinned: tuple[PinnedNode, ...] = ()
    lacking: tuple[NodeGroup, ...] = ()
    left_out: tuple[NodeGroup, ...] = ()

    @property
    def is_read(self) -> bool:
        """Return whether the nodes could be looked at."""
        return bool(self.nodes) or "Node" not in self.not_read

    @property
    def no_node_fits(self) -> bool:
        """Return whether there are nodes and none can take the pod, whatever was not read or not computed."""
        return bool(self.nodes) and not self.fitting and not self.open


def waits_for_node(pod: Pod) -> bool:
    """Return whether the scheduler has looked for a node and found none."""
    return not pod.spec.node_name and any(
        condition.type == SCHEDULED and condition.status == "False" and condition.reason == "Unschedulable"
        for condition in pod.status.conditions or ()
    )


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


Action = Literal["set", "create", "delete"]


#: Where an example comes from: the other side of the same container, or nowhere.
Basis = Literal["", "request", "limit", "unknown"]


class SetValue(Record, frozen=True, omit_defaults=False, tag_field="type", tag="set-value"):
    """One request or limit of a pod template. ``from`` absent: nobody wrote it. ``container`` empty: the pod level.

    ``field``: the path in the object, as the API server writes paths; ``role``: container, init, sidecar or pod.
    ``basis``: where a value that nobody wrote comes from, so that it is only an example; empty: a policy or the
    manifest asks for it.
    """

    object: ObjectRef
    field: str
    resource: str
    to: str | None = None
    from_: str | None = msgspec.field(default=None, name="from")
    container: str = ""
    side: str = ""
    role: str = ""
    action: Action = "set"
    basis: Basis = ""


class RaiseQuota(Record, frozen=True, omit_defaults=False, tag_field="type", tag="raise-quota"):
    """A higher hard for one name of a quota. ``next_pod``: what would be enough for the next pod alone, where that is
    less.
    """

    object: ObjectRef
    field: str
    resource: str
    to: str
    from_: str | None = msgspec.field(default=None, name="from")
    next_pod: str = ""
    action: Action = "set"


class SetBound(Record, frozen=True, omit_defaults=False, tag_field="type", tag="set-bound"):
    """A changed bound of a LimitRange; ``field`` leads to it, ``bound`` is min, max or maxLimitRequestRatio."""

    object: ObjectRef
    field: str
    resource: str
    to: str
    from_: str | None = msgspec.field(default=None, name="from")
    bound: str = ""
    of: str = ""
    action: Action = "set"


class EditClaim(Record, frozen=True, omit_defaults=False, tag_field="type", tag="edit-claim"):
    """The storage that a claim template, or a claim, has to ask for."""

    object: ObjectRef
    field: str
    resource: str
    to: str
    from_: str | None = msgspec.field(default=None, name="from")
    action: Action = "set"


class SetConfig(Record, frozen=True, omit_defaults=False, tag_field="type", tag="set-config"):
    """A key to set in Tekton's configuration, in its ConfigMap or where the Tekton Operator keeps it.

    ``to``: the whole text of the key. ``entries``: what the edit adds to a key that holds entries by container, each
    with its values by side and resource.
    """

    object: ObjectRef
    field: str
    resource: str
    to: str
    from_: str | None = msgspec.field(default=None, name="from")
    entries: Mapping[str, Mapping[str, Mapping[str, str]]] = {}
    action: Action = "set"


class SetField(Record, frozen=True, omit_defaults=False, tag_field="type", tag="set-field"):
    """Any other field of an object that decides about its pods."""

    object: ObjectRef
    field: str
    to: str
    from_: str | None = msgspec.field(default=None, name="from")
    resource: str = ""
    action: Action = "set"


class Scale(Record, frozen=True, omit_defaults=False, tag_field="type", tag="scale"):
    """A changed number of pods: replicas, or the parallelism of a Job."""

    object: ObjectRef
    field: str
    to: int
    from_: int | None = msgspec.field(default=None, name="from")
    resource: str = ""
    action: Action = "set"


class CreateObject(Record, frozen=True, omit_defaults=False, tag_field="type", tag="create-object"):
    """An object to create; ``manifest`` is all of it."""

    object: ObjectRef
    manifest: Mapping[str, Any]
    field: str = ""
    resource: str = ""
    action: Action = "create"


class DeleteObject(Record, frozen=True, omit_defaults=False, tag_field="type", tag="delete-object"):
    """An object to delete, which no longer serves and holds room. ``pods``: finished ones that go with it."""

    object: ObjectRef
    pods: int = 0
    field: str = ""
    resource: str = ""
    action: Action = "delete"


Edit = SetValue | RaiseQuota | SetBound | EditClaim | SetConfig | SetField | Scale | CreateObject | DeleteObject


class Admits(Record, frozen=True, omit_defaults=False):
    """The number of pods of the newest template that exist once the remedy is applied, and how many are wanted then."""

    pods: int
    of: int


class Remedy(Record, frozen=True, omit_defaults=False):
    """A set of edits that is a complete remedy. ``commands``: lines for kubectl, one process each, that make the edits.

    ``why``: why some or all of the edits have no command. ``admits`` absent: nothing was tried. ``stays``: the refusal
    that remains, where not all wanted pods come. ``proven``: tried in the engine. ``ask``: the owners of other objects
    in the quota, where one of them must give way. ``text``: the whole in words.

    ``shared``: other workloads that lack pods and take of the room that is made, which is counted in. ``contested``:
    those that may take it, of which too little is known to say how much. ``by_hand``: what mends the refusals of
    ``stays``, for which there is no edit; ``text`` begins with it.
    """

    text: str
    edits: tuple[Edit, ...] = ()
    commands: tuple[str, ...] = ()
    why: str = ""
    admits: Admits | None = None
    stays: str = ""
    proven: bool = False
    ask: str = ""
    shared: tuple[ObjectRef, ...] = ()
    contested: tuple[ObjectRef, ...] = ()
    by_hand: str = ""


#: ``bad``: a fault. ``warn``: near one. ``unknown``: it cannot be said. Empty: nothing is wrong.
Severity = Literal["bad", "warn", "unknown", ""]

#: allocated: it has its amounts. in use: and pods use them. exhausted: the pool has too little for it. queued: it waits
#: behind an exhausted claim. unassigned: it names no pool. failed: its pool would not take it. lost: the controller
#: says that all is well, but it is in no pool. released: it was let go by the annotation. pending: not decided yet.
ClaimState = Literal[
    "allocated", "in use", "exhausted", "queued", "unassigned", "failed", "lost", "released", "pending"
]

#: delete: also stands for an edit to less. release: of a claim in use. edit, move: of the waiting claim itself.
Verb = Literal["delete", "release", "edit", "move", "raise", "annotate"]


class WaitingRun(Record, frozen=True):
    """A run whose pod a quota refuses now. Moments are RFC 3339, empty where they are not known.

    ``seconds_left``: of the timeout of ``pipeline_run``, negative: it is over; absent: there is none, or it is not
    known.
    """

    TRANSIENT: ClassVar[frozenset[str]] = frozenset({"next_try", "seconds_left"})

    since: str = ""
    next_try: str = ""
    pipeline_run: str = ""
    seconds_left: int | None = None


class KilledContainer(Record, frozen=True):
    """A container that was killed for memory.

    ``limit``: its memory limit; ``source``: what set it, absent if that is not known. ``added``: Tekton added it.
    ``again``: a new run has no more.
    """

    name: str
    limit: str = ""
    source: Source | None = None
    added: bool = False
    again: bool = True


class OversizedAddition(Record, frozen=True):
    """A resource that a container added by Tekton requests more of than all steps and sidecars together.

    ``containers``: those that ask for ``amount``, one after the other. ``steps``: what the others ask for.
    """

    side: str
    resource: str
    amount: str
    containers: tuple[str, ...]
    steps: str


class TektonPart(Record, frozen=True):
    """The part of an answer that is about Tekton.

    ``task``: the path of the steps; absent: the run is not even stored. ``steps``: how many, which task-level requests
    and shares of LimitRanges are divided by. ``added``: containers that Tekton adds. ``status``, ``reason``: of the
    condition ``Succeeded`` that the run has now; empty: there is none.

    ``problem``: why there is no pod, in Tekton's words; absent: there is one. ``never``: what a quota that refuses it
    has too little of even when nothing else runs; empty: it fits once others have gone. ``retries``: tries that are
    left. ``lost``: what the division of task-level requests loses, by resource. ``version``: of Tekton, empty if
    unknown. ``held``: the value of ``spec.status`` that holds the run back: nothing of it is made until that is taken
    out. ``killed``: containers of the run's pod that were killed for memory. ``outweighed``: where the containers that
    Tekton adds decide what is refused. ``throttled``: limits of cpu that Tekton itself gives containers that it adds.
    ``by_operator``: the Tekton Operator keeps Tekton's configuration.
    """

    task: Source | None = None
    steps: int = 0
    sidecars: int = 0
    added: tuple[str, ...] = ()
    status: str = ""
    reason: str = ""
    problem: Problem | None = None
    never: tuple[QuotaShortfall, ...] = ()
    retries: int = 0
    lost: Mapping[str, str] = {}
    task_level: bool = False
    waiting: WaitingRun | None = None
    pipeline_run: str = ""
    version: str = ""
    held: str = ""
    killed: tuple[KilledContainer, ...] = ()
    outweighed: tuple[OversizedAddition, ...] = ()
    throttled: Mapping[str, str] = {}
    by_operator: bool = False

    @property
    def failed(self) -> bool:
        """Return whether the run has failed: nothing revives it."""
        return self.status == "False"

    @property
    def has_ended(self) -> bool:
        """Return whether the run has succeeded or failed, so that only a new one is made again."""
        return self.status in {"True", "False"}

    @property
    def about_another(self) -> bool:
        """Return whether the answer is about a new run, and not about this one."""
        return self.has_ended and (self.problem is None or self.problem.reason != self.reason)


class MergedLimit(Record, frozen=True):
    """The values that steps get for one resource, each with what sets it; absent: nothing does.

    ``default_request``: divided by the number of steps that do not state the resource. ``minimum``: the least request
    of a step. ``others``: how many further results the order has in which Tekton's lister names the LimitRanges.
    """

    resource: str
    default_request: str | None = None
    minimum: str | None = None
    default_source: Source | None = None
    minimum_source: Source | None = None
    others: int = 0


class RuleSummary(Record, frozen=True):
    """A rule about pods. ``source``: where it stands. ``policies``: what it does with requests and limits, as
    ``limits.cpu: Ratio 2``; ``classes``: the QoS classes that it is about; ``targets`` absent: everywhere.

    ``selector``: which namespaces of its Tenant it is about; empty: all. ``quotas``: those that it makes.
    """

    source: Source
    action: str = ""
    policies: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    selector: str = ""
    quotas: tuple[str, ...] = ()


class ClaimAction(Record, frozen=True):
    """An action on one object. ``holds``: what a claim that gives way holds, empty if it only waits.

    ``command``: a line to type; empty where an edit in a manifest is meant.
    """

    verb: Verb
    subject: ObjectRef
    state: str = ""
    holds: Mapping[str, str] = {}
    amounts: Mapping[str, str] = {}
    command: str = ""
    follows: str = ""


class TrailClaim(Record, frozen=True):
    """A claim of the namespace on the pool."""

    subject: ObjectRef
    state: ClaimState
    asks: Mapping[str, str]


class PoolTrail(Record, frozen=True):
    """A managed quota that refuses, and its pool.

    lacks: what has to be claimed more, by resource. claims: absent: not read. short: what the pool itself has too
    little of for that; closed: what earlier claims wait for in its ordered queue, so that a new claim waits, too,
    behind those named in ``behind`` where they were read. grow: the edit of an unused claim that gets all of it at
    once. ``known`` False: the pool was not read, and so none of these is known.
    """

    quota: str
    pool: str
    lacks: Mapping[str, str]
    claims: tuple[TrailClaim, ...] | None = None
    short: Mapping[str, str] = {}
    closed: tuple[str, ...] = ()
    behind: tuple[ObjectRef, ...] = ()
    grow: ClaimAction | None = None
    known: bool = False
