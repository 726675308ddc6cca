"""Changes of claims and volumes after which a node takes the pod, and of a selector that leads away from a volume.

Each is tried as the others are. Where the volume controller would have to bind a claim, or a driver to make a volume at
once, somewhere, nothing is tried: it is not known from which nodes that volume could be reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from msgspec.structs import replace

from kubectl_kres.model import scheduling
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.reports.common.nodes import NodeRemedy, StorageWanted
from kubectl_kres.reports.common.remedy import NoCommand
from kubectl_kres.reports.remedies.commands import patch_command
from kubectl_kres.reports.scheduling.obstacles import (
    Obstacles,
    RemedyTarget,
    format_json_patch,
    nodes_that_take,
)
from kubectl_kres.reports.scheduling.trial import try_for_all, with_deletions
from kubectl_kres.scheduling import volume_binding
from kubectl_kres.scheduling.node_info import NodeInfo, SchedulingCluster, changed_node
from kubectl_kres.scheduling.volume_binding import claim_class_name, requested_bytes, volume_size
from kubectl_kres.scheduling.volume_plugins import ONE_POD, claims_of
from kubectl_kres.store.store import Origin

_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_ONE_NODE = "ReadWriteOnce"
_SHARED = frozenset({"ReadWriteMany", "ReadOnlyMany"})
_OWN_SIZE = NoCommand("size")
_OWN_STORAGE = NoCommand("storage")
_FIXED_CLASS = NoCommand("class")
_OWN_CHOICE = NoCommand("choice")
#: Claims of the namespace, and classes, that are tried in place of another one.
_MOST_TRIED = 5


class _Setting(NamedTuple):
    """What each remedy is made from: the pod as it waits, and all among which it does.

    ``nodes``: those that could take it with other claims; for the others nothing has to be tried.
    """

    origin: Origin
    pod: scheduling.SchedulingPod
    target: RemedyTarget
    cluster: SchedulingCluster
    nodes: Sequence[NodeInfo]

    def remedy(
        self,
        action: Any,
        world: scheduling.SchedulingWorld | None = None,
        pod: scheduling.SchedulingPod | None = None,
        **more: Any,
    ) -> NodeRemedy | None:
        """Return the remedy if a node takes the pod in another world, or another pod; None: none does."""
        cluster = self.cluster if world is None else SchedulingCluster(self.cluster.nodes, world)
        taking = nodes_that_take(pod or self.pod, cluster, self.nodes)
        node = next((node.name for node in self.nodes if node.name in taking), None)
        if node is None:
            return None
        remedy = NodeRemedy(action, node, len(taking), **more)
        remedy = with_deletions(self.origin, remedy, self.target) if pod is not None else remedy
        return try_for_all(
            remedy, self.target, pod or self.pod, cluster, anew=pod is not None and self.target.makes_anew
        )


def find_volume_remedies(
    origin: Origin,
    pod: scheduling.SchedulingPod,
    target: RemedyTarget,
    cluster: SchedulingCluster,
    obstacles: Obstacles,
) -> Iterator[NodeRemedy]:
    """Yield the first change of each kind for each claim of the pod; nothing for a pod without claims."""
    volumes = [
        (index, volume.persistent_volume_claim.claim_name)
        for index, volume in enumerate(pod.spec.volumes or ())
        if volume.persistent_volume_claim is not None
    ]
    if not volumes:
        return
    without = nodes_that_take(replace(pod, spec=replace(pod.spec, volumes=None)), cluster, cluster.nodes)
    nodes = tuple(node for node in cluster.nodes if node.name in without)
    setting = _Setting(origin, pod, target, cluster, nodes)
    for index, name in volumes:
        claim = cluster.world.claims.get((pod.metadata.namespace, name))
        tried = _claim_remedies(setting, index, name, claim) if nodes else ()
        yield from (remedy for remedy in tried if remedy is not None)
        if claim is not None and (remedy := _release_claim(setting, claim)):
            yield remedy
    yield from _change_selector(setting._replace(nodes=cluster.nodes), obstacles)


def _claim_remedies(
    setting: _Setting, index: int, name: str, claim: scheduling.StorageClaim | None
) -> Iterator[NodeRemedy | None]:
    """Yield what to do about a claim that is missing, unbound, or bound to a volume that is gone."""
    if claim is None:
        yield _create_claim(setting, name)
        yield _use_claim(setting, index, name, None)
    elif not volume_binding.is_bound(claim):
        yield _provide_volume(setting, claim)
        yield _change_class(setting, claim)
        yield _use_claim(setting, index, name, claim)
    elif claim.spec.volume_name not in setting.cluster.world.volumes:
        yield _use_claim(setting, index, name, claim)


def _waiting_classes(world: scheduling.SchedulingWorld) -> list[scheduling.BindingClass]:
    """Return the first classes whose volumes are bound once a pod waits for them, the default class before others."""
    waiting = (each for each in world.classes.values() if each.volume_binding_mode == volume_binding.WAITS_FOR_CONSUMER)
    return sorted(waiting, key=lambda each: (not _is_default(each), each.metadata.name))[:_MOST_TRIED]


def _is_default(storage_class: scheduling.BindingClass) -> bool:
    return (storage_class.metadata.annotations or {}).get(_DEFAULT_CLASS) == "true"


def _create_claim(setting: _Setting, name: str) -> NodeRemedy | None:
    """Return the missing claim as it could be: of any size where a driver makes its volume, or else not larger than the
    largest volume that is free.
    """
    world, metadata = setting.cluster.world, scheduling.SchedulingMetadata(name, setting.pod.metadata.namespace)
    for storage_class in _waiting_classes(world):
        wanted = StorageWanted(storage_class.metadata.name, (_ONE_NODE,))
        if storage_class.provisioner in {"", volume_binding.NO_PROVISIONER}:
            free = [
                volume
                for volume in world.volumes.values()
                if volume.spec.storage_class_name == wanted.storage_class
                and volume.status.phase == "Available"
                and volume.spec.access_modes
            ]
            if not free:
                continue
            largest = max(free, key=lambda volume: (volume_size(volume), volume.metadata.name)).spec
            wanted = StorageWanted(
                wanted.storage_class,
                (largest.access_modes or ())[:1],
                str((largest.capacity or {}).get("storage", "")),
                largest.volume_mode or "Filesystem",
            )
        spec = scheduling.StorageClaimSpec(
            wanted.access_modes,
            ResourceRequirements({}, {"storage": wanted.storage}) if wanted.storage else None,
            storage_class_name=wanted.storage_class,
            volume_mode=wanted.mode,
        )
        changed = _with_claim(world, scheduling.StorageClaim(metadata, spec))
        if remedy := setting.remedy("create-claim", changed, about=name, wanted=wanted, no_command_reason=_OWN_SIZE):
            return remedy
    return None


def _with_claim(world: scheduling.SchedulingWorld, claim: scheduling.StorageClaim) -> scheduling.SchedulingWorld:
    return replace(world, claims={**world.claims, (claim.metadata.namespace, claim.metadata.name): claim})


def _use_claim(setting: _Setting, index: int, name: str, claim: scheduling.StorageClaim | None) -> NodeRemedy | None:
    """Return another claim of the namespace, with a similar name before others, that is free or may be shared.

    ``claim``: what is asked for, so that the other has as much room and the same access modes; None: not known.
    A StatefulSet names the claims of its pods itself.
    """
    pod, world = setting.pod, setting.cluster.world
    namespace = pod.metadata.namespace
    if setting.target.ref.kind == "StatefulSet":
        return None
    used = {
        each
        for node in setting.cluster.nodes
        for other in node.pods
        if other.namespace == namespace and other.volumes
        for each in claims_of(other)
    }
    own_names = {
        volume.persistent_volume_claim.claim_name
        for volume in pod.spec.volumes or ()
        if volume.persistent_volume_claim is not None
    }
    others = [
        other
        for (space, each), other in world.claims.items()
        if space == namespace and each not in own_names and _suits(other, claim, world)
        if each not in used or _SHARED & set(other.spec.access_modes or ())
    ]
    others.sort(key=lambda other: (-SequenceMatcher(None, name, other.metadata.name).ratio(), other.metadata.name))
    for other in others[:_MOST_TRIED]:
        to, volumes = other.metadata.name, list(pod.spec.volumes or ())
        source = volumes[index].persistent_volume_claim
        if source is None:
            return None
        volumes[index] = replace(volumes[index], persistent_volume_claim=replace(source, claim_name=to))
        path, reason = f"/volumes/{index}/persistentVolumeClaim/claimName", setting.target.why_fixed
        patch = ({"op": "test", "path": path, "value": name}, {"op": "replace", "path": path, "value": to})
        lines = () if reason else (format_json_patch(setting.origin, setting.target, patch),)
        changed = replace(pod, spec=replace(pod.spec, volumes=tuple(volumes)))
        if remedy := setting.remedy(
            "use-claim", pod=changed, about=name, to=to, commands=lines, no_command_reason=reason
        ):
            return remedy
    return None


def _suits(
    other: scheduling.StorageClaim, claim: scheduling.StorageClaim | None, world: scheduling.SchedulingWorld
) -> bool:
    """Return whether a claim has the room, mode and access modes that another one asks for."""
    if claim is None:
        return True
    volume = world.volumes.get(other.spec.volume_name)
    size = volume_size(volume) if volume is not None else requested_bytes(other)
    modes = (other.spec.volume_mode or "Filesystem", claim.spec.volume_mode or "Filesystem")
    asked = set(claim.spec.access_modes or ())
    return size >= requested_bytes(claim) and modes[0] == modes[1] and asked <= set(other.spec.access_modes or ())


def _provide_volume(setting: _Setting, claim: scheduling.StorageClaim) -> NodeRemedy | None:
    """Return the volume that would have to be there for a claim without any; None also where one of its name is."""
    spec, world = claim.spec, setting.cluster.world
    selector = spec.selector
    if spec.volume_name in world.volumes or (selector is not None and selector.match_expressions):
        return None
    storage_class = world.classes.get(claim_class_name(claim))
    provisioner = storage_class.provisioner if storage_class is not None else ""
    wanted = StorageWanted(
        claim_class_name(claim),
        spec.access_modes or (),
        str(((spec.resources.requests if spec.resources else None) or {}).get("storage", "")),
        spec.volume_mode or "Filesystem",
        spec.volume_name,
        dict(selector.match_labels or {}) if selector is not None else {},
        bool(claim_class_name(claim)) and storage_class is None,
        provisioner if provisioner != volume_binding.NO_PROVISIONER else "",
    )
    waits = volume_binding.waits_for_consumer(claim, world) and not spec.volume_name
    name = wanted.volume or "the-volume-that-is-wanted"
    volume = scheduling.PersistentVolume(
        scheduling.SchedulingMetadata(name, labels=wanted.labels),
        scheduling.PersistentVolumeSpec(
            spec.access_modes,
            {"storage": wanted.storage},
            None if waits else scheduling.ClaimRef(name=claim.metadata.name, namespace=claim.metadata.namespace),
            storage_class_name=wanted.storage_class,
            volume_attributes_class_name=spec.volume_attributes_class_name,
            volume_mode=spec.volume_mode,
        ),
        scheduling.Phase("Available" if waits else "Bound"),
    )
    changed = replace(world, volumes={**world.volumes, name: volume})
    if not waits:
        annotations = {**(claim.metadata.annotations or {}), volume_binding.BIND_COMPLETED: "yes"}
        metadata = replace(claim.metadata, annotations=annotations)
        bound = replace(
            claim, metadata=metadata, spec=replace(spec, volume_name=name), status=scheduling.Phase("Bound")
        )
        changed = _with_claim(changed, bound)
    return setting.remedy(
        "provide-volume", changed, about=claim.metadata.name, wanted=wanted, no_command_reason=_OWN_STORAGE
    )


def _change_class(setting: _Setting, claim: scheduling.StorageClaim) -> NodeRemedy | None:
    """Return a class that is there, for a claim that has no volume yet. It can be set where the claim has none."""
    annotations = dict(claim.metadata.annotations or {})
    named = annotations.pop(_BETA_CLASS, None) is not None or claim.spec.storage_class_name is not None
    if claim.spec.volume_name:
        return None
    for storage_class in _waiting_classes(setting.cluster.world):
        to = storage_class.metadata.name
        if to == claim_class_name(claim):
            continue
        metadata = replace(claim.metadata, annotations=annotations)
        changed = replace(claim, metadata=metadata, spec=replace(claim.spec, storage_class_name=to))
        ref = ObjectRef("PersistentVolumeClaim", claim.metadata.name, claim.metadata.namespace)
        line = patch_command(setting.origin, ref, {"spec": {"storageClassName": to}}, "merge")
        remedy = setting.remedy(
            "change-class",
            _with_claim(setting.cluster.world, changed),
            about=claim.metadata.name,
            to=to,
            commands=() if named else (line,),
            no_command_reason=_FIXED_CLASS if named else "",
        )
        if remedy is not None:
            return remedy
    return None


def _release_claim(setting: _Setting, claim: scheduling.StorageClaim) -> NodeRemedy | None:
    """Return the pods that hold a claim which one pod at a time may use; None where nothing does."""
    if ONE_POD not in (claim.spec.access_modes or ()):
        return None
    namespace, name = claim.metadata.namespace, claim.metadata.name
    nodes, holders = list(setting.cluster.nodes), list[ObjectRef]()
    for index, node in enumerate(nodes):
        gone = [pod for pod in node.pods if pod.volumes and pod.namespace == namespace and name in claims_of(pod)]
        if gone:
            nodes[index] = changed_node(node, gone, ())
            holders += (ObjectRef("Pod", pod.name, namespace) for pod in gone)
    if not holders:
        return None
    without = setting._replace(cluster=SchedulingCluster(tuple(nodes), setting.cluster.world), nodes=nodes)
    return without.remedy("release-claim", about=name, holders=tuple(holders), no_command_reason=_OWN_CHOICE)


def _change_selector(setting: _Setting, obstacles: Obstacles) -> Iterator[NodeRemedy]:
    """Yield the selector, or the pod without the node affinity, with which a node takes it that reaches its volumes.

    Only where volumes keep the pod off other nodes. A DaemonSet chooses nodes by its selector.
    """
    plugin_names = {"VolumeBinding", "VolumeZone"}
    if setting.target.ref.kind == "DaemonSet" or not any(
        status.plugin in plugin_names for _, statuses in obstacles.nodes for status in statuses
    ):
        return
    pod, spec = setting.pod, setting.pod.spec
    wanted = spec.node_selector or {}
    for node, _ in obstacles.sole_obstacle("NodeAffinity"):
        others = {key: node.labels.get(key) for key, value in sorted(wanted.items()) if node.labels.get(key) != value}
        affinity = spec.affinity
        if others:
            selector = {key: value for key, value in {**wanted, **others}.items() if value is not None}
            changed = replace(spec, node_selector=selector)
            steps = [step for key, to in others.items() for step in _label_steps(key, wanted[key], to)]
            words = [f"{key}={wanted[key]}" for key in others], [f"{key}={to}" for key, to in others.items() if to]
            remedy = _relaxed_remedy(setting, "change-selector", replace(pod, spec=changed), steps, *words)
        elif affinity is not None and affinity.node_affinity is not None:
            changed = replace(spec, affinity=replace(affinity, node_affinity=None))
            path = "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution"
            steps = [{"op": "remove", "path": path}]
            remedy = _relaxed_remedy(setting, "drop-affinity", replace(pod, spec=changed), steps, ["nodeAffinity"], [])
        else:
            continue
        if remedy is not None:
            yield remedy
            return


def _label_steps(key: str, old: str, to: str | None) -> Iterator[Mapping[str, Any]]:
    """Yield the steps of a JSON patch for one label of nodeSelector; None: it is left out."""
    path = f"/nodeSelector/{key.replace('~', '~0').replace('/', '~1')}"
    yield {"op": "test", "path": path, "value": old}
    yield {"op": "remove", "path": path} if to is None else {"op": "replace", "path": path, "value": to}


def _relaxed_remedy(
    setting: _Setting,
    action: str,
    pod: scheduling.SchedulingPod,
    steps: Sequence[Mapping[str, Any]],
    labels: Sequence[str],
    to: Sequence[str],
) -> NodeRemedy | None:
    reason = setting.target.why_fixed
    lines = () if reason else (format_json_patch(setting.origin, setting.target, steps),)
    return setting.remedy(
        action, pod=pod, about=",".join(labels), to=",".join(to), commands=lines, no_command_reason=reason
    )
