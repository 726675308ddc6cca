"""A pod that is admitted and that no node has room for; nodes and conditions are written here."""

from __future__ import annotations

import secrets
import time
from typing import Any

import pytest
from controlplane import ControlPlane
from e2e.plugin import Kres

pytestmark = pytest.mark.e2e

#: What a scheduler writes to a pod that it finds no node for.
WORDS = "0/2 nodes are available: 2 Insufficient memory. preemption: 0/2 nodes are available: 2 No preemption victims."


@pytest.mark.parametrize("alone", [True, False])
def test_what_nodes_have(alone: bool, controlplane: ControlPlane, kres: Kres, namespace: str, request: Any):
    def send(method: str, path: str, body: Any = None) -> Any:
        status, answer = controlplane.request(method, path, body)
        assert status in {200, 201}, answer
        return answer

    # Larger than the nodes that other tests leave behind.
    nodes = [f"n-{secrets.token_hex(3)}" for _ in range(2)]
    for name, memory in zip(nodes, ("4Ti", "2Ti"), strict=True):
        made = send("POST", "/api/v1/nodes", {"metadata": {"name": name}})
        request.addfinalizer(lambda name=name: controlplane.request("DELETE", f"/api/v1/nodes/{name}"))
        capacity = {"cpu": "4k", "memory": memory, "pods": "110"}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
        status = {"capacity": capacity, "allocatable": capacity, "conditions": [ready]}
        stored = send("PUT", f"/api/v1/nodes/{name}/status", {**made, "status": status})
        # The server taints each node that is new; a controller that does not run here would take that away.
        send("PUT", f"/api/v1/nodes/{name}", {**stored, "spec": {}})
    core = f"/api/v1/namespaces/{namespace}"

    def container(memory: str) -> dict[str, Any]:
        return {"name": "app", "image": "i", "resources": {"requests": {"cpu": "100m", "memory": memory}}}

    send(
        "POST",
        f"{core}/pods",
        {"metadata": {"name": "runs"}, "spec": {"nodeName": nodes[0], "containers": [container("1Ti")]}},
    )
    spec = {"containers": [container("8Ti")]}
    name = "web"
    if alone:
        send("POST", f"{core}/pods", {"metadata": {"name": name}, "spec": spec})
    else:
        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": spec}
        deployment = {
            "metadata": {"name": name},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
        }
        send("POST", f"/apis/apps/v1/namespaces/{namespace}/deployments", deployment)
        for _ in range(60):
            pods = [item["metadata"]["name"] for item in send("GET", f"{core}/pods")["items"]]
            name = next((pod for pod in pods if pod != "runs"), "")
            if name:
                break
            time.sleep(0.5)
    pod = send("GET", f"{core}/pods/{name}")
    unplaced = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": WORDS}
    send("PUT", f"{core}/pods/{name}/status", {**pod, "status": {"phase": "Pending", "conditions": [unplaced]}})

    number = str(len(send("GET", "/api/v1/nodes")["items"]))
    for asked in ("pod/" + name, *(() if alone else ("deploy/web",))):
        told = kres("explain", asked, "-n", namespace, "--all").stdout
        assert told.startswith("admitted, but waits: ") and "no node" in told
        assert WORDS in " ".join(told.split())
        shown = " ".join(told.split())
        # The nodes of other tests may be tainted.
        assert f"nodes: 0 of {number} can take Pod/{name}" in shown
        assert "Insufficient memory" in shown and "too small even without other pods" in shown
        assert "memory: the pod asks 8Ti: app 8Ti" in shown
        assert f"nearest: {nodes[0]}: short by 5Ti of memory (has 4Ti, 1Ti requested)" in shown
        assert "things have changed since" in shown  # these words are no scheduler's
