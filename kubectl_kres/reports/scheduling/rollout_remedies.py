"""What a rollout has to do with a pod without a node: it is of an older template, or old pods hold its room."""

from __future__ import annotations

from msgspec import structs

from kubectl_kres.errors import UsageError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.scheduling import SchedulingPod
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.nodes import NodeRemedy
from kubectl_kres.reports.common.owners import owned_by
from kubectl_kres.reports.common.replicas import is_older_revision, newest_set, replicas_of
from kubectl_kres.reports.pod.scheduling_needs import template_of
from kubectl_kres.reports.remedies.commands import delete_command, patch_command
from kubectl_kres.reports.scheduling.new_pods import with_admission
from kubectl_kres.reports.scheduling.obstacles import RemedyTarget, can_take_changed, nodes_that_take
from kubectl_kres.reports.scheduling.trial import try_for_all
from kubectl_kres.scheduling.node_info import SchedulingCluster, changed_node
from kubectl_kres.store.store import Origin, Store


def is_older(subject: Subject, pod: Pod, analysis: Analysis) -> bool:
    """Return whether a pod of a StatefulSet is of an older template than the one that it has now."""
    owner = analysis.manifest.owner
    return subject.ref.kind == "StatefulSet" and owner is not None and is_older_revision(owner, pod)


def replace_older_pod(
    store: Store, subject: Subject, pod: Pod, analysis: Analysis, cluster: SchedulingCluster
) -> NodeRemedy | None:
    """Return the deletion of a pod of an older template, where a node takes a pod of the one that there is now.

    The controller does not replace a pod that never became ready: no change of the template reaches it.
    Source: controller/statefulset stateful_set_control.go; kubernetes/kubernetes#67250.
    """
    template, draft = template_of(store, subject), analysis.outcomes[0].draft
    if template is None or draft is None:
        return None
    new = with_admission(template, draft, (analysis.outcomes[0].object or {}).get("spec") or {})
    taking = nodes_that_take(new.pod, cluster, cluster.nodes)
    if not taking:
        return None
    ref = ObjectRef("Pod", pod.metadata.name, pod.metadata.namespace)
    line = delete_command(store.origin, ref)
    return NodeRemedy("replace-pod", min(taking), len(taking), about=ref.name, commands=(line,))


def without_surge(
    store: Store,
    subject: Subject,
    asked: SchedulingPod,
    target: RemedyTarget,
    analysis: Analysis,
    cluster: SchedulingCluster,
) -> NodeRemedy | None:
    """Return that old pods go before new ones come, where one old pod holds the room that the new one waits for."""
    owner = analysis.manifest.owner
    if subject.ref.kind != "Deployment" or owner is None:
        return None
    try:
        replicas = replicas_of("Deployment", owner)
    except UsageError:
        return None
    newest = newest_set(store, owner)
    if replicas is None or newest is None or replicas.strategy != "RollingUpdate" or replicas.unavailable:
        return None
    space = subject.ref.namespace
    old = {
        pod.metadata.name
        for item in owned_by(store, "ReplicaSet", space, ("Deployment", subject.ref.name))
        if item.metadata.name != newest.metadata.name
        for pod in owned_by(store, "Pod", space, ("ReplicaSet", item.metadata.name))
    }
    for node in cluster.nodes:
        for bound in node.pods:
            if bound.namespace != space or bound.name not in old:
                continue
            if can_take_changed(asked, cluster, changed_node(node, (bound,), ())):
                remedy = _go_first(store.origin, target, node.name, bound.name)
                return try_for_all(remedy, _old_first(target, 1), asked, cluster, anew=True)
    return None


def with_old_first(origin: Origin, remedy: NodeRemedy, target: RemedyTarget) -> tuple[NodeRemedy, RemedyTarget]:
    """Return a change of the template with old pods that go before new ones come, and the target as it is then.

    As many may be missing as wait already, and one more: else none of those that run goes.
    """
    number = min(target.waiting.wanted, target.waiting.pods + 1)
    first = _go_first(origin, target, remedy.node, "", number)
    lines = (*first.commands, *remedy.commands)
    return structs.replace(remedy, also=(*remedy.also, first), commands=lines), _old_first(target, number)


def _old_first(target: RemedyTarget, number: int) -> RemedyTarget:
    return target._replace(waiting=target.waiting._replace(surge=0, unavailable=number))


def _go_first(origin: Origin, target: RemedyTarget, node: str, old: str, number: int = 1) -> NodeRemedy:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": number}}
    line = patch_command(origin, target.ref, {"spec": {"strategy": strategy}}, "merge")
    reason = target.why_not
    return NodeRemedy(
        "no-surge", node, about=old, to=str(number), commands=() if reason else (line,), no_command_reason=reason
    )
