"""A change tried for all pods of a workload that wait for a node, and not for the first of them alone.

A change of a template makes all pods of it anew, so that the room of those that run comes back; a change of a node
leaves them where they are.
"""

from __future__ import annotations

from msgspec.structs import replace

from kubectl_kres.errors import UsageError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.scheduling import SchedulingPod
from kubectl_kres.model.workload import POD_HASH, Workload
from kubectl_kres.model.workload_kinds import PLACED, RETRIED, REVISIONS, SCALED
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Subject, manifest_workload
from kubectl_kres.reports.common.nodes import NodeRemedy, waits_for_node
from kubectl_kres.reports.common.owners import controller, owned_by
from kubectl_kres.reports.common.replicas import replicas_of
from kubectl_kres.reports.remedies.commands import delete_command
from kubectl_kres.reports.scheduling.new_pods import MOST_ONE_BY_ONE, place_pods
from kubectl_kres.reports.scheduling.obstacles import RemedyTarget, WaitingPods
from kubectl_kres.scheduling.node_info import BoundPod, NodeInfo, SchedulingCluster, UncomputedFilter, changed_node
from kubectl_kres.scheduling.profile import prepare_filters
from kubectl_kres.scheduling.selectors import matches, read_selector
from kubectl_kres.store.store import Origin, Store


def find_waiting_pods(store: Store, subject: Subject, pod: Pod | None, analysis: Analysis) -> WaitingPods:
    """Return the pods that wait beside ``pod``, of the same template; of a file all that it asks for."""
    kind = subject.ref.kind
    owner = analysis.manifest.owner if subject.raw is None else manifest_workload(subject)
    # Those of a DaemonSet have a node each.
    if kind not in PLACED or kind not in RETRIED or not isinstance(owner, Workload):
        return WaitingPods()
    alike = not owner.spec.volume_claim_templates
    wanted = _count_wanted_pods(kind, owner) if alike else 1
    selector = read_selector(owner.spec.selector) if alike else None
    if pod is None:
        return WaitingPods(max(1, wanted), max(1, wanted), (), subject.ref.namespace, selector)
    names = tuple(sorted(other.metadata.name for other in _waiting_beside(store, subject, pod)))
    left = names if _stays(kind, owner) else ()
    waiting = len(names) if alike else 1
    found = WaitingPods(max(1, waiting), max(wanted, waiting, 1), left, subject.ref.namespace, selector)
    replicas = replicas_of(kind, owner) if kind == "Deployment" else None
    if replicas is None or replicas.strategy != "RollingUpdate":
        return found
    return found._replace(surge=replicas.surge, unavailable=replicas.unavailable)


def _count_wanted_pods(kind: str, owner: Workload) -> int:
    try:
        replicas = replicas_of(kind, owner)
    except UsageError:
        return 1
    return replicas.wanted if replicas is not None else 1


def _waiting_beside(store: Store, subject: Subject, pod: Pod) -> list[Pod]:
    ref, (kind, name) = subject.ref, controller(pod)
    owner = (kind, name) if kind else (ref.kind, ref.name)
    revision = (pod.metadata.labels or {}).get(POD_HASH)
    return [
        other
        for other in owned_by(store, "Pod", ref.namespace, owner)
        if waits_for_node(other) and (other.metadata.labels or {}).get(POD_HASH) == revision
    ]


def _stays(kind: str, owner: Workload) -> bool:
    """Return whether a pod that waits is not replaced when the template changes.

    Source: controller/statefulset stateful_set_control.go; kubernetes/kubernetes#67250.
    """
    if kind == "StatefulSet":
        strategy = owner.spec.update_strategy
        return owner.spec.pod_management_policy != "Parallel" or (strategy is not None and strategy.type == "OnDelete")
    return kind in SCALED and kind not in REVISIONS


def with_deletions(origin: Origin, remedy: NodeRemedy, target: RemedyTarget) -> NodeRemedy:
    """Return a change of the template with the deletion of the pods that their controller does not replace."""
    waiting = target.waiting
    if not waiting.left or not remedy.commands:
        return remedy
    lines = (delete_command(origin, ObjectRef("Pod", name, waiting.namespace)) for name in waiting.left)
    return replace(remedy, commands=(*remedy.commands, *lines), replaced=waiting.left)


def try_for_all(
    remedy: NodeRemedy, target: RemedyTarget, pod: SchedulingPod, cluster: SchedulingCluster, *, anew: bool
) -> NodeRemedy | None:
    """Return the remedy with how many of the pods that wait find a node with it; None: none does.

    ``pod``, ``cluster``: as they are after the change. ``anew``: all pods of the workload are made anew by it, which a
    Deployment does step by step: old pods hold their room until enough new ones run.
    """
    waiting = target.waiting
    if waiting.wanted <= 1:
        return remedy
    wanted = waiting.wanted if anew else waiting.pods
    if wanted > MOST_ONE_BY_ONE:
        return remedy
    started = cluster
    try:
        if anew:
            cluster = replace(cluster, nodes=tuple(without_own_pods(waiting, node) for node in cluster.nodes))
        nodes = {node.name: node for node in cluster.nodes}
        placed = place_pods(pod, prepare_filters(pod, cluster), nodes, wanted).placed
        if anew and waiting.surge is not None:
            placed = min(placed, _roll_out(waiting, waiting.surge, pod, started))
    except UncomputedFilter:
        return remedy
    helped = waiting.pods - (wanted - placed)
    return replace(remedy, helped=min(helped, waiting.pods), waiting=waiting.pods) if helped > 0 else None


def _roll_out(waiting: WaitingPods, surge: int, pod: SchedulingPod, cluster: SchedulingCluster) -> int:
    """Return how many pods of a new template find a node while a Deployment replaces its old ones.

    Old pods that wait go first; those that run go as far as enough pods are left, from where most of them are.
    Source: pkg/controller/deployment/rolling.go, controller_utils.go ActivePodsWithRanks.
    """
    nodes = {node.name: node for node in cluster.nodes}
    old = [
        (name, own)
        for name, node in sorted(nodes.items(), key=lambda item: -len(_own_pods(waiting, item[1])))
        for own in _own_pods(waiting, node)
    ]
    placed = 0
    while placed < waiting.wanted:
        made = min(waiting.wanted, waiting.wanted + surge - len(old)) - placed
        seen = replace(cluster, nodes=tuple(nodes.values()))
        answer = place_pods(pod, prepare_filters(pod, seen), nodes, made) if made > 0 else None
        if answer is not None:
            nodes, placed = dict(answer.nodes), placed + answer.placed
        spare = max(0, len(old) + placed - (waiting.wanted - waiting.unavailable))
        gone, old = old[:spare], old[spare:]
        for name, own in gone:
            nodes[name] = changed_node(nodes[name], (own,), ())
        if not gone and (answer is None or not answer.placed):
            break
    return placed


def _own_pods(waiting: WaitingPods, node: NodeInfo) -> list[BoundPod]:
    if waiting.selector is None:
        return []
    return [pod for pod in node.pods if pod.namespace == waiting.namespace and matches(waiting.selector, pod.labels)]


def without_own_pods(waiting: WaitingPods, node: NodeInfo) -> NodeInfo:
    """Return the node without the pods of the workload."""
    own = _own_pods(waiting, node)
    return changed_node(node, own, ()) if own else node
