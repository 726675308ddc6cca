"""All obstacles of a pod on each node, where the scheduler names the first one alone.

What remedies share: the object in which they are written, lines for kubectl, and whether nodes take the pod then.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.scheduling import SchedulingPod
from kubectl_kres.provenance.journal import Source
from kubectl_kres.reports.scheduling.lowered_requests import LoweredValue
from kubectl_kres.scheduling.node_info import NodeInfo, Rejection, SchedulingCluster, UncomputedFilter
from kubectl_kres.scheduling.profile import prepare_filters
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
    lacking = sum(shortage.missing_amount / shortage.requested for shortage in short if shortage.requested)
    count = sum(len(status.shortages) or 1 for status in statuses)
    return count, int(not short), lacking, node.name


class RemedyTarget(NamedTuple):
    """The object in which a change is written: the pod or the workload that makes it.

    ``prefix``: leads from there to the pod, ending in a dot, or empty. ``why_not``: its manager, so that it is not
    changed there; empty: nobody. ``admits``: whether the API server takes lower requests. ``sources``: what set a
    request that nobody wrote, by its place.
    """

    ref: ObjectRef
    prefix: str
    admits: Callable[[Sequence[LoweredValue]], bool]
    why_not: str = ""
    sources: Mapping[str, Source] = {}

    @property
    def why_fixed(self) -> str:
        """Return why most of the pod's spec cannot be changed there; empty: it can."""
        return self.why_not or ("this cannot be changed in a pod" if self.ref.kind == "Pod" else "")


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


def format_json_patch(origin: Origin, target: RemedyTarget, patch: Sequence[Mapping[str, Any]]) -> str:
    """As a JSON patch, which does nothing where the list is another one by then."""
    prefix = "/" + f"{target.prefix}spec".replace(".", "/")
    text = json.dumps([{**step, "path": f"{prefix}{step['path']}"} for step in patch], separators=(",", ":"))
    target_arguments = (
        f"{target.ref.kind.lower()} {shlex.quote(target.ref.name)} -n {shlex.quote(target.ref.namespace)}"
    )
    return kubectl_line(origin, f"patch {target_arguments} --type json -p {shlex.quote(text)}")


def kubectl_line(origin: Origin, words: str) -> str:
    """Return a line for kubectl, with the flags that choose the same server and user."""
    return f"kubectl {words}{f' {origin.flags}' if origin.flags else ''}"
