"""Quotas of the demo on a real control plane: the recount is the controller's, what fits is what the server lets in."""

from __future__ import annotations

import json

import pytest
from controlplane import ControlPlane
from e2e.plugin import Kres
from e2e.test_controlplane import poll

pytestmark = pytest.mark.e2e


def test_the_recount_is_what_the_controller_wrote(demo_kres: Kres):
    done = demo_kres("quota", "-A", "--recount", "--exit-code", "-o", "json")
    assert (done.returncode, done.stderr) == (0, "")
    uses = [use for item in json.loads(done.stdout)["items"] for use in item["uses"]]
    assert len(uses) >= 20
    assert [use for use in uses if use.get("counted") != use["used"] or "drift" in use] == []


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
