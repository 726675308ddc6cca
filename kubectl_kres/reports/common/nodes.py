"""The node of a pod, and what has to be read for a pod that waits for one."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.pod import SCHEDULED, Node, Pod
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store


def waits_for_node(pod: Pod) -> bool:
    """Whether the scheduler has looked for a node and found none."""
    return not pod.spec.node_name and any(
        condition.type == SCHEDULED and condition.status == "False" and condition.reason == "Unschedulable"
        for condition in pod.status.conditions or ()
    )


def node_needs(store: Store, pod: Pod) -> Iterator[Need]:
    """What the scheduler looks at for a pod that waits for a node; an answer without it leaves the nodes open."""
    if waits_for_node(pod):
        from kubectl_kres.reports.common.scheduling_needs import scheduling_needs

        yield from scheduling_needs(store, pod)


def node_need(pod: Pod) -> Need:
    """Without the node there is an answer that leaves it open."""
    return Need("Node", name=pod.spec.node_name, required=False)


def node_of(store: Store, pod: Pod) -> Node | None:
    """None: the pod has none, or nothing is known of it. Without a name: the server has none that is called so."""
    if not pod.spec.node_name:
        return None
    node = store.get("Node", pod.spec.node_name)
    if isinstance(node, Node):
        return node
    return Node() if store.covered(node_need(pod)).known else None
