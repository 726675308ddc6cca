"""The nodes for pods that do not exist yet: of a file, and of a template whose room is counted."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from reports.test_scheduling_report import NODES, made, raw_node, raw_pod

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model import scheduling
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import BOUND_PODS, LimitRange, ObjectRef, ResourceQuota
from kubectl_kres.model.scheduling_views import ScheduledWorkload
from kubectl_kres.model.workload import Workload
from kubectl_kres.render.quota.fit import brief, lines
from kubectl_kres.render.scheduling import report_lines
from kubectl_kres.render.verdict.headline import headline
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.nodes import NodeReport
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.quota.fit import Fit, fit
from kubectl_kres.reports.remedies.rivals import needs_with_nodes
from kubectl_kres.store.store import READ, Coverage, Origin, ReadRequest, Store

ASK = EvaluationOptions(Server())
REF = ObjectRef("Deployment", "web", "shop")


def deployment(replicas: int = 1, requests: Any = None, strategy: Any = None, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "app", "image": "i", "resources": {"requests": requests or {}}}]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": strategy or {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers, **spec}},
        },
    }


def filed(raw: Any, *args: Any) -> NodeReport | None:
    subject = Subject(REF, BY_KIND["Deployment"], raw, "web.yaml")
    return explain(made(raw_pod(), *args), subject, ASK).scheduling


def fitted(raw: Any, nodes: Any = NODES, pods: Any = (), *others: Any) -> Fit:
    store = made(raw_pod(), nodes, pods, *others)
    store.add("Deployment", msgspec.convert({**raw, "status": {"replicas": 0}}, Workload))
    store.add(view := scheduling.view_of("Deployment"), msgspec.convert(raw, ScheduledWorkload))
    for kind in ("Deployment", view):
        store.cover(ReadRequest(kind, "shop", "web"), READ)
    return fit(store, Subject(REF, BY_KIND["Deployment"]), ASK)


def text(found: Fit) -> str:
    return " ".join(" ".join(lines(found)).split())


def test_a_file_is_told_whether_a_node_takes_its_pod():
    found = filed(deployment(requests={"memory": "8Gi"}))
    assert found is not None
    assert (found.nodes, found.fits, found.pod) == (3, ("big",), REF)
    found = filed(deployment(requests={"memory": "20Gi"}))
    assert found is not None and not found.fits
    assert [group.reason for group in found.groups] == ["Insufficient memory", "node(s) had untolerated taint(s)"]


def test_requests_are_those_that_admission_gives():
    default = {"type": "Container", "defaultRequest": {"memory": "20Gi"}}
    limits = msgspec.convert(
        {"metadata": {"name": "lims", "namespace": "shop"}, "spec": {"limits": [default]}}, LimitRange
    )
    found = filed(deployment(), NODES, (), limits)
    assert found is not None and not found.fits
    (asked,) = found.requests
    assert (asked.amount, asked.parts[0].source and asked.parts[0].source.ref.name) == ("20Gi", "lims")


def test_what_each_pod_tolerates_by_itself():
    """A node that is not ready evicts pods later only; that it takes no new ones is another taint."""
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}
    found = filed(deployment(), [raw_node("ill", "8Gi", taints=[taint])])
    assert found is not None and found.fits == ("ill",)


def test_nothing_is_said_where_nodes_were_not_read():
    store = Store(Origin("file"))
    for kind in ("LimitRange", "ResourceQuota"):
        store.cover(ReadRequest(kind, "shop"), READ)
    assert explain(store, Subject(REF, BY_KIND["Deployment"], deployment(), "f"), ASK).scheduling is None
    store.cover(ReadRequest(scheduling.NODES), Coverage("denied", "nodes is forbidden"))
    found = explain(store, Subject(REF, BY_KIND["Deployment"], deployment(), "f"), ASK)
    assert found.complete and found.scheduling is not None
    assert (found.scheduling.is_read, found.scheduling.not_read) == (False, ("Node",))


def test_room_is_counted_over_all_nodes():
    """Big has room for five of 3Gi, small for none; the pods limit of a node counts, too."""
    found = fitted(deployment(5, {"memory": "3Gi"}))
    assert found.nodes is not None
    assert (found.nodes.room, found.without_node, found.surge_on_nodes) == (5, 0, 0)
    assert found.stalls_on_nodes and not found.all_fit
    assert "nodes room for 5 more such pods, on 1 of 3 nodes; a rollout would stall" in text(found)
    assert "free room on nodes" not in text(found)


def test_missing_replicas_without_a_node():
    found = fitted(deployment(7, {"memory": "3Gi"}))
    assert (found.without_node, found.all_fit) == (2, False)
    assert "2 of the missing replicas find none" in text(found)
    none = fitted(deployment(1, {"memory": "32Gi"}))
    assert "none of 3 can take such a pod; 1 of the missing replicas finds none" in text(none)
    assert "2 Insufficient memory (big, small)" in text(none) and "nearest: big: short by 16Gi of memory" in text(none)


@pytest.mark.parametrize(("replicas", "room"), [(1, 2), (3, 2)])
def test_pods_that_keep_each_other_away_are_placed_one_by_one(replicas: int, room: int):
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "host"}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    nodes = [raw_node(name, "8Gi", labels={"host": name}) for name in ("a", "b")]
    found = fitted(deployment(replicas, affinity=apart), nodes)
    assert found.nodes is not None
    assert (found.nodes.room, found.nodes.room_at_least) == (room, replicas == 1)
    assert found.without_node == max(0, replicas - room)


def test_a_host_port_has_room_for_one_pod_on_each_node():
    raw = deployment(3)
    raw["spec"]["template"]["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    found = fitted(raw, [raw_node("a", "8Gi"), raw_node("b", "8Gi")])
    assert found.nodes is not None and found.nodes.room == 2


def test_what_is_made_for_each_pod_is_not_computed():
    volume = {"name": "d", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
    found = fitted(deployment(volumes=[volume]))
    assert found.nodes is not None and not found.nodes.complete
    assert found.nodes.not_computed == ("its ephemeral volumes",)
    assert "as far as seen (not computed: its ephemeral volumes)" in text(found)


def test_reads():
    store = Store(Origin("cluster"))
    live = {need.kind for need in needs_with_nodes(store, Subject(REF, BY_KIND["Deployment"]))}
    assert {scheduling.NODES, BOUND_PODS, "Deployment.of/scheduler"} <= live
    daemons = ObjectRef("DaemonSet", "agent", "shop")
    assert scheduling.NODES not in {
        need.kind for need in needs_with_nodes(store, Subject(daemons, BY_KIND["DaemonSet"]))
    }


def quota_of(pods: int) -> ResourceQuota:
    amounts = {"hard": {"pods": str(pods)}, "used": {"pods": "0"}}
    raw = {"metadata": {"name": "q", "namespace": "shop"}, "spec": {"hard": amounts["hard"]}, "status": amounts}
    return msgspec.convert(raw, ResourceQuota)


def test_the_first_line_says_how_many_find_a_node():
    """What quotas admit and no node takes is not said to fit."""
    assert text(fitted(deployment(1, {"memory": "3Gi"}))).startswith("no quota limits such pods; nodes have room for 5")
    assert text(fitted(deployment(1, {"memory": "32Gi"}))).startswith("no quota limits such pods, but they fit no node")
    more = fitted(deployment(1, {"memory": "3Gi"}), NODES, (), quota_of(9))
    assert text(more).startswith("9 more such pods are admitted; nodes have room for 5: shop/Deployment/web (quota q)")
    none = fitted(deployment(1, {"memory": "32Gi"}), NODES, (), quota_of(1))
    assert text(none).startswith("1 more such pod is admitted, but it fits no node: shop/Deployment/web (quota q)")
    fewer = fitted(deployment(1, {"memory": "3Gi"}), NODES, (), quota_of(2))
    assert text(fewer).startswith("quotas have room for 2 more such pods: shop/Deployment/web (quota q)")
    assert brief(none, "").word == "1 more such pod is admitted, but it fits no node"


def headline_of(raw: Any, *args: Any) -> str:
    subject = Subject(REF, BY_KIND["Deployment"], raw, "web.yaml")
    _, word, rest = headline(explain(made(raw_pod(), *args), subject, ASK))
    return f"{word}{rest}"


def test_the_first_line_of_a_file_says_that_no_node_takes_it():
    head = "admitted, but fits no node: shop/Deployment/web: 2 Insufficient memory, 1 node(s) had untolerated taint(s)"
    assert headline_of(deployment(requests={"memory": "20Gi"})) == head
    assert headline_of(deployment(requests={"memory": "1Gi"})) == "admitted: shop/Deployment/web"
    assert headline_of(deployment(requests={"memory": "20Gi"}, schedulerName="mine")) == "admitted: shop/Deployment/web"


def test_where_there_is_no_node():
    """That is said, and nothing is concluded from it."""
    found = fitted(deployment(3, {"memory": "3Gi"}), ())
    assert (found.nodes and found.nodes.nodes, found.finds_nodes, found.without_node) == (0, True, 0)
    assert "nodes there is no node in the cluster" in text(found)
    filed_report = filed(deployment(), ())
    assert filed_report is not None and not filed_report.no_node_fits
    assert "nodes: there is no node in the cluster" in "".join(
        part for line in report_lines(filed_report, 80) for _, part in line
    )
