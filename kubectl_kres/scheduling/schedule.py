"""Scheduling of one pod: the answer of each node, and the scheduler's message in the condition PodScheduled.

DefaultPreemption says whether a node would fit without less important pods; which pods those are is not computed.

Source: pkg/scheduler/framework/preemption/preemption.go, plugins/defaultpreemption/default_preemption.go,
pkg/scheduler/framework/types.go FitError.Error; framework/runtime/framework.go RunPostFilterPlugins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from kubectl_kres.model.scheduling import SchedulingPod
from kubectl_kres.scheduling.node_info import (
    UNRESOLVABLE,
    UNSCHEDULABLE,
    BoundPod,
    Rejection,
    SchedulingCluster,
    UncomputedFilter,
    changed_node,
)
from kubectl_kres.scheduling.profile import FilterAnswer, check_node, check_nodes

_NOT_HELPFUL = "Preemption is not helpful for scheduling"


class Preemption(Struct, frozen=True):
    """What preemption comes to. ``nodes``: where it would make room. ``refused``: why it is not tried at all.

    ``statuses``: by node that it looked at why it would not.
    """

    nodes: tuple[str, ...] = ()
    refused: str = ""
    statuses: Mapping[str, Rejection] = {}


def try_preemption(
    pod: SchedulingPod,
    cluster: SchedulingCluster,
    answer: FilterAnswer,
    nominated: Mapping[str, Sequence[BoundPod]] = {},
) -> Preemption:
    """Return what preemption would do for a pod that fits no node. Raises NotComputed."""
    if pod.spec.preemption_policy == "Never":
        return Preemption(refused="not eligible due to preemptionPolicy=Never.")
    if answer.rejection is not None:
        return Preemption()
    priority = pod.spec.priority or 0
    nodes: list[str] = []
    statuses: dict[str, Rejection] = {}
    for node in cluster.nodes:
        status = answer.statuses.get(node.name)
        if status is None or status.code != UNSCHEDULABLE:
            continue
        victims = [other for other in node.pods if other.priority < priority]
        if not victims:
            reason = "No preemption victims found for incoming pod"
            statuses[node.name] = Rejection("DefaultPreemption", UNRESOLVABLE, (reason,))
            continue
        filters = answer.filters.change(node, victims, ())
        left = check_node(filters, changed_node(node, victims, ()), nominated.get(node.name, ()))
        if left is None:
            nodes.append(node.name)
        else:
            statuses[node.name] = left
    return Preemption(tuple(nodes), statuses=statuses)


#: Which the API server writes itself, before any scheduler has seen the pod.
GATED = "Scheduling is blocked due to non-empty scheduling gates"
NO_NODES = "no nodes available to schedule pods"
_AFTER_CLAIMS = frozenset({"DynamicResources", "NodeDeclaredFeatures"})


def scheduler_sentence(
    pod: SchedulingPod, answer: FilterAnswer, preemption: Preemption, nodes: int, minor: int
) -> str | None:
    """Return the message of the condition; None where it depends on what is not computed.

    From 1.37 on it names the node and the number of pods that go for the pod.
    """
    if pod.spec.scheduling_gates:
        return GATED
    if not nodes:
        return NO_NODES
    if not answer.is_complete or (preemption.nodes and minor >= 37):
        return None
    text = f"0/{nodes} nodes are available:"
    if answer.rejection is not None:
        text += f" {answer.rejection.message}."
    else:
        text += _format_reason_counts(status for status in answer.statuses.values() if status is not None)
    after = _after(pod, answer, preemption, nodes, minor)
    return f"{text} {after}" if after else text


def count_reasons(statuses: Iterable[Rejection]) -> dict[str, int]:
    """By reason the number of nodes."""
    counts: dict[str, int] = {}
    for status in statuses:
        for reason in status.reasons:
            counts[reason] = counts.get(reason, 0) + 1
    return counts


def _format_reason_counts(statuses: Iterable[Rejection]) -> str:
    """`` 1 Insufficient cpu, 2 Too many pods.``, sorted as texts; empty: there are none."""
    counts = count_reasons(statuses)
    listed = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
    return f" {listed}." if listed else ""


def _after(pod: SchedulingPod, answer: FilterAnswer, preemption: Preemption, nodes: int, minor: int) -> str:
    """Return what the PostFilter plugins say: DynamicResources, then DefaultPreemption. Empty where pods go for this
    one.
    """
    rejection = answer.rejection
    if rejection is not None and rejection.plugin not in _AFTER_CLAIMS:
        # DynamicResources misses what its own PreFilter step, to which it did not come, would have kept.
        return "not found"
    if preemption.nodes:
        return ""
    claims = bool(pod.spec.resource_claims) and rejection is None
    first = "still not schedulable, " if claims else "no new claims to deallocate, "
    if minor >= 37:
        first = ""  # only logged since
    if preemption.refused:
        return f"{first}preemption: {preemption.refused}"
    counts = count_reasons(preemption.statuses.values())
    if absent := nodes - len(preemption.statuses):
        counts[_NOT_HELPFUL] = counts.get(_NOT_HELPFUL, 0) + absent
    listed = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
    return f"{first}preemption: 0/{nodes} nodes are available: {listed}."


DEFAULT_SCHEDULER = "default-scheduler"


class Scheduling(Struct, frozen=True):
    """What the scheduler finds for a pod. ``sentence``: empty where a node can take the pod; None: not computed."""

    answer: FilterAnswer
    preemption: Preemption
    sentence: str | None


def schedule(
    pod: SchedulingPod, cluster: SchedulingCluster, nominated: Iterable[tuple[str, BoundPod]] = ()
) -> Scheduling:
    """Run the filters of the default profile, and preemption where no node fits.

    ``nominated``: pods that others make room for, with their nodes; those that are less important do not count.
    """
    priority = pod.spec.priority or 0
    promised: dict[str, list[BoundPod]] = {}
    for node, other in nominated:
        itself = (other.namespace, other.name) == (pod.metadata.namespace, pod.metadata.name)
        if other.priority >= priority and not itself:
            promised.setdefault(node, []).append(other)
    answer = check_nodes(pod, cluster, promised)
    gated = bool(pod.spec.scheduling_gates)
    if answer.feasible and not gated:
        return Scheduling(answer, Preemption(), "")
    preemption, complete = _preempt(pod, cluster, answer, promised)
    if not complete and not gated:
        return Scheduling(answer, preemption, None)
    sentence = scheduler_sentence(pod, answer, preemption, len(cluster.nodes), cluster.world.minor)
    return Scheduling(answer, preemption, sentence)


def _preempt(
    pod: SchedulingPod, cluster: SchedulingCluster, answer: FilterAnswer, promised: Mapping[str, Sequence[BoundPod]]
) -> tuple[Preemption, bool]:
    """Return what preemption comes to, and whether that was computed."""
    if pod.spec.scheduling_gates:
        return Preemption(), True
    try:
        return try_preemption(pod, cluster, answer, promised), True
    except UncomputedFilter:
        return Preemption(), False
