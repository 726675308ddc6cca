"""VolumeRestrictions, NodeVolumeLimits and VolumeZone: volumes that are in use, too many, or in another zone.

Source: pkg/scheduler/framework/plugins, folders volumerestrictions, nodevolumelimits, volumezone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kubectl_kres.model import scheduling
from kubectl_kres.scheduling.node_info import (
    UNRESOLVABLE,
    UNSCHEDULABLE,
    BoundPod,
    Filter,
    NodeInfo,
    Rejection,
    SchedulingCluster,
)
from kubectl_kres.scheduling.volume_binding import WAITS_FOR_CONSUMER, claim_class_name, claim_name, not_found

ONE_POD = "ReadWriteOncePod"
_IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)


class VolumeRestrictions:
    """Disks that one pod at a time may write, and claims that one pod at a time may use."""

    name = "VolumeRestrictions"

    def prepare(self, pod: scheduling.SchedulingPod, cluster: SchedulingCluster, /) -> Filter | Rejection | None:
        disks = tuple(volume for volume in pod.spec.volumes or () if _disks(volume))
        exclusive: set[str] = set()
        for volume in pod.spec.volumes or ():
            if volume.persistent_volume_claim is None:
                continue
            name = volume.persistent_volume_claim.claim_name
            claim = cluster.world.claims.get((pod.metadata.namespace, name))
            if claim is None:
                return Rejection(self.name, UNRESOLVABLE, (not_found(name),), about=name)
            if ONE_POD in (claim.spec.access_modes or ()):
                exclusive.add(name)
        namespace = pod.metadata.namespace
        used: set[str] = set()
        if exclusive:
            every = (other for node in cluster.nodes for other in node.pods)
            used = {name for other in every if other.namespace == namespace for name in claims_of(other) & exclusive}
        if not disks and not used:
            return None
        return _Restrictions(disks, namespace, frozenset(exclusive), len(used))


def claims_of(pod: BoundPod) -> set[str]:
    """Return the names of the claims that a pod uses, without those that were made for it."""
    return {
        volume.persistent_volume_claim.claim_name
        for volume in pod.volumes
        if volume.persistent_volume_claim is not None
    }


def _disks(volume: scheduling.SchedulingVolume) -> tuple[scheduling.DiskVolume | None, ...]:
    """Return the disks of a volume by their kind; empty: it is none that needs a check."""
    disks = (volume.gce_persistent_disk, volume.aws_elastic_block_store, volume.iscsi, volume.rbd)
    return disks if any(disk is not None for disk in disks) else ()


def _conflict(volume: scheduling.SchedulingVolume, other: scheduling.SchedulingVolume) -> bool:
    """Source: isVolumeConflict."""
    for index, (disk, existing) in enumerate(zip(_disks(volume), _disks(other), strict=False)):
        if disk is None or existing is None:
            continue
        both_read = disk.read_only and existing.read_only
        match index:
            case 0:
                same = disk.pd_name == existing.pd_name and not both_read
            case 1:
                same = disk.volume_id == existing.volume_id
            case 2:
                same = disk.iqn == existing.iqn and not both_read
            case _:
                shared = set(disk.monitors or ()) & set(existing.monitors or ())
                # The server fills in the pool rbd.
                pools = (disk.pool or "rbd", existing.pool or "rbd")
                alike = pools[0] == pools[1] and disk.image == existing.image
                same = bool(shared) and alike and not both_read
        if same:
            return True
    return False


class _Restrictions(Filter):
    def __init__(
        self, disks: tuple[scheduling.SchedulingVolume, ...], namespace: str, exclusive: frozenset[str], conflicts: int
    ) -> None:
        self._disks, self._namespace, self._exclusive, self._conflicts = disks, namespace, exclusive, conflicts

    def check(self, node: NodeInfo) -> Rejection | None:
        for volume in self._disks:
            if any(_conflict(volume, other) for pod in node.pods for other in pod.volumes):
                reason = "node(s) had no available disk"
                return Rejection(VolumeRestrictions.name, UNSCHEDULABLE, (reason,), about=volume.name)
        if self._conflicts > 0:
            about = ", ".join(sorted(self._exclusive))
            return Rejection(VolumeRestrictions.name, UNSCHEDULABLE, (_IN_USE,), about=about)
        return None

    def change(self, _node: NodeInfo, removed: Sequence[BoundPod], additions: Sequence[BoundPod], /) -> Filter:
        conflicts = self._conflicts - self._count_exclusive_claims(removed) + self._count_exclusive_claims(additions)
        return _Restrictions(self._disks, self._namespace, self._exclusive, conflicts)

    def _count_exclusive_claims(self, pods: Iterable[BoundPod]) -> int:
        return sum(len(claims_of(pod) & self._exclusive) for pod in pods if pod.namespace == self._namespace)


class NodeVolumeLimits:
    """How many volumes of a CSI driver a node can hold."""

    name = "NodeVolumeLimits"

    def prepare(self, pod: scheduling.SchedulingPod, cluster: SchedulingCluster, /) -> Filter | Rejection | None:
        if all(claim_name(pod, volume) is None for volume in pod.spec.volumes or ()):
            return None
        return _Limits(pod, cluster.world)


class _Limits(Filter):
    def __init__(self, pod: scheduling.SchedulingPod, world: scheduling.SchedulingWorld) -> None:
        self._world = world
        names = (claim_name(pod, volume) for volume in pod.spec.volumes or ())
        self._new_volumes = _attachable(pod.metadata.namespace, (name for name in names if name), world)

    def check(self, node: NodeInfo) -> Rejection | None:
        csi_node = self._world.csi_nodes.get(node.name)
        if missing := self._find_missing_driver(csi_node):
            reason = f"{missing} CSI driver is not installed on the node"
            return Rejection(NodeVolumeLimits.name, UNSCHEDULABLE, (reason,), about=missing)
        limits = _limits(csi_node)
        if not self._new_volumes or not limits.keys() & set(self._new_volumes.values()):
            return None
        attached: dict[str, str] = {}
        for pod in node.pods:
            attached |= _attachable(pod.namespace, _claim_names(pod), self._world)
        by_pods = attached.keys()
        for driver in dict.fromkeys(self._new_volumes.values()):
            if driver not in limits:
                continue
            new = sum(
                attached_by == driver and handle not in by_pods for handle, attached_by in self._new_volumes.items()
            )
            have = sum(attached_by == driver for attached_by in (attached | self._attachments(node.name)).values())
            if new and have + new > limits[driver]:
                reason = "node(s) exceed max volume count"
                return Rejection(NodeVolumeLimits.name, UNSCHEDULABLE, (reason,), about=driver)
        return None

    def _find_missing_driver(self, csi_node: scheduling.CSINode | None) -> str:
        """Return a driver that a node lacks and that does not want pods there then; empty: none (gate
        VolumeLimitScaling).
        """
        if self._world.minor < 37:
            return ""
        existing = {driver.name for driver in (csi_node.spec.drivers or ())} if csi_node is not None else set()
        for driver in dict.fromkeys(self._new_volumes.values()):
            known = self._world.drivers.get(driver)
            if known is not None and known.spec.prevent_pod_scheduling_if_missing and driver not in existing:
                return driver
        return ""

    def _attachments(self, node: str) -> dict[str, str]:
        """Volumes that are attached, by whatever pod. Source: getNodeVolumeAttachmentInfo."""
        drivers: dict[str, str] = {}
        for attachment in self._world.attachments.get(node, ()):
            volume = self._world.volumes.get(attachment.spec.source.persistent_volume_name or "")
            if attachment.spec.attacher and volume is not None and volume.spec.csi is not None:
                handle = volume.spec.csi.volume_handle
                drivers[f"{attachment.spec.attacher}/{handle}"] = attachment.spec.attacher
        return drivers


def _claim_names(pod: BoundPod) -> Iterable[str]:
    for volume in pod.volumes:
        if volume.persistent_volume_claim is not None:
            yield volume.persistent_volume_claim.claim_name
        elif volume.ephemeral is not None:
            yield f"{pod.name}-{volume.name}"


def _limits(csi_node: scheduling.CSINode | None) -> dict[str, int]:
    drivers = csi_node.spec.drivers if csi_node is not None else None
    return {
        driver.name: driver.allocatable.count
        for driver in drivers or ()
        if driver.allocatable is not None and driver.allocatable.count is not None
    }


def _attachable(namespace: str, names: Iterable[str], world: scheduling.SchedulingWorld) -> dict[str, str]:
    """By what is unique to a volume its CSI driver; volumes of no driver count nowhere.

    Volumes of drivers that were moved out of Kubernetes are counted by their own name. Source: getCSIDriverInfo.
    """
    drivers: dict[str, str] = {}
    for name in names:
        claim = world.claims.get((namespace, name))
        if claim is None:
            continue
        volume = world.volumes.get(claim.spec.volume_name) if claim.spec.volume_name else None
        if volume is None:
            storage_class = world.classes.get(claim_class_name(claim))
            if storage_class is not None and storage_class.provisioner:
                drivers[f"{storage_class.provisioner}/{namespace}/{name}"] = storage_class.provisioner
        elif volume.spec.csi is not None:
            drivers[f"{volume.spec.csi.driver}/{volume.spec.csi.volume_handle}"] = volume.spec.csi.driver
    return drivers


#: Labels of volumes and nodes, and what the old ones are called today.
_ZONES: Mapping[str, str] = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region": "topology.kubernetes.io/region",
}


class VolumeZone:
    """The zones in the labels of bound volumes."""

    name = "VolumeZone"

    def prepare(self, pod: scheduling.SchedulingPod, cluster: SchedulingCluster, /) -> Filter | Rejection | None:
        world, zones = cluster.world, list[tuple[str, str, frozenset[str]]]()
        for volume in pod.spec.volumes or ():
            if volume.persistent_volume_claim is None:
                continue
            name = volume.persistent_volume_claim.claim_name
            claim = world.claims.get((pod.metadata.namespace, name))
            if claim is None:
                return Rejection(self.name, UNRESOLVABLE, (not_found(name),), about=name)
            volume_or_reason = _volume_of(claim, world)
            if isinstance(volume_or_reason, str):
                return Rejection(self.name, UNRESOLVABLE, (volume_or_reason,), about=name)
            if volume_or_reason is not None:
                zones += _zones(volume_or_reason)
        return _Zones(tuple(zones)) if zones else None


def _volume_of(
    claim: scheduling.StorageClaim, world: scheduling.SchedulingWorld
) -> scheduling.PersistentVolume | str | None:
    """Return the volume that a claim is bound to; None: it waits for the pod. A text: why neither is so."""
    name = claim.spec.volume_name
    if name:
        volume = world.volumes.get(name)
        return volume if volume is not None else f'persistentvolume "{name}" not found'
    class_name = claim_class_name(claim)
    if not class_name:
        return "PersistentVolumeClaim had no pv name and storageClass name"
    storage_class = world.classes.get(class_name)
    if storage_class is None:
        return f'storageclass.storage.k8s.io "{class_name}" not found'
    return None if storage_class.volume_binding_mode == WAITS_FOR_CONSUMER else "PersistentVolume had no name"


def _zones(volume: scheduling.PersistentVolume) -> Iterable[tuple[str, str, frozenset[str]]]:
    """Name, label and values; several values stand between two underscores. A list with an empty one is ignored."""
    for key in _ZONES:
        value = (volume.metadata.labels or {}).get(key)
        if value is None:
            continue
        values = frozenset(part.strip() for part in value.split("__"))
        if "" not in values:
            yield volume.metadata.name, key, values


class _Zones(Filter):
    def __init__(self, zones: tuple[tuple[str, str, frozenset[str]], ...]) -> None:
        self._zones = zones

    def check(self, node: NodeInfo) -> Rejection | None:
        labels = node.labels
        if not any(key in labels for key in _ZONES):
            return None
        for name, key, values in self._zones:
            value = labels.get(key, labels.get(_ZONES[key]))
            if value not in values:
                reason = "node(s) had no available volume zone"
                return Rejection(VolumeZone.name, UNRESOLVABLE, (reason,), about=f"{name}: {key}")
        return None
