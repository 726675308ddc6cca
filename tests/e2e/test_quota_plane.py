"""Quotas on a real control plane: the recount is the controller's, what fits is what the server lets in."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest
from conformance.compare import amount
from controlplane import ControlPlane
from e2e import counted
from e2e.asking import Asking
from e2e.generate import CLASSES
from e2e.plugin import Kres
from e2e.seed import SEED
from e2e.test_controlplane import poll

pytestmark = pytest.mark.e2e


def test_the_recount_is_what_the_controller_wrote(demo_kres: Kres):
    """Only the quota of the demo whose claim was released while it is used is beyond its limit."""
    done = demo_kres("quota", "-A", "--recount", "--exit-code", "-o", "json")
    assert (done.returncode, done.stderr) == (1, "")
    items = json.loads(done.stdout)["items"]
    over = {(item["subject"]["name"], use["name"]) for item in items for use in item["uses"] if use["free"][0] == "-"}
    assert over == {("capsule-pool-ml-storage", name) for name in ("persistentvolumeclaims", "requests.storage")}
    uses = [use for item in items for use in item["uses"]]
    assert len(uses) >= 20
    assert [use for use in uses if use.get("counted") != use["used"] or "drift" in use] == []


@pytest.mark.parametrize("number", range(3))
def test_generated_objects_are_counted_alike(controlplane: ControlPlane, kres: Kres, namespace: str, number: int):
    """The quotas come last, so that the controller counts everything at once."""
    rng = random.Random(f"{SEED}/counted/{number}")
    with Asking(controlplane) as asking:
        for one in CLASSES:
            asking.create(one)
        made = [one for one in counted.objects(rng) if asking.create(one, namespace).status == 201]
        for one in made:
            status = counted.reported(rng, one) if one["kind"] == "Pod" else None
            if status is not None:
                stored = asking.get("Pod", namespace, one["metadata"]["name"])
                reply = asking.put({**stored, "status": {**stored["status"], **status}}, "status")
                assert reply.status == 200, reply.body
        assert len(made) >= 16, f"seed {SEED}"
        for one in counted.quotas():
            assert asking.create(one, namespace).status == 201, one
        uses = settled(asking, kres, namespace)
    assert wrong(uses) == [], f"seed {SEED}"
    assert len(uses) >= 80
    assert sum(use.get("used", "0") != "0" for use in uses) >= 40, f"seed {SEED}"


def settled(asking: Asking, kres: Kres, namespace: str, seconds: float = 240.0) -> list[Any]:
    """What the recount says, as soon as it is what the controller wrote, else what it says in the end.

    The controller's own view of the objects may be late when it first counts, and it has no reason to count again: a
    new limit for something that is not there is one.
    """
    deadline, limit = time.monotonic() + seconds, 1
    while True:
        limit += 1
        _raise_limits(asking, namespace, limit, deadline)
        done = kres("quota", "-n", namespace, "--recount", "-o", "json")
        assert (done.returncode, done.stderr) == (0, "")
        uses = [use for item in json.loads(done.stdout)["items"] for use in item["uses"]]
        if not wrong(uses) or time.monotonic() > deadline:
            return uses


def _raise_limits(asking: Asking, namespace: str, limit: int, deadline: float) -> None:
    """Gives each quota another limit, and waits until the controller has counted for it."""
    for quota in asking.get("ResourceQuota", namespace)["items"]:
        hard = {**quota["spec"]["hard"], "nothing.example.com/x": str(limit)}
        path = f"/api/v1/namespaces/{namespace}/resourcequotas/{quota['metadata']['name']}"
        sent = {**quota, "spec": {**quota["spec"], "hard": hard}}
        sent["metadata"] = {key: value for key, value in quota["metadata"].items() if key != "resourceVersion"}
        reply = asking.send("PUT", path, {"kind": "ResourceQuota", "apiVersion": "v1", **sent})
        assert reply.status == 200, reply.body
    while time.monotonic() < deadline:
        held = asking.get("ResourceQuota", namespace)["items"]
        if all(one.get("status", {}).get("hard") == one["spec"]["hard"] for one in held):
            return
        time.sleep(0.05)


def wrong(uses: list[Any]) -> list[Any]:
    """Uses that the recount does not find as the controller wrote them, in whatever notation."""
    known = [use for use in uses if use["name"] != "nothing.example.com/x"]
    return [use for use in known if "drift" in use or amount(use.get("counted")) != amount(use["used"])]


def test_as_many_fit_as_the_server_admits(controlplane: ControlPlane, kres: Kres, namespace: str):
    core = f"/api/v1/namespaces/{namespace}"
    hard = {"requests.memory": "1Gi", "pods": "20"}
    body = {"metadata": {"name": "team"}, "spec": {"hard": hard}}
    status, _ = controlplane.request("POST", f"{core}/resourcequotas", body)
    assert status == 201
    container = {"name": "app", "image": "example/app", "resources": {"requests": {"memory": "300Mi"}}}
    pods = [{"metadata": {"name": f"web-{number}"}, "spec": {"containers": [container]}} for number in range(5)]
    # A quota enforces nothing before the controller has counted; from then on its use grows with each pod let in.
    quota = f"{core}/resourcequotas/team"
    poll(lambda: controlplane.request("GET", quota)[1].get("status", {}).get("used"), dict.fromkeys(hard, "0"))
    assert controlplane.request("POST", f"{core}/pods", pods[0])[0] == 201
    done = kres("quota", "--fit", "pod/web-0", "-n", namespace, "-o", "json")
    (found,) = json.loads(done.stdout)["items"]
    admitted = 0
    for pod in pods[1:]:
        admitted += controlplane.request("POST", f"{core}/pods", pod)[0] == 201
    assert found["fits"] == admitted == 2
