"""The scheduler's own sentence, as it stands in the pod's condition PodScheduled.

Source: pkg/scheduler/framework/types.go FitError.Error; framework/runtime/framework.go RunPostFilterPlugins.
"""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_kres.model.scheduling import SchedulingPod
from kubectl_kres.scheduling.preemption import Preemption
from kubectl_kres.scheduling.profile import FilterAnswer
from kubectl_kres.scheduling.status import Rejection

#: Which the API server writes itself, before any scheduler has seen the pod.
GATED = "Scheduling is blocked due to non-empty scheduling gates"
NO_NODES = "no nodes available to schedule pods"
_NOT_HELPFUL = "Preemption is not helpful for scheduling"
_AFTER_CLAIMS = frozenset({"DynamicResources", "NodeDeclaredFeatures"})


def sentence_of(pod: SchedulingPod, answer: FilterAnswer, preemption: Preemption, nodes: int, minor: int) -> str | None:
    """The message of the condition; None where it depends on what is not computed.

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
        text += _counted(status for status in answer.statuses.values() if status is not None)
    after = _after(pod, answer, preemption, nodes, minor)
    return f"{text} {after}" if after else text


def count_reasons(statuses: Iterable[Rejection]) -> dict[str, int]:
    """By reason the number of nodes."""
    counts: dict[str, int] = {}
    for status in statuses:
        for reason in status.reasons:
            counts[reason] = counts.get(reason, 0) + 1
    return counts


def _counted(statuses: Iterable[Rejection]) -> str:
    """`` 1 Insufficient cpu, 2 Too many pods.``, sorted as texts; empty: there are none."""
    counts = count_reasons(statuses)
    listed = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
    return f" {listed}." if listed else ""


def _after(pod: SchedulingPod, answer: FilterAnswer, preemption: Preemption, nodes: int, minor: int) -> str:
    """What the PostFilter plugins say: DynamicResources, then DefaultPreemption. Empty where pods go for this one."""
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
