"""One pod among the nodes: what each says, and the sentence of the scheduler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from kubectl_kres.model.scheduling import SchedulingPod
from kubectl_kres.scheduling.node_info import BoundPod
from kubectl_kres.scheduling.plugin import SchedulingCluster
from kubectl_kres.scheduling.preemption import Preemption, try_preemption
from kubectl_kres.scheduling.profile import FilterAnswer, check_nodes
from kubectl_kres.scheduling.sentence import sentence_of
from kubectl_kres.scheduling.status import UncomputedFilter

DEFAULT_SCHEDULER = "default-scheduler"


class Scheduling(Struct, frozen=True):
    """What the scheduler finds for a pod. ``sentence``: empty where a node can take the pod; None: not computed."""

    answer: FilterAnswer
    preemption: Preemption
    sentence: str | None

    @property
    def is_schedulable(self) -> bool:
        """Whether a node is known to take the pod."""
        return bool(self.answer.feasible)


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
    sentence = sentence_of(pod, answer, preemption, len(cluster.nodes), cluster.world.minor)
    return Scheduling(answer, preemption, sentence)


def _preempt(
    pod: SchedulingPod, cluster: SchedulingCluster, answer: FilterAnswer, promised: Mapping[str, Sequence[BoundPod]]
) -> tuple[Preemption, bool]:
    """What preemption comes to, and whether that was computed."""
    if pod.spec.scheduling_gates:
        return Preemption(), True
    try:
        return try_preemption(pod, cluster, answer, promised), True
    except UncomputedFilter:
        return Preemption(), False
