"""NodeResourcesFit: whether a node has room for what a pod requests, and for one more pod.

Source: pkg/scheduler/framework/plugins/noderesources/fit.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubectl_kres.model.scheduling import SchedulingDeviceClass, SchedulingPod
from kubectl_kres.scheduling import plugin
from kubectl_kres.scheduling.node_info import NodeInfo
from kubectl_kres.scheduling.requests import Amounts, requests_of

#: Those that are looked at first, in this order.
_FIRST = ("cpu", "memory", "ephemeral-storage")


class NodeResourcesFit:
    """Resources of a node that its pods leave."""

    name = "NodeResourcesFit"

    def prepare(
        self, pod: SchedulingPod, cluster: plugin.SchedulingCluster, /
    ) -> plugin.Filter | plugin.Rejection | None:
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


class ResourcesFilter(plugin.Filter):
    """Compares node by node what is asked with what is left."""

    def __init__(self, asked: Amounts, device_classes: Mapping[str, SchedulingDeviceClass]) -> None:
        self.asked, self._device_classes = asked, device_classes

    def check(self, node: NodeInfo) -> plugin.Rejection | None:
        short = tuple(self.shortages(node))
        if not short:
            return None
        # More than the whole node has: nobody's going would help.
        unresolvable = any(shortage.requested > shortage.capacity for shortage in short if shortage.resource != "pods")
        reasons = tuple(
            "Too many pods" if shortage.resource == "pods" else f"Insufficient {shortage.resource}"
            for shortage in short
        )
        return plugin.Rejection(
            NodeResourcesFit.name, plugin.UNRESOLVABLE if unresolvable else plugin.UNSCHEDULABLE, reasons, short
        )

    def shortages(self, node: NodeInfo) -> Iterable[plugin.Shortage]:
        """Return what the node has too little of. Raises NotComputed for a resource that devices may stand for."""
        count, room = len(node.pods), node.allocatable.get("pods", 0)
        if count + 1 > room:
            yield plugin.Shortage("pods", 1, count, room)
        for name in (*_FIRST, *sorted(self.asked.keys() - set(_FIRST))):
            asked = self.asked.get(name, 0)
            if asked <= 0 or name == "pods":
                continue
            capacity, used = node.allocatable.get(name, 0), node.requested.get(name, 0)
            if asked <= capacity - used:
                continue
            if name not in _FIRST and not capacity and device_class_of(name, self._device_classes):
                raise plugin.UncomputedFilter(f"devices that stand for {name}")
            yield plugin.Shortage(name, asked, used, capacity)
