"""Runbooks about pools and claims on a real API server with Capsule's kinds.

Its controller does not run here. What it writes into statuses is what was recorded of it, before the remedy and after:
the remedy that is typed is the recorded step.
"""

from __future__ import annotations

import json
import re
import secrets
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from controlplane import ControlPlane
from e2e.plugin import environment
from e2e.test_pools_plane import CAPSULE, VECTORS, Estate
from e2e.test_runbooks_plane import typed

pytestmark = pytest.mark.e2e

Shell = Callable[..., str]


@pytest.fixture
def shell(extended: ControlPlane, kubectl: Path, tmp_path: Path) -> Shell:
    def run(command: str, code: int = 0) -> str:
        env = environment(extended.kubeconfig, kubectl, tmp_path)
        done = subprocess.run(
            ["sh", "-c", command], env=env, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == code, (command, done.stdout, done.stderr)
        return done.stdout

    return run


#: Recorded case, and the claim that waits.
CASES = {
    "exhausted, and another goes": ("release.json", "by-deleting-unused", "a/two"),
    "exhausted, and the pool grows": ("quota-change.json", "grow", "a/two"),
    "exhausted, and it asks for less": ("allocation.json", "resize-waiting", "a/two"),
    "queued": ("ordered-queue.json", "freed-room-waits-for-the-first", "a/d-small"),
}


@pytest.mark.parametrize("name", CASES)
def test_claim_waits(name: str, extended: ControlPlane, shell: Shell, request: pytest.FixtureRequest):
    """Of a claim that waits for room the recorded step is a way that is offered; who is queued waits for others."""
    file, recorded, key = CASES[name]
    estate = Estate(extended, (file, recorded))
    estate.make()
    request.addfinalizer(lambda: extended.request("DELETE", f"{CAPSULE}/resourcepools/{estate.name('green')}"))
    space, _, claim = key.partition("/")
    names = {"sweep": claim, "ml-training": estate.name(space)}
    ask, worked = (
        _here(command, names) for part in ("Ask", "Worked") for command in typed("claim-waits.md", part, "-")
    )
    state = name.partition(",")[0]
    assert shell(ask).startswith(f"{state}: {names['ml-training']}/{claim} of pool ")
    shell(re.sub(r"--timeout \w+", "--timeout 2s", worked), 1)
    ways = json.loads(shell(f"{ask} -o json"))["items"][0]["fixes"]
    offered = [[deed["command"] for deed in way["actions"]] for way in ways]
    steps = [command_of(step, estate) for step in estate.case["steps"]]
    assert offered and (steps in offered or state == "queued")
    for command in steps:
        shell(command)
    estate.expect = estate.case["expect"]
    estate.state()
    shell(re.sub(r"--timeout \w+", "--timeout 60s", worked))


def command_of(step: dict[str, Any], estate: Estate) -> str:
    """A recorded step as kubectl is told it, with the names of this server."""
    kind, name = step["object"]["kind"].lower(), step["object"]["metadata"]["name"]
    space = step["object"]["metadata"].get("namespace")
    which = f"{name} -n {estate.name(space)}" if space else estate.name(name)
    if step["do"] == "delete":
        return f"kubectl delete {kind} {which}"
    patch = json.dumps({"spec": step["object"]["spec"]}, separators=(",", ":"))
    return f"kubectl patch {kind} {which} --type merge -p '{patch}'"


def test_quotas_to_pools(extended: ControlPlane, shell: Shell, request: pytest.FixtureRequest):
    """What Capsule does between the commands is done for it: it fills in statuses, and removes the Tenant's quotas."""
    tenant = f"oil-{secrets.token_hex(3)}"
    space, pool = f"{tenant}-dev", f"{tenant}-0"
    labels = {"capsule.clastix.io/tenant": tenant}
    hard = {"requests.cpu": "2", "pods": "7"}
    owner = {"kind": "User", "name": "alice"}
    spec = {"owners": [owner], "resourceQuotas": {"scope": "Tenant", "items": [{"hard": hard}]}}
    send, core = Estate(extended).send, f"/api/v1/namespaces/{space}"
    send("POST", "/api/v1/namespaces", {"metadata": {"name": space, "labels": labels}})
    typed_ = {"apiVersion": "capsule.clastix.io/v1beta2", "kind": "Tenant"}
    send("POST", f"{CAPSULE}/tenants", {**typed_, "metadata": {"name": tenant}, "spec": spec})
    request.addfinalizer(lambda: extended.request("DELETE", f"{CAPSULE}/tenants/{tenant}"))
    request.addfinalizer(lambda: extended.request("DELETE", f"{CAPSULE}/resourcepools/{pool}"))
    status = {"namespaces": [space], "size": 1, "state": "Active", "conditions": []}
    held = send("GET", f"{CAPSULE}/tenants/{tenant}")
    send("PUT", f"{CAPSULE}/tenants/{tenant}/status", {**held, "status": status})
    quota = {"metadata": {"name": f"capsule-{tenant}-0", "labels": labels}, "spec": {"hard": hard}}
    send("POST", f"{core}/resourcequotas", quota)
    container = {"name": "app", "image": "i", "resources": {"requests": {"cpu": "500m"}}}
    poll_until_counted(send, f"{core}/resourcequotas/{quota['metadata']['name']}")
    send("POST", f"{core}/pods", {"metadata": {"name": "web"}, "spec": {"containers": [container]}})

    page, names = "quotas-to-pools.md", {"tenant/oil": f"tenant/{tenant}", "oil-dev": space}
    parts = {part: [_here(command, names) for command in typed(page, part, "-")] for part in ("Ask", "Do", "Worked")}
    for command in (*parts["Ask"], *parts["Do"]):
        out = shell(command)
    assert "pending" in out
    assert "open: " in shell(parts["Worked"][0], 1)
    finished(send, space, pool)
    patch, *_ = re.findall(r"#   (kubectl patch tenant .*)", shell("cat oil.yaml"))
    shell(patch)
    shell(f"kubectl delete quota capsule-{tenant}-0 -n {space}")
    said, denied = (shell(command) for command in parts["Worked"])
    assert said.startswith(f"Tenant/{tenant} is migrated: ")
    assert "refused" not in denied


def poll_until_counted(send: Callable[..., Any], path: str) -> None:
    """Until the quota controller has looked at a quota."""
    for _ in range(60):
        if send("GET", path).get("status", {}).get("used"):
            return
        time.sleep(0.5)
    raise AssertionError(path)


def finished(send: Callable[..., Any], space: str, pool: str) -> None:
    """The status of a claim that holds what it asks for, as it was recorded of another one."""
    cases = json.loads((VECTORS / "release.json").read_text())["cases"]
    seen = next(case for case in cases if case["name"] == "by-deleting-unused")["expect"]["claims"]["a/two"]["status"]
    uid = send("GET", f"{CAPSULE}/resourcepools/{pool}")["metadata"]["uid"]
    moment = {"lastTransitionTime": "2026-11-20T03:00:00Z"}
    conditions = [{**moment, **condition} for condition in seen["conditions"]]
    for claim in send("GET", f"{CAPSULE}/namespaces/{space}/resourcepoolclaims")["items"]:
        path = f"{CAPSULE}/namespaces/{space}/resourcepoolclaims/{claim['metadata']['name']}/status"
        status = {**seen, "conditions": conditions, "pool": {"name": pool, "uid": uid}}
        send(
            "PUT",
            path,
            {**claim, "status": status, "apiVersion": "capsule.clastix.io/v1beta2", "kind": "ResourcePoolClaim"},
        )


def _here(command: str, names: dict[str, str]) -> str:
    for of_page, name in names.items():
        command = re.sub(rf"\b{of_page}\b", name, command)
    return command
