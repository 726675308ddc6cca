"""On a real kube-scheduler: its sentence is predicted, and what is advised has the pod bound."""

from __future__ import annotations

import json
import random
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from controlplane import BASIC_CONTROLLERS, WORKLOAD_CONTROLLERS, ControlPlane
from e2e import scheduling_worlds as worlds
from e2e.conftest import watched
from e2e.plugin import environment, plugin
from e2e.seed import COUNTS, SEED

WORLDS = 40


@contextmanager
def scheduler_plane(
    assets: Path, folder: Path, spaces: Mapping[str, Mapping[str, str]], *controllers: str
) -> Iterator[ControlPlane]:
    """A control plane with a scheduler and namespaces with labels. ``controllers``: those besides the usual ones."""
    every = (*BASIC_CONTROLLERS, *WORKLOAD_CONTROLLERS, *controllers)
    with watched(assets, folder, controllers=every, scheduler=True, disable_admission=worlds.OFF) as plane:
        for name, labels in spaces.items():
            status, answer = plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
            assert status == 201, answer
        yield plane


@pytest.fixture(scope="module")
def scheduling(assets: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with a scheduler; nodes are written, and no kubelet runs."""
    with scheduler_plane(assets, tmp_path_factory.mktemp("scheduling"), worlds.SPACES) as plane:
        yield plane


@pytest.fixture
def empty(scheduling: ControlPlane) -> Iterator[ControlPlane]:
    """The same without nodes and pods."""
    yield scheduling
    worlds.clear(scheduling)


def minor(plane: ControlPlane) -> int:
    return int(plane.request("GET", "/version")[1]["minor"].rstrip("+"))


def difference(plane: ControlPlane, number: int) -> str:
    """In what the prediction for a world differs from what the scheduler does; empty: in nothing."""
    made = worlds.world(random.Random(f"{SEED}-{number}"))
    worlds.write(plane, made)
    time.sleep(0.2)  # the scheduler hears of it
    before = worlds.read(plane)
    stored = worlds.answer_of(plane, made["pods"][-1])
    asked = {**stored, "spec": {key: value for key, value in stored["spec"].items() if key != "nodeName"}}
    found = worlds.predict(before, asked, minor(plane))
    fits = found.answer.feasible or found.preemption.nodes
    node = stored["spec"].get("nodeName") or stored["status"].get("nominatedNodeName")
    if node:
        return "" if node in fits else f"{number}: {node} is not among {fits}: {found.sentence}"
    message = worlds.condition(stored)["message"]
    if found.answer.feasible:
        return f"{number}: fits on {fits}: {message}"
    if found.sentence is None:
        return "" if found.preemption.nodes else f"{number}: not computed: {message}"
    return "" if found.sentence == message else f"{number}: {found.sentence!r}, not {message!r}"


def test_the_sentence_is_predicted(empty: ControlPlane, request: pytest.FixtureRequest):
    faults = []
    for number in range(WORLDS):
        faults.append(difference(empty, number))
        worlds.clear(empty)
    request.config.stash.setdefault(COUNTS, []).append(f"scheduling: {WORLDS} worlds, KRES_SEED={SEED}")
    assert not any(faults), "\n".join(filter(None, faults))


def node(name: str, memory: str = "8Gi", **more: Any) -> dict[str, Any]:
    """A node with nothing special."""
    amounts = {"cpu": "8", "memory": memory, "pods": "110"}
    labels = {"kubernetes.io/hostname": name, **more.pop("labels", {})}
    status = {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"metadata": {"name": name, "labels": labels}, "spec": more, "status": status}


def put(plane: ControlPlane, path: str, item: dict[str, Any]) -> None:
    status, answer = plane.request("POST", path, item)
    assert status == 201, answer


def deployment(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """One pod that is replaced in place."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [*containers], **spec}}
    selector = {"matchLabels": {"app": "web"}}
    strategy = {"type": "Recreate"}
    return {
        "metadata": {"name": "web"},
        "spec": {"replicas": 1, "selector": selector, "template": template, "strategy": strategy},
    }


def container(name: str = "app", **requests: str) -> dict[str, Any]:
    return {"name": name, "image": "i", "resources": {"requests": requests}}


def pods(plane: ControlPlane) -> list[dict[str, Any]]:
    return list(plane.request("GET", "/api/v1/namespaces/here/pods")[1]["items"])


def wait(plane: ControlPlane, what: str, ready: Any) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if ready(pods(plane)):
            return
        time.sleep(0.1)
    raise AssertionError(f"{what} is not so: {[(one['spec'].get('nodeName'), one['status']) for one in pods(plane)]}")


def is_waiting(found: list[dict[str, Any]]) -> bool:
    return any(worlds.condition(one).get("reason") == "Unschedulable" for one in found)


def is_bound(found: list[dict[str, Any]]) -> bool:
    alive = [one for one in found if "deletionTimestamp" not in one["metadata"] and one["metadata"]["name"] != "holder"]
    return bool(alive) and all(one["spec"].get("nodeName") for one in alive)


#: Terms of affinity: one that the pod HOLDER is in the way of, and one that nothing is in the way of.
_BESIDE, _NOBODY = (
    {"labelSelector": {"matchLabels": {"app": name}}, "topologyKey": "kubernetes.io/hostname"}
    for name in ("holder", "nobody")
)

SITUATIONS = {
    "lower-request": ([node("small", "4Gi")], deployment(container(memory="3Gi"), container("side", memory="2Gi"))),
    "tolerate": (
        [node("own", taints=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}])],
        deployment(container(memory="1Gi")),
    ),
    "label-node": ([node("plain")], deployment(container(memory="1Gi"), nodeSelector={"disk": "ssd"})),
    "uncordon": ([node("cordoned", unschedulable=True)], deployment(container(memory="1Gi"))),
    "spread-anyway": (
        [node("flat")],
        deployment(
            container(memory="1Gi"),
            topologySpreadConstraints=[
                {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"},
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
            ],
        ),
    ),
    "drop-affinity": (
        [node("alone")],
        deployment(
            container(memory="1Gi"),
            affinity={
                "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_BESIDE, _NOBODY]},
            },
        ),
    ),
    "drop-host-port": (
        [node("taken")],
        deployment({**container(memory="1Gi"), "ports": [{"containerPort": 9}, {"containerPort": 8, "hostPort": 8}]}),
    ),
}
#: Where HOLDER is there.
_HELD = {"drop-affinity", "drop-host-port"}
#: A pod that is there before, with the port that another wants, and the label that another keeps away from.
HOLDER = {
    "metadata": {"name": "holder", "namespace": "here", "labels": {"app": "holder"}},
    "spec": {
        "containers": [{**container(memory="1Gi"), "ports": [{"containerPort": 8, "hostPort": 8}]}],
    },
}


@pytest.mark.parametrize("action", SITUATIONS)
def test_what_is_advised_has_the_pod_bound(action: str, empty: ControlPlane, kubectl: Path, tmp_path: Path):
    nodes, made = SITUATIONS[action]
    held = [{**HOLDER, "spec": {**HOLDER["spec"], "nodeName": nodes[0]["metadata"]["name"]}}] * (action in _HELD)
    worlds.write(
        empty, {**dict.fromkeys(("classes", "csi_nodes", "volumes", "claims"), ()), "nodes": nodes, "pods": [*held, {}]}
    )
    path = "/apis/apps/v1/namespaces/here/deployments"
    put(empty, path, made)
    try:
        wait(empty, "a pod that waits", is_waiting)
        env = environment(empty.kubeconfig, kubectl, tmp_path)
        done = plugin(kubectl, env, tmp_path)("explain", "deployment/web", "-n", "here", "-o", "json")
        report = json.loads(done.stdout)["items"][0]["scheduling"]
        (asked,) = (one for one in pods(empty) if one["metadata"]["name"] != "holder")
        assert report["sentence"] == report["stated"] == worlds.condition(asked)["message"]
        (remedy,) = report["fixes"]
        assert remedy["action"] == action
        for line in remedy["commands"]:
            words = shlex.split(line)[1:]
            ran = subprocess.run([kubectl, *words], env=env, capture_output=True, text=True, check=False)
            assert not ran.returncode, ran.stderr
        wait(empty, "every pod bound", is_bound)
    finally:
        empty.request("DELETE", f"{path}/web?propagationPolicy=Background")
        wait(empty, "no pods", lambda found: not found or worlds.clear(empty))


#: Nodes, and a Deployment of which the scheduler binds fewer pods than it wants.
ROOMS = {
    "requests": ([node("one", "4Gi"), node("two", "7Gi")], deployment(container(memory="3Gi"))),
    "taints": (
        [node("one", "4Gi"), node("own", "9Gi", taints=[{"key": "gpu", "effect": "NoSchedule"}])],
        deployment(container(memory="1Gi")),
    ),
    "affinity": (
        [node("one"), node("two")],
        deployment(
            container(memory="1Gi"),
            affinity={
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
                    ]
                }
            },
        ),
    ),
    "ports": (
        [node("one"), node("two"), node("three", "1Mi")],
        deployment({**container(memory="1Gi"), "ports": [{"containerPort": 80, "hostPort": 80}]}),
    ),
    "spread": (
        [node("one", "2Gi"), node("two")],
        deployment(
            container(memory="1Gi"),
            topologySpreadConstraints=[
                {
                    "maxSkew": 1,
                    "topologyKey": "kubernetes.io/hostname",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"app": "web"}},
                }
            ],
        ),
    ),
}


@pytest.mark.parametrize("name", ROOMS)
def test_as_many_pods_are_bound_as_there_is_room_for(name: str, empty: ControlPlane, kubectl: Path, tmp_path: Path):
    """From the file before there is any, and of the Deployment whose replicas were none until then; simulated, too."""
    nodes, made = ROOMS[name]
    worlds.write(
        empty, {**dict.fromkeys(("classes", "csi_nodes", "volumes", "claims"), ()), "nodes": nodes, "pods": [{}]}
    )
    kres = plugin(kubectl, environment(empty.kubeconfig, kubectl, tmp_path), tmp_path)
    file, path = tmp_path / "web.json", "/apis/apps/v1/namespaces/here/deployments"
    wanted = {**made, "apiVersion": "apps/v1", "kind": "Deployment", "spec": {**made["spec"], "replicas": 9}}
    file.write_text(json.dumps({**wanted, "metadata": {"name": "web", "namespace": "here"}}))
    said = json.loads(kres("explain", "-f", str(file), "-o", "json").stdout)["items"][0]["scheduling"]
    new = _simulated(kres, "-f", str(file))
    put(empty, path, {**wanted, "spec": {**wanted["spec"], "replicas": 0}})
    try:
        assert said["fits"] and said.get("complete", True)
        before = json.loads(kres("quota", "--fit", "deploy/web", "-n", "here", "-o", "json").stdout)["items"][0]
        counted = json.loads(kres("quota", "--fit", "deploy/web", "-f", str(file), "-o", "json").stdout)["items"][0]
        room = counted["nodes"]["room"]
        assert before["nodes"]["fitting"] == counted["nodes"]["fitting"] == said["fitting"]
        assert not counted["nodes"].get("roomAtLeast")
        scaled = _simulated(kres, "--scale", "deploy/web=9")
        assert (new["new"], new["fits"]) == (scaled["new"], scaled["fits"]) == (9, room)
        assert empty.request("PUT", f"{path}/web", {**wanted, "metadata": {"name": "web"}})[0] == 200
        wait(empty, "nine pods that were looked at", lambda found: len(found) == 9 and _are_looked_at(found))
        assert sum(bool(one["spec"].get("nodeName")) for one in pods(empty)) == room < 9
    finally:
        empty.request("DELETE", f"{path}/web?propagationPolicy=Background")
        wait(empty, "no pods", lambda found: not found or worlds.clear(empty))


#: As the autoscalers' own recorders write them: by whom, reason, message, whether a node is added.
SCALINGS = [
    ("cluster-autoscaler", "NotTriggerScaleUp", "pod didn't trigger scale-up: 1 Insufficient memory", False),
    ("cluster-autoscaler", "TriggeredScaleUp", "pod triggered scale-up: [{general 1->2 (max: 5)}]", True),
    ("karpenter", "FailedScheduling", "Failed to schedule pod, no instance type met the requirements", False),
    ("karpenter", "Nominated", "Pod should schedule on: nodeclaim/general-x7k2p", True),
    ("karpenter", "Nominated", "Pod should schedule on: node/there", False),
]


def test_what_an_autoscaler_last_said_is_quoted(empty: ControlPlane, kubectl: Path, tmp_path: Path):
    """The last one counts; the scheduler's own FailedScheduling is none of an autoscaler."""
    waits = {"metadata": {"name": "big"}, "spec": {"containers": [container(memory="9Gi")]}}
    nothing = dict.fromkeys(("classes", "csi_nodes", "volumes", "claims"), ())
    worlds.write(empty, {**nothing, "nodes": [node("one", "4Gi")], "pods": [{}]})
    put(empty, "/api/v1/namespaces/here/pods", waits)
    wait(empty, "a pod that waits", is_waiting)
    kres = plugin(kubectl, environment(empty.kubeconfig, kubectl, tmp_path), tmp_path)

    def scaling() -> Any:
        done = kres("explain", "pod/big", "-n", "here", "-o", "json")
        return json.loads(done.stdout)["items"][0]["scheduling"].get("scaling")

    assert scaling() is None
    about = {"kind": "Pod", "namespace": "here", "name": "big", "apiVersion": "v1"}
    for number, (by, reason, message, adds) in enumerate(SCALINGS):
        when = f"2026-01-01T00:0{number}:00Z"
        event = {"metadata": {"name": f"big.{number}"}, "involvedObject": about, "reason": reason, "message": message}
        more = {"source": {"component": by}, "type": "Normal", "firstTimestamp": when, "lastTimestamp": when}
        put(empty, "/api/v1/namespaces/here/events", {**event, **more})
        assert scaling() == {"by": by, "adds": adds, "message": message, "time": when}


def test_which_nodes_a_daemon_set_does_not_get(empty: ControlPlane, kubectl: Path, tmp_path: Path):
    """Its pod runs on one node, waits on one, and two are not let in by its template."""
    taints = [{"key": "gpu", "effect": "NoSchedule"}]
    made = [
        node("fits", "4Gi", labels={"role": "db"}),
        node("small", "1Gi", labels={"role": "db"}),
        node("other", "4Gi"),
        node("tainted", "4Gi", labels={"role": "db"}, taints=taints),
    ]
    worlds.write(
        empty, {**dict.fromkeys(("classes", "csi_nodes", "volumes", "claims"), ()), "nodes": made, "pods": [{}]}
    )
    daemon = deployment(container(memory="2Gi"), nodeSelector={"role": "db"})
    spec = {key: daemon["spec"][key] for key in ("selector", "template")}
    path = "/apis/apps/v1/namespaces/here/daemonsets"
    put(empty, path, {"metadata": {"name": "web"}, "spec": spec})
    try:
        wait(empty, "two pods that were looked at", lambda found: len(found) == 2 and _are_looked_at(found))
        kres = plugin(kubectl, environment(empty.kubeconfig, kubectl, tmp_path), tmp_path)
        done = kres("explain", "ds/web", "-n", "here", "-o", "json")
        report = json.loads(done.stdout)["items"][0]["scheduling"]
        waits = [one["spec"]["affinity"]["nodeAffinity"] for one in pods(empty) if not one["spec"].get("nodeName")]
        assert "small" in json.dumps(waits) and len(waits) == 1
        assert [(group["reason"], group["nodes"]) for group in report["withoutPod"]] == [
            ("Insufficient memory", ["small"])
        ]
        assert {node for group in report["excluded"] for node in group["nodes"]} == {"other", "tainted"}
        assert report["nearest"]["node"] == "small" and report["sentence"] == report["stated"]
        shown = " ".join(kres("explain", "ds/web", "-n", "here").stdout.split())
        assert "its pods wait on 1 Insufficient memory (small)" in shown
    finally:
        empty.request("DELETE", f"{path}/web?propagationPolicy=Background")
        wait(empty, "no pods", lambda found: not found or worlds.clear(empty))


def _simulated(kres: Any, *words: str) -> dict[str, Any]:
    """What a change says of the nodes for the one workload that it makes pods of."""
    report = json.loads(kres("simulate", "-n", "here", *words, "-o", "json").stdout)["items"][0]
    (found,) = report["nodes"]
    return dict(found)


@pytest.mark.parametrize(("memory", "stalls"), [("3Gi", True), ("1Gi", False)])
def test_a_rollout_whose_pod_finds_no_node(
    memory: str,
    stalls: bool,
    empty: ControlPlane,
    kubectl: Path,
    tmp_path: Path,
):
    """No old pod may end first: whether the new one finds a node beside it is predicted."""
    nothing = dict.fromkeys(("classes", "csi_nodes", "volumes", "claims"), ())
    worlds.write(empty, {**nothing, "nodes": [node("one", "4Gi")], "pods": [{}]})
    kres, path = plugin(kubectl, environment(empty.kubeconfig, kubectl, tmp_path), tmp_path), _DEPLOYMENTS
    made = deployment(container(memory="2Gi"))
    made["spec"]["strategy"] = {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
    put(empty, path, made)
    try:
        wait(empty, "its pod bound", is_bound)
        value = f"deploy/web:spec.template.spec.containers[app].resources.requests.memory={memory}"
        found = _simulated(kres, "--set", value)
        assert (found["rollout"], found.get("stalls", False)) == (True, stalls)
        changed = {"spec": {"template": {"spec": {"containers": [container(memory=memory)]}}}}
        assert empty.request("PATCH", f"{path}/web", changed, **_PATCH)[0] == 200
        wait(empty, "a new pod that was looked at", lambda pods: len(pods) == 2 and _are_looked_at(pods))
        assert is_waiting(pods(empty)) is stalls
    finally:
        empty.request("DELETE", f"{path}/web?propagationPolicy=Background")
        wait(empty, "no pods", lambda found: not found or worlds.clear(empty))


_DEPLOYMENTS = "/apis/apps/v1/namespaces/here/deployments"
_PATCH = {"content_type": "application/strategic-merge-patch+json"}


def _are_looked_at(found: list[dict[str, Any]]) -> bool:
    return all(one["spec"].get("nodeName") or worlds.condition(one).get("reason") == "Unschedulable" for one in found)
