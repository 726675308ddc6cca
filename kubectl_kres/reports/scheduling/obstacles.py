"""All that keeps a pod off each node, where the scheduler names the first obstacle alone."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from kubectl_kres.scheduling.node_info import NodeInfo
from kubectl_kres.scheduling.plugin import Cluster
from kubectl_kres.scheduling.schedule import Scheduling
from kubectl_kres.scheduling.status import NotComputed, Status


class Obstacles(Struct, frozen=True):
    """By node what every filter says, the nearest node first; none where no node was looked at."""

    nodes: tuple[tuple[NodeInfo, tuple[Status, ...]], ...] = ()

    @property
    def nearest(self) -> tuple[NodeInfo, tuple[Status, ...]] | None:
        return self.nodes[0] if self.nodes else None

    def alone(self, plugin: str) -> Iterator[tuple[NodeInfo, Status]]:
        """The nodes that one plugin alone rejects."""
        for node, statuses in self.nodes:
            if len(statuses) == 1 and statuses[0].plugin == plugin:
                yield node, statuses[0]


def find_obstacles(found: Scheduling, cluster: Cluster) -> Obstacles:
    """What every filter says of every node that does not fit."""
    if found.answer.rejection is not None:
        return Obstacles()
    nodes: list[tuple[NodeInfo, tuple[Status, ...]]] = []
    for node in cluster.nodes:
        if found.answer.statuses.get(node.name) is None:
            continue
        try:
            statuses = tuple(status for _, one in found.answer.filters.filters if (status := one.check(node)))
        except NotComputed:
            continue
        if statuses:
            nodes.append((node, statuses))
    nodes.sort(key=_distance)
    return Obstacles(tuple(nodes))


def _distance(item: tuple[NodeInfo, tuple[Status, ...]]) -> tuple[int, int, float, str]:
    """Fewer obstacles are nearer, a lack of resources is nearer than another obstacle, and a smaller one."""
    node, statuses = item
    short = [one for status in statuses for one in status.shortages]
    lacking = sum(one.lacking / one.requested for one in short if one.requested)
    count = sum(len(status.shortages) or 1 for status in statuses)
    return count, int(not short), lacking, node.name
