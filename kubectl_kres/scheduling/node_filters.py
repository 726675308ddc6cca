"""Plugins that compare a pod with one node: NodeUnschedulable to NodePorts, and NodeResourcesFit.

Source: pkg/scheduler/framework/plugins, the folder of each plugin's name; noderesources/fit.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubectl_kres.model.scheduling import NodeSelectorTerm, SchedulingDeviceClass, SchedulingPod, Taint, Toleration
from kubectl_kres.scheduling import node_info
from kubectl_kres.scheduling.node_info import (
    ANY_ADDRESS,
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Filter,
    HostPort,
    NodeInfo,
    Rejection,
    SchedulingCluster,
    host_ports,
)
from kubectl_kres.scheduling.requests import Amounts, requests_of
from kubectl_kres.scheduling.selectors import node_matches, required_selector

#: Those that are looked at first, in this order.
_FIRST = ("cpu", "memory", "ephemeral-storage")


class NodeResourcesFit:
    """Resources of a node that its pods leave."""

    name = "NodeResourcesFit"

    def prepare(
        self, pod: SchedulingPod, cluster: node_info.SchedulingCluster, /
    ) -> node_info.Filter | node_info.Rejection | None:
        return ResourcesFilter(requests_of(pod, on_node=False), cluster.world.device_classes)


def device_class_of(resource: str, classes: Mapping[str, SchedulingDeviceClass]) -> SchedulingDeviceClass | None:
    """Return the class whose devices can be asked for by an extended resource (gate DRAExtendedResource)."""
    prefix = "deviceclass.resource.kubernetes.io/"
    if resource.startswith(prefix):
        return classes.get(resource.removeprefix(prefix))
    return next(
        (device_class for device_class in classes.values() if device_class.spec.extended_resource_name == resource),
        None,
    )


class ResourcesFilter(node_info.Filter):
    """Compares node by node what is asked with what is left."""

    def __init__(self, asked: Amounts, device_classes: Mapping[str, SchedulingDeviceClass]) -> None:
        self.asked, self._device_classes = asked, device_classes

    def check(self, node: NodeInfo) -> node_info.Rejection | None:
        short = tuple(self.shortages(node))
        if not short:
            return None
        # More than the whole node has: nobody's going would help.
        unresolvable = any(shortage.requested > shortage.capacity for shortage in short if shortage.resource != "pods")
        reasons = tuple(
            "Too many pods" if shortage.resource == "pods" else f"Insufficient {shortage.resource}"
            for shortage in short
        )
        return node_info.Rejection(
            NodeResourcesFit.name, node_info.UNRESOLVABLE if unresolvable else node_info.UNSCHEDULABLE, reasons, short
        )

    def shortages(self, node: NodeInfo) -> Iterable[node_info.Shortage]:
        """Return what the node has too little of. Raises NotComputed for a resource that devices may stand for."""
        count, room = len(node.pods), node.allocatable.get("pods", 0)
        if count + 1 > room:
            yield node_info.Shortage("pods", 1, count, room)
        for name in (*_FIRST, *sorted(self.asked.keys() - set(_FIRST))):
            asked = self.asked.get(name, 0)
            if asked <= 0 or name == "pods":
                continue
            capacity, used = node.allocatable.get(name, 0), node.requested.get(name, 0)
            if asked <= capacity - used:
                continue
            if name not in _FIRST and not capacity and device_class_of(name, self._device_classes):
                raise node_info.UncomputedFilter(f"devices that stand for {name}")
            yield node_info.Shortage(name, asked, used, capacity)


_UNSCHEDULABLE_TAINT = Taint("node.kubernetes.io/unschedulable", effect="NoSchedule")
#: Taints with these effects keep pods off; PreferNoSchedule only costs points.
_EFFECTS = frozenset({"NoSchedule", "NoExecute"})


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Source: api/core/v1/toleration.go ToleratesTaint; comparing operators are behind a gate that is off."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in {"", "Equal"}:
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def untolerated(taints: Iterable[Taint] | None, tolerations: Iterable[Toleration] | None) -> Taint | None:
    """Return the first taint that keeps the pod off; None: there is none."""
    every = tuple(tolerations or ())
    for taint in taints or ():
        if taint.effect in _EFFECTS and not any(tolerates(toleration, taint) for toleration in every):
            return taint
    return None


def taint_text(taint: Taint) -> str:
    """``key=value:effect``, as kubectl taint takes it."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


class NodeUnschedulable:
    """A node that is cordoned takes no pod that does not tolerate its taint."""

    name = "NodeUnschedulable"

    def prepare(self, pod: SchedulingPod, _cluster: SchedulingCluster, /) -> Filter | Rejection | None:
        return _Unschedulable(pod)


class _Unschedulable(Filter):
    def __init__(self, pod: SchedulingPod) -> None:
        self._tolerated = untolerated((_UNSCHEDULABLE_TAINT,), pod.spec.tolerations) is None

    def check(self, node: NodeInfo) -> Rejection | None:
        if not node.node.spec.unschedulable or self._tolerated:
            return None
        return Rejection(NodeUnschedulable.name, UNRESOLVABLE, ("node(s) were unschedulable",))


class NodeName:
    """A pod that names a node runs on no other one."""

    name = "NodeName"

    def prepare(self, pod: SchedulingPod, _cluster: SchedulingCluster, /) -> Filter | Rejection | None:
        return _NodeNameFilter(pod) if pod.spec.node_name else None


class _NodeNameFilter(Filter):
    def __init__(self, pod: SchedulingPod) -> None:
        self._name = pod.spec.node_name

    def check(self, node: NodeInfo) -> Rejection | None:
        if node.name == self._name:
            return None
        return Rejection(NodeName.name, UNRESOLVABLE, ("node(s) didn't match the requested node name",))


class TaintToleration:
    """A node with a taint takes only pods that tolerate it."""

    name = "TaintToleration"

    def prepare(self, pod: SchedulingPod, cluster: SchedulingCluster, /) -> Filter | Rejection | None:
        return _Tainted(pod, cluster.world.minor)


class _Tainted(Filter):
    def __init__(self, pod: SchedulingPod, minor: int) -> None:
        self._tolerations, self._minor = pod.spec.tolerations or (), minor

    def check(self, node: NodeInfo) -> Rejection | None:
        taint = untolerated(node.node.spec.taints, self._tolerations)
        if taint is None:
            return None
        # Since 1.36 the sentence names no taint.
        reason = (
            "node(s) had untolerated taint(s)"
            if self._minor >= 36
            else f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
        )
        return Rejection(TaintToleration.name, UNRESOLVABLE, (reason,), about=taint_text(taint))


class NodeAffinity:
    """nodeSelector and required node affinity; terms that name nodes leave out all others from the start."""

    name = "NodeAffinity"

    def prepare(self, pod: SchedulingPod, _cluster: SchedulingCluster, /) -> Filter | Rejection | None:
        selector = required_selector(pod)
        if selector is None and pod.spec.node_selector is None:
            return None
        names = _names(selector.node_selector_terms or ()) if selector is not None else None
        if names is not None and not names:
            return Rejection(self.name, UNRESOLVABLE, ("pod affinity terms conflict",))
        return _Affine(pod, names)


def _names(terms: Iterable[NodeSelectorTerm]) -> frozenset[str] | None:
    """Return the nodes that the terms name; None: a term names none, or there are no terms."""
    names: frozenset[str] | None = None
    for term in terms:
        own_names: frozenset[str] | None = None
        for field in term.match_fields or ():
            if field.key == "metadata.name" and field.operator == "In":
                listed = frozenset(field.values or ())
                own_names = listed if own_names is None else own_names & listed
        if own_names is None:
            return None
        names = own_names if names is None else names | own_names
    return names


class _Affine(Filter):
    def __init__(self, pod: SchedulingPod, names: frozenset[str] | None) -> None:
        self._pod, self.names = pod, names

    def check(self, node: NodeInfo) -> Rejection | None:
        if node_matches(self._pod, node.node):
            return None
        return Rejection(NodeAffinity.name, UNRESOLVABLE, ("node(s) didn't match Pod's node affinity/selector",))


class NodePorts:
    """Two pods of a node cannot take the same port of it."""

    name = "NodePorts"

    def prepare(self, pod: SchedulingPod, _cluster: SchedulingCluster, /) -> Filter | Rejection | None:
        ports = tuple(host_ports(pod))
        return _Ports(ports) if ports else None


class _Ports(Filter):
    def __init__(self, ports: tuple[HostPort, ...]) -> None:
        self._ports = ports

    def check(self, node: NodeInfo) -> Rejection | None:
        for pod in node.pods:
            for used in pod.ports:
                for port in self._ports:
                    if ports_conflict(port, used):
                        reason = "node(s) didn't have free ports for the requested pod ports"
                        about = f"{port[2]}/{port[1]}"
                        return Rejection(NodePorts.name, UNSCHEDULABLE, (reason,), about=about)
        return None


def ports_conflict(port: HostPort, used: HostPort) -> bool:
    """Source: kube-scheduler framework/types.go HostPortInfo.CheckConflict."""
    return port[1:] == used[1:] and (port[0] == used[0] or ANY_ADDRESS in {port[0], used[0]})
