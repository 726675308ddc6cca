"""``simulate`` and nodes: admitted pods of a change that find none, what is read for it, and what is said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from reports.stored import box, made, owned_by, store_of
from reports.test_scheduling_report import raw_node

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model import scheduling
from kubectl_kres.model.objects import BOUND_PODS
from kubectl_kres.model.scheduling import SchedulingNode, SchedulingPod
from kubectl_kres.model.scheduling_views import ScheduledWorkload
from kubectl_kres.render.change_report import brief, difference, lines
from kubectl_kres.reports.changes.compare import report_with_pods
from kubectl_kres.reports.changes.nodes import change_node_needs, with_nodes
from kubectl_kres.reports.changes.report import ChangeReport
from kubectl_kres.scheduling.node_info import gather_pods
from kubectl_kres.simulate.change import Apply, Delete, Patch, PlacedStep, ScaleStep, Step
from kubectl_kres.simulate.cluster import simulate_steps
from kubectl_kres.store.store import READ, Coverage, ReadRequest, Store

NODES = (raw_node("one", "4Gi"), raw_node("two", "7Gi"))
LABELS = {"app": "web"}


def workload(replicas: int = 1, kind: str = "Deployment", name: str = "web", memory: str = "3Gi", **spec: Any) -> Any:
    template = {
        "metadata": {"labels": LABELS},
        "spec": {"containers": [box("app", {"memory": memory}, image="i")], **spec},
    }
    strategy = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    fields = {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": template, "strategy": strategy}
    status = {"replicas": replicas, "readyReplicas": replicas, "updatedReplicas": replicas}
    return made(kind, name, spec=fields, status=status)


def pod_on(node: str, name: str, memory: str = "3Gi") -> dict[str, Any]:
    spec = {"nodeName": node, "containers": [box("app", {"memory": memory}, image="i")]}
    meta = {"labels": LABELS, **owned_by("ReplicaSet", "web-1")}
    return made("Pod", name, spec=spec, status={"phase": "Running"}, **meta)


def world(stored: Any, nodes: Sequence[Any] = NODES, pods: Sequence[Any] = ()) -> Store:
    """One Deployment with its ReplicaSet and pods; its template as the scheduler sees it is in the store, too."""
    own = made("ReplicaSet", "web-1", spec=stored["spec"], status=stored["status"], **owned_by("Deployment", "web"))
    store = store_of(stored, own, *pods)
    store.add(view := scheduling.view_of("Deployment"), msgspec.convert(stored, ScheduledWorkload))
    for node in nodes:
        store.add(scheduling.NODES, msgspec.convert(node, SchedulingNode))
    store.add(BOUND_PODS, gather_pods([[msgspec.convert(pod, SchedulingPod) for pod in pods]]))
    for need in (scheduling.NODES, BOUND_PODS, view):
        store.cover(ReadRequest(need), READ)
    return store


def after(store: Store, *steps: Step) -> ChangeReport:
    placed = [PlacedStep(step, "ns") for step in steps]
    found = report_with_pods(simulate_steps(store, placed, Server(), ["ns"]), placed)
    return with_nodes(found.report, store, found.pods, placed, 36)


def needed(store: Store, *steps: Step) -> set[str]:
    placed = [PlacedStep(step, "ns") for step in steps]
    found = report_with_pods(simulate_steps(store, placed, Server(), ["ns"]), placed)
    return {need.kind for need in change_node_needs(store, found.pods, placed)}


def text(report: ChangeReport) -> str:
    return " ".join(" ".join(lines(report, color=False, width=100)).split())


def test_some_pods_of_a_scale_fit_no_node():
    report = after(world(workload(), pods=[pod_on("one", "web-1-a")]), ScaleStep("Deployment", "web", 5))
    (found,) = report.nodes
    assert (found.new, found.fits, found.unplaced, found.effect, report.outcome) == (4, 2, 2, "worse", "worse")
    assert found.first is not None and found.first.nearest is not None
    assert (found.first.nearest.node, found.first.nearest.shortages[0].short_by) == ("one", "2Gi")
    said = text(report)
    assert "Deployment/web admitted, but 2 of 4 new pods fit no node" in said
    assert "2 Insufficient memory (one, two)" in said and "nearest: one: short by 2Gi of memory" in said
    assert "nodes that an autoscaler may add are not counted" in said
    assert "2 of 4 new pods fit no node" in brief(report, lambda _: "").text
    assert any("+ ns  Deployment/web nodes: admitted" in line for line in difference(report))


def test_all_pods_of_a_scale_fit():
    report = after(world(workload(), pods=[pod_on("one", "web-1-a")]), ScaleStep("Deployment", "web", 3))
    assert [(found.new, found.fits, found.effect) for found in report.nodes] == [(2, 2, "other")]
    assert report.outcome == "other" and text(report).endswith("Nodes take the 2 new pods.")


def test_new_workloads_share_the_nodes():
    """Each of two files would fit alone."""
    files = [Apply(workload(2, name=name, memory="2500Mi")) for name in ("a", "b")]
    report = after(world(workload(0)), *files)
    assert [(found.subject.name, found.new, found.fits) for found in report.nodes] == [("a", 2, 2), ("b", 2, 1)]
    assert report.nodes[1].effect == "worse"


def test_what_a_file_asks_of_nodes_counts():
    report = after(world(workload(0)), Apply(workload(name="new", nodeSelector={"disk": "ssd"})))
    (found,) = report.nodes
    assert (found.fits, found.first and found.first.groups[0].plugin) == (0, "NodeAffinity")
    assert "admitted, but the new pod fits no node" in text(report)


def test_what_is_deleted_makes_room():
    store = world(workload(), nodes=NODES[:1], pods=[pod_on("one", "web-1-a")])
    assert after(store, Apply(workload(name="new"))).nodes[0].fits == 0
    assert after(store, Delete("Deployment", "web"), Apply(workload(name="new"))).nodes[0].fits == 1


@pytest.mark.parametrize(("unavailable", "stalls", "fits"), [(0, True, 0), (1, False, 1)])
def test_a_rollout_whose_new_pod_fits_only_once_an_old_one_ends(unavailable: int, stalls: bool, fits: int):
    stored = workload()
    stored["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] = unavailable
    store = world(stored, nodes=NODES[:1], pods=[pod_on("one", "web-1-a")])
    changed = {"spec": {"template": {"spec": {"containers": [box("app", {"memory": "2Gi"}, image="i")]}}}}
    report = after(store, Patch("Deployment", "web", changed))
    (found,) = report.nodes
    assert (found.rollout, found.stalls, found.fits) == (True, stalls, fits)
    assert ("its rollout stalls" in text(report)) is stalls and (report.outcome == "worse") is stalls


def test_a_patch_of_node_selector_is_followed():
    store = world(workload(2), pods=[pod_on("one", "web-1-a"), pod_on("two", "web-1-b")])
    patch = Patch("Deployment", "web", {"spec": {"template": {"spec": {"nodeSelector": {"disk": "ssd"}}}}})
    (found,) = after(store, patch).nodes
    assert (found.new, found.fits, found.stalls) == (2, 0, True)


def test_nothing_is_read_where_no_pod_is_created():
    store = world(workload(2), pods=[pod_on("one", "web-1-a"), pod_on("two", "web-1-b")])
    assert not needed(store, ScaleStep("Deployment", "web", 1))
    assert not needed(store, Delete("Deployment", "web"))
    wanted = {scheduling.NODES, BOUND_PODS}
    assert needed(store, ScaleStep("Deployment", "web", 3)) == {*wanted, scheduling.view_of("Deployment")}
    assert needed(store, Apply(workload(name="new"))) == wanted


def test_nodes_that_may_not_be_read():
    store = store_of(workload(0))
    store.cover(ReadRequest(scheduling.NODES), Coverage("denied", "nodes is forbidden"))
    report = after(store, Apply(workload(name="new")))
    assert (report.nodes, report.complete, report.unread[0].kind) == ((), True, "Node")
    assert not report.unread[0].required
    assert "whether new pods find a node is not known: nodes is forbidden" in text(report)


def test_pods_of_others_that_may_not_be_read():
    """Of empty nodes it is certain alone that none of them takes a pod."""
    store = world(workload(0))
    store.cover(ReadRequest(BOUND_PODS), Coverage("denied", "pods is forbidden"))
    (found,) = after(store, Apply(workload(name="new"))).nodes
    assert found.fits is None
    (found,) = after(store, Apply(workload(name="new", memory="9Gi"))).nodes
    assert (found.fits, found.effect) == (0, "worse")


def test_who_made_the_nodes_may_add_some():
    nodes = [raw_node("one", "1Gi", labels={"karpenter.sh/nodepool": "general"})]
    report = after(world(workload(0), nodes=nodes), Apply(workload(name="new")))
    assert report.nodes[0].autoscaler == "Karpenter"
    assert "nodes that Karpenter may add are not counted" in text(report)


def test_where_there_is_no_node_nothing_is_counted():
    report = after(world(workload(0), nodes=()), Apply(workload(name="new")))
    assert (report.nodes, report.outcome) == ((), "other")
    assert "whether new pods find a node is not known: there is no node in the cluster" in text(report)
