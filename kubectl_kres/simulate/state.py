"""Workloads as the controllers see them: numbers only, hashable, so that states that were seen are recognised.

A template is a number, and so is a shape: one way in which a pod of a template is stored. Beside them stand the objects
of a namespace, with the cluster's classes: what a change is applied to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import msgspec

from kubectl_kres.admission.request.new_pod import Policies, policies_of
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.content_key import content_key
from kubectl_kres.model.objects import (
    LimitRange,
    PriorityClass,
    Raw,
    ResourceQuota,
    RuntimeClass,
    decode_object,
    mapping,
)
from kubectl_kres.model.pod import PodTemplateSpec
from kubectl_kres.model.quota_objects import ResourceClaimTemplate
from kubectl_kres.model.workload import template_in
from kubectl_kres.model.workload_kinds import CONTROLLER_REVISION, REPLICA_SET, WORKLOADS
from kubectl_kres.quantity import parse
from kubectl_kres.simulate.replicas import Replicas, count_pods, within

#: Kind and name of an object; classes of the cluster stand beside what is in the namespace.
Key = tuple[str, str]

#: Kinds whose controllers are followed: those whose objects say how many pods they want at any time.
CONTROLLED = tuple(workload.kind for workload in WORKLOADS.values() if workload.retried and workload.wanted)
_DECIDING = (
    "LimitRange", "PriorityClass", "RuntimeClass", "StorageClass", "Namespace", "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "DeviceClass",
    "ResourceClaimTemplate",
)  # fmt: skip
#: What ``policies`` and ``admitting`` are made of.
_LOOKED_UP = frozenset({
    *("LimitRange", "PriorityClass", "RuntimeClass", "StorageClass", "DeviceClass", "ResourceClaimTemplate"),
})  # fmt: skip
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def key_of(raw: Raw) -> Key:
    """Kind and name, or the beginning of a name that the server completes."""
    metadata = raw.get("metadata") or {}
    return str(raw.get("kind", "")), str(metadata.get("name") or metadata.get("generateName") or "")


class World:
    """Objects as stored, never changed in place.

    ``whole`` has the keys of those that a file gave, of which nothing was left out.
    ``parameters``: objects that policies take parameters from, as far as steps changed them; None: deleted.
    """

    def __init__(
        self,
        objects: Mapping[Key, Raw],
        whole: Mapping[Key, bool] | None = None,
        parameters: Mapping[tuple[str, str, str], Raw | None] | None = None,
    ) -> None:
        self.objects = objects if isinstance(objects, LayeredMapping) else LayeredMapping(objects)
        self.complete = whole if isinstance(whole, LayeredMapping) else LayeredMapping(whole or {})
        self.parameters = parameters or {}
        self._policies: Policies | None = None
        self._quotas: list[ResourceQuota] | None = None
        self._deciding: str | None = None
        self._admitting: bytes | None = None

    @classmethod
    def from_objects(cls, objects: Iterable[Raw]) -> World:
        """Return a world of objects as read."""
        return cls({key_of(raw): raw for raw in objects})

    def with_entry(self, raw: Raw, *, whole: bool = False) -> World:
        """Return the world with an object in the place of any of its name."""
        key = key_of(raw)
        written = self.complete.with_entry(key, True) if whole and key not in self.complete else self.complete
        return self._copy_cached_answers(World(self.objects.with_entry(key, raw), written, self.parameters), key[0])

    def _copy_cached_answers(self, world: World, kind: str) -> World:
        """Return another world with the cached answers of this one that do not depend on objects of ``kind``."""
        if kind != "ResourceQuota":
            world._quotas = self._quotas
        if kind not in _LOOKED_UP:
            world._policies, world._admitting = self._policies, self._admitting
        if kind not in deciding_kinds():
            world._deciding = self._deciding
        return world

    def without_entry(self, key: Key) -> World:
        """Return the world without an object."""
        objects = {other: raw for other, raw in self.objects.items() if other != key}
        return World(objects, {other: True for other in self.complete if other != key}, self.parameters)

    def with_parameter(self, key: tuple[str, str, str], raw: Raw | None) -> World:
        """Return the world with a parameter of policies as it is now; None: there is none any more."""
        return World(self.objects, self.complete, {**self.parameters, key: raw})

    def of_kind(self, kind: str) -> list[Raw]:
        """Return the objects of a kind, by name."""
        return [self.objects[key] for key in sorted(self.objects) if key[0] == kind]

    @property
    def quotas(self) -> list[ResourceQuota]:
        """The quotas of the namespace."""
        if self._quotas is None:
            self._quotas = [decode_object(raw, ResourceQuota) for raw in self.of_kind("ResourceQuota")]
        return self._quotas

    @property
    def policies(self) -> Policies:
        """Return what admission looks up, without quotas."""
        if self._policies is None:
            limits = [decode_object(raw, LimitRange) for raw in self.of_kind("LimitRange")]
            priorities = [decode_object(raw, PriorityClass) for raw in self.of_kind("PriorityClass")]
            runtimes = [decode_object(raw, RuntimeClass) for raw in self.of_kind("RuntimeClass")]
            classes = self.of_kind("StorageClass")
            default = [raw["metadata"]["name"] for raw in classes if _is_default(raw)]
            self._policies = msgspec.structs.replace(
                policies_of(limits, (), priorities or None, runtimes or None),
                expandable={raw["metadata"]["name"]: bool(raw.get("allowVolumeExpansion")) for raw in classes},
                default_storage=default[0] if default else "",
                extended={
                    raw["metadata"]["name"]: name
                    for raw in self.of_kind("DeviceClass")
                    if (name := str((raw.get("spec") or {}).get("extendedResourceName") or ""))
                },
                claim_templates={
                    raw["metadata"]["name"]: decode_object(raw, ResourceClaimTemplate)
                    for raw in self.of_kind("ResourceClaimTemplate")
                },
            )
        return self._policies

    @property
    def deciding(self) -> str:
        """What tells worlds apart in which pods are stored differently. A text, since that is hashed only once."""
        if self._deciding is None:
            kinds = deciding_kinds()
            result = ((key, id(raw)) for key, raw in self.objects.items() if key[0] in kinds)
            changed = ((key, id(raw)) for key, raw in self.parameters.items())
            self._deciding = repr((sorted(result), sorted(changed)))
        return self._deciding

    @property
    def admission_key(self) -> bytes:
        """Return what admission itself looks up for a pod, quotas apart: the same in worlds that store pods alike."""
        if self._admitting is None:
            limits = [raw.get("spec") for raw in self.of_kind("LimitRange")]
            classes = [self.of_kind("PriorityClass"), self.of_kind("RuntimeClass")]
            self._admitting = content_key([limits, classes])
        return self._admitting


@cache
def deciding_kinds() -> frozenset[str]:
    """Return the kinds whose objects decide how pods are stored."""
    from kubectl_kres.simulate.system import pod_writers  # noqa: PLC0415 - a rollout alone does not ask

    return frozenset({*_DECIDING, *pod_writers()})


def _is_default(raw: Raw) -> bool:
    annotations = (raw.get("metadata") or {}).get("annotations") or {}
    return bool(annotations.get(_DEFAULT_CLASS) == "true")


def template_raw(raw: Raw) -> Raw:
    """Return the pod template of a workload; empty without one."""
    found_template = template_in(raw)
    return found_template[1] if found_template is not None else {}


def template_key(template: Raw) -> bytes:
    """Equal for templates that a controller takes for the same: notation of amounts and defaults play no part."""
    struct = decode_object(template, PodTemplateSpec)
    spec = mapping(template, "spec")
    account = str(spec.get("serviceAccountName") or spec.get("serviceAccount") or "")
    return msgspec.json.encode((_build_plain_value(msgspec.to_builtins(struct, enc_hook=str)), account), order="sorted")


_AMOUNTS = frozenset({"limits", "requests", "overhead"})
_DEFAULTS = {
    "restartPolicy": ("", "Always"),
    "preemptionPolicy": ("", "PreemptLowerPriority"),
    "priority": (None, 0),
    "schedulerName": ("", "default-scheduler"),
    "volumeMode": ("Filesystem",),
}


def _build_plain_value(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_build_plain_value(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    result: dict[str, Any] = {}
    for key, item in value.items():
        if key in _AMOUNTS and isinstance(item, Mapping):
            result[key] = {name: _amount(amount) for name, amount in item.items()}
        elif item not in _DEFAULTS.get(key, ()) and key not in {"creationTimestamp", "name!"}:
            result[key] = _build_plain_value(item)
    return {key: item for key, item in result.items() if item not in ({}, [])}


def _amount(value: Any) -> Any:
    """Return it in thousandths, rounded up as the server stores it."""
    try:
        return str(-(-parse(str(value)).nano // 10**6))
    except QuantityError:
        return str(value)


#: Measure by number to amount, in billionths; nothing that is zero.
Cost = tuple[tuple[int, int], ...]
#: Pods of one set: shape, whether they are ready, how many; sorted, no count is zero.
Pods = tuple[tuple[int, bool, int], ...]


def count(pods: Pods) -> int:
    """Return all pods."""
    total = 0
    for _, _, number in pods:  # mostly one: a generator costs more than it adds
        total += number
    return total


def ready(pods: Pods) -> int:
    """Return those that are ready."""
    return sum(number for _, is_ready, number in pods if is_ready)


def with_pod(pods: Pods, shape: int, number: int = 1, *, is_ready: bool = True) -> Pods:
    """Return the pods with some more of a shape, or with fewer of it if ``number`` is negative."""
    counts = {(kind, state): many for kind, state, many in pods}
    counts[shape, is_ready] = counts.get((shape, is_ready), 0) + number
    return tuple(sorted((*key, many) for key, many in counts.items() if many))


def shape_counts(pods: Pods) -> Iterable[tuple[int, int]]:
    """Shape and number of pods."""
    return ((shape, number) for shape, _, number in pods)


class ReplicaSetState(NamedTuple):
    """A ReplicaSet or ReplicationController. ``desired`` and ``most`` are the two annotations of its Deployment."""

    template: int
    wanted: int
    pods: Pods = ()
    desired: int = 0
    most: int = 0


#: What the server fills in for revisionHistoryLimit. Source: apis/apps/v1 defaults.go.
HISTORY = 10


class DeploymentState(NamedTuple):
    """A Deployment with its ReplicaSets, the oldest first. ``surge`` and ``unavailable`` are numbers of pods;
    ``history``: so many ReplicaSets of older templates are kept.
    """

    template: int
    replicas: int
    surge: int
    unavailable: int
    recreate: bool = False
    paused: bool = False
    sets: tuple[ReplicaSetState, ...] = ()
    history: int = HISTORY

    @property
    def newest(self) -> ReplicaSetState | None:
        """The set of the present template, if it is there."""
        for item in self.sets:
            if item.template == self.template:
                return item
        return None


class DaemonSetState(DeploymentState):
    """A DaemonSet: ``replicas`` are its nodes, ``sets`` its pods by template."""


class StatefulSetState(NamedTuple):
    """A StatefulSet. ``current`` is the template that ordinals below the partition keep; ``claims`` are the names of
    its volume claim templates. ``unavailable``: so many pods an update takes down at once; None: the server has no such
    setting, and takes down one after the other. ``revisions``: the templates that have a ControllerRevision, the oldest
    first; ``history``: so many of those that nothing uses are kept.
    """

    name: str
    template: int
    current: int
    replicas: int
    start: int = 0
    parallel: bool = False
    partition: int = 0
    on_delete: bool = False
    unavailable: int | None = None
    claims: tuple[str, ...] = ()
    pods: Replicas = ()
    revisions: tuple[int, ...] = ()
    history: int = HISTORY

    @property
    def ordinals(self) -> range:
        return range(self.start, self.start + self.replicas)

    @property
    def own_pods(self) -> Replicas:
        """The pods of its ordinals, the lowest first."""
        return within(self.pods, self.ordinals)

    @property
    def claim_bases(self) -> tuple[str, ...]:
        """What the names of the PersistentVolumeClaims of its pods begin with: the ordinal follows, behind a hyphen."""
        return tuple(f"{claim}-{self.name}" for claim in self.claims)


class JobState(NamedTuple):
    """A Job. ``completions`` None: the first pod that succeeds ends it. ``ended``: Complete or Failed, empty before."""

    template: int
    parallelism: int
    completions: int | None
    backoff_limit: int = 6
    suspended: bool = False
    pods: Pods = ()
    succeeded: int = 0
    failed: int = 0
    finished: Pods = ()
    ended: str = ""

    @property
    def wanted(self) -> int:
        """Pods that should be active now. Source: job_controller.go manageJob."""
        if self.suspended or self.ended:
            return 0
        return count(self.pods) if self.completions is None and self.succeeded else self.at_once

    @property
    def at_once(self) -> int:
        """The most pods that it can still have side by side."""
        if self.completions is None:
            return self.parallelism
        return max(0, min(self.completions - self.succeeded, self.parallelism))


WorkloadState = DeploymentState | ReplicaSetState | StatefulSetState | JobState
#: Kind and name of a workload, and how it stands.
Item = tuple[tuple[str, str], WorkloadState]


#: Workloads that are others than in common; where there are more, what is made next has them in common.
_MOST_CHANGED = 64


class Common:
    """Workloads that many states have in common, with their keys.

    What comes of it by one more or one less is made once, so that states still have it in common afterwards.
    """

    __slots__ = ("_with_fewer", "_with_item", "before", "index_by_key", "items")

    def __init__(self, items: Iterable[Item], before: Common | None = None) -> None:
        """``before``: these have one item less, the last one."""
        self.items, self.before = tuple(items), before
        self._with_item: dict[Item, Common] = {}
        self._with_fewer: dict[int, Common] = {}
        self.index_by_key: dict[Key, int] | None = None

    def index_of(self, key: Key) -> int | None:
        """Return where a workload stands: looked for among the newest, then in a table that those before have."""
        common: Common = self
        for _ in range(_MOST_CHANGED):
            if common.index_by_key is not None or common.before is None:
                break
            if common.items[-1][0] == key:
                return len(common.items) - 1
            common = common.before
        if common.index_by_key is None:
            # A table at the newest serves the next ones, too; those before are then needed by nobody.
            common = self
            common.index_by_key = {item[0]: index for index, item in enumerate(common.items)}
            common.before = None
        return common.index_by_key.get(key)

    def with_new(self, item: Item) -> Common:
        if item not in self._with_item:
            self._with_item[item] = Common((*self.items, item), self)
        return self._with_item[item]

    def without_index(self, index: int) -> Common:
        if index not in self._with_fewer:
            self._with_fewer[index] = Common((*self.items[:index], *self.items[index + 1 :]))
        return self._with_fewer[index]


class Workloads:
    """The workloads of a namespace with their keys, always in the same order.

    Of thousands of states each has few of its own: ``changed``, by place, beside what they have in ``common``.
    """

    __slots__ = ("changed", "common")

    def __init__(self, common: Common, changed: Mapping[int, Item] = MappingProxyType({})) -> None:
        self.common, self.changed = common, changed

    @classmethod
    def from_items(cls, items: Iterable[Item] = ()) -> Workloads:
        return cls(Common(items))

    def __len__(self) -> int:
        return len(self.common.items)

    def __getitem__(self, index: int) -> Item:
        return self.changed.get(index) or self.common.items[index]

    def __iter__(self) -> Iterator[Item]:
        items = list(self.common.items)
        for index, item in self.changed.items():
            items[index] = item
        return iter(items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Workloads) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def index_of(self, key: Key) -> int | None:
        """Return where a workload stands; None: there is none of this key."""
        return self.common.index_of(key)

    def with_entry(self, index: int, workload: WorkloadState) -> Workloads:
        """With another workload in one place."""
        return self.with_replaced({index: workload})

    def with_replaced(self, workloads: Mapping[int, WorkloadState]) -> Workloads:
        """With others in some places."""
        items = {index: (self[index][0], workload) for index, workload in workloads.items()}
        return Workloads(self.common, {**self.changed, **items})

    def compacted(self) -> Workloads:
        """Return the same, with nothing changed where many were: what follows has them in common."""
        return Workloads(Common(self)) if len(self.changed) > _MOST_CHANGED else self

    def with_new(self, key: Key, workload: WorkloadState) -> Workloads:
        """With one more, at the end."""
        if len(self.changed) > _MOST_CHANGED:
            return Workloads(Common((*self, (key, workload))))
        return Workloads(self.common.with_new((key, workload)), self.changed)

    def without_index(self, index: int) -> Workloads:
        """With one less."""
        kept = {other - (other > index): item for other, item in self.changed.items() if other != index}
        return Workloads(self.common.without_index(index), kept)

    def differing_indexes(self, other: Workloads) -> Collection[int]:
        """Return the places in which they may differ from others."""
        if self.common is other.common:
            return {*self.changed, *other.changed}
        pairs = enumerate(zip_longest(self, other))
        return [index for index, (ours, item) in pairs if ours is not item]


def shapes_of(workload: WorkloadState) -> Iterable[tuple[int, int]]:
    """Shape and number of all pods of a workload, finished ones of a Job not among them."""
    match workload:
        case DeploymentState():
            for item in workload.sets:
                yield from shape_counts(item.pods)
        case StatefulSetState():
            for replica in workload.pods:
                yield replica.shape, replica.number
        case _:
            yield from shape_counts(workload.pods)


def pods_of(workload: WorkloadState) -> int:
    """Pods that are not finished."""
    return sum(number for _, number in shapes_of(workload))


def count_updated_pods(workload: WorkloadState) -> int:
    """Its pods of the newest template; 0 of what has no rollouts."""
    match workload:
        case DeploymentState():
            return count(workload.newest.pods) if workload.newest is not None else 0
        case StatefulSetState():
            return count_pods(replica for replica in workload.pods if replica.template == workload.template)
    return 0


def count_outdated(workload: WorkloadState) -> int:
    """Its pods of an older template that its rollout is to replace: none of a paused Deployment, of a StatefulSet that
    updates on delete, or below a partition.
    """
    match workload:
        case DeploymentState(paused=False):
            return max(0, min(workload.replicas, pods_of(workload)) - count_updated_pods(workload))
        case StatefulSetState(on_delete=False):
            ordinals = workload.ordinals
            updated = within(workload.pods, range(ordinals.start + workload.partition, ordinals.stop))
            return count_pods(item for item in updated if item.template != workload.template)
    return 0


def revision_of(workload: WorkloadState) -> tuple[str, str]:
    """Return what is made for each template of a workload: its kind, and the resource that quotas count; empty:
    nothing.
    """
    match workload:
        case DeploymentState():
            return REPLICA_SET
        case StatefulSetState():
            return CONTROLLER_REVISION
    return "", ""


def revisions_of(workload: WorkloadState) -> int:
    """Return how many of these a workload has."""
    return len(getattr(workload, "sets", ())) + len(getattr(workload, "revisions", ()))


class Maker(NamedTuple):
    """Whose an object is that a controller made: of a Deployment the ReplicaSet with this template; of a pod its shape
    and whether it is ready, of a ReplicaSet neither. ``alone``: what a pod costs that nobody makes anew.
    """

    workload: tuple[str, str]
    template: int = -1
    shape: int | None = None
    is_ready: bool = True
    alone: tuple[tuple[int, int], ...] | None = None


def without_deleted(workload: WorkloadState, maker: Maker) -> WorkloadState:
    """Return the workload once somebody deleted a pod of it, or one of its ReplicaSets."""
    if isinstance(workload, DeploymentState):
        sets = [(item, item.template == maker.template) for item in workload.sets]
        if maker.shape is None:
            return workload._replace(sets=tuple(item for item, is_meant in sets if not is_meant))
        return workload._replace(sets=tuple(_drop_pod(item, maker) if is_meant else item for item, is_meant in sets))
    return _drop_pod(workload, maker) if isinstance(workload, ReplicaSetState | JobState) else workload


def _drop_pod(item: Any, maker: Maker) -> Any:
    if (maker.shape, maker.is_ready) not in {(shape, is_ready) for shape, is_ready, _ in item.pods}:
        return item
    return item._replace(pods=with_pod(item.pods, maker.shape or 0, -1, is_ready=maker.is_ready))


def count_wanted_pods(workload: WorkloadState) -> int:
    """Return how many pods the workload is to have."""
    match workload:
        case ReplicaSetState():
            return workload.wanted
        case JobState():
            return workload.parallelism
        case _:
            return workload.replicas


K = TypeVar("K")
V = TypeVar("V")

#: Entries beside those that versions have in common; with more of them there is a new common part.
_MOST = 64


class LayeredMapping(Mapping[K, V]):
    """Entries that versions have in common, and few of its own. One more entry costs no copy of all others."""

    __slots__ = ("_common", "_layer")

    def __init__(self, common: Mapping[K, V], layer: Mapping[K, V] | None = None) -> None:
        self._common, self._layer = common, layer or {}

    def with_entry(self, key: K, value: V) -> LayeredMapping[K, V]:
        """Return the mapping with an entry; one in the place of another keeps its place."""
        layer = {**self._layer, key: value}
        return LayeredMapping(self._common, layer) if len(layer) <= _MOST else LayeredMapping({**self._common, **layer})

    def __getitem__(self, key: K) -> V:
        return self._layer[key] if key in self._layer else self._common[key]

    def __contains__(self, key: object) -> bool:
        return key in self._layer or key in self._common

    def __iter__(self) -> Iterator[K]:
        yield from self._common
        yield from (key for key in self._layer if key not in self._common)

    def __len__(self) -> int:
        return len(self._common) + sum(key not in self._common for key in self._layer)
