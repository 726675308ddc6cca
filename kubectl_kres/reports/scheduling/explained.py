"""The nodes of an explanation: for the explained pod, or for the first waiting pod of a workload."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from kubectl_kres.admission.base.outcome import Server
from kubectl_kres.admission.request.new_pod import admit
from kubectl_kres.model import scheduling
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.scheduling import SchedulingPod
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import ContainerValues, Subject
from kubectl_kres.reports.common.last_editor import ManifestEdit, apply_edits
from kubectl_kres.reports.common.parts import NodeReport
from kubectl_kres.reports.common.replicas import controller
from kubectl_kres.reports.remedies.commands import keeper_of
from kubectl_kres.reports.scheduling.daemon_nodes import with_daemon_nodes
from kubectl_kres.reports.scheduling.lowering import LoweredValue
from kubectl_kres.reports.scheduling.new_pods import report_new_pods
from kubectl_kres.reports.scheduling.remedies import find_remedies
from kubectl_kres.reports.scheduling.remedy_target import RemedyTarget
from kubectl_kres.reports.scheduling.report import report_nodes, unread_nodes
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
        return report_new_pods(store, subject, analysis, containers)
    reported = report_nodes(store, pod, server.version[1], containers)
    if reported is None:
        ref = ObjectRef("Pod", pod.metadata.name, pod.metadata.namespace)
        nodes = store.covered(ReadRequest(scheduling.NODES))
        if nodes.state == "unread":
            return NodeReport(ref, nodes=0, complete=False, not_read=("Node", "Pod"))
        if not nodes.known:
            return unread_nodes(store, ref)
        return NodeReport(ref, nodes=0, complete=False, not_read=("Node", "Pod"), of_list=True)
    report, cluster, obstacles = reported
    asked = store.get(scheduling.POD, pod.metadata.name, pod.metadata.namespace)
    if subject.ref.kind == "DaemonSet" and analysis.start.owner is not None and isinstance(asked, SchedulingPod):
        report = with_daemon_nodes(report, asked, analysis.start.owner, cluster)
    if report.fitting or not report.complete or not isinstance(asked, SchedulingPod):
        return report
    target = _target(store, pod, analysis, containers, server)
    remedies = tuple(find_remedies(store.origin, asked, target, cluster, obstacles))
    return structs.replace(report, remedies=remedies)


def _target(
    store: Store, pod: Pod, analysis: Analysis, containers: Sequence[ContainerValues], server: Server
) -> RemedyTarget:
    """Return the object in which requests and tolerations are written: the newest known maker of the pod, or the
    pod.
    """
    start = analysis.start
    ref, prefix = start.source.ref, start.prefix
    if ref.kind == "ControllerRevision":
        ref, prefix = ObjectRef(*controller(pod), pod.metadata.namespace), "spec.template."
    made = store.get(ref.kind, ref.name, ref.namespace)
    if ref.kind == "ReplicaSet" and made is not None and controller(made)[0] == "Deployment":
        ref = ObjectRef("Deployment", controller(made)[1], ref.namespace)
        made = store.get(ref.kind, ref.name, ref.namespace)
    if ref.kind == "Job":
        prefix = "spec.template."
    fixed = "the template of a Job cannot be changed" if ref.kind == "Job" else ""
    why = fixed or (keeper_of(ref, made.metadata) if made is not None else "")

    def admits(values: Sequence[LoweredValue]) -> bool:
        edits = (ManifestEdit(value.path, "requests", value.resource, parse(value.after)) for value in values)
        try:
            lowered = apply_edits(start.pod, edits)
        except IndexError:
            return False  # a container that something else adds
        outcomes = admit(lowered, analysis.known.policies, server, journal=False, counted=start.live is not None)
        return all(outcome.allowed for outcome in outcomes)

    sources = {
        value.path: value.source
        for container in containers
        for value in container.values
        if value.side == "requests" and value.written is None and value.source is not None
    }
    return RemedyTarget(ref, prefix, admits, why, sources)
