"""All obstacles of a pod on each node, where the scheduler names the first one alone."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from kubectl_kres.scheduling.node_info import NodeInfo
from kubectl_kres.scheduling.plugin import Rejection, SchedulingCluster, UncomputedFilter
from kubectl_kres.scheduling.schedule import Scheduling


class Obstacles(Struct, frozen=True):
    """The messages of every filter by node, the nearest node first; none where no node was looked at."""

    nodes: tuple[tuple[NodeInfo, tuple[Rejection, ...]], ...] = ()

    @property
    def nearest(self) -> tuple[NodeInfo, tuple[Rejection, ...]] | None:
        return self.nodes[0] if self.nodes else None

    def alone(self, plugin: str) -> Iterator[tuple[NodeInfo, Rejection]]:
        """Yield the nodes that one plugin alone rejects."""
        for node, statuses in self.nodes:
            if len(statuses) == 1 and statuses[0].plugin == plugin:
                yield node, statuses[0]


def find_obstacles(scheduled: Scheduling, cluster: SchedulingCluster) -> Obstacles:
    """Return the messages of every filter for every node that does not fit."""
    if scheduled.answer.rejection is not None:
        return Obstacles()
    nodes: list[tuple[NodeInfo, tuple[Rejection, ...]]] = []
    for node in cluster.nodes:
        if scheduled.answer.statuses.get(node.name) is None:
            continue
        try:
            statuses = tuple(status for _, each in scheduled.answer.filters.filters if (status := each.check(node)))
        except UncomputedFilter:
            continue
        if statuses:
            nodes.append((node, statuses))
    nodes.sort(key=_distance)
    return Obstacles(tuple(nodes))


def _distance(item: tuple[NodeInfo, tuple[Rejection, ...]]) -> tuple[int, int, float, str]:
    """Return the sort key of a node: fewer obstacles are nearer, a lack of resources is nearer than another obstacle,
    and a smaller one.
    """
    node, statuses = item
    short = [shortage for status in statuses for shortage in status.shortages]
    lacking = sum(shortage.lacking / shortage.requested for shortage in short if shortage.requested)
    count = sum(len(status.shortages) or 1 for status in statuses)
    return count, int(not short), lacking, node.name
