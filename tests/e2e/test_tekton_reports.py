"""What the plugin says of Tekton's objects on a real API server, and that server's answers to the pods it predicts."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from controlplane import ControlPlane
from e2e.differential import until
from e2e.plugin import Kres

pytestmark = pytest.mark.e2e

GROUP = "/apis/tekton.dev/v1/namespaces"
CONFIG = {"default-container-resource-requirements": "prepare: {requests: {cpu: 10m}, limits: {cpu: 20m}}"}

STEPS = [
    {"name": "fetch", "image": "i", "script": "x"},
    {"name": "compile", "image": "i", "computeResources": {"requests": {"cpu": "700m"}}},
    {"name": "push", "image": "i", "computeResources": {"limits": {"memory": "128Mi"}}},
]
RUNS: dict[str, dict[str, Any]] = {
    "plain": {},
    "whole": {"computeResources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "1Gi"}}},
    "limits": {"computeResources": {"limits": {"cpu": "1"}}},
    "overridden": {"stepSpecs": [{"name": "compile", "computeResources": {"requests": {"cpu": "900m"}}}]},
    "small": {"stepSpecs": [{"name": "fetch", "computeResources": {"requests": {"cpu": "1m"}}}]},
    "large": {"computeResources": {"limits": {"cpu": "9"}}},
    "greedy": {"computeResources": {"requests": {"cpu": "9"}, "limits": {"cpu": "3"}}},
    "crowded": {"computeResources": {"requests": {"cpu": "3"}, "limits": {"cpu": "3"}}},
}


class Place(NamedTuple):
    """A namespace with LimitRange, quota, a Task and its runs."""

    plane: ControlPlane
    name: str

    def post(self, path: str, kind: str, name: str, **more: Any) -> None:
        raw = {"kind": kind, "metadata": {"name": name}, **more}
        status, answer = self.plane.request("POST", path, raw)
        assert status in {201, 409}, answer


@pytest.fixture(scope="module")
def place(extended: ControlPlane) -> Iterator[Place]:
    here = Place(extended, f"runs-{secrets.token_hex(3)}")
    space = f"{GROUP}/{here.name}"
    here.post("/api/v1/namespaces", "Namespace", here.name)
    here.post("/api/v1/namespaces", "Namespace", "tekton-pipelines")
    core = f"/api/v1/namespaces/{here.name}"
    config = "/api/v1/namespaces/tekton-pipelines/configmaps"
    here.post(config, "ConfigMap", "pipelines-info", data={"version": "v1.15.0"})
    here.post(config, "ConfigMap", "config-defaults", data=CONFIG)
    item = {"type": "Container", "default": {"cpu": "1500m", "memory": "256Mi"}, "defaultRequest": {"cpu": "600m"},
            "min": {"cpu": "10m"}, "max": {"cpu": "4"}}  # fmt: skip
    here.post(f"{core}/limitranges", "LimitRange", "limits", spec={"limits": [item]})
    here.post(f"{core}/resourcequotas", "ResourceQuota", "team", spec={"hard": {"requests.cpu": "2500m"}})
    api = {"apiVersion": "tekton.dev/v1"}
    here.post(f"{space}/tasks", "Task", "build", spec={"steps": STEPS}, **api)
    for name, spec in RUNS.items():
        here.post(f"{space}/taskruns", "TaskRun", name, spec={"taskRef": {"name": "build"}, **spec}, **api)
    tasks = [{"name": name, "taskRef": {"name": "build"}} for name in ("one", "two")]
    here.post(f"{space}/pipelines", "Pipeline", "both", spec={"tasks": tasks}, **api)
    here.post(f"{space}/pipelineruns", "PipelineRun", "both-1", spec={"pipelineRef": {"name": "both"}}, **api)
    _settled(here)
    yield here


def _settled(place: Place) -> None:
    """Until the quota controller has counted: a quota without status refuses nothing."""
    path = f"/api/v1/namespaces/{place.name}/resourcequotas/team"
    until(lambda: bool(place.plane.request("GET", path)[1].get("status", {}).get("used")))
    # Pods need the account that a controller makes.
    until(lambda: place.plane.request("GET", f"/api/v1/namespaces/{place.name}/serviceaccounts/default")[0] == 200)


def told(kres: Kres, place: Place, words: str) -> dict[str, Any]:
    done = kres("explain", words, "-n", place.name, "-o", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["metadata"]["complete"] is True
    return document["items"][0]


def submitted(found: dict[str, Any]) -> dict[str, Any]:
    """The pod that Tekton sends by what the answer says: values that it set, and no others."""
    groups: dict[str, list[dict[str, Any]]] = {"containers": [], "initContainers": []}
    for one in found["containers"]:
        held: dict[str, dict[str, str]] = {"requests": {}, "limits": {}}
        for value in one["values"]:
            if value.get("rule", "").startswith("tekton/") and not value["rule"].endswith("-dropped"):
                held[value["side"]][value["resource"]] = value["value"]
        key = "initContainers" if one["role"] == "init" else "containers"
        groups[key].append({"name": one["name"], "image": "i", "resources": held})
    return {**groups, "activeDeadlineSeconds": 5400}


def resources(pod: dict[str, Any]) -> dict[str, Any]:
    """Requests and limits by container, as stored."""
    listed = (*pod["spec"]["containers"], *pod["spec"].get("initContainers", ()))
    return {one["name"]: one.get("resources", {}) for one in listed}


def predicted(found: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    for one in found["containers"]:
        held: dict[str, dict[str, str]] = {}
        for value in one["values"]:
            if "value" in value:
                held.setdefault(value["side"], {})[value["resource"]] = value["value"]
        answer[one["name"]] = held
    return answer


@pytest.mark.parametrize("name", RUNS)
def test_the_server_answers_to_the_pod_as_was_said(place: Place, extended_kres: Kres, name: str) -> None:
    found = told(extended_kres, place, f"taskrun/{name}")
    raw = {"kind": "Pod", "metadata": {"name": f"{name}-pod"}, "spec": submitted(found)}
    status, answer = place.plane.request("POST", f"/api/v1/namespaces/{place.name}/pods?dryRun=All", raw)
    assert (status == 201) is found["verdict"]["allowed"]
    if status == 201:
        assert resources(answer) == predicted(found)
        assert answer["status"]["qosClass"] == found["qos"]["name"]
    else:
        assert answer["message"] in found["verdict"]["message"]
        problem = found["tekton"]["problem"]
        assert problem["reason"] == (
            "ExceededResourceQuota" if "exceeded quota" in answer["message"] else "PodCreationFailed"
        )


def test_all_ways_to_end_were_met(place: Place, extended_kres: Kres) -> None:
    done = extended_kres("explain", "taskruns", "-n", place.name, "-o", "json")
    reasons = {one["tekton"].get("problem", {}).get("reason", "") for one in json.loads(done.stdout)["items"]}
    assert reasons == {"", "ExceededResourceQuota", "PodCreationFailed"}


def test_a_pipeline_is_held_against_the_quota(place: Place, extended_kres: Kres) -> None:
    found = told(extended_kres, place, "pipelinerun/both-1")
    one = next(one for one in found["atOnce"] if one["resource"] == "requests.cpu")
    alone = found["tasks"][0]["explanation"]["totals"]
    each = next(total["value"] for total in alone if (total["side"], total["resource"]) == ("requests", "cpu"))
    assert (each, one["amount"], one["quota"], one["tasks"]) == ("1100m", "2200m", "team", ["one", "two"])
    assert not one.get("exceeded", False)


#: Since when something is so, with the blanks that its column adds.
_AGE = re.compile(r"for (\d+[smh])+ *")


def test_a_snapshot_answers_as_the_cluster(place: Place, extended_kres: Kres, tmp_path: Path) -> None:
    path = str(tmp_path / "s.kres")
    assert extended_kres("snapshot", "-n", place.name, "--out", path).returncode == 0
    for words in (("explain", "taskruns"), ("explain", "pipelinerun/both-1"), ("qos", "taskrun/whole")):
        live, kept = (extended_kres(*words, "-n", place.name, *more) for more in ((), ("--snapshot", path)))
        # Time passes between the two answers.
        assert live.returncode == kept.returncode
        assert _AGE.sub("for ", live.stdout) == _AGE.sub("for ", kept.stdout.replace(f" --snapshot {path}", ""))
