"""On a real kube-scheduler and volume controller: what is advised where volumes are in the way has the pod bound."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from controlplane import ControlPlane
from e2e import scheduling_worlds as worlds
from e2e.plugin import environment, plugin
from e2e.test_scheduling_plane import (
    container,
    deployment,
    is_bound,
    is_waiting,
    node,
    pods,
    put,
    scheduler_plane,
    wait,
)

_ZONE, _HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
_CLAIMS, _VOLUMES = "/api/v1/namespaces/here/persistentvolumeclaims", "/api/v1/persistentvolumes"
_DEPLOYMENTS = "/apis/apps/v1/namespaces/here/deployments"


@pytest.fixture(scope="module")
def binding(assets: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with a scheduler that binds claims to volumes; no driver makes any."""
    folder = tmp_path_factory.mktemp("binding")
    with scheduler_plane(assets, folder, {"here": {}}, "persistentvolume-binder-controller") as plane:
        yield plane


@pytest.fixture
def empty(binding: ControlPlane) -> Iterator[ControlPlane]:
    yield binding
    worlds.clear(binding)


def local_class(name: str, *, waits: bool = True) -> dict[str, Any]:
    mode = "WaitForFirstConsumer" if waits else "Immediate"
    return {"metadata": {"name": name}, "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": mode}


def claim(name: str = "data", mode: str = "ReadWriteOnce", size: str = "1Gi", **spec: Any) -> dict[str, Any]:
    asked = {"accessModes": [mode], "resources": {"requests": {"storage": size}}, **spec}
    return {"metadata": {"name": name, "namespace": "here"}, "spec": asked}


def volume(name: str, host: str, storage_class: str, mode: str = "ReadWriteOnce", size: str = "1Gi") -> dict[str, Any]:
    wanted = {"key": _HOST, "operator": "In", "values": [host]}
    return {
        "metadata": {"name": name},
        "spec": {
            "accessModes": [mode],
            "capacity": {"storage": size},
            "storageClassName": storage_class,
            "local": {"path": "/disk"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}},
        },
    }


def bound(name: str, disk: dict[str, Any], mode: str = "ReadWriteOnce") -> dict[str, Any]:
    """The claim that has a volume for its own."""
    more = {"volumeName": disk["metadata"]["name"], "storageClassName": disk["spec"]["storageClassName"]}
    return claim(name, mode, **more)


NODES = [node(f"n-{zone}", labels={_ZONE: zone}) for zone in "ab"]
_DISK, _POD_DISK = volume("disk", "n-a", "local"), volume("disk", "n-a", "local", "ReadWriteOncePod")
USES = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
HOLDER = {
    "metadata": {"name": "holder", "namespace": "here"},
    "spec": {"containers": [container(memory="1Gi")], "nodeName": "n-a", "terminationGracePeriodSeconds": 0, **USES},
}
#: By situation classes, claims and volumes that are there, more of the pod's spec, and the actions that are advised; of
#: these the first is followed.
SITUATIONS: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "another claim": (
        {"classes": [local_class("local", waits=False)], "volumes": [_DISK], "claims": [bound("date", _DISK)]},
        {},
        ["use-claim"],
    ),
    "no claim": ({"classes": [local_class("local")], "volumes": [_DISK]}, {}, ["create-claim"]),
    "no class there": (
        {"classes": [local_class("local")], "volumes": [_DISK], "claims": [claim(storageClassName="gone")]},
        {},
        ["change-class", "provide-volume"],
    ),
    "no volume": ({"claims": [claim(storageClassName="gone", size="3Gi")]}, {}, ["provide-volume"]),
    "no class": (
        {"classes": [local_class("local")], "volumes": [_DISK], "claims": [claim()]},
        {},
        ["change-class", "provide-volume"],
    ),
    "another zone": (
        {"classes": [local_class("local")], "volumes": [_DISK], "claims": [bound("data", _DISK)]},
        {"nodeSelector": {_ZONE: "b"}},
        ["change-selector"],
    ),
    "in use": (
        {
            "classes": [local_class("local")],
            "volumes": [_POD_DISK],
            "claims": [bound("data", _POD_DISK, "ReadWriteOncePod")],
            "held": [HOLDER],
        },
        {},
        ["release-claim"],
    ),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_what_is_advised_about_volumes_has_the_pod_bound(name: str, empty: ControlPlane, kubectl: Path, tmp_path: Path):
    there, spec, actions = SITUATIONS[name]
    nothing = dict.fromkeys(("classes", "csi_nodes", "volumes", "claims"), ())
    worlds.write(empty, {**nothing, **there, "nodes": NODES, "pods": [{}]})
    for written in there.get("claims", ()):
        if "volumeName" in written["spec"]:
            path = f"{_CLAIMS}/{written['metadata']['name']}"
            wait(empty, "a claim that is bound", lambda _, path=path: _phase(empty, path) == "Bound")
    for held in there.get("held", ()):
        put(empty, "/api/v1/namespaces/here/pods", held)
    put(empty, _DEPLOYMENTS, deployment(container(memory="1Gi"), **USES, **spec))
    try:
        wait(empty, "a pod that waits", is_waiting)
        env = environment(empty.kubeconfig, kubectl, tmp_path)
        done = plugin(kubectl, env, tmp_path)("explain", "deployment/web", "-n", "here", "-o", "json")
        report = json.loads(done.stdout)["items"][0]["scheduling"]
        (asked,) = (one for one in pods(empty) if one["metadata"]["name"] != "holder")
        assert report["sentence"] == report["stated"] == worlds.condition(asked)["message"]
        by_action = {remedy["action"]: remedy for remedy in report["fixes"]}
        assert sorted(by_action) == sorted(actions)
        remedy = by_action[actions[0]]
        for line in remedy.get("commands", ()):
            words = shlex.split(line)[1:]
            ran = subprocess.run([kubectl, *words], env=env, capture_output=True, text=True, check=False)
            assert not ran.returncode, ran.stderr
        if not remedy.get("commands"):
            assert remedy["noCommandReason"]
            _follow(empty, remedy)
        wait(empty, "every pod bound", is_bound)
        assert {one["spec"]["nodeName"] for one in pods(empty)} <= {"n-a", "n-b"}
        if remedy.get("nodes", 1) == 1:
            assert {one["spec"]["nodeName"] for one in pods(empty)} == {remedy["node"]}
    finally:
        empty.request("DELETE", f"{_DEPLOYMENTS}/web?propagationPolicy=Background")
        wait(empty, "no pods", lambda found: not found or worlds.clear(empty))


def _phase(plane: ControlPlane, path: str) -> str:
    return str(plane.request("GET", path)[1].get("status", {}).get("phase"))


def _follow(plane: ControlPlane, remedy: dict[str, Any]) -> None:
    """Do what is left to whoever reads it, with just what the remedy says."""
    about, wanted = remedy["about"], remedy.get("wanted", {})
    match remedy["action"]:
        case "create-claim":
            size, storage_class = wanted["storage"], wanted["storageClass"]
            put(plane, _CLAIMS, claim(about, *wanted["accessModes"], size, storageClassName=storage_class))
        case "provide-volume":
            made = volume("made", remedy["node"], wanted["storageClass"], *wanted["accessModes"], wanted["storage"])
            put(plane, _VOLUMES, made)
        case "change-class":
            asked = plane.request("GET", f"{_CLAIMS}/{about}")[1]["spec"]
            change = {"spec": {"storageClassName": remedy["to"]}}
            patch = {"content_type": "application/merge-patch+json"}
            assert plane.request("PATCH", f"{_CLAIMS}/{about}", change, **patch)[0] == 422  # as the remedy says
            assert plane.request("DELETE", f"{_CLAIMS}/{about}")[0] == 200
            kept = {key: asked[key] for key in ("accessModes", "resources")}
            body = {"metadata": {"name": about}, "spec": {**kept, "storageClassName": remedy["to"]}}
            put(plane, _CLAIMS, body)
        case "release-claim":
            for holder in remedy["holders"]:
                plane.request("DELETE", f"/api/v1/namespaces/here/pods/{holder['name']}?gracePeriodSeconds=0")
        case action:
            raise AssertionError(action)
