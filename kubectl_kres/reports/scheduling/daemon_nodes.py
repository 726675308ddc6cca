"""The nodes of a DaemonSet: on which its pods wait and why, and which its template does not let in.

Source: pkg/controller/daemon/daemon_controller.go NodeShouldRunDaemonPod, util/daemonset_util.go
ReplaceDaemonSetPodNodeNameNodeAffinity.
"""

from __future__ import annotations

from msgspec.structs import replace

from kubectl_kres.model.objects import LabelSelector
from kubectl_kres.model.scheduling import NodeSelector, SchedulingPod
from kubectl_kres.model.workload import Workload
from kubectl_kres.reports.common.parts import NodeReport
from kubectl_kres.reports.scheduling.report import group_nodes
from kubectl_kres.scheduling.node_info import NodeInfo
from kubectl_kres.scheduling.plugin import Rejection, SchedulingCluster, UncomputedFilter
from kubectl_kres.scheduling.profile import prepare_filters
from kubectl_kres.scheduling.selectors import matches, read_selector, required_selector

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
    return replace(report, lacking=tuple(group_nodes(lacking.items())), left_out=tuple(group_nodes(left_out.items())))


def _has_pod(node: NodeInfo, pod: SchedulingPod, selector: LabelSelector | None) -> bool:
    own = (other for other in node.pods if other.namespace == pod.metadata.namespace)
    return selector is not None and any(matches(selector, other.labels) for other in own)


def for_any_node(pod: SchedulingPod) -> SchedulingPod:
    """Return the pod without the name of the node that its controller wrote into its node affinity."""
    affinity, selector = pod.spec.affinity, required_selector(pod)
    if affinity is None or affinity.node_affinity is None or selector is None:
        return pod
    terms = tuple(replace(term, match_fields=None) for term in selector.node_selector_terms or ())
    kept = NodeSelector(terms) if all(term.match_expressions for term in terms) else None
    required = replace(affinity.node_affinity, required_during_scheduling_ignored_during_execution=kept)
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, node_affinity=required)))
