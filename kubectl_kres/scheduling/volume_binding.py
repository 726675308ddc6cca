"""VolumeBinding: claims must be bound, or find on the node a volume, which is chosen here, or a driver that makes one.

Source: pkg/scheduler/framework/plugins/volumebinding/volume_binding.go, binder.go.

Source: component-helpers storage/volume/pv_helpers.go FindMatchingVolume.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from kubectl_kres.errors import QuantityError
from kubectl_kres.model import scheduling
from kubectl_kres.model.scheduling import CSIStorageCapacity, PersistentVolume, StorageClaim
from kubectl_kres.quantity import stored_quantity
from kubectl_kres.scheduling.node_info import (
    UNRESOLVABLE,
    Filter,
    NodeInfo,
    Rejection,
    SchedulingCluster,
    UncomputedFilter,
)
from kubectl_kres.scheduling.selectors import matches, selector_matches, topology_matches

_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


def claim_class_name(claim: StorageClaim) -> str:
    """Return the name of a claim's storage class; empty: none. Source: GetPersistentVolumeClaimClass."""
    beta = (claim.metadata.annotations or {}).get(_BETA_CLASS)
    return beta if beta is not None else claim.spec.storage_class_name or ""


def requested_bytes(claim: StorageClaim) -> int:
    """Bytes that a claim asks for."""
    requests = claim.spec.resources.requests if claim.spec.resources is not None else None
    return _bytes((requests or {}).get("storage", "0"))


def volume_size(volume: PersistentVolume) -> int:
    """Bytes that a volume has."""
    return _bytes((volume.spec.capacity or {}).get("storage", "0"))


def _bytes(value: object) -> int:
    try:
        return stored_quantity(value).value()
    except QuantityError:
        return 0


def maximum_bytes(capacity: CSIStorageCapacity) -> int:
    """Bytes that the largest volume may have; -1: there is no room. Source: volumeLimit."""
    limit = capacity.maximum_volume_size if capacity.maximum_volume_size is not None else capacity.capacity
    return -1 if limit is None else _bytes(limit)


def reachable(volume: PersistentVolume, node: NodeInfo) -> bool:
    """Return whether the node is one that a volume can be reached from. Source: CheckNodeAffinity."""
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return True
    return selector_matches(affinity.required, node.labels)


def find_volume(
    claim: StorageClaim, volumes: Iterable[PersistentVolume], node: NodeInfo, taken: Collection[str]
) -> PersistentVolume | None:
    """Return the volume that was made for the claim, or else the smallest that suits it; None: there is none."""
    smallest: PersistentVolume | None = None
    size = 0
    for volume in volumes:
        spec, capacity = volume.spec, volume_size(volume)
        is_bound = _is_bound_to_claim(volume, claim)
        if volume.metadata.name in taken or (spec.claim_ref is not None and not is_bound):
            continue
        if capacity < requested_bytes(claim) or not _has_same_modes(volume, claim):
            continue
        if volume.metadata.deletion_timestamp is not None:
            continue
        if is_bound:
            return volume if reachable(volume, node) else None
        if not _is_free(volume, claim) or not reachable(volume, node):
            continue
        if smallest is None or capacity < size:
            smallest, size = volume, capacity
    return smallest


def _has_same_modes(volume: PersistentVolume, claim: StorageClaim) -> bool:
    modes = (volume.spec.volume_mode or "Filesystem", claim.spec.volume_mode or "Filesystem")
    attributes = (volume.spec.volume_attributes_class_name or "", claim.spec.volume_attributes_class_name or "")
    return modes[0] == modes[1] and attributes[0] == attributes[1]


def _is_bound_to_claim(volume: PersistentVolume, claim: StorageClaim) -> bool:
    """Source: IsVolumeBoundToClaim."""
    ref = volume.spec.claim_ref
    if ref is None or (ref.name, ref.namespace) != (claim.metadata.name, claim.metadata.namespace):
        return False
    return not ref.uid or ref.uid == claim.metadata.uid


def _is_free(volume: PersistentVolume, claim: StorageClaim) -> bool:
    """Return whether a volume of nobody can be bound to the claim."""
    if volume.status.phase != "Available" or volume.spec.storage_class_name != claim_class_name(claim):
        return False
    if claim.spec.selector is not None and not matches(claim.spec.selector, volume.metadata.labels or {}):
        return False
    return set(claim.spec.access_modes or ()) <= set(volume.spec.access_modes or ())


BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
WAITS_FOR_CONSUMER = "WaitForFirstConsumer"


def claim_name(pod: scheduling.SchedulingPod, volume: scheduling.SchedulingVolume) -> str | None:
    """Return the claim of a volume; None: it is no claim. Source: component-helpers storage/ephemeral/ephemeral.go."""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    return f"{pod.metadata.name}-{volume.name}" if volume.ephemeral is not None else None


def not_found(claim: str) -> str:
    return f'persistentvolumeclaim "{claim}" not found'


class VolumeBinding:
    """Claims of a pod and the volumes that they are bound to, or could be."""

    name = "VolumeBinding"

    def prepare(self, pod: scheduling.SchedulingPod, cluster: SchedulingCluster, /) -> Filter | Rejection | None:
        named = [(volume, name) for volume in pod.spec.volumes or () if (name := claim_name(pod, volume)) is not None]
        if not named:
            return None
        world = cluster.world
        for volume, name in named:
            if fault := _fault(pod, volume, name, world):
                return Rejection(self.name, UNRESOLVABLE, (fault,), about=name)
        claims = [world.claims[pod.metadata.namespace, name] for _, name in named]
        bound = tuple(filter(is_bound, claims))
        unbound = [claim for claim in claims if not is_bound(claim)]
        if immediate := [claim for claim in unbound if claim.spec.volume_name or not waits_for_consumer(claim, world)]:
            reason = "pod has unbound immediate PersistentVolumeClaims"
            return Rejection(self.name, UNRESOLVABLE, (reason,), about=immediate[0].metadata.name)
        return _Binding(bound, tuple(unbound), world)


def _fault(
    pod: scheduling.SchedulingPod, volume: scheduling.SchedulingVolume, name: str, world: scheduling.SchedulingWorld
) -> str:
    """Return why a claim cannot be used at all; empty: it can. Source: podHasPVCs."""
    namespace = pod.metadata.namespace
    claim = world.claims.get((namespace, name))
    if claim is None:
        if volume.ephemeral is not None:
            return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
        return not_found(name)
    if claim.status.phase == "Lost":
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.spec.volume_name}"'
    if claim.metadata.deletion_timestamp is not None:
        return f'persistentvolumeclaim "{name}" is being deleted'
    if volume.ephemeral is not None and not _made_for(pod, claim):
        pod_name = f"{namespace}/{pod.metadata.name}"
        return f"PVC {namespace}/{name} was not created for pod {pod_name} (pod is not owner)"
    return ""


def _made_for(pod: scheduling.SchedulingPod, claim: scheduling.StorageClaim) -> bool:
    owners = claim.metadata.owner_references or ()
    return any(owner.controller and owner.uid == pod.metadata.uid for owner in owners)


def is_bound(claim: scheduling.StorageClaim) -> bool:
    return bool(claim.spec.volume_name) and BIND_COMPLETED in (claim.metadata.annotations or {})


def waits_for_consumer(claim: scheduling.StorageClaim, world: scheduling.SchedulingWorld) -> bool:
    """Return whether the claim waits for its first consumer. Source: component-helpers pv_helpers.go
    IsDelayBindingMode.
    """
    storage_class = world.classes.get(claim_class_name(claim))
    return storage_class is not None and storage_class.volume_binding_mode == WAITS_FOR_CONSUMER


class _Binding(Filter):
    """Looks node by node whether bound volumes can be reached and the other claims find one."""

    def __init__(
        self,
        bound: tuple[scheduling.StorageClaim, ...],
        unbound: tuple[scheduling.StorageClaim, ...],
        world: scheduling.SchedulingWorld,
    ) -> None:
        self._bound_claims, self._unbound, self._world = bound, unbound, world
        wanted = {claim_class_name(claim) for claim in unbound}
        self._volumes: Mapping[str, list[scheduling.PersistentVolume]] = {
            name: sorted(
                (volume for volume in world.volumes.values() if volume.spec.storage_class_name == name),
                key=lambda volume: volume.metadata.name,
            )
            for name in wanted
        }

    def check(self, node: NodeInfo) -> Rejection | None:
        reasons = tuple(self._reasons(node))
        if not reasons:
            return None
        claims = ", ".join(claim.metadata.name for claim in (*self._bound_claims, *self._unbound))
        return Rejection(VolumeBinding.name, UNRESOLVABLE, reasons, about=claims)

    def _reasons(self, node: NodeInfo) -> Iterator[str]:
        """Source: FindPodVolumes, whose reasons come in this order."""
        missing = False
        for claim in self._bound_claims:
            volume = self._world.volumes.get(claim.spec.volume_name)
            if volume is None:
                missing = True
                break
            if not reachable(volume, node):
                yield "node(s) didn't match PersistentVolume's node affinity"
                break
        matched, enough = self._find(node)
        if not matched:
            yield "node(s) didn't find available persistent volumes to bind"
        if not enough:
            yield "node(s) did not have enough free storage"
        if missing:
            yield "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"

    def _find(self, node: NodeInfo) -> tuple[bool, bool]:
        """Return whether the unbound claims find volumes or can be given one, and whether there is room for these."""
        if not self._unbound:
            return True, True
        provision: list[scheduling.StorageClaim] = []
        search: list[scheduling.StorageClaim] = []
        for claim in self._unbound:
            selected = (claim.metadata.annotations or {}).get(_SELECTED_NODE)
            if selected is None:
                search.append(claim)
            elif selected != node.name:
                return False, True
            else:
                provision.append(claim)
        provision += self._find_unmatched_claims(search, node)
        return self._provisions(provision, node) if provision else (True, True)

    def _find_unmatched_claims(
        self, claims: Iterable[scheduling.StorageClaim], node: NodeInfo
    ) -> Iterator[scheduling.StorageClaim]:
        """Claims that no volume there matches, the smallest claim choosing first."""
        chosen: set[str] = set()
        for claim in sorted(claims, key=requested_bytes):
            volume = find_volume(claim, self._volumes[claim_class_name(claim)], node, chosen)
            if volume is None:
                yield claim
            else:
                chosen.add(volume.metadata.name)

    def _provisions(self, claims: Iterable[scheduling.StorageClaim], node: NodeInfo) -> tuple[bool, bool]:
        """Source: checkVolumeProvisions."""
        for claim in claims:
            storage_class = self._world.classes.get(claim_class_name(claim))
            if storage_class is None:
                raise UncomputedFilter(f"the storage class of claim {claim.metadata.name}")
            if storage_class.provisioner in {"", NO_PROVISIONER}:
                return False, True
            if not topology_matches(storage_class.allowed_topologies or (), node.labels):
                return False, True
            if not self._has_room(claim, storage_class, node):
                return True, False
        return True, True

    def _has_room(self, claim: scheduling.StorageClaim, storage_class: scheduling.BindingClass, node: NodeInfo) -> bool:
        """Return whether a driver that says how much room there is has enough for a claim. Source:
        hasEnoughCapacity.
        """
        driver = self._world.drivers.get(storage_class.provisioner)
        if driver is None or not driver.spec.storage_capacity:
            return True
        size = requested_bytes(claim)
        return any(
            capacity.storage_class_name == storage_class.metadata.name
            and maximum_bytes(capacity) >= size
            and matches(capacity.node_topology, node.labels)
            for capacity in self._world.capacities
        )
