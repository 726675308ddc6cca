"""The nodes of an explanation: for the explained pod, or for the first waiting pod of a workload.

Of a DaemonSet also on which its pods wait and why, and which its template does not let in.

Source: pkg/controller/daemon/daemon_controller.go NodeShouldRunDaemonPod, util/daemonset_util.go
ReplaceDaemonSetPodNodeNameNodeAffinity.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import admit
from kubectl_kres.model import scheduling
from kubectl_kres.model.objects import LabelSelector, ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.scheduling import NodeSelector, SchedulingPod
from kubectl_kres.model.workload import Workload
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import ContainerValues, Subject
from kubectl_kres.reports.common.last_editor import ManifestEdit, apply_edits
from kubectl_kres.reports.common.nodes import NodeRemedy, NodeReport
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.common.remedy import NoCommand
from kubectl_kres.reports.remedies.compose import edit_file
from kubectl_kres.reports.remedies.keepers import named_keeper
from kubectl_kres.reports.scheduling.lowered_requests import LoweredValue, sides_of
from kubectl_kres.reports.scheduling.new_pods import report_new_pods
from kubectl_kres.reports.scheduling.obstacles import RemedyTarget
from kubectl_kres.reports.scheduling.remedies import find_remedies
from kubectl_kres.reports.scheduling.report import CheckedPod, group_nodes, report_nodes, unread_nodes
from kubectl_kres.reports.scheduling.rollout_remedies import is_older, replace_older_pod, without_surge
from kubectl_kres.reports.scheduling.trial import find_waiting_pods
from kubectl_kres.scheduling.node_info import NodeInfo, Rejection, SchedulingCluster, UncomputedFilter
from kubectl_kres.scheduling.profile import prepare_filters
from kubectl_kres.scheduling.selectors import matches, read_selector, required_selector
from kubectl_kres.store.store import ReadRequest, Store


def explain_nodes(
    store: Store,
    subject: Subject,
    pod: Pod | None,
    analysis: Analysis,
    containers: Sequence[ContainerValues],
    server: Server,
) -> NodeReport | None:
    """Return the report with remedies; None where the pod waits for no node.

    Where the nodes were not read, or may not be read, it says that.

    ``pod``: the one that waits; of a file its next pod is asked about. ``analysis``: that of its template.
    """
    if subject.raw is not None or pod is None:

        def find_fixes(new: SchedulingPod, checked: CheckedPod) -> tuple[NodeRemedy, ...]:
            target = _target(store, subject, None, analysis, containers, server)
            return tuple(find_remedies(store, new, target, checked.seen.cluster, checked.obstacles))

        return report_new_pods(store, subject, analysis, containers, find_fixes=find_fixes)
    reported = report_nodes(store, pod, server.version[1], containers)
    if reported is None:
        ref = ObjectRef("Pod", pod.metadata.name, pod.metadata.namespace)
        nodes = store.covered(ReadRequest(scheduling.NODES))
        if nodes.state == "unread":
            return NodeReport(ref, nodes=0, complete=False, not_read=("Node", "Pod"))
        if not nodes.is_known:
            return unread_nodes(store, ref)
        of_list = store.origin.kind == "cluster"
        return NodeReport(ref, nodes=0, complete=False, not_read=("Node", "Pod"), of_list=of_list)
    report, cluster, obstacles = reported
    asked = store.get(scheduling.POD, pod.metadata.name, pod.metadata.namespace)
    if subject.ref.kind == "DaemonSet" and analysis.manifest.owner is not None and isinstance(asked, SchedulingPod):
        report = with_daemon_nodes(report, asked, analysis.manifest.owner, cluster)
    if report.fitting or not report.complete or not isinstance(asked, SchedulingPod):
        return report
    if is_older(subject, pod, analysis):
        # What is written in the template does not reach it.
        replaced = replace_older_pod(store, subject, pod, analysis, cluster)
        return structs.replace(report, fixes=() if replaced is None else (replaced,))
    target = _target(store, subject, pod, analysis, containers, server)
    first = without_surge(store, subject, asked, target, analysis, cluster)
    remedies = find_remedies(store, asked, target, cluster, obstacles)
    return structs.replace(report, fixes=(*(() if first is None else (first,)), *remedies))


def _target(
    store: Store,
    subject: Subject,
    pod: Pod | None,
    analysis: Analysis,
    containers: Sequence[ContainerValues],
    server: Server,
) -> RemedyTarget:
    """Return the object in which requests and tolerations are written: the newest known maker of the pod, or the
    pod; of a file the file.
    """
    manifest = analysis.manifest
    ref, prefix = manifest.source.ref, manifest.prefix
    if ref.kind == "ControllerRevision" and pod is not None:
        ref, prefix = ObjectRef(*controller(pod), pod.metadata.namespace), "spec.template."
    made = store.get(ref.kind, ref.name, ref.namespace)
    if ref.kind == "ReplicaSet" and made is not None and controller(made)[0] == "Deployment":
        ref = ObjectRef("Deployment", controller(made)[1], ref.namespace)
        made = store.get(ref.kind, ref.name, ref.namespace)
    if ref.kind == "Job":
        prefix = "spec.template."
    file = edit_file(subject.file) if subject.raw is not None else ""
    fixed = NoCommand("job-template") if ref.kind == "Job" else None
    reason = file or fixed or (named_keeper(store, ref, made.metadata) if made is not None else "")

    def admits(values: Sequence[LoweredValue]) -> bool:
        edits = (
            ManifestEdit(value.path, side, value.resource, parse(value.after))
            for value in values
            for side in sides_of(value.resource)
        )
        try:
            lowered = apply_edits(manifest.pod, edits)
        except IndexError:
            return False  # a container that something else adds
        outcomes = admit(lowered, analysis.policies.policies, server, journal=False, counted=manifest.live is not None)
        return all(outcome.allowed for outcome in outcomes)

    sources = {
        value.path: value.source
        for container in containers
        for value in container.values
        if value.side == "requests" and value.written is None and value.source is not None
    }
    setters = {
        value.path: value.source
        for container in containers
        for value in container.values
        if value.side == "requests" and value.source is not None
    }
    waiting = find_waiting_pods(store, subject, pod, analysis)
    return RemedyTarget(ref, prefix, admits, reason, sources, setters, waiting)


#: Filters by which the DaemonSet's controller chooses nodes; what others say of a node is left to the scheduler.
_CHOOSING = frozenset({"TaintToleration", "NodeAffinity"})


def with_daemon_nodes(
    report: NodeReport, pod: SchedulingPod, owner: Workload, cluster: SchedulingCluster
) -> NodeReport:
    """Return the report with the nodes without a pod of the DaemonSet that runs. ``pod``: one of it that waits."""
    lacking: dict[str, Rejection | None] = {}
    left_out: dict[str, Rejection | None] = {}
    selector = read_selector(owner.spec.selector)
    try:
        filters = prepare_filters(for_any_node(pod), cluster)
        for node in cluster.nodes:
            status = None if _has_pod(node, pod, selector) else filters.check(node)
            if status is not None:
                (left_out if status.plugin in _CHOOSING else lacking)[node.name] = status
    except UncomputedFilter:
        return report
    return structs.replace(
        report, without_pod=tuple(group_nodes(lacking.items())), excluded=tuple(group_nodes(left_out.items()))
    )


def _has_pod(node: NodeInfo, pod: SchedulingPod, selector: LabelSelector | None) -> bool:
    own_pods = (other for other in node.pods if other.namespace == pod.metadata.namespace)
    return selector is not None and any(matches(selector, other.labels) for other in own_pods)


def for_any_node(pod: SchedulingPod) -> SchedulingPod:
    """Return the pod without the name of the node that its controller wrote into its node affinity."""
    affinity, selector = pod.spec.affinity, required_selector(pod)
    if affinity is None or affinity.node_affinity is None or selector is None:
        return pod
    terms = tuple(structs.replace(term, match_fields=None) for term in selector.node_selector_terms or ())
    kept = NodeSelector(terms) if all(term.match_expressions for term in terms) else None
    required = structs.replace(affinity.node_affinity, required_during_scheduling_ignored_during_execution=kept)
    return structs.replace(
        pod, spec=structs.replace(pod.spec, affinity=structs.replace(affinity, node_affinity=required))
    )
