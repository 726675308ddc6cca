"""A namespace as it was read: its objects as a world, its pods as the state that its controllers have come to."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from kubectl_kres.admission.base.draft import Unparsable, parse_list
from kubectl_kres.admission.quota.usage import ALIASES, IN_EVERY_NAMESPACE
from kubectl_kres.model.content_key import content_key
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ManagedMetadata, Metadata, OwnerReference, Raw, ResourceQuota, mapping, to_wire
from kubectl_kres.model.ordinals import Names
from kubectl_kres.model.pod import DetailedContainer, DetailedSpec, DetailedTemplate, Pod, PodSpec, PodStatus
from kubectl_kres.model.workload import Workload
from kubectl_kres.model.workload_kinds import CONTROLLER_REVISION, POD_MAKERS
from kubectl_kres.simulate.moves import State
from kubectl_kres.simulate.plugins import POLICIES
from kubectl_kres.simulate.replicas import Replica, joined
from kubectl_kres.simulate.requests import initial_state
from kubectl_kres.simulate.shapes import shape_fields
from kubectl_kres.simulate.simulation import NamespaceSimulation
from kubectl_kres.simulate.state import (
    CONTROLLED,
    Cost,
    DeploymentState,
    JobState,
    Key,
    Maker,
    Pods,
    ReplicaSetState,
    StatefulSetState,
    Workloads,
    WorkloadState,
    World,
    revisions_of,
    template_raw,
)
from kubectl_kres.simulate.system import held_kinds, pod_writers
from kubectl_kres.simulate.tables import Added
from kubectl_kres.store.store import ReadRequest, Store

#: What a world holds of a namespace, and of the cluster.
IN_NAMESPACE = (
    "LimitRange", "ResourceQuota", "PersistentVolumeClaim", "Service", *POD_MAKERS,
    "HorizontalPodAutoscaler", "ResourceClaimTemplate",
)  # fmt: skip
OF_CLUSTER = ("PriorityClass", "RuntimeClass", "StorageClass", "DeviceClass", *POLICIES)
#: Resources whose objects are read wherever a quota counts them.
_COUNTED = frozenset(BY_KIND[kind].qualified_name for kind in (*IN_NAMESPACE, "Pod", CONTROLLER_REVISION.kind))
_DESIRED = "deployment.kubernetes.io/desired-replicas"
_MOST = "deployment.kubernetes.io/max-replicas"
_REVISION_NOTE = "deployment.kubernetes.io/revision"
_NOTES = frozenset({_DESIRED, _MOST, _REVISION_NOTE})
#: Who refuses what nothing here can be computed for.
_BY_WEBHOOK = re.compile(r'admission webhook "[^"]*" denied|failed calling webhook "')
_GROUPS = ("containers", "init_containers")
_WIRE = ("containers", "initContainers")
#: So many pods of a workload are looked at for containers that its template does not have.
_MOST_ALIKE = 50
_PARTS = ("resources", "ports", "security_context", "liveness_probe", "readiness_probe", "startup_probe")
_HASH = "pod-template-hash"
_REVISION = "controller-revision-hash"
_ENDED = frozenset({"Succeeded", "Failed"})


def raw_of(item: Any) -> dict[str, Any]:
    """Return an object that was read as JSON has it, as far as it was kept."""
    kind = BY_KIND[item.kind]
    return {**to_wire(item), "kind": kind.kind, "apiVersion": kind.api_version}


def with_binding_mode(item: Any, store: Store) -> dict[str, Any]:
    """Return an object of the cluster. A storage class of which an old snapshot does not tell is taken to let claims
    grow.
    """
    raw = raw_of(item)
    untold = item.kind == "StorageClass" and item.allow_volume_expansion is None and store.origin.kind == "snapshot"
    return {**raw, "allowVolumeExpansion": True} if untold else raw


def build_world(store: Store, namespace: str, classes: Sequence[Raw] | None = None) -> World:
    """Return the objects of a namespace; ReplicaSets and Jobs that another object made are that one's.

    ``classes``: those of the cluster, where they are known already; worlds that share them are reported to be alike by
    it.
    """
    result: list[Raw] = []
    for kind in (*IN_NAMESPACE, *held_kinds()):
        result += [raw_of(item) for item in store.all(kind, namespace) if kind not in CONTROLLED or not _owner(item)]
    if classes is None:
        classes = [with_binding_mode(item, store) for kind in OF_CLUSTER for item in store.all(kind)]
    result += classes
    result += (raw for writer in pod_writers().values() for raw in writer.objects(store, namespace))
    stored_object = store.get("Namespace", namespace)
    labels = {"kubernetes.io/metadata.name": namespace}
    bare: Raw = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": labels}}
    result.append(raw_of(stored_object) if stored_object is not None else bare)
    return World.from_objects(result)


def state_of(namespace: NamespaceSimulation, world: World, store: Store, name: str, *, seen: bool = False) -> State:
    """Return what the controllers have come to. What quotas say is used is believed; of new ones it is counted.

    ``seen``: containers that pods of the newest template were given are expected of the next ones.
    """
    reading = _Reading(namespace, world, store, name)
    state = reading.state()
    if seen:
        reading.expect(state)
    return state


def _owner(item: Any) -> OwnerReference | None:
    owners: Iterable[OwnerReference] = item.metadata.owner_references or ()
    for owner in owners:
        if owner.controller:
            return owner
    return None


def _owned_by(item: Any, key: Key) -> bool:
    owner = _owner(item)
    return owner is not None and (owner.kind, owner.name) == key


class _Reading:
    """Pods of one namespace by their owners."""

    def __init__(self, namespace: NamespaceSimulation, world: World, store: Store, name: str) -> None:
        self.tables, self.world, self.store, self.name = namespace.tables, world, store, name
        self.start, self.others, self.deleted = namespace.empty(world), namespace.others, namespace.deleted
        #: Pods that steps delete: their owner, shape, and whether they are ready.
        self._deleted_pods: dict[str, tuple[Key, int, bool]] = {}
        #: The Deployment of each ReplicaSet that has one, and the number of its template.
        self._sets_of: dict[str, tuple[Key, int]] = {}
        self._shapes: dict[bytes, int] = {}
        self._equal_shapes: dict[tuple[int, int], int] = {}
        self._pods: dict[Key, list[tuple[Pod, int]]] = defaultdict(list)
        #: Pods of each workload's template as it is now.
        self._latest: dict[Key, list[Pod]] = {}
        revisions = store.all(CONTROLLER_REVISION.kind, name)
        self._controller_revisions = sorted(revisions, key=lambda item: (item.revision, item.metadata.name))
        self._read_revisions = store.covered(ReadRequest(CONTROLLER_REVISION.kind, name)).is_known

    def expect(self, state: State) -> None:
        """Of values that were rewritten nothing is expected: too little is kept of pods to tell them from a resize."""
        for key, workload in state.workloads:
            pods = self._latest.get(key, ())[:_MOST_ALIKE]
            own_names = _names(self.tables.templates[workload.template].raw.get("spec") or {})
            # Those that ``Lean`` found alike share their specification.
            if any(own_names != _names_in(spec) for spec in {id(pod.spec): pod.spec for pod in pods}.values()):
                self._expect_added_containers(key, workload.template, pods, own_names)

    def _expect_added_containers(self, key: Key, template: int, pods: Sequence[Pod], own_names: set[str]) -> None:
        computed = own_names.union(
            *(_names(self.tables.shapes[shape].stored) for shape in self.tables.options(template, self.world))
        )
        counts: dict[bytes, list[Added]] = defaultdict(list)
        for pod in pods:
            spec = msgspec.to_builtins(pod.spec, enc_hook=str)
            additions = {
                group: [item for item in spec.get(group) or () if item.get("name", "") not in computed]
                for group in _WIRE
            }
            counts[content_key([[{**item, "image": ""} for item in additions[group]] for group in _WIRE])].append(
                additions
            )
        alike = sorted(counts.values(), key=len, reverse=True)
        names = {name: None for variants in alike for name in sorted(_names(variants[0]))}
        if names:
            self.tables.expect(key, [variants[0] for variants in alike])
            self.tables.seen[key] = ", ".join(names)

    def state(self) -> State:
        state = self.start
        present: dict[int, int] = defaultdict(int)
        ended: dict[int, int] = defaultdict(int)
        for pod in self.store.all("Pod", self.name):
            shape = self._find_shape(pod)
            owner = _owner(pod)
            key = (owner.kind, owner.name) if owner is not None else ("Pod", pod.metadata.name)
            if pod.status.phase in _ENDED:
                ended[shape] += 1
                self._note_deleted_pod(pod, self.tables.finished_cost(shape))
            else:
                present[shape] += 1
                self._note_deleted_pod(pod, () if owner is not None else self.tables.shapes[shape].cost)
                if pod.metadata.deletion_timestamp is None:
                    self._pods[key].append((pod, shape))
                    if ("Pod", pod.metadata.name) in self.deleted:
                        self._deleted_pods[pod.metadata.name] = key, shape, pod.status.phase == "Running"
                    if key[0] not in CONTROLLED:
                        self.others.setdefault(key, []).append(shape)
        for shape, number in present.items():
            state = state.with_charge(self.tables.shapes[shape].cost, number)
        for shape, number in ended.items():
            state = state.with_charge(self.tables.finished_cost(shape), number)
        workloads = Workloads.from_items(self._workloads())
        self._note_owners({key for key, _ in workloads})
        for _, item in workloads:
            state = state.with_charge(self.tables.revision_cost(item), revisions_of(item))
        state = state.with_charge(
            self.tables.count_cost(CONTROLLER_REVISION.resource), self._note_daemon_set_revisions()
        )
        for resource in {name.removeprefix("count/") for name in IN_EVERY_NAMESPACE}:
            state = state.with_charge(self.tables.count_cost(resource))
        return self._with_quota_usage(state._replace(workloads=workloads, claims=Names.of(self._claims())))

    def _note_deleted_pod(self, pod: Pod, cost: Cost) -> None:
        if ("Pod", pod.metadata.name) in self.deleted:
            key = "Pod", pod.metadata.name
            self.tables.made[key] = Maker(key, alone=cost)

    def _note_owners(self, workloads: Container[Key]) -> None:
        """Note of pods and ReplicaSets that steps delete whose they are."""
        for name, (deployment, template) in self._sets_of.items():
            if ("ReplicaSet", name) in self.deleted:
                self.tables.made["ReplicaSet", name] = Maker(deployment, template)
        for name, (owner, shape, is_ready) in self._deleted_pods.items():
            workload, template = owner, -1
            if owner[0] == "ReplicaSet":
                workload, template = self._sets_of.get(owner[1], (owner, -1))
            if workload in workloads:
                self.tables.made["Pod", name] = Maker(workload, template, shape, is_ready)

    def _claims(self) -> Iterator[str]:
        return (item.metadata.name for item in self.store.all("PersistentVolumeClaim", self.name))

    def _with_quota_usage(self, state: State) -> State:
        """With what the quotas' status says, and held against what it says."""
        used, limits = list(state.used), list(state.limits)
        quotas = [*self.store.all("ResourceQuota", self.name)]
        for quota in quotas:
            for number, amount in self._amounts(quota, quota.status.used):
                used[number] = amount
            for number, amount in self._amounts(quota, quota.spec.hard):
                limits[number] = amount
        self._note_unread_counts({number for quota in quotas for number, _ in self._amounts(quota, quota.status.used)})
        return state._replace(used=tuple(used), limits=tuple(limits))

    def _note_unread_counts(self, known: Container[int]) -> None:
        """Note which names of a new quota count objects that are not read, so that more may be used than is known."""
        for number, measure in enumerate(self.tables.measures.items):
            resource = measure.resource.removeprefix("count/")
            counts_alone = measure.resource != resource or resource in ALIASES
            if number not in known and counts_alone and resource not in _COUNTED and self.store.origin.kind != "files":
                text = f"which {resource} exist is not read: more of {measure.resource} may be used"
                self.tables.gaps[f"quota {measure.quota}: {text}"] = None

    def _amounts(self, quota: ResourceQuota, values: Mapping[str, Any] | None) -> Iterable[tuple[int, int]]:
        try:
            amounts = parse_list(values, "status")
        except Unparsable:
            return
        for resource, number in self.tables.measures.numbers(quota):
            if resource in amounts:
                if amounts[resource]:  # a sum that is zero takes the notation of what comes first
                    self.tables.measures.formats.setdefault(number, amounts[resource].format)
                yield number, amounts[resource].nano

    def _find_shape(self, pod: Pod) -> int:
        # Those that ``Lean`` found alike share their parts.
        same = (id(pod.spec), id(pod.status))
        if same not in self._equal_shapes:
            key = _shape_key(pod)
            if key not in self._shapes:
                alive = msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, phase="Running"))
                self._shapes[key] = self.tables.shape_of_pod(alive, shape_fields(parts_of(pod)), self.world)
            self._equal_shapes[same] = self._shapes[key]
        return self._equal_shapes[same]

    def _workloads(self) -> Iterator[tuple[Key, WorkloadState]]:
        sets: dict[Key, list[Workload]] = defaultdict(list)
        for item in self.store.all("ReplicaSet", self.name):
            owner = _owner(item)
            if owner is not None:
                sets[owner.kind, owner.name].append(item)
        for key, raw in self.world.objects.items():
            if key[0] in CONTROLLED:
                template = self.tables.template_of(raw)
                rejected = _find_webhook_refusal(raw)
                if rejected:
                    self.tables.reject(template, rejected)
                fresh = initial_state(raw, template, self.tables.server)
                yield key, self._fill_workload(key, fresh, raw, sets[key])

    def _fill_workload(self, key: Key, fresh: WorkloadState, raw: Raw, sets: list[Workload]) -> WorkloadState:
        match fresh:
            case DeploymentState():
                return fresh._replace(sets=tuple(self._sets(key, fresh, sets)))
            case StatefulSetState():
                return self._stateful_set(key, fresh, raw)
            case JobState():
                self._latest[key] = [pod for pod, _ in self._pods[key]]
                status = raw.get("status") or {}
                ended = [
                    condition["type"]
                    for condition in status.get("conditions") or ()
                    if condition.get("status") == "True" and condition.get("type") in {"Complete", "Failed"}
                ]
                done = fresh._replace(succeeded=status.get("succeeded", 0), ended=ended[0] if ended else "")
                return done._replace(pods=self._count_pods_by_shape(key))
            case ReplicaSetState():
                self._latest[key] = [pod for pod, _ in self._pods[key]]
                return fresh._replace(pods=self._count_pods_by_shape(key))
        return fresh

    def _count_pods_by_shape(self, key: Key) -> Pods:
        counts: dict[tuple[int, bool], int] = defaultdict(int)
        for pod, shape in self._pods[key]:
            counts[shape, pod.status.phase == "Running"] += 1
        return tuple(sorted((shape, ready, number) for (shape, ready), number in counts.items()))

    def _sets(self, key: Key, fresh: DeploymentState, sets: list[Workload]) -> Iterator[ReplicaSetState]:
        """Yield the oldest first. Not all of a template is kept: of sets that look like the Deployment's the newest is
        it.
        """
        stored_object = self.store.get(*key, self.name)
        shared = stored_object.spec.template if stored_object is not None else None
        pairs: list[tuple[Workload, Raw]] = []
        numbers: list[int] = []
        for item in sorted(sets, key=_age_sort_key):
            if shared is not None and item.spec.template is shared:  # as ``LeanWorkloads`` leaves it
                plain = self.tables.templates[fresh.template].raw
                number = fresh.template
            else:
                plain = _without_hash(template_raw(raw_of(item)))
                number = self.tables.template(key, plain)
            pairs.append((item, plain))
            numbers.append(number)
        alike = [item for (item, _), number in zip(pairs, numbers, strict=True) if number == fresh.template]
        newest = max(alike, key=_rank) if alike else None
        if newest is not None:
            self._latest[key] = [pod for pod, _ in self._pods["ReplicaSet", newest.metadata.name]]
        for (item, plain), number in zip(pairs, numbers, strict=True):
            template, notes = number, item.metadata.annotations or {}
            if number == fresh.template and item is not newest:
                template = self.tables.template(key, _add_revision_label(plain, item.metadata.name))
            self._sets_of[item.metadata.name] = key, template
            wanted_count = 1 if item.spec.replicas is None else item.spec.replicas
            desired = _read_whole_number(notes.get(_DESIRED), fresh.replicas)
            maximum = _read_whole_number(notes.get(_MOST), fresh.replicas + fresh.surge)
            yield ReplicaSetState(
                template, wanted_count, self._count_pods_by_shape(("ReplicaSet", item.metadata.name)), desired, maximum
            )

    def _stateful_set(self, key: Key, fresh: StatefulSetState, raw: Raw) -> StatefulSetState:
        newest = (raw.get("status") or {}).get("updateRevision", "")
        revisions = dict(self._revisions(key, fresh.template, newest))
        replicas: list[Replica] = []
        older: set[int] = set()
        for pod, shape in self._pods[key]:
            name, _, ordinal = pod.metadata.name.rpartition("-")
            if name != key[1] or not ordinal.isdigit():
                continue
            revision = (pod.metadata.labels or {}).get(_REVISION, newest)
            template = revisions.get(revision, fresh.template)
            if newest and revision != newest and revision not in revisions:
                template = revisions[revision] = self.tables.template(
                    key, _add_revision_label(template_raw(raw), revision)
                )
            if template != fresh.template:
                older.add(template)
            else:
                self._latest.setdefault(key, []).append(pod)
            replicas.append(Replica(int(ordinal), template, shape, ready=pod.status.phase == "Running"))
        current = min(older) if older else fresh.current
        have = dict.fromkeys([*revisions.values(), *(() if self._read_revisions else (fresh.template,))])
        return fresh._replace(pods=joined(replicas), current=current, revisions=tuple(have))

    def _note_daemon_set_revisions(self) -> int:
        """Notes which templates of DaemonSets have a ControllerRevision. Returns how many of these were read."""
        total = 0
        for key, raw in self.world.objects.items():
            if key[0] == "DaemonSet":
                present = self.tables.template_of(raw)
                owned = [item for item in self._controller_revisions if _owned_by(item, key)]
                newest = max(owned, key=lambda item: item.revision).metadata.name if owned else ""
                revisions = dict(self._revisions(key, present, newest))
                have = {*revisions.values(), *(() if self._read_revisions else (present,))}
                self.tables.revised[key], total = frozenset(have), total + len(revisions)
        return total

    def _revisions(self, key: Key, present: int, newest: str) -> Iterator[tuple[str, int]]:
        """The names of its ControllerRevisions that were read, each with its template.

        Of what its controller has seen the newest is that of the present template.
        """
        stored = self.store.get(*key, self.name)
        seen = stored is not None and stored.status.observed_generation >= stored.metadata.generation
        for item in self._controller_revisions:
            name, number = item.metadata.name, present
            if not _owned_by(item, key):
                continue
            if not (seen and name == newest):
                template = mapping(mapping(to_wire(item.data), "spec"), "template")
                number = self.tables.template(key, template)
                if seen and number == present:
                    number = self.tables.template(key, _add_revision_label(template, name))
            yield name, number


def _names(spec: Mapping[str, Any]) -> set[str]:
    return {str(item.get("name", "")) for group in _WIRE for item in spec.get(group) or ()}


def _names_in(spec: PodSpec) -> set[str]:
    return {container.name for container in (*(spec.containers or ()), *(spec.init_containers or ()))}


def _find_webhook_refusal(raw: Raw) -> str:
    """Return what a webhook says to pods of a workload, as its condition has it; empty where none is known to reject
    them.
    """
    for condition in (raw.get("status") or {}).get("conditions") or ():
        text = str(condition.get("message", ""))
        if (condition.get("type"), condition.get("status")) == ("ReplicaFailure", "True") and _BY_WEBHOOK.search(text):
            return text
    return ""


def _shape_key(pod: Pod) -> bytes:
    """Return what tells shapes of pods apart, as bytes: names, resources, and what scopes of quotas ask for."""
    spec, status = pod.spec, pod.status
    return content_key(
        (
            [(container.name, container.resources) for container in spec.containers or ()],
            [
                (init_container.name, init_container.resources, init_container.restart_policy)
                for init_container in spec.init_containers or ()
            ],
            [
                (container_status.name, container_status.resources, container_status.allocated_resources)
                for container_status in status.container_statuses or ()
            ],
            [
                (init_container_status.name, init_container_status.resources, init_container_status.allocated_resources)
                for init_container_status in status.init_container_statuses or ()
            ],
            (spec.resources, spec.overhead, spec.priority_class_name, spec.active_deadline_seconds, status.qos_class),
            (
                spec.affinity,
                status.resize,
                [(condition.type, condition.reason) for condition in status.conditions or ()],
            ),
        )
    )


class LeanPods:
    """What a simulation needs of pods: whose they are, how they fare, and one specification for all that are alike."""

    def __init__(self) -> None:
        self._parts: dict[tuple[bytes, str], tuple[PodSpec, PodStatus]] = {}
        self._owners: dict[OwnerReference, tuple[OwnerReference]] = {}
        self._namespaces: dict[str, str] = {}

    def __call__(self, pod: Pod) -> Pod:
        spec, status = self._parts.setdefault((_shape_key(pod), pod.status.phase), (pod.spec, pod.status))
        meta = pod.metadata
        revision = (meta.labels or {}).get(_REVISION)
        owner = _owner(pod)
        namespace = self._namespaces.setdefault(meta.namespace, meta.namespace)
        kept = Metadata(
            meta.name, namespace, labels={_REVISION: revision} if revision is not None else None,
            deletion_timestamp=meta.deletion_timestamp,
            owner_references=self._owners.setdefault(owner, (owner,)) if owner is not None else None,
        )  # fmt: skip
        return Pod(metadata=kept, spec=spec, status=status)


class LeanWorkloads:
    """What a simulation needs of workloads: one template for all that are alike, ReplicaSets' as well."""

    def __init__(self) -> None:
        self._templates: dict[bytes, DetailedTemplate] = {}
        self._parts: dict[bytes, Any] = {}

    def __call__(self, item: Workload) -> Workload:
        meta, template = item.metadata, item.spec.template
        if template is None:
            return item
        if item.kind == "ReplicaSet" and _owner(item) is not None:
            notes = {key: text for key, text in (meta.annotations or {}).items() if key in _NOTES}
            meta = ManagedMetadata(
                meta.name, meta.namespace, annotations=notes or None, creation_timestamp=meta.creation_timestamp,
                owner_references=meta.owner_references,
            )  # fmt: skip
            labels = {key: text for key, text in (template.metadata.labels or {}).items() if key != _HASH}
            bare = msgspec.structs.replace(template.metadata, labels=labels or None)
            template = msgspec.structs.replace(template, metadata=bare)
        key = blake2b(content_key(template), digest_size=16).digest()
        shared = self._templates.get(key)
        if shared is None:
            shared = self._templates[key] = msgspec.structs.replace(template, spec=self._spec(template.spec))
        return msgspec.structs.replace(item, metadata=meta, spec=msgspec.structs.replace(item.spec, template=shared))

    def _spec(self, spec: DetailedSpec) -> DetailedSpec:
        """With the parts that are the same in most templates held once."""
        groups = {group: tuple(map(self._container, getattr(spec, group) or ())) or None for group in _GROUPS}
        parts = {name: self._share_part(getattr(spec, name)) for name in ("security_context", "tolerations", "volumes")}
        return msgspec.structs.replace(spec, **groups, **parts)

    def _container(self, container: DetailedContainer) -> DetailedContainer:
        return msgspec.structs.replace(
            container, **{name: self._share_part(getattr(container, name)) for name in _PARTS}
        )

    def _share_part(self, part: Any) -> Any:
        return self._parts.setdefault(content_key(part), part) if part is not None else None


def lean_converters() -> dict[str, Callable[[Any], Any]]:
    """Return what a store that is filled for a simulation keeps of objects, by kind: what that needs, and no more."""
    workloads = LeanWorkloads()
    return {"Pod": LeanPods(), "Deployment": workloads, "ReplicaSet": workloads}


def parts_of(pod: Pod) -> dict[str, Any]:
    """Return the parts of a pod that ``shape_fields`` shows, as JSON has them."""
    spec = pod.spec
    shown = {
        "containers": [
            {"name": container.name, "resources": container.resources} for container in spec.containers or ()
        ],
        "initContainers": [
            {"name": init_container.name, "resources": init_container.resources}
            for init_container in spec.init_containers or ()
        ],
    }
    more = {"resources": spec.resources, "overhead": spec.overhead, "priorityClassName": spec.priority_class_name}
    whole = {"spec": {**shown, **{name: value for name, value in more.items() if value}}}
    return {**msgspec.to_builtins(whole), "status": {"qosClass": pod.status.qos_class}}


def _read_whole_number(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isdigit() else default


def _without_hash(template: Raw) -> dict[str, Any]:
    """Return the template of a ReplicaSet as its Deployment has it."""
    metadata = template.get("metadata") or {}
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != _HASH}
    return {**template, "metadata": {**metadata, "labels": labels}}


def _age_sort_key(item: Workload) -> tuple[str, str]:
    return item.metadata.creation_timestamp or "", item.metadata.name


def _rank(item: Workload) -> tuple[int, bool, tuple[str, str]]:
    """The latest revision is the newest; among equal ones a set that wants pods, then the youngest."""
    revision = _read_whole_number((item.metadata.annotations or {}).get(_REVISION_NOTE), 0)
    return revision, item.spec.replicas != 0, _age_sort_key(item)


def _add_revision_label(template: Raw, revision: str) -> dict[str, Any]:
    metadata = template.get("metadata") or {}
    return {**template, "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), _REVISION: revision}}}
