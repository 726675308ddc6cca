"""A workload whose pod waits for a node: what nodes have is told, or that they may not be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli.apiserver import Api, deployment, pod
from cli.running import Kres

from kubectl_kres.model.kinds import is_view
from kubectl_kres.snapshot.read import read
from kubectl_kres.snapshot.write import write
from kubectl_kres.store.store import Origin, Store

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
    assert "nodes 0 of 1 can take Pod/web-1-a: 1 Insufficient memory (small); too small without other pods" in shown
    assert "nearest small: lacks memory 32Mi (has 32Mi, 0 requested)" in shown
    assert "free or add a node" not in shown and shown.count("(tried)") == 1
    assert "fix lower the memory request of app from 64Mi to 32Mi: small can take the pod then (tried)" in shown
    whole = " ".join(kres("explain deploy/web -n shop --all").out.split())
    assert "nodes: 0 of 1 can take Pod/" in whole and whole.count("(tried)") == 1
    assert "memory: the pod asks 64Mi" in whole


@pytest.mark.parametrize("asked", ["deploy/web", "pod/web-1-a"])
def test_nodes_that_may_not_be_read(kres: Kres, waiting: Api, asked: str):
    waiting.denied = {"nodes"}
    code, out, _ = kres(f"explain {asked} -n shop")
    assert code == 0 and "can take" not in out
    assert 'Node: nodes is forbidden: User "eve" cannot list resource "nodes"' in " ".join(out.split())


def test_a_list_reads_no_nodes(kres: Kres, waiting: Api):
    assert kres("explain deployments -A").code == 0
    assert not any("/nodes" in path for path in waiting.asked)


@pytest.mark.parametrize("asked", ["deploy/web", "pod/web-1-a"])
def test_a_snapshot_holds_what_the_scheduler_looks_at(kres: Kres, waiting: Api, asked: str):
    waiting.objects += [{**pod("db", "30Mi"), "spec": {**pod("db", "30Mi")["spec"], "nodeName": "small"}}]
    live = kres(f"explain {asked} -n shop --all").out
    assert kres("snapshot -A --out s.kres").code == 0
    kept = kres(f"explain {asked} -n shop --all --snapshot s.kres").out
    nodes = [text[text.index("nodes: 0 of 1") : text.index("computed with the filters")] for text in (live, kept)]
    assert "32Mi, 30Mi requested" in " ".join(nodes[0].split()) and "shop/db 30Mi" in nodes[0]
    assert nodes[0].replace("\n", "") in nodes[1].replace("\n", "")


def test_a_snapshot_of_one_namespace_says_that_nodes_may_be_fuller(kres: Kres, waiting: Api):
    assert kres("snapshot -n shop --out s.kres").code == 0
    out = " ".join(kres("explain pod/web-1-a -n shop --all --snapshot s.kres").out.split())
    assert "nodes: 0 of 1 would, if they were empty, take Pod/web-1-a as far as seen" in out


def test_an_older_snapshot_says_that_a_new_one_is_needed(kres: Kres, waiting: Api, tmp_path: Path):
    store = Store(Origin("cluster"))
    assert kres("snapshot -A --out s.kres").code == 0
    new = read(str(tmp_path / "s.kres"))
    for kind in new.kinds():
        for item in new.all(kind):
            store.add(kind, item)
    for need, coverage in new.needs().items():
        if not is_view(need.kind):
            store.cover(need, coverage)
    write(store, str(tmp_path / "old.kres"))
    result = kres("explain pod/web-1-a -n shop --all --snapshot old.kres")
    said = "nodes: not computed: nodes as the scheduler sees them are not in what was read; a new snapshot has them"
    assert (result.code, " ".join(result.out.split()).count(said)) == (0, 1)


def test_a_snapshot_reads_volumes_where_a_pod_that_waits_has_some(kres: Kres, waiting: Api, tmp_path: Path):
    assert kres("snapshot -A --out s.kres").code == 0
    assert not any("persistentvolumes" in path or "csinodes" in path for path in waiting.asked)
    waiting.objects[3]["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    kres("snapshot -A --out s.kres")
    asked = [path.partition("?")[0] for path in waiting.asked]
    for plural in ("persistentvolumes", "csinodes", "csidrivers", "persistentvolumeclaims", "storageclasses"):
        assert any(path.endswith(f"/{plural}") for path in asked), plural
