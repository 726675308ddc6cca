"""What nodes have for a pod that the scheduler finds no node for."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.pod import Node, Pod
from kubectl_kres.render.pod.explain import node_lines
from kubectl_kres.reports.common.nodes import node_needs, node_room
from kubectl_kres.store.coverage import READ, Coverage, Need
from kubectl_kres.store.store import Origin, Store

WAITING = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}], "phase": "Pending"}


def pod(name: str, node: str = "", status: Any = None, **requests: str) -> Pod:
    spec = {"nodeName": node, "containers": [{"name": "app", "image": "i", "resources": {"requests": requests}}]}
    metadata = {"name": name, "namespace": "shop"}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status or {"phase": "Running"}}, Pod)


def node(name: str, **allocatable: str) -> Node:
    return msgspec.convert(
        {"metadata": {"name": name}, "status": {"allocatable": {"pods": "110", **allocatable}}}, Node
    )


@pytest.fixture
def store() -> Store:
    found = Store(Origin("cluster"))
    for item in (node("big", cpu="8", memory="16Gi"), node("small", cpu="2", memory="4Gi")):
        found.add("Node", item)
    for item in (
        pod("a", "big", cpu="6", memory="2Gi"),
        pod("b", "small", cpu="500m", memory="1Gi"),
        pod("done", "small", {"phase": "Succeeded"}, cpu="1"),
    ):
        found.add("Pod", item)
    found.cover(Need("Node"), READ)
    found.cover(Need("Pod"), READ)
    return found


def test_what_is_asked_is_held_against_each_node(store: Store):
    cpu, memory, pods = node_room(store, pod("web", status=WAITING, cpu="3", memory="3Gi"), Server())
    assert (cpu.resource, cpu.nodes, cpu.enough, cpu.possible) == ("cpu", 2, 0, 1)
    assert (cpu.asked, cpu.requested, cpu.free, cpu.on, cpu.allocatable) == ("3", "6500m", "2", "big", "8")
    assert (memory.enough, memory.free, memory.on) == (2, "14Gi", "big")
    assert (pods.asked, pods.enough) == ("1", 2)


def test_more_than_any_node_has(store: Store):
    (cpu, *_) = node_room(store, pod("web", status=WAITING, cpu="64"), Server())
    assert (cpu.possible, cpu.enough, cpu.allocatable) == (0, 0, "8")


def test_without_the_pods_of_all_namespaces(store: Store):
    store.cover(Need("Pod"), Coverage("denied", "pods is forbidden"))
    (cpu, *_) = node_room(store, pod("web", status=WAITING, cpu="3"), Server())
    assert (cpu.possible, cpu.enough, cpu.free, cpu.requested) == (1, None, None, None)
    text = "\n".join("".join(text for _, text in line) for line in node_lines([cpu], 80))
    assert "LARGEST NODE" in text and "LARGEST FREE" not in text and "1 of 2" in text


def test_only_of_a_pod_that_waits(store: Store):
    running, fresh = pod("web", "big", cpu="1"), pod("web", status={"phase": "Pending"}, cpu="1")
    for one in (running, fresh):
        assert node_room(store, one, Server()) == ()
        assert list(node_needs(one)) == []
    assert [need.kind for need in node_needs(pod("web", status=WAITING))] == ["Node", "Pod"]
    store.cover(Need("Node"), Coverage("denied", "nodes is forbidden"))
    assert node_room(store, pod("web", status=WAITING, cpu="1"), Server()) == ()


def test_the_table(store: Store):
    rooms = node_room(store, pod("web", status=WAITING, cpu="3", memory="3Gi"), Server())
    lines = ["".join(text for _, text in line) for line in node_lines(rooms, 80)]
    assert lines[1].split() == [
        "nodes",
        "ASKS",
        "FOR",
        "REQUESTED",
        "LARGEST",
        "FREE",
        "LARGEST",
        "NODE",
        "ENOUGH",
        "ON",
    ]
    assert lines[2].split() == ["cpu", "3", "6500m", "2", "big", "8", "0", "of", "2"]
