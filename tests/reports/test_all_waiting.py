"""A change for a pod without a node is tried for all pods of its workload that wait."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from reports.test_scheduling_report import WAITING, raw_node

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model import scheduling
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import BOUND_PODS, ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.scheduling import SchedulingNode, SchedulingPod
from kubectl_kres.model.workload import Workload
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.scheduling.node_info import gather_pods
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

SPACE = "shop"


def template(cpu: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "app", "image": "i", "resources": {"requests": {"cpu": cpu}}}]
    return {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers, **spec}}


def workload(kind: str, replicas: int, cpu: str, **spec: Any) -> dict[str, Any]:
    pod_spec = spec.pop("pod", {})
    return {
        "kind": kind,
        "metadata": {"name": "web", "namespace": SPACE, "uid": "w"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": template(cpu, **pod_spec),
            **spec,
        },
        "status": {"replicas": replicas, "updatedReplicas": replicas},
    }


def pod(name: str, owner: str, cpu: str, node: str = "", ending: bool = False, **spec: Any) -> dict[str, Any]:
    made = template(cpu, **spec)
    owned = [{"kind": owner, "name": "web", "uid": "w", "controller": True}]
    metadata = {"name": name, "namespace": SPACE, "uid": name, "labels": {"app": "web"}, "ownerReferences": owned}
    if ending:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:30Z"
    running = {"phase": "Running", "conditions": [{"type": "PodScheduled", "status": "True"}]}
    bound = {"nodeName": node} if node else {}
    return {"metadata": metadata, "spec": {**made["spec"], **bound}, "status": running if node else WAITING}


def fixes(nodes: list[dict[str, Any]], owner: dict[str, Any], *pods: dict[str, Any]) -> tuple[Remedy, ...]:
    store = Store(Origin("cluster"))
    kind = owner["kind"]
    store.add(kind, msgspec.convert(owner, Workload))
    for each in nodes:
        store.add(scheduling.NODES, msgspec.convert(each, SchedulingNode))
    for each in pods:
        store.add("Pod", msgspec.convert(each, Pod))
        if "nodeName" not in each["spec"]:
            store.add(scheduling.POD, msgspec.convert(each, SchedulingPod))
    bound = [msgspec.convert(each, SchedulingPod) for each in pods if "nodeName" in each["spec"]]
    store.add(BOUND_PODS, gather_pods([bound]))
    for read in (kind, "Pod", "LimitRange", "ResourceQuota", scheduling.POD, "ReplicaSet", "Event"):
        store.cover(ReadRequest(read, SPACE), READ)
    for read in (scheduling.NODES, BOUND_PODS):
        store.cover(ReadRequest(read), READ)
    subject = Subject(ObjectRef(kind, "web", SPACE), BY_KIND[kind])
    return explain(store, subject, EvaluationOptions(Server())).fixes


def cpus(name: str, cpu: str, **more: Any) -> dict[str, Any]:
    node = raw_node(name, "16Gi", **more)
    node["status"]["allocatable"]["cpu"] = cpu
    return node


def test_a_request_is_lowered_so_far_that_all_find_room():
    """One of two would fit beside the one that runs with 400m, the other nowhere."""
    waiting = [pod(f"web-{letter}", "ReplicaSet", "600m") for letter in "bc"]
    runs = pod("web-a", "ReplicaSet", "600m", "n")
    (first, *_) = fixes([cpus("n", "1")], workload("ReplicaSet", 3, "600m"), runs, *waiting)
    assert sentence_text(first.text) == (
        "lower the cpu request of app from 600m to 333m, and delete pods web-b and web-c, made of the template before: "
        "all 2 pods that wait find a node then (evaluated)"
    )
    assert [command.split(" ")[1:4] for command in first.commands] == [
        ["patch", "replicaset", "web"],
        ["delete", "pod", "web-b"],
        ["delete", "pod", "web-c"],
    ]


def test_what_helps_some_comes_last_and_says_how_many():
    nodes = [cpus("small", "1", unschedulable=True), cpus("own", "8", taints=[{"key": "gpu", "effect": "NoSchedule"}])]
    waiting = [pod(f"web-{letter}", "ReplicaSet", "800m") for letter in "ab"]
    tolerate, uncordon = fixes(nodes, workload("ReplicaSet", 2, "800m"), *waiting)
    assert "all 2 pods that wait find a node then" in sentence_text(tolerate.text)
    assert sentence_text(uncordon.text) == "uncordon node small: 1 of the 2 pods that wait find a node then (evaluated)"


@pytest.mark.parametrize(("policy", "deleted"), [("", True), ("OrderedReady", True), ("Parallel", False)])
def test_a_pod_that_a_stateful_set_does_not_replace_is_deleted(policy: str, deleted: bool):
    """Its controller waits for it to become ready, whatever its template says (kubernetes/kubernetes#67250)."""
    owner = workload("StatefulSet", 2, "4", podManagementPolicy=policy)
    (first, *_) = fixes([cpus("n", "2")], owner, pod("web-0", "StatefulSet", "4"))
    assert first.commands[0].startswith("kubectl patch statefulset web ")
    assert first.commands[1:] == (("kubectl delete pod web-0 -n shop",) if deleted else ())


def test_pods_that_are_being_deleted_hold_the_room():
    (first, *_) = fixes(
        [cpus("n", "1")],
        workload("ReplicaSet", 1, "600m"),
        pod("web-a", "ReplicaSet", "600m", "n", ending=True),
        pod("web-b", "ReplicaSet", "600m"),
    )
    assert (
        sentence_text(first.text)
        == "wait for shop/web-a on n, which is being deleted, to end: the pod then fits on n (evaluated)"
    )
    assert not first.commands


def test_a_template_that_says_much_memory_is_not_starved():
    owner = workload("ReplicaSet", 1, "1")
    owner["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["memory"] = "40Gi"
    waiting = pod("web-a", "ReplicaSet", "1")
    waiting["spec"]["containers"][0]["resources"]["requests"]["memory"] = "40Gi"
    assert fixes([cpus("n", "4")], owner, waiting) == ()


def test_two_obstacles_on_each_node_are_taken_away_together():
    nodes = [cpus("off", "1", unschedulable=True), cpus("own", "8", taints=[{"key": "gpu", "effect": "NoSchedule"}])]
    owner = workload("ReplicaSet", 1, "2", pod={"nodeSelector": {"disk": "ssd"}})
    (first,) = fixes(nodes, owner, pod("web-a", "ReplicaSet", "2", nodeSelector={"disk": "ssd"}))
    assert sentence_text(first.text) == (
        "tolerate gpu:NoSchedule and label node own disk=ssd, if that is what it is, and delete pod web-a, made of the "
        "template before: the pod then fits on own (evaluated)"
    )
    assert [command.split(" ")[1] for command in first.commands] == ["patch", "label", "delete"]


def test_a_cordoned_node_that_is_too_small_as_well():
    owner = workload("StatefulSet", 1, "2")
    (first,) = fixes([cpus("off", "1", unschedulable=True)], owner, pod("web-0", "StatefulSet", "2"))
    assert sentence_text(first.text) == (
        "uncordon node off and lower the cpu request of app from 2 to 1, and delete pod web-0, made of the template "
        "before: the pod then fits on off (evaluated)"
    )
    assert [command.split(" ")[1] for command in first.commands] == ["uncordon", "patch", "delete"]
