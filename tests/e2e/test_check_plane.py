"""What ``check`` says would be refused, the real server refuses; where it says nothing, the next pod is admitted.

KRES_CHECK: how many situations are made (10).
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from controlplane import ControlPlane
from e2e.asking import Asking
from e2e.plugin import environment, plugin
from e2e.refused_worlds import World, world
from e2e.remedy_runs import Runs

pytestmark = pytest.mark.e2e

_SITUATIONS = int(os.environ.get("KRES_CHECK", "10"))
_AT_ONCE = 4
#: What the next pod, tried now, is refused for; ``partly`` and what depends on an order may admit it.
_SURE = {"refused"}


def test_what_would_be_refused_is_refused(controlplane: ControlPlane, kubectl: Path, tmp_path: Path):
    env = environment(controlplane.kubeconfig, kubectl, tmp_path)
    with Asking(controlplane) as asking, ThreadPoolExecutor(_AT_ONCE) as pool:
        runs = Runs(controlplane, asking, kubectl, env, tmp_path)
        seeds = [seed for seed in range(1000, 1000 + 3 * _SITUATIONS) if world(seed).kind != "Pod"][:_SITUATIONS]
        found = [*pool.map(lambda seed: _compared(controlplane, runs, world(seed)), seeds)]
    told = [one for one in found if one is not None]
    assert any("KRES101" in codes for codes, _, _ in told)
    assert [fault for _, fault, _ in told if fault] == []


def _compared(plane: ControlPlane, runs: Runs, made: World) -> tuple[set[str], str, int] | None:
    """The codes of a situation, what is wrong with them, and the server's answer to one more pod."""
    space = runs.namespace()
    explained = runs.played(made, space)
    if explained is None:
        return None
    done = runs.run_kubectl(["kres", "check", "-n", space, "-o", "json", "--fail-on", "never"])
    assert done.returncode == 0, done.stderr
    items = [one for one in json.loads(done.stdout)["items"] if one["object"]["name"] == "web"]
    codes = {one["code"] for one in items}
    outcomes = {one["values"]["outcome"] for one in items if one["code"] == "KRES101"}
    where = f"seed {made.seed} {made.kind}: {sorted(codes)} {outcomes}"
    said = explained["verdict"]["outcome"]
    if outcomes and outcomes != {said}:
        return codes, f"{where}: explain says {said}", 0
    if said in {"refused", "blocked", "partly"} and not outcomes:
        return codes, f"{where}: nothing found, and explain says {said}", 0
    status = _next_pod(plane, space, made)
    if (outcomes & _SURE or "KRES102" in codes) and status == 201:
        return codes, f"{where}: the server admits the next pod", status
    return codes, "", status


def _next_pod(plane: ControlPlane, space: str, made: World) -> int:
    """The server's answer to a pod of the template, or else to its claim; it stores neither."""
    spec: Any = made.workload["spec"]
    template = spec["jobTemplate"]["spec"]["template"] if made.kind == "CronJob" else spec["template"]
    pod = {"metadata": {"name": "once-more", **template.get("metadata", {})}, "spec": template["spec"]}
    status: int = plane.request("POST", f"/api/v1/namespaces/{space}/pods?dryRun=All", pod)[0]
    if made.kind == "StatefulSet" and spec.get("volumeClaimTemplates") and status == 201:
        claim = {**spec["volumeClaimTemplates"][0], "kind": "PersistentVolumeClaim", "apiVersion": "v1"}
        claim["metadata"] = {"name": "once-more"}
        status = plane.request("POST", f"/api/v1/namespaces/{space}/persistentvolumeclaims?dryRun=All", claim)[0]
    return status


@pytest.mark.parametrize(
    ("hard", "most", "fits"),
    [
        ({"requests.cpu": "1"}, 7, 5),
        ({"requests.memory": "320Mi", "requests.cpu": "2"}, 6, 5),
        ({"pods": "3"}, 4, 3),
        ({"requests.cpu": "1", "pods": "9"}, 5, None),
    ],
)
def test_how_far_an_autoscaler_gets(
    controlplane: ControlPlane, kubectl: Path, tmp_path: Path, hard: dict[str, str], most: int, fits: int | None
):
    """KRES110: at its maximum the Deployment has as many pods as the finding says, and all where there is none."""
    run = plugin(kubectl, environment(controlplane.kubeconfig, kubectl, tmp_path), tmp_path)
    space = f"scaled-{secrets.token_hex(4)}"
    requests = {"cpu": "200m", "memory": "64Mi"}
    container = {"name": "app", "image": "app", "resources": {"requests": requests, "limits": requests}}
    labels = {"app": "web"}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    made = (
        ("/api/v1/namespaces", {"metadata": {"name": space}}),
        (f"/api/v1/namespaces/{space}/resourcequotas", {"metadata": {"name": "team"}, "spec": {"hard": hard}}),
        (
            f"/apis/apps/v1/namespaces/{space}/deployments",
            {"metadata": {"name": "web"}, "spec": {"replicas": 2, "selector": {"matchLabels": labels},
             "template": template}},
        ),
        (
            f"/apis/autoscaling/v2/namespaces/{space}/horizontalpodautoscalers",
            {"metadata": {"name": "web"}, "spec": {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": most}},
        ),
    )  # fmt: skip
    for path, raw in made:
        status, answer = controlplane.request("POST", path, raw)
        assert status == 201, answer
    deployment = f"/apis/apps/v1/namespaces/{space}/deployments/web"
    _until(lambda: controlplane.request("GET", deployment)[1].get("status", {}).get("updatedReplicas") == 2)
    quota = f"/api/v1/namespaces/{space}/resourcequotas/team"
    _until(lambda: _counted(controlplane.request("GET", quota)[1], hard))
    done = run("check", "-n", space, "-o", "json", "--fail-on", "never", "--select", "KRES110")
    assert done.returncode == 0, done.stderr
    said = [one["values"]["fits"] for one in json.loads(done.stdout)["items"]]
    assert said == ([] if fits is None else [str(fits)])
    controlplane.request("PATCH", deployment, {"spec": {"replicas": most}}, content_type="application/merge-patch+json")
    expected = most if fits is None else fits
    _until(lambda: controlplane.request("GET", deployment)[1]["status"].get("updatedReplicas") == expected)
    if fits is not None:
        _until(lambda: _failing(controlplane.request("GET", deployment)[1]))
        assert controlplane.request("GET", deployment)[1]["status"]["updatedReplicas"] == expected


def _counted(quota: Any, hard: dict[str, str]) -> bool:
    """Whether the quota has counted both pods."""
    used = quota.get("status", {}).get("used", {})
    per_pod = {"pods": "2", "requests.cpu": "400m", "requests.memory": "128Mi"}
    return used == {name: per_pod[name] for name in hard}


def _failing(deployment: Any) -> bool:
    conditions = deployment["status"].get("conditions", ())
    return any(one["type"] == "ReplicaFailure" and one["status"] == "True" for one in conditions)


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.2)
