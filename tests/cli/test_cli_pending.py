"""A workload whose pod waits for a node: what nodes have is told, or that they may not be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.apiserver import Api, deployment, pod
from cli.running import Kres

from kubectl_kres.model.kinds import is_view
from kubectl_kres.reports.pod.scheduling_needs import MOST_LISTED
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
    assert "nearest small: short by 32Mi of memory (has 32Mi, 0 requested)" in shown
    assert "free or add a node" not in shown and shown.count("(evaluated)") == 1
    assert "fix lower the memory request of app from 64Mi to 32Mi: the pod then fits on small (evaluated)" in shown
    whole = " ".join(kres("explain deploy/web -n shop --all").out.split())
    assert "nodes: 0 of 1 can take Pod/" in whole and whole.count("(evaluated)") == 1
    assert "memory: the pod asks 64Mi" in whole


@pytest.mark.parametrize("asked", ["deploy/web", "pod/web-1-a"])
def test_nodes_that_may_not_be_read(kres: Kres, waiting: Api, asked: str):
    waiting.denied = {"nodes"}
    code, out, _ = kres(f"explain {asked} -n shop")
    assert code == 0 and "can take" not in out
    assert 'Node: nodes is forbidden: User "eve" cannot list resource "nodes"' in " ".join(out.split())


@pytest.mark.parametrize("kind", ["deployments", "pods"])
def test_a_list_reads_nodes_once_for_what_waits(kres: Kres, waiting: Api, kind: str):
    """A line names what the nearest node lacks; JSON has what is said of one."""
    beside = kres(f"explain {kind} -A").out
    assert "no node: 0/1 nodes are available; nearest: small: short by 32Mi" in beside
    paths = [path.partition("?")[0] for path in waiting.asked]
    assert paths.count("/api/v1/nodes") == 1
    assert paths.count("/api/v1/pods") == (2 if kind == "pods" else 1)
    assert paths.count("/api/v1/namespaces/shop/pods/web-1-a") == 1
    (item,) = json.loads(kres(f"explain {kind} -A -o json").out)["items"]
    alone = {"deployments": "deploy/web", "pods": "pod/web-1-a"}[kind]
    (one,) = json.loads(kres(f"explain {alone} -n shop -o json").out)["items"]
    assert item["scheduling"] == one["scheduling"] and item["scheduling"]["nearest"]["node"] == "small"


def test_the_overview_reads_nodes_once_for_what_waits(kres: Kres, waiting: Api):
    assert "nearest: small: short by 32Mi" in " ".join(kres("overview -A").out.split())
    assert [path.partition("?")[0] for path in waiting.asked].count("/api/v1/nodes") == 1
    (problem,) = json.loads(kres("overview -A -o json").out)["items"][0]["problems"]
    assert problem["nodes"]["nearest"]["node"] == "small"
    (one,) = (item for item in waiting.objects if item["metadata"]["name"] == "web-1-a")
    one["status"], waiting.asked[:] = {"phase": "Running"}, []
    assert kres("overview -A").code == 0 and not any("/nodes" in path for path in waiting.asked)


def test_a_list_reads_no_nodes_where_nothing_waits(kres: Kres, waiting: Api):
    (one,) = (item for item in waiting.objects if item["metadata"]["name"] == "web-1-a")
    one["status"] = {"phase": "Running"}
    for kind in ("deployments", "pods"):
        assert kres(f"explain {kind} -A").code == 0
    assert not any("/nodes" in path for path in waiting.asked)
    assert not any(path.startswith("/api/v1/namespaces/shop/pods/") for path in waiting.asked)


def test_a_list_without_the_right_to_nodes_says_so(kres: Kres, waiting: Api):
    waiting.denied = {"nodes"}
    code, out, _ = kres("explain deployments -A")
    assert code == 0 and "no node: 0/1 nodes are available" in out and "nearest" not in out
    (item,) = json.loads(kres("explain deployments -A -o json").out)["items"]
    assert "nodes is forbidden" in item["scheduling"]["unread"]


def test_of_a_long_list_some_pods_are_looked_at(kres: Kres, waiting: Api):
    (one,) = (item for item in waiting.objects if item["metadata"]["name"] == "web-1-a")
    for number in range(MOST_LISTED + 2):
        alone = {**one["metadata"], "name": f"alone-{number:02}", "ownerReferences": []}
        waiting.objects.append({**one, "metadata": alone})
    items = json.loads(kres("explain pods -A -o json").out)["items"]
    looked = [item["scheduling"].get("nodes", 0) for item in items]
    assert (looked.count(1), len(looked)) == (MOST_LISTED, MOST_LISTED + 3)
    assert all(item["scheduling"]["ofList"] for item in items if not item["scheduling"].get("nodes"))
    asked = [path for path in waiting.asked if path.startswith("/api/v1/namespaces/shop/pods/")]
    assert len(asked) == MOST_LISTED


def on_a_node(waiting: Api) -> None:
    (node,) = (item for item in waiting.objects if item["kind"] == "Node")
    node["status"]["capacity"] = {"memory": "32Mi"}
    made = pod("r1", "16Mi")
    made["spec"] = {**made["spec"], "nodeName": "small"}
    made["spec"]["containers"][0]["resources"] = {"requests": {"memory": "16Mi"}}
    waiting.objects[:] = [*waiting.objects, made]


def test_scores_of_listed_pods_know_their_nodes(kres: Kres, waiting: Api):
    on_a_node(waiting)
    items = json.loads(kres("qos -A -o json").out)["items"]
    assert [score.get("value") for item in items for score in item["scores"]] == [None, 500]
    assert [path.partition("?")[0] for path in waiting.asked].count("/api/v1/nodes") == 1
    waiting.asked.clear()
    assert kres("qos -A").code == 0 and not any("/nodes" in path for path in waiting.asked)


def test_scores_of_listed_pods_say_that_nodes_may_not_be_read(kres: Kres, waiting: Api):
    on_a_node(waiting)
    waiting.denied = {"nodes"}
    (item,) = (one for one in json.loads(kres("qos -A -o json").out)["items"] if one["subject"]["name"] == "r1")
    assert "value" not in item["scores"][0]
    assert [(unseen["kind"], unseen["state"]) for unseen in item["unread"]] == [("Node", "denied")]


@pytest.mark.parametrize("asked", ["deploy/web", "pod/web-1-a"])
def test_a_snapshot_holds_what_the_scheduler_looks_at(kres: Kres, waiting: Api, asked: str):
    waiting.objects += [{**pod("db", "30Mi"), "spec": {**pod("db", "30Mi")["spec"], "nodeName": "small"}}]
    live = kres(f"explain {asked} -n shop --all").out
    assert kres("snapshot -A --out s.kres").code == 0
    kept = kres(f"explain {asked} -n shop --all --snapshot s.kres").out
    nodes = [text[text.index("nodes: 0 of 1") : text.index("computed with the filters")] for text in (live, kept)]
    assert "32Mi, 30Mi requested" in " ".join(nodes[0].split()) and "shop/db 30Mi" in nodes[0]
    assert nodes[0].replace("\n", "") in nodes[1].replace("\n", "")


def test_the_node_that_an_assistant_pins_a_run_to(kres: Kres, api: Api):
    """The nodes are read for the pod of a run as for any other."""
    instance = {"app.kubernetes.io/instance": "affinity-assistant-0a1b"}
    step = {"name": "run", "image": "i", "computeResources": {"requests": {"memory": "3Gi"}}}
    status = {
        "podName": "build-pod",
        "taskSpec": {"steps": [step]},
        "conditions": [{"type": "Succeeded", "status": "Unknown", "reason": "Pending"}],
    }
    run = {
        "apiVersion": "tekton.dev/v1",
        "kind": "TaskRun",
        "metadata": {"name": "build", "namespace": "shop"},
        "spec": {"taskSpec": {"steps": [step]}},
        "status": status,
    }
    owner = {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "name": "build", "controller": True, "uid": "u"}
    made = pod("build-pod", "3Gi", ownerReferences=[owner])
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": instance}}
    made["spec"]["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    message = "0/2 nodes are available: 1 Insufficient memory, 1 node(s) didn't match pod affinity rules."
    made["status"] = {"phase": "Pending", "conditions": [{**UNPLACED, "message": message}]}
    assistant = pod("affinity-assistant-0a1b-0", "10Mi", labels=instance)
    assistant["spec"]["nodeName"] = "one"
    capacity = {"cpu": "4", "memory": "2Gi", "pods": "9"}
    nodes = [
        {
            "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
            "status": {"allocatable": capacity},
        }
        for name in ("one", "two")
    ]
    api.objects[:] = [run, made, assistant, *nodes]
    for asked in ("taskrun/build", "pod/build-pod"):
        shown = " ".join(kres(f"explain {asked} -n shop").out.split())
        assert "affinity assistant affinity-assistant-0a1b" in shown
        assert "pinned to one by Pod/affinity-assistant-0a1b-0: one: short by 1034Mi of memory" in shown


def test_a_snapshot_holds_what_nodes_say_to_new_pods(kres: Kres, waiting: Api):
    """Counted there as in the cluster; of another namespace's pods nothing is known in a snapshot of one."""
    (node,) = (item for item in waiting.objects if item["kind"] == "Node")
    node["status"]["allocatable"]["memory"] = "200Mi"
    assert kres("snapshot -A --out s.kres").code == 0
    assert kres("snapshot -n shop --out one.kres").code == 0
    for words, path, room in (
        ("quota --fit deploy/web", ("nodes", "room"), 3),
        ("simulate --scale deploy/web=9", ("nodes", 0, "fits"), 3),
    ):
        live, kept, alone = (
            json.loads(kres(f"{words} -n shop -o json{flag}").out)["items"][0]
            for flag in ("", " --snapshot s.kres", " --snapshot one.kres")
        )
        assert at(live, path) == at(kept, path) == room
        assert at(alone, path) is None
    assert b'"env"' not in Path("s.kres").read_bytes()


def at(found: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        found = found.get(key) if isinstance(key, str) else found[key]
    return found


def test_a_snapshot_of_one_namespace_says_that_nodes_may_be_fuller(kres: Kres, waiting: Api):
    assert kres("snapshot -n shop --out s.kres").code == 0
    out = " ".join(kres("explain pod/web-1-a -n shop --all --snapshot s.kres").out.split())
    assert "nodes: 0 of 1 nodes are big enough (free room not checked) for Pod/web-1-a as far as seen" in out


def test_an_older_snapshot_says_that_a_new_one_is_needed(kres: Kres, waiting: Api, tmp_path: Path):
    store = Store(Origin("cluster"))
    assert kres("snapshot -A --out s.kres").code == 0
    new = read(str(tmp_path / "s.kres"))
    for kind in new.kinds():
        for item in new.all(kind):
            store.add(kind, item)
    for need, coverage in new.coverages().items():
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
