"""What a rollout has to do with a pod without a node: it is of an older template, or old pods hold its room."""

from __future__ import annotations

from kubectl_kres.errors import UsageError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.scheduling import SchedulingPod
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.nodes import NodeRemedy
from kubectl_kres.reports.common.owners import owned_by
from kubectl_kres.reports.common.replicas import newest_set, replicas_of
from kubectl_kres.reports.pod.scheduling_needs import template_of
from kubectl_kres.reports.remedies.commands import delete_command, patch_command
from kubectl_kres.reports.scheduling.new_pods import with_admission
from kubectl_kres.reports.scheduling.obstacles import RemedyTarget, can_take_changed, nodes_that_take
from kubectl_kres.reports.scheduling.trial import try_for_all
from kubectl_kres.scheduling.node_info import SchedulingCluster, changed_node
from kubectl_kres.store.store import Store

_REVISION = "controller-revision-hash"


def is_older(subject: Subject, pod: Pod, analysis: Analysis) -> bool:
    """Return whether a pod of a StatefulSet is of an older template than the one that it has now."""
    owner = analysis.manifest.owner
    if subject.ref.kind != "StatefulSet" or owner is None or not owner.status.update_revision:
        return False
    return (pod.metadata.labels or {}).get(_REVISION, "") not in {"", owner.status.update_revision}


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
                remedy = _go_first(store, target, node.name, bound.name)
                return try_for_all(remedy, target, asked, cluster, anew=True)
    return None


def _go_first(store: Store, target: RemedyTarget, node: str, old: str) -> NodeRemedy:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    line = patch_command(store.origin, target.ref, {"spec": {"strategy": strategy}}, "merge")
    reason = target.why_not
    return NodeRemedy("no-surge", node, about=old, commands=() if reason else (line,), no_command_reason=reason)
