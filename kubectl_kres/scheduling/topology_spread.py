"""PodTopologySpread: pods of a selector must be spread evenly over the values of a label of nodes.

The constraints that the scheduler supposes where a pod has none are only preferred. Source:
pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, common.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from kubectl_kres.model.objects import LabelSelector
from kubectl_kres.model.scheduling import SchedulingPod, TopologySpreadConstraint
from kubectl_kres.scheduling.node_filters import untolerated
from kubectl_kres.scheduling.node_info import (
    UNRESOLVABLE,
    UNSCHEDULABLE,
    BoundPod,
    Filter,
    NodeInfo,
    Rejection,
    SchedulingCluster,
    with_keys,
)
from kubectl_kres.scheduling.selectors import is_empty, matches, node_matches

#: What Go takes for the smallest count where no value of the label is known.
_NO_MINIMUM = 2**31 - 1


class _Constraint(Struct, frozen=True):
    """A constraint with its defaults. ``itself``: whether the pod is one of those that are counted."""

    key: str
    max_skew: int
    min_domains: int
    selector: LabelSelector | None
    honors_affinity: bool
    honors_taints: bool
    itself: bool


class PodTopologySpread:
    """The pods of each value of a topology label."""

    name = "PodTopologySpread"

    def prepare(self, pod: SchedulingPod, cluster: SchedulingCluster, /) -> Filter | Rejection | None:
        constraints = tuple(
            _constraint(constraint, pod)
            for constraint in pod.spec.topology_spread_constraints or ()
            if constraint.when_unsatisfiable == "DoNotSchedule"
        )
        if not constraints:
            return None
        counts: tuple[dict[str, int], ...] = tuple({} for _ in constraints)
        for node in cluster.nodes:
            if not _has_keys(node, constraints):
                continue
            for constraint, count in zip(constraints, counts, strict=True):
                if _is_counted_node(constraint, pod, node):
                    value = node.labels[constraint.key]
                    count[value] = count.get(value, 0) + _count(node.pods, constraint.selector, pod)
        return _SpreadFilter(pod, constraints, counts)


def _constraint(constraint: TopologySpreadConstraint, pod: SchedulingPod) -> _Constraint:
    selector = constraint.label_selector
    if selector is not None:
        selector = with_keys(selector, pod, constraint.match_label_keys, "In")
    return _Constraint(
        constraint.topology_key,
        constraint.max_skew,
        1 if constraint.min_domains is None else constraint.min_domains,
        selector,
        constraint.node_affinity_policy in {None, "Honor"},
        constraint.node_taints_policy == "Honor",
        matches(selector, pod.metadata.labels or {}),
    )


def _has_keys(node: NodeInfo, constraints: Sequence[_Constraint]) -> bool:
    return all(constraint.key in node.labels for constraint in constraints)


def _is_counted_node(constraint: _Constraint, pod: SchedulingPod, node: NodeInfo) -> bool:
    """Return whether the pods of the node count, by nodeAffinityPolicy and nodeTaintsPolicy."""
    if constraint.honors_affinity and not node_matches(pod, node.node):
        return False
    return not constraint.honors_taints or untolerated(node.node.spec.taints, pod.spec.tolerations) is None


def _count(pods: Sequence[BoundPod], selector: LabelSelector | None, asked: SchedulingPod) -> int:
    if is_empty(selector):
        return 0
    namespace = asked.metadata.namespace
    return sum(pod.namespace == namespace and not pod.ending and matches(selector, pod.labels) for pod in pods)


class _SpreadFilter(Filter):
    """By constraint how many pods there are for each value of its label."""

    def __init__(
        self, pod: SchedulingPod, constraints: tuple[_Constraint, ...], counts: tuple[dict[str, int], ...]
    ) -> None:
        self._pod, self._constraints, self._counts = pod, constraints, counts
        self._minimums = [
            0 if len(count) < constraint.min_domains else min(count.values(), default=_NO_MINIMUM)
            for constraint, count in zip(constraints, counts, strict=True)
        ]

    def check(self, node: NodeInfo) -> Rejection | None:
        for constraint, count, minimum in zip(self._constraints, self._counts, self._minimums, strict=True):
            value = node.labels.get(constraint.key)
            about = f"{constraint.key}, maxSkew {constraint.max_skew}"
            if value is None:
                reason = "node(s) didn't match pod topology spread constraints (missing required label)"
                return Rejection(PodTopologySpread.name, UNRESOLVABLE, (reason,), about=constraint.key)
            if count.get(value, 0) + constraint.itself - minimum > constraint.max_skew:
                reason = "node(s) didn't match pod topology spread constraints"
                return Rejection(PodTopologySpread.name, UNSCHEDULABLE, (reason,), about=about)
        return None

    def change(self, node: NodeInfo, removed: Sequence[BoundPod], additions: Sequence[BoundPod], /) -> Filter:
        """Source: updateWithPod, which also counts pods that are being deleted."""
        if not _has_keys(node, self._constraints):
            return self
        counts = tuple(map(dict, self._counts))
        for constraint, count in zip(self._constraints, counts, strict=True):
            if not _is_counted_node(constraint, self._pod, node):
                continue
            value = node.labels[constraint.key]
            for pods, step in ((removed, -1), (additions, 1)):
                for pod in pods:
                    if pod.namespace == self._pod.metadata.namespace and matches(constraint.selector, pod.labels):
                        count[value] = count.get(value, 0) + step
        return _SpreadFilter(self._pod, self._constraints, counts)
