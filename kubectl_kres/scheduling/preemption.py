"""DefaultPreemption: whether the going of less important pods would make a node fit. Whose is not computed.

Source: pkg/scheduler/framework/preemption/preemption.go, plugins/defaultpreemption/default_preemption.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from kubectl_kres.model.scheduling import SchedulingPod
from kubectl_kres.scheduling.node_info import BoundPod, changed_node
from kubectl_kres.scheduling.plugin import SchedulingCluster
from kubectl_kres.scheduling.profile import FilterAnswer, check_node
from kubectl_kres.scheduling.status import UNRESOLVABLE, UNSCHEDULABLE, Rejection

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
    """What preemption would do for a pod that fits no node. Raises NotComputed."""
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
