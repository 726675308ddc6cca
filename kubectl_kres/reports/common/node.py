"""The node that runs a pod: the read it takes, and what the store knows of it."""

from __future__ import annotations

from kubectl_kres.model.node import Node
from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.reports.pod.needs import needs
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

#: What an answer about one pod does not look at, although an explanation tells it.
_TOLD = {"Event", "Pod", "ReplicaSet", "Job"}


def needs_with_node(store: Store, subject: Subject) -> tuple[Need, ...]:
    """What the start and the policies of the subject depend on, and for a live pod the node that it is bound to."""
    wanted = needs(store, subject)
    if subject.ref.kind != "Pod":
        # Of the ways that a run can go its pod tells which one it went.
        told = _TOLD - {"Pod"} if subject.ref.kind == "TaskRun" else _TOLD
        return tuple(need for need in wanted if need.required or need.kind not in told)
    pod = None if subject.raw is not None else store.get("Pod", subject.ref.name, subject.ref.namespace)
    if not isinstance(pod, Pod) or not pod.spec.node_name:
        return wanted
    return (*wanted, node_need(pod))


def node_need(pod: Pod) -> Need:
    """Without the node there is an answer that leaves it open."""
    return Need("Node", name=pod.spec.node_name, required=False)


def node_of(store: Store, pod: Pod) -> Node | None:
    """None: the pod has none, or nothing is known of it. Without a name: the server has none that is called so."""
    if not pod.spec.node_name:
        return None
    found = store.get("Node", pod.spec.node_name)
    if isinstance(found, Node):
        return found
    return Node() if store.covered(node_need(pod)).known else None
