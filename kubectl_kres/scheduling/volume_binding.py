"""VolumeBinding: claims must be bound, or wait for the pod and find a volume, or a driver that makes one, on the node.

Source: pkg/scheduler/framework/plugins/volumebinding/volume_binding.go, binder.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kubectl_kres.model.scheduling import (
    BindingClass,
    PersistentVolume,
    SchedulingPod,
    SchedulingVolume,
    SchedulingWorld,
    StorageClaim,
)
from kubectl_kres.scheduling.matching_volume import capacity_of, class_of, find_volume, reachable, room_of
from kubectl_kres.scheduling.node_info import NodeInfo
from kubectl_kres.scheduling.plugin import UNRESOLVABLE, Filter, Rejection, SchedulingCluster, UncomputedFilter
from kubectl_kres.scheduling.selectors import matches, topology_matches

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
WAITS_FOR_CONSUMER = "WaitForFirstConsumer"


def claim_name(pod: SchedulingPod, volume: SchedulingVolume) -> str | None:
    """Return the claim of a volume; None: it is no claim. Source: component-helpers storage/ephemeral/ephemeral.go."""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    return f"{pod.metadata.name}-{volume.name}" if volume.ephemeral is not None else None


def not_found(claim: str) -> str:
    return f'persistentvolumeclaim "{claim}" not found'


class VolumeBinding:
    """Claims of a pod and the volumes that they are bound to, or could be."""

    name = "VolumeBinding"

    def prepare(self, pod: SchedulingPod, cluster: SchedulingCluster, /) -> Filter | Rejection | None:
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


def _fault(pod: SchedulingPod, volume: SchedulingVolume, name: str, world: SchedulingWorld) -> str:
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


def _made_for(pod: SchedulingPod, claim: StorageClaim) -> bool:
    owners = claim.metadata.owner_references or ()
    return any(owner.controller and owner.uid == pod.metadata.uid for owner in owners)


def is_bound(claim: StorageClaim) -> bool:
    return bool(claim.spec.volume_name) and BIND_COMPLETED in (claim.metadata.annotations or {})


def waits_for_consumer(claim: StorageClaim, world: SchedulingWorld) -> bool:
    """Return whether the claim waits for its first consumer. Source: component-helpers pv_helpers.go
    IsDelayBindingMode.
    """
    storage_class = world.classes.get(class_of(claim))
    return storage_class is not None and storage_class.volume_binding_mode == WAITS_FOR_CONSUMER


class _Binding(Filter):
    """Looks node by node whether bound volumes can be reached and the other claims find one."""

    def __init__(
        self, bound: tuple[StorageClaim, ...], unbound: tuple[StorageClaim, ...], world: SchedulingWorld
    ) -> None:
        self._bound_claims, self._unbound, self._world = bound, unbound, world
        wanted = {class_of(claim) for claim in unbound}
        self._volumes: Mapping[str, list[PersistentVolume]] = {
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
        provision: list[StorageClaim] = []
        search: list[StorageClaim] = []
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

    def _find_unmatched_claims(self, claims: Iterable[StorageClaim], node: NodeInfo) -> Iterator[StorageClaim]:
        """Claims that no volume there matches, the smallest claim choosing first."""
        chosen: set[str] = set()
        for claim in sorted(claims, key=capacity_of):
            volume = find_volume(claim, self._volumes[class_of(claim)], node, chosen)
            if volume is None:
                yield claim
            else:
                chosen.add(volume.metadata.name)

    def _provisions(self, claims: Iterable[StorageClaim], node: NodeInfo) -> tuple[bool, bool]:
        """Source: checkVolumeProvisions."""
        for claim in claims:
            storage_class = self._world.classes.get(class_of(claim))
            if storage_class is None:
                raise UncomputedFilter(f"the storage class of claim {claim.metadata.name}")
            if storage_class.provisioner in {"", NO_PROVISIONER}:
                return False, True
            if not topology_matches(storage_class.allowed_topologies or (), node.labels):
                return False, True
            if not self._has_room(claim, storage_class, node):
                return True, False
        return True, True

    def _has_room(self, claim: StorageClaim, storage_class: BindingClass, node: NodeInfo) -> bool:
        """Return whether a driver that says how much room there is has enough for a claim. Source:
        hasEnoughCapacity.
        """
        driver = self._world.drivers.get(storage_class.provisioner)
        if driver is None or not driver.spec.storage_capacity:
            return True
        size = capacity_of(claim)
        return any(
            capacity.storage_class_name == storage_class.metadata.name
            and room_of(capacity) >= size
            and matches(capacity.node_topology, node.labels)
            for capacity in self._world.capacities
        )
