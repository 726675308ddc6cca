"""DynamicResources and NodeDeclaredFeatures: devices by claims, and features of the kubelet that a pod asks for.

Which devices a claim that has none yet would get is not computed. Source: pkg/scheduler/framework/plugins,
folders dynamicresources, nodedeclaredfeatures; component-helpers nodedeclaredfeatures/features.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.scheduling import SchedulingDeviceClaim, SchedulingPod, SchedulingWorld
from kubectl_kres.scheduling.node_info import (
    UNRESOLVABLE,
    Filter,
    NodeInfo,
    Rejection,
    SchedulingCluster,
    UncomputedFilter,
)
from kubectl_kres.scheduling.selectors import selector_matches


class DynamicResources:
    """ResourceClaims of a pod."""

    name = "DynamicResources"

    def prepare(self, pod: SchedulingPod, cluster: SchedulingCluster, /) -> Filter | Rejection | None:
        claims: list[SchedulingDeviceClaim] = []
        for result in _claims(pod, cluster.world):
            if isinstance(result, str):
                return Rejection(self.name, UNRESOLVABLE, (result,))
            claims.append(result)
        if not claims:
            return None
        for claim in claims:
            if fault := _fault(claim, cluster.world):
                return Rejection(self.name, UNRESOLVABLE, (fault,), about=claim.metadata.name)
        waiting = [claim.metadata.name for claim in claims if claim.status.allocation is None]
        return _Devices(tuple(claims), waiting)


def _claims(pod: SchedulingPod, world: SchedulingWorld) -> Iterator[SchedulingDeviceClaim | str]:
    """Yield the claims, or why one of them is none. Source: foreachPodResourceClaim."""
    namespace, pod_name = pod.metadata.namespace, pod.metadata.name
    made = {status.name: status.resource_claim_name for status in pod.status.resource_claim_statuses or ()}
    for entry in pod.spec.resource_claims or ():
        name = entry.resource_claim_name
        template = entry.resource_claim_template_name is not None
        if name is None and template:
            if entry.name not in made:
                yield f'pod "{namespace}/{pod_name}": ResourceClaim not created yet'
                return
            name = made[entry.name]
        if name is None:
            continue
        claim = world.device_claims.get((namespace, name))
        if claim is None:
            yield f'could not find ResourceClaim "{namespace}/{name}"'
            return
        if claim.metadata.deletion_timestamp is not None:
            yield f'resourceclaim "{name}" is being deleted'
            return
        yield claim


def _fault(claim: SchedulingDeviceClaim, world: SchedulingWorld) -> str:
    """Return why a claim cannot be used on any node; empty: none that can be reported."""
    if claim.status.allocation is not None:
        return ""
    for request in claim.spec.devices.requests or ():
        asked = [(request.name, request.exactly.device_class_name)] if request.exactly is not None else []
        asked += [(f"{request.name}/{sub.name}", sub.device_class_name) for sub in request.first_available or ()]
        for name, device_class in asked:
            if device_class not in world.device_classes:
                return f"request {name}: device class {device_class} does not exist"
    return ""


class _Devices(Filter):
    def __init__(self, claims: tuple[SchedulingDeviceClaim, ...], waiting: list[str]) -> None:
        self._claims, self._waiting_claims = claims, waiting

    def check(self, node: NodeInfo) -> Rejection | None:
        if self._waiting_claims:
            raise UncomputedFilter(f"the devices that ResourceClaim {self._waiting_claims[0]} would get")
        for claim in self._claims:
            allocation = claim.status.allocation
            selector = allocation.node_selector if allocation is not None else None
            if selector is not None and not selector_matches(selector, node.labels, node.name):
                reason = "resourceclaim not available on the node"
                return Rejection(DynamicResources.name, UNRESOLVABLE, (reason,), about=claim.metadata.name)
        return None


class NodeDeclaredFeatures:
    """What a pod asks of the kubelet that only nodes which declare it can do."""

    name = "NodeDeclaredFeatures"

    def prepare(self, pod: SchedulingPod, _cluster: SchedulingCluster, /) -> Filter | Rejection | None:
        features = frozenset(_features(pod))
        return _Features(features) if features else None


def _features(pod: SchedulingPod) -> Iterator[str]:
    containers = (*(pod.spec.containers or ()), *(pod.spec.init_containers or ()))
    rules = (rule.action for container in containers for rule in container.restart_policy_rules or ())
    if "RestartAllContainers" in rules:
        yield "RestartAllContainersOnContainerExits"
    if pod.spec.host_network and pod.spec.host_users is False:
        yield "UserNamespacesHostNetworkSupport"


class _Features(Filter):
    def __init__(self, features: frozenset[str]) -> None:
        self._features = features

    def check(self, node: NodeInfo) -> Rejection | None:
        missing = self._features - set(node.node.status.declared_features or ())
        if not missing:
            return None
        reason = "node(s) didn't match Pod's required features"
        return Rejection(NodeDeclaredFeatures.name, UNRESOLVABLE, (reason,), about=", ".join(sorted(missing)))
