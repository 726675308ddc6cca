"""On a real API server: the node of an affinity assistant and what is left there are read for the tasks to come."""

from __future__ import annotations

import json
import secrets
from typing import Any

import pytest
from controlplane import ControlPlane
from e2e.differential import until
from e2e.plugin import Kres

from kubectl_kres.tekton.rules.pipeline.pipeline_run import assistant_name

pytestmark = pytest.mark.e2e


def _pod(name: str, node: str, memory: str, **labels: str) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"memory": memory}}}
    spec = {"containers": [container], "nodeName": node, "tolerations": [{"operator": "Exists"}]}
    return {"metadata": {"name": name, "labels": labels}, "spec": spec}


def test_which_tasks_to_come_fit_on_the_node_of_the_assistant(extended: ControlPlane, extended_kres: Kres):
    mark = secrets.token_hex(3)
    space, node, run = f"pinned-{mark}", f"node-{mark}", "p"
    pods = f"/api/v1/namespaces/{space}/pods"

    def post(path: str, body: dict[str, Any]) -> None:
        status, answer = extended.request("POST", path, body)
        assert status == 201, answer

    post("/api/v1/namespaces", {"metadata": {"name": space}})
    until(lambda: extended.request("GET", f"/api/v1/namespaces/{space}/serviceaccounts/default")[0] == 200)
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    post("/api/v1/nodes", {"metadata": {"name": node}})
    status = {"status": {"capacity": amounts, "allocatable": amounts}}
    patch = {"content_type": "application/merge-patch+json"}
    assert extended.request("PATCH", f"/api/v1/nodes/{node}/status", status, **patch)[0] == 200

    def task(name: str, memory: str, *after: str) -> dict[str, Any]:
        step = {"name": "s", "image": "i", "computeResources": {"requests": {"memory": memory}}}
        spec = {"steps": [step], "workspaces": [{"name": "w"}]}
        return {
            "name": name,
            "runAfter": [*after],
            "taskSpec": spec,
            "workspaces": [{"name": "w", "workspace": "w"}],
        }

    tasks = [task("build", "2Gi"), task("test", "5Gi", "build"), task("pack", "6Gi", "build")]
    spaces = [{"name": "w", "persistentVolumeClaim": {"claimName": "c"}}]
    body = {
        "apiVersion": "tekton.dev/v1",
        "kind": "PipelineRun",
        "metadata": {"name": run},
        "spec": {"pipelineSpec": {"workspaces": [{"name": "w"}], "tasks": tasks}, "workspaces": spaces},
    }
    post(f"/apis/tekton.dev/v1/namespaces/{space}/pipelineruns", body)
    owned = {"tekton.dev/pipelineRun": run}
    post(pods, _pod(f"{assistant_name('w', run)}-0", node, "100Mi", **owned))
    post(pods, _pod("p-build-pod", node, "2Gi", **owned, **{"tekton.dev/pipelineTask": "build"}))
    post(pods, _pod("other", node, "2Gi"))
    done = extended_kres("explain", f"pipelinerun/{run}", "-n", space, "-o", "json")
    assert done.returncode == 0, done.stderr
    (assistant,) = json.loads(done.stdout)["items"][0]["assistants"]
    assert (assistant["node"], assistant["exists"]) == (node, True)
    # The pod of build has ended then: 8Gi without 100Mi and 2Gi are left.
    assert "test" in assistant["fitting"] and "pack" not in assistant["fitting"]
    (lacking,) = assistant["notFitting"]
    (short,) = lacking["shortages"]
    assert (lacking["name"], short["resource"], short["requested"]) == ("pack", "memory", "2148Mi")
    assert (short["podRequest"], short["allocatable"], short["shortBy"]) == ("6Gi", "8Gi", "100Mi")
    shown = " ".join(extended_kres("explain", f"pipelinerun/{run}", "-n", space).stdout.split())
    assert f"task pack does not fit on node {node}, to which the assistant pins it: short by 100Mi of memory" in shown
