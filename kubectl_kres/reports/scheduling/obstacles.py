"""All obstacles of a pod on each node, where the scheduler names the first one alone, and whether nodes take it after a
change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from kubectl_kres.model.objects import LabelSelector, ObjectRef
from kubectl_kres.model.scheduling import SchedulingPod
from kubectl_kres.provenance.journal import Source
from kubectl_kres.quantity import ratio
from kubectl_kres.record import Wording
from kubectl_kres.reports.common.remedy import NoCommand
from kubectl_kres.reports.remedies.commands import patch_command
from kubectl_kres.reports.scheduling.lowered_requests import LoweredValue
from kubectl_kres.scheduling.node_info import NodeInfo, Rejection, SchedulingCluster, UncomputedFilter
from kubectl_kres.scheduling.profile import Filters, prepare_filters
from kubectl_kres.scheduling.schedule import Scheduling
from kubectl_kres.store.store import Origin


class Obstacles(Struct, frozen=True):
    """The messages of every filter by node, the nearest node first; none where no node was looked at."""

    nodes: tuple[tuple[NodeInfo, tuple[Rejection, ...]], ...] = ()

    @property
    def nearest_nodes(self) -> tuple[NodeInfo, tuple[Rejection, ...]] | None:
        return self.nodes[0] if self.nodes else None

    def sole_obstacle(self, plugin: str) -> Iterator[tuple[NodeInfo, Rejection]]:
        """Yield the nodes that one plugin alone rejects."""
        for node, statuses in self.nodes:
            if len(statuses) == 1 and statuses[0].plugin == plugin:
                yield node, statuses[0]


def find_obstacles(scheduled: Scheduling, cluster: SchedulingCluster) -> Obstacles:
    """Return the messages of every filter for every node that does not fit."""
    if scheduled.answer.rejection is not None:
        return Obstacles()
    rejecting = (node for node in cluster.nodes if scheduled.answer.statuses.get(node.name) is not None)
    return _sort_obstacles(scheduled.answer.filters, rejecting)


def find_obstacles_of(pod: SchedulingPod, cluster: SchedulingCluster, nodes: Iterable[NodeInfo]) -> Obstacles:
    """Return the messages of every filter for some of the nodes."""
    try:
        filters = prepare_filters(pod, cluster)
    except UncomputedFilter:
        return Obstacles()
    return Obstacles() if filters.rejection is not None else _sort_obstacles(filters, nodes)


def _sort_obstacles(filters: Filters, nodes: Iterable[NodeInfo]) -> Obstacles:
    found: list[tuple[NodeInfo, tuple[Rejection, ...]]] = []
    for node in nodes:
        try:
            statuses = tuple(status for _, each in filters.filters if (status := each.check(node)))
        except UncomputedFilter:
            continue
        if statuses:
            found.append((node, statuses))
    found.sort(key=_distance)
    return Obstacles(tuple(found))


def _distance(item: tuple[NodeInfo, tuple[Rejection, ...]]) -> tuple[int, int, float, str]:
    """Return the sort key of a node: fewer obstacles are nearer, a lack of resources is nearer than another obstacle,
    and a smaller one.
    """
    node, statuses = item
    short = [shortage for status in statuses for shortage in status.shortages]
    lacking = sum(ratio(shortage.missing_amount, shortage.requested) for shortage in short if shortage.requested)
    count = sum(len(status.shortages) or 1 for status in statuses)
    return count, int(not short), lacking, node.name


class WaitingPods(NamedTuple):
    """The pods that a change is tried for. ``pods``: how many of the workload wait for a node; ``wanted``: how many it
    is to have in total. ``left``: those that are not replaced when its template changes. ``selector``: selects its pods
    in ``namespace``; None: they are not known, or not alike. ``surge``: how many pods more than ``wanted`` there may be
    while a change of the template rolls out, ``unavailable``: how many fewer run; None: no pod waits for another there.
    """

    pods: int = 1
    wanted: int = 1
    left: tuple[str, ...] = ()
    namespace: str = ""
    selector: LabelSelector | None = None
    surge: int | None = None
    unavailable: int = 0


class RemedyTarget(NamedTuple):
    """The object in which a change is written: the pod or the workload that makes it.

    ``prefix``: leads from there to the pod, ending in a dot, or empty. ``why_not``: its manager, so that it is not
    changed there; empty: nobody. ``admits``: whether the API server takes lower requests. ``sources``: what set a
    request that nobody wrote, by its place; ``setters``: what set any request, over what is written, too.
    ``waiting``: the pods that a change is tried for.
    """

    ref: ObjectRef
    prefix: str
    admits: Callable[[Sequence[LoweredValue]], bool]
    why_not: Wording = ""
    sources: Mapping[str, Source] = {}
    setters: Mapping[str, Source] = {}
    waiting: WaitingPods = WaitingPods()

    @property
    def makes_anew(self) -> bool:
        """Return whether a change there makes all pods of a workload anew."""
        return self.ref.kind != "Pod"

    @property
    def why_fixed(self) -> Wording:
        """Return why most of the pod's spec cannot be changed there; empty: it can."""
        return self.why_not or (NoCommand("pod-fixed") if self.ref.kind == "Pod" else "")


def nodes_that_take(pod: SchedulingPod, cluster: SchedulingCluster, nodes: Iterable[NodeInfo]) -> set[str]:
    """Return the nodes that take the pod, by all filters."""
    taking: set[str] = set()
    try:
        filters = prepare_filters(pod, cluster)
        for node in nodes:
            if filters.check(node) is None:
                taking.add(node.name)
    except UncomputedFilter:
        return taking
    return taking


def can_take(pod: SchedulingPod, cluster: SchedulingCluster, node: NodeInfo) -> bool:
    """Return whether one node takes the pod."""
    return bool(nodes_that_take(pod, cluster, (node,)))


def can_take_changed(pod: SchedulingPod, cluster: SchedulingCluster, changed: NodeInfo) -> bool:
    """Return whether a node takes the pod once it is as given: filters of several nodes see it so, too."""
    return can_take(pod, with_node(cluster, changed), changed)


def with_node(cluster: SchedulingCluster, changed: NodeInfo) -> SchedulingCluster:
    """Return the nodes with one as it is given."""
    nodes = tuple(changed if node.name == changed.name else node for node in cluster.nodes)
    return SchedulingCluster(nodes, cluster.world)


def format_json_patch(origin: Origin, target: RemedyTarget, patch: Sequence[Mapping[str, Any]]) -> str:
    """As a JSON patch, which does nothing where the list is another one by then."""
    prefix = "/" + f"{target.prefix}spec".replace(".", "/")
    return patch_command(origin, target.ref, [{**step, "path": f"{prefix}{step['path']}"} for step in patch], "json")
