"""The nodes for a pod that waits: groups, the nearest node, remedies, and what was not read or computed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model import scheduling
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import BOUND_PODS, LimitRange, ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.scheduling import PersistentVolume, SchedulingNode, SchedulingPod, StorageClaim
from kubectl_kres.model.workload import Event
from kubectl_kres.render.scheduling import report_lines
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.nodes import NodeReport
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.scheduling.node_info import gather_pods
from kubectl_kres.store.store import READ, Coverage, Origin, ReadRequest, Store

STATED = "0/3 nodes are available: 1 Insufficient memory."
WAITING = {
    "phase": "Pending",
    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": STATED}],
}


def raw_pod(name: str = "web", status: Any = None, **spec: Any) -> dict[str, Any]:
    requests = spec.pop("requests", {})
    containers = [{"name": "app", "image": "i", "resources": {"requests": requests}}]
    return {
        "metadata": {"name": name, "namespace": "shop", "uid": name},
        "spec": {"containers": containers, "schedulerName": "default-scheduler", **spec},
        "status": status or WAITING,
    }


def raw_node(name: str, memory: str, **more: Any) -> dict[str, Any]:
    allocatable = {"cpu": "4", "memory": memory, "pods": "110"}
    labels = more.pop("labels", {})
    return {"metadata": {"name": name, "labels": labels}, "spec": more, "status": {"allocatable": allocatable}}


NODES = (
    raw_node("big", "16Gi"),
    raw_node("small", "2Gi"),
    raw_node("own", "64Gi", taints=[{"key": "gpu", "effect": "NoSchedule"}]),
)


def made(asked: dict[str, Any], nodes: Any = NODES, pods: Any = (), *others: Any) -> Store:
    store = Store(Origin("cluster"))
    store.add("Pod", msgspec.convert(asked, Pod))
    store.add(scheduling.POD, msgspec.convert(asked, SchedulingPod))
    for one in nodes:
        store.add(scheduling.NODES, msgspec.convert(one, SchedulingNode))
    held = [msgspec.convert(one, SchedulingPod) for one in pods]
    store.add(BOUND_PODS, gather_pods([held]))
    for one in others:
        store.add(one.kind, one)
    covered = (
        ReadRequest("Pod", "shop", "web"),
        ReadRequest("LimitRange", "shop"),
        ReadRequest("ResourceQuota", "shop"),
        ReadRequest(scheduling.POD, "shop", "web"),
        ReadRequest(scheduling.NODES),
        ReadRequest(BOUND_PODS),
    )
    for need in covered:
        store.cover(need, READ)
    return store


def report(store: Store) -> NodeReport:
    ref = ObjectRef("Pod", "web", "shop")
    found = explain(store, Subject(ref, BY_KIND["Pod"]), EvaluationOptions(Server())).scheduling
    assert found is not None
    return found


def text(found: NodeReport) -> str:
    lines = ("".join(part for _, part in line) for line in report_lines(found, 80))
    return " ".join(" ".join(lines).split())


HOLDS = raw_pod("db", {"phase": "Running"}, nodeName="big", requests={"memory": "10Gi"})


def test_groups_the_nearest_node_and_who_holds_it():
    found = report(made(raw_pod(requests={"memory": "8Gi"}), pods=[HOLDS]))
    assert (found.nodes, found.fitting, found.complete) == (3, 0, True)
    assert [(group.reason, group.count, group.unresolvable) for group in found.groups] == [
        ("Insufficient memory", 2, 1),
        ("node(s) had untolerated taint(s)", 1, 1),
    ]
    near = found.nearest
    assert near is not None and near.node == "big"
    (short,) = near.shortages
    assert (short.allocatable, short.requested, short.short_by) == ("16Gi", "10Gi", "2Gi")
    assert [(holder.pod.name, holder.amount) for holder in near.holders] == [("db", "10Gi")]
    shown = text(found)
    assert "nodes: 0 of 3 can take Pod/web" in shown
    assert "2 Insufficient memory (big, small); 1 too small even without other pods" in shown
    assert (
        "nearest: big: short by 2Gi of memory (has 16Gi, 10Gi requested); most of it is requested by shop/db 10Gi"
        in shown
    )
    assert f"computed: {found.sentence}" in shown  # the stated one is older


def test_remedies_are_tried():
    found = report(made(raw_pod(requests={"memory": "8Gi"}), pods=[HOLDS]))
    lower, tolerate = found.fixes
    (value,) = lower.lowered
    assert (lower.node, value.container, value.from_, value.to) == ("big", "app", "8Gi", "6Gi")
    assert not lower.commands and lower.no_command_reason  # the requests of a pod are those of its manifest
    assert (tolerate.action, tolerate.node, tolerate.about) == ("tolerate", "own", "gpu:NoSchedule")
    assert "patch pod web -n shop --type merge" in tolerate.commands[0]


def test_a_lower_request_that_admission_refuses_is_no_remedy():
    least = {"type": "Container", "min": {"memory": "7Gi"}}
    limits = msgspec.convert(
        {"metadata": {"name": "lims", "namespace": "shop"}, "spec": {"limits": [least]}}, LimitRange
    )
    found = report(made(raw_pod(requests={"memory": "8Gi"}), NODES, [HOLDS], limits))
    assert [remedy.action for remedy in found.fixes] == ["tolerate"]


def remedies_of(*pods: Any, **spec: Any) -> list[tuple[str, str, str]]:
    found = report(made(raw_pod(**spec), [raw_node("plain", "8Gi", labels={"host": "plain"})], pods))
    assert all(
        remedy.no_command_reason and not remedy.commands for remedy in found.fixes
    )  # it is a pod: nothing of it can change
    return [(remedy.action, remedy.about, remedy.node) for remedy in found.fixes]


def test_constraints_terms_and_ports_that_are_left_out():
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    assert remedies_of(topologySpreadConstraints=[spread]) == [("spread-anyway", "zone", "plain")]
    assert not remedies_of(topologySpreadConstraints=[spread, {**spread, "topologyKey": "rack"}])  # one is not enough
    near = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "host"}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
    assert remedies_of(affinity=affinity) == [("drop-affinity", "podAffinity over host", "plain")]
    port = {"name": "app", "ports": [{"hostPort": 80}]}
    held = raw_pod("db", {"phase": "Running"}, nodeName="plain", containers=[port])
    assert remedies_of(held, containers=[port]) == [("drop-host-port", "80/TCP of app", "plain")]
    assert not remedies_of(held, containers=[port], hostNetwork=True)


@pytest.mark.parametrize("key", ["node.kubernetes.io/not-ready", "node.kubernetes.io/disk-pressure"])
def test_nodes_in_trouble_are_not_tolerated(key: str):
    ill = raw_node("ill", "64Gi", taints=[{"key": key, "effect": "NoSchedule"}])
    found = report(made(raw_pod(), [ill]))
    assert found.groups[0].about == ((f"{key}:NoSchedule", 1),)
    assert not found.fixes


def test_a_label_and_a_node_that_is_cordoned():
    nodes = [raw_node("plain", "8Gi"), raw_node("off", "8Gi", unschedulable=True, labels={"disk": "ssd"})]
    label, uncordon = report(made(raw_pod(nodeSelector={"disk": "ssd"}), nodes)).fixes
    assert label.commands == ("kubectl label node plain disk=ssd",)
    assert uncordon.commands == ("kubectl uncordon off",)


def test_where_pods_of_all_namespaces_may_not_be_read():
    store = made(raw_pod(requests={"memory": "8Gi"}))
    store.empty(BOUND_PODS, "")
    store.cover(ReadRequest(BOUND_PODS), Coverage("denied", "pods is forbidden"))
    found = report(store)
    assert (found.free_unknown, found.complete, found.sentence, found.not_read) == (True, False, "", ("Pod",))
    shown = text(found)
    assert "nodes: 1 of 3 nodes are big enough (free room not checked) for Pod/web as far as seen: big" in shown
    assert "not looked at, since it could not be read: Pod" in shown


def test_where_volumes_may_not_be_read():
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}]
    found = report(made(raw_pod(volumes=volumes), [raw_node("a", "8Gi")]))
    assert (found.fits, found.complete) == (("a",), False)
    assert "PersistentVolume" in found.not_read


def test_another_scheduler():
    found = report(made(raw_pod(schedulerName="volcano", requests={"memory": "8Gi"}), pods=[HOLDS]))
    assert (found.complete, found.sentence, found.fixes) == (False, "", ())
    assert "not computed: scheduler volcano" in text(found)


def test_what_is_read_and_that_nothing_is_for_a_pod_that_does_not_wait():
    store = made(raw_pod(volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}]))
    subject = Subject(ObjectRef("Pod", "web", "shop"), BY_KIND["Pod"])
    read = {need.kind for need in list_read_requests(store, subject)}
    assert {scheduling.NODES, BOUND_PODS, scheduling.CLAIMS, scheduling.VOLUMES} <= read
    assert scheduling.ATTACHMENTS not in read and scheduling.DEVICE_CLAIMS not in read
    pod = store.get("Pod", "web", "shop")
    assert isinstance(pod, Pod)
    store.add("Pod", replace(pod, status=replace(pod.status, conditions=None)))
    assert not any("/" in need.kind for need in list_read_requests(store, subject))
    assert explain(store, subject, EvaluationOptions(Server())).scheduling is None


def test_without_a_live_cluster_the_nodes_are_not_read():
    store = made(raw_pod())
    for kind in (scheduling.NODES, BOUND_PODS, scheduling.POD):
        store.forget(kind)
    subject = Subject(ObjectRef("Pod", "web", "shop"), BY_KIND["Pod"])
    explanation = explain(store, subject, EvaluationOptions(Server()))
    assert explanation.scheduling is not None and explanation.unread == ()
    assert "nodes: not computed: nodes as the scheduler sees them" in text(explanation.scheduling)


@pytest.mark.parametrize(
    ("reasons", "adds"),
    [
        ((("cluster-autoscaler", "TriggeredScaleUp"),), True),
        ((("cluster-autoscaler", "TriggeredScaleUp"), ("cluster-autoscaler", "NotTriggerScaleUp")), False),
        ((("karpenter", "FailedScheduling"), ("karpenter", "Nominated")), True),
        ((("default-scheduler", "FailedScheduling"),), None),
        ((("somebody", "TriggeredScaleUp"),), None),
    ],
)
def test_the_last_word_of_an_autoscaler(reasons: Any, adds: bool | None):
    events = [
        msgspec.convert(
            {
                "metadata": {"name": f"e{place}", "namespace": "shop"},
                "involvedObject": {"kind": "Pod", "name": "web", "namespace": "shop"},
                "reason": reason,
                "message": f"said {reason}",
                "lastTimestamp": f"2026-01-01T00:00:0{place}Z",
                **({"source": {"component": by}} if place else {"reportingComponent": by}),
            },
            Event,
        )
        for place, (by, reason) in enumerate(reasons)
    ]
    found = report(made(raw_pod(requests={"memory": "8Gi"}), NODES, [HOLDS], *events))
    if adds is None:
        assert found.scaling is None
        return
    assert found.scaling is not None and found.complete
    by, reason = reasons[-1]
    assert (found.scaling.by, found.scaling.adds) == (by, adds)
    word = "adds a node for it" if adds else "adds no node for it"
    assert f"{by} {word} ({found.scaling.time}): said {reason}" in text(found)


def pinning(by: str, memory: str) -> tuple[Store, NodeReport]:
    """A pod that must be beside another one, or has a claim on a disk of one node."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "assistant"}}}
    beside = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    claim = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    spec = {"affinity": beside} if by == "Pod" else {"volumes": claim}
    other = raw_pod("assistant-0", {"phase": "Running"}, nodeName="small")
    other["metadata"]["labels"] = {"app": "assistant"}
    nodes = [raw_node(name, "4Gi", labels={"kubernetes.io/hostname": name}) for name in ("big", "small")]
    store = made(raw_pod(requests={"memory": memory}, **spec), nodes, [other])
    wanted = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["small"]}
    disk = {
        "metadata": {"name": "disk"},
        "spec": {
            "claimRef": {"name": "data", "namespace": "shop"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}},
        },
    }
    bound = {"pv.kubernetes.io/bind-completed": "yes"}
    held = {
        "metadata": {"name": "data", "namespace": "shop", "annotations": bound},
        "spec": {"volumeName": "disk"},
        "status": {"phase": "Bound"},
    }
    store.add(scheduling.VOLUMES, msgspec.convert(disk, PersistentVolume))
    store.add(scheduling.CLAIMS, msgspec.convert(held, StorageClaim))
    for kind in (scheduling.VOLUMES, scheduling.CLAIMS, scheduling.CLASSES, scheduling.CSI_NODES):
        store.cover(ReadRequest(kind), READ)
    store.cover(ReadRequest(scheduling.CSI_DRIVERS), READ)
    return store, report(store)


@pytest.mark.parametrize(("by", "name"), [("Pod", "assistant-0"), ("PersistentVolumeClaim", "data")])
def test_the_node_that_a_pod_is_pinned_to(by: str, name: str):
    """What it lacks is said although it need not be the nearest."""
    _, found = pinning(by, "8Gi")
    (pinned,) = found.pinned
    assert (pinned.node, pinned.by) == ("small", ObjectRef(by, name, "shop"))
    assert pinned.obstacle is not None and pinned.obstacle.shortages[0].short_by == "4Gi"
    assert f"pinned to small by {by}/{name}: small: short by 4Gi of memory" in text(found)
    _, found = pinning(by, "1Gi")
    assert found.fits == ("small",) and found.pinned[0].obstacle is None
