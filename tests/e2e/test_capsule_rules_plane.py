"""Rules of Tenants and quotas over namespaces on a real API server: what is read, and that printed commands mend it.

Capsule itself does not run here: what its webhooks answer is recorded in ``tests/capsule_webhooks``.
"""

from __future__ import annotations

import json
import re
import secrets
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import crds
import pytest
from controlplane import ControlPlane
from e2e.plugin import Kres
from e2e.test_controlplane import poll

pytestmark = pytest.mark.e2e

CAPSULE = "/apis/capsule.clastix.io/v1beta2"
API = "capsule.clastix.io/v1beta2"


class Bakery:
    """A Tenant with a namespace of its own."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane, self.name = plane, f"bakery-{secrets.token_hex(3)}"

    def send(self, path: str, body: dict[str, Any], method: str = "POST", **more: Any) -> dict[str, Any]:
        status, answer = self.plane.request(method, path, body, **more)
        assert status in {200, 201}, answer
        return answer

    def make(self, rules: list[Any], **spec: Any) -> None:
        body = {"owners": [{"kind": "User", "name": "baker"}], "rules": rules, **spec}
        owner = self.send(
            f"{CAPSULE}/tenants", {"apiVersion": API, "kind": "Tenant", "metadata": {"name": self.name}, "spec": body}
        )
        reference = {"apiVersion": API, "kind": "Tenant", "name": self.name, "uid": owner["metadata"]["uid"]}
        metadata = {
            "name": self.name,
            "labels": {"capsule.clastix.io/tenant": self.name},
            "ownerReferences": [reference],
        }
        self.send("/api/v1/namespaces", {"metadata": metadata})

    def deploy(self, resources: dict[str, Any], space: str = "") -> None:
        template = {
            "metadata": {"labels": {"app": "loaf"}},
            "spec": {"containers": [{"name": "main", "image": "img", "resources": resources}]},
        }
        spec = {"replicas": 0, "selector": {"matchLabels": {"app": "loaf"}}, "template": template}
        self.send(
            f"/apis/apps/v1/namespaces/{space or self.name}/deployments",
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "loaf"}, "spec": spec},
        )

    def share(self, hard: dict[str, str], used: dict[str, str]) -> None:
        selector = {"matchLabels": {"capsule.clastix.io/tenant": self.name}}
        spec = {"namespaceSelectors": [selector], "quota": {"hard": hard}}
        path = f"{CAPSULE}/globalresourcequotas"
        made = self.send(
            path, {"apiVersion": API, "kind": "GlobalResourceQuota", "metadata": {"name": self.name}, "spec": spec}
        )
        status = {
            "namespaces": [self.name], "namespaceCount": 1, "total": {"hard": hard, "used": used}, "conditions": [],
        }  # fmt: skip
        self.send(f"{path}/{self.name}/status", {**made, "status": status}, "PUT")


@pytest.fixture
def bakery(capsule: ControlPlane) -> Iterator[Bakery]:
    made = Bakery(capsule)
    yield made
    for path in (f"{CAPSULE}/globalresourcequotas", f"{CAPSULE}/tenants", "/api/v1/namespaces"):
        capsule.request("DELETE", f"{path}/{made.name}")


@pytest.fixture(scope="module")
def capsule(controlplane: ControlPlane) -> Iterator[ControlPlane]:
    """The control plane while it serves Capsule's kinds: other tests need one without them."""
    crds.install(controlplane, "capsule")
    yield controlplane
    crds.remove(controlplane, "capsule")


def test_rule_of_a_tenant_is_read_and_computed(bakery: Bakery, kres: Kres) -> None:
    policies = {"limits": {"cpu": {"policy": "Remove"}, "memory": {"policy": "MatchRequest"}}}
    bakery.make([{"enforce": {"action": "deny", "workloads": {"resources": policies, "targets": ["pod/containers"]}}}])
    bakery.deploy({"requests": {"memory": "64Mi"}, "limits": {"cpu": "1", "memory": "256Mi"}})
    done = kres("explain", "deploy/loaf", "-n", bakery.name, "--all")
    assert f"Tenant/{bakery.name} spec.rules[0].enforce.workloads.resources.limits[cpu]" in done.stdout, done.stderr
    assert re.search(r"memory limit +256Mi +64Mi +capsule/rule-match-request", done.stdout)
    for word in (f"ns/{bakery.name}", f"tenant/{bakery.name}"):
        assert "limits.memory:" in kres("explain", word, "--all").stdout


@pytest.mark.parametrize("kind", ["GlobalResourceQuota", "Tenant"])
def test_printed_command_lets_the_pod_in(
    bakery: Bakery, kres: Kres, plugin_env: dict[str, str], kind: str, tmp_path: Path
) -> None:
    """The raise of a quota over namespaces, or of the Tenant whose quota refuses, works as printed."""
    if kind == "Tenant":
        bakery.make([], resourceQuotas={"scope": "Tenant", "items": [{"hard": {"requests.cpu": "2"}}]})
        _status(bakery.plane, f"{CAPSULE}/tenants/{bakery.name}", {"namespaces": [bakery.name], "size": 1})
        labels = {"capsule.clastix.io/tenant": bakery.name, "capsule.clastix.io/resource-quota": "0"}
        metadata = {"name": f"capsule-{bakery.name}-0", "labels": labels}
        path = f"/api/v1/namespaces/{bakery.name}/resourcequotas"
        bakery.send(path, {"metadata": metadata, "spec": {"hard": {"requests.cpu": "200m"}}})
        _counted(bakery.plane, f"{path}/capsule-{bakery.name}-0")
        to = "2300m"
    else:
        bakery.make([])
        bakery.share({"requests.cpu": "2"}, {"requests.cpu": "1900m"})
        to = "2400m"
    container = {"name": "main", "image": "img", "resources": {"requests": {"cpu": "500m"}}}
    file = tmp_path / "pod.json"
    metadata = {"name": "loaf", "namespace": bakery.name}
    file.write_text(
        json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}})
    )
    done = kres("explain", "-f", str(file), "-o", "json")
    answer = json.loads(done.stdout)
    remedy = (answer.get("items") or [answer])[0]["fixes"][0]
    assert remedy["edits"][0]["object"]["kind"] == kind
    assert remedy["edits"][0]["to"] == to
    (command,) = remedy["commands"]
    ran = subprocess.run(shlex.split(command), env=plugin_env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    plural = "tenants" if kind == "Tenant" else "globalresourcequotas"
    stored = bakery.plane.request("GET", f"{CAPSULE}/{plural}/{bakery.name}")[1]["spec"]
    hard = stored["resourceQuotas"]["items"][0]["hard"] if kind == "Tenant" else stored["quota"]["hard"]
    assert hard == {"requests.cpu": to}
    if kind == "GlobalResourceQuota":
        assert kres("explain", "-f", str(file)).stdout.startswith("admitted")


def test_nothing_of_capsule_is_read_where_it_is_not(bakery: Bakery, kres: Kres, namespace: str) -> None:
    """A namespace without a Tenant costs no request more, though the server has Capsule's kinds."""
    bakery.make([])
    bakery.deploy({}, namespace)
    done = kres("explain", "deploy/loaf", "-n", namespace, "-v", "6")
    assert "GET https://" in done.stderr
    assert "capsule.clastix.io" not in done.stderr


def _status(plane: ControlPlane, path: str, status: dict[str, Any]) -> None:
    current = plane.request("GET", path)[1]
    code, answer = plane.request(
        "PUT", f"{path}/status", {**current, "status": {"conditions": [], **current.get("status", {}), **status}}
    )
    assert code == 200, answer


def _counted(plane: ControlPlane, path: str) -> None:
    poll(lambda: plane.request("GET", path)[1].get("status", {}).keys() >= {"hard", "used"}, True)
