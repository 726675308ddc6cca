"""What ``check`` says would be refused, the real server refuses; where it says nothing, the next pod is admitted.

KRES_CHECK: how many situations are made (10).
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from controlplane import ControlPlane
from e2e.asking import Asking
from e2e.plugin import environment
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
