"""The volume that a claim would be bound to on a node.

Source: component-helpers storage/volume/pv_helpers.go FindMatchingVolume.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kubectl_kres.errors import QuantityError
from kubectl_kres.model.scheduling import CSIStorageCapacity, PersistentVolume, StorageClaim
from kubectl_kres.quantity import stored_quantity
from kubectl_kres.scheduling.node_info import NodeInfo
from kubectl_kres.scheduling.selectors import matches, selector_matches

_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


def class_of(claim: StorageClaim) -> str:
    """Return the name of a claim's storage class; empty: none. Source: GetPersistentVolumeClaimClass."""
    beta = (claim.metadata.annotations or {}).get(_BETA_CLASS)
    return beta if beta is not None else claim.spec.storage_class_name or ""


def capacity_of(claim: StorageClaim) -> int:
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


def room_of(capacity: CSIStorageCapacity) -> int:
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
        if capacity < capacity_of(claim) or not _has_same_modes(volume, claim):
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
    if volume.status.phase != "Available" or volume.spec.storage_class_name != class_of(claim):
        return False
    if claim.spec.selector is not None and not matches(claim.spec.selector, volume.metadata.labels or {}):
        return False
    return set(claim.spec.access_modes or ()) <= set(volume.spec.access_modes or ())
