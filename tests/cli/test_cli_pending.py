"""A workload whose pod waits for a node: what nodes have is told, or that they may not be read."""

from __future__ import annotations

from typing import Any

import pytest
from cli.apiserver import Api, deployment, pod
from cli.running import Kres

UNPLACED = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available"}


@pytest.fixture
def waiting(api: Api) -> Api:
    web = deployment("web", "64Mi")
    owner = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "controller": True, "uid": "r"}]
    above = [{**owner[0], "kind": "Deployment", "name": "web"}]
    made: dict[str, Any] = {"kind": "ReplicaSet", "apiVersion": "apps/v1", "spec": {**web["spec"], "replicas": 1}}
    made["metadata"] = {**web["metadata"], "name": "web-1", "ownerReferences": above}
    one = pod("web-1-a", "64Mi")
    one["metadata"] = {**one["metadata"], "ownerReferences": owner, "labels": {"app": "web"}}
    one["status"] = {"phase": "Pending", "conditions": [UNPLACED]}
    capacity = {"cpu": "1", "memory": "32Mi", "pods": "9"}
    node = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "small"}, "status": {"allocatable": capacity}}
    api.objects += [web, made, one, node]
    return api


def test_what_nodes_have(kres: Kres, waiting: Api):
    out = kres("explain deploy/web -n shop").out
    assert "0/1 nodes are available" in out
    shown = " ".join(out.split())
    assert "nodes: 0 of 1 can take Pod/" in shown
    assert "1 Insufficient memory (small); too small without other pods" in shown
    assert "memory: the pod asks 64Mi" in shown


@pytest.mark.parametrize("asked", ["deploy/web", "pod/web-1-a"])
def test_nodes_that_may_not_be_read(kres: Kres, waiting: Api, asked: str):
    waiting.denied = {"nodes"}
    code, out, _ = kres(f"explain {asked} -n shop")
    assert code == 0 and "can take" not in out
    assert 'unread  Node: nodes is forbidden: User "eve" cannot list resource "nodes"' in " ".join(out.split())


def test_a_list_reads_no_nodes(kres: Kres, waiting: Api):
    assert kres("explain deployments -A").code == 0
    assert not any("/nodes" in path for path in waiting.asked)
