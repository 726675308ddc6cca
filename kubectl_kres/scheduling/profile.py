"""The default profile: the plugins in their order, what they say of each node, and the scheduler's sentence.

Source: pkg/scheduler/schedule_one.go, framework/runtime/framework.go, apis/config/v1/default_plugins.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from kubectl_kres.model.scheduling import SchedulingPod
from kubectl_kres.scheduling import node_filters
from kubectl_kres.scheduling.devices import DynamicResources, NodeDeclaredFeatures
from kubectl_kres.scheduling.node_filters import NodeResourcesFit
from kubectl_kres.scheduling.node_info import (
    UNRESOLVABLE,
    BoundPod,
    Filter,
    NodeInfo,
    Plugin,
    Rejection,
    SchedulingCluster,
    UncomputedFilter,
    changed_node,
)
from kubectl_kres.scheduling.pod_affinity import InterPodAffinity
from kubectl_kres.scheduling.topology_spread import PodTopologySpread
from kubectl_kres.scheduling.volume_binding import VolumeBinding
from kubectl_kres.scheduling.volume_plugins import NodeVolumeLimits, VolumeRestrictions, VolumeZone

_UNSCHEDULABLE_FIRST: tuple[Plugin, ...] = (node_filters.NodeUnschedulable(), node_filters.NodeName())
_REST: tuple[Plugin, ...] = (
    node_filters.TaintToleration(),
    node_filters.NodeAffinity(),
    node_filters.NodePorts(),
    NodeResourcesFit(),
    VolumeRestrictions(),
    NodeVolumeLimits(),
    VolumeBinding(),
    VolumeZone(),
    PodTopologySpread(),
    InterPodAffinity(),
    DynamicResources(),
    NodeDeclaredFeatures(),
)


def plugins(minor: int) -> tuple[Plugin, ...]:
    """Return the filters of the default profile of version 1.N, in their order."""
    # 1.37 asks for the name of the node first.
    first = _UNSCHEDULABLE_FIRST if minor < 37 else _UNSCHEDULABLE_FIRST[::-1]
    rest = _REST if minor >= 36 else _REST[:-1]
    return (*first, *rest)


class Filters(Struct, frozen=True):
    """What the PreFilter steps came to.

    ``rejection``: why no node will do; None: nodes have to be looked at, with ``filters``. ``names``: the only nodes
    that come into question, by the plugin in ``named_by``; None: all.
    """

    filters: tuple[tuple[str, Filter], ...] = ()
    rejection: Rejection | None = None
    names: frozenset[str] | None = None
    named_by: str = ""

    def check(self, node: NodeInfo) -> Rejection | None:
        """Return what the first filter that rejects the node says of it; None: it can take the pod. Raises
        NotComputed.
        """
        if self.rejection is not None:
            return self.rejection
        if self.names is not None and node.name not in self.names:
            reason = f"node(s) didn't satisfy plugin(s) [{self.named_by}]"
            return Rejection(self.named_by, UNRESOLVABLE, (reason,))
        for _, plugin_filter in self.filters:
            status = plugin_filter.check(node)
            if status is not None:
                return status
        return None

    def change(self, node: NodeInfo, removed: Sequence[BoundPod], additions: Sequence[BoundPod]) -> Filters:
        """Return the filters as if some pods of a node were gone and others were there."""
        changed = tuple((name, plugin_filter.change(node, removed, additions)) for name, plugin_filter in self.filters)
        return Filters(changed, self.rejection, self.names, self.named_by)


def prepare_filters(pod: SchedulingPod, cluster: SchedulingCluster) -> Filters:
    """Run the PreFilter steps. Raises NotComputed."""
    filters: list[tuple[str, Filter]] = []
    names: frozenset[str] | None = None
    named_by = ""
    for plugin in plugins(cluster.world.minor):
        prepared = plugin.prepare(pod, cluster)
        if prepared is None:
            continue
        if isinstance(prepared, Rejection):
            return Filters(rejection=prepared)
        if prepared.names is not None:
            names, named_by = prepared.names, plugin.name
        filters.append((plugin.name, prepared))
    return Filters(tuple(filters), None, names, named_by)


class FilterAnswer(Struct, frozen=True):
    """What became of the filters: ``statuses`` by the name of each node, in the order of the nodes.

    A node without a status can take the pod. ``rejection``: why none was looked at; ``not_computed``: what some node's
    status depends on and is not computed; such nodes are in ``open``, and the other statuses hold.
    """

    statuses: Mapping[str, Rejection | None]
    filters: Filters
    rejection: Rejection | None = None
    not_computed: tuple[str, ...] = ()
    open: frozenset[str] = frozenset()

    @property
    def feasible(self) -> tuple[str, ...]:
        """The nodes that can take the pod."""
        return tuple(name for name, status in self.statuses.items() if status is None)

    @property
    def is_complete(self) -> bool:
        return not self.not_computed


def check_nodes(
    pod: SchedulingPod, cluster: SchedulingCluster, nominated: Mapping[str, Sequence[BoundPod]] = {}
) -> FilterAnswer:
    """Return what the filters say of each node.

    ``nominated``: by node the pods, no less important than this one, that others have to make room for there.
    """
    filters = prepare_filters(pod, cluster)
    statuses: dict[str, Rejection | None] = {}
    missing: dict[str, None] = {}
    open_nodes: set[str] = set()
    for node in cluster.nodes:
        try:
            statuses[node.name] = check_node(filters, node, nominated.get(node.name, ()))
        except UncomputedFilter as gap:
            missing[str(gap)] = None
            open_nodes.add(node.name)
    return FilterAnswer(statuses, filters, filters.rejection, tuple(missing), frozenset(open_nodes))


def check_node(filters: Filters, node: NodeInfo, nominated: Sequence[BoundPod] = ()) -> Rejection | None:
    """Return what the filters say of a node, also if the pods that it was promised to were there.

    Source: RunFilterPluginsWithNominatedPods.
    """
    if nominated:
        status = filters.change(node, (), nominated).check(changed_node(node, (), nominated))
        if status is not None:
            return status
    return filters.check(node)
