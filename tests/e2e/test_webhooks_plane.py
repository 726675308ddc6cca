"""A webhook that adds a container and rewrites a limit: named before the first pod, expected of each after it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from controlplane import ControlPlane
from e2e.asking import Asking
from e2e.differential import until
from e2e.injector import PROXY, REWRITTEN, configuration, injector
from e2e.plugin import environment

pytestmark = pytest.mark.e2e

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
BOX = {
    "name": "app", "image": "app:1",
    "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "500m", "memory": "256Mi"}},
}  # fmt: skip
HARD = {"requests.cpu": "20", "limits.cpu": "20", "requests.memory": "8Gi", "limits.memory": "8Gi", "pods": "9"}


@pytest.fixture
def asking(controlplane: ControlPlane) -> Iterator[Asking]:
    with Asking(controlplane) as found:
        yield found


def deployment(replicas: int) -> dict[str, Any]:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [BOX]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


def test_what_a_webhook_adds(
    controlplane: ControlPlane, asking: Asking, namespace: str, tmp_path: Any, request: pytest.FixtureRequest
) -> None:
    kubectl = request.getfixturevalue("kubectl")
    env = environment(controlplane.kubeconfig, kubectl, tmp_path)

    def explained(*more: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "kubectl_kres", "explain", "deploy/web", "-n", namespace, "-o", "json", *more]
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        [item] = found["items"]
        return dict(item)

    def used_amounts() -> dict[str, str]:
        return dict(asking.get("ResourceQuota", namespace, "team").get("status", {}).get("used", {}))

    def scaled(replicas: int) -> None:
        path = f"/apis/apps/v1/namespaces/{namespace}/deployments/web"
        found = dict(asking.get("Deployment", namespace, "web"))
        assert asking.send("PUT", path, {**found, "spec": {**found["spec"], "replicas": replicas}}).status == 200
        until(lambda: used_amounts().get("pods") == str(replicas))
        until(lambda: _settled(asking, namespace, replicas))

    asking.create({"kind": "ResourceQuota", "metadata": {"name": "team"}, "spec": {"hard": HARD}}, namespace)
    name = f"injector-{namespace}"
    try:
        with injector(controlplane) as url:
            made = asking.send("POST", CONFIGURATIONS, configuration(controlplane, name, url, namespace, "Fail"))
            assert made.status == 201, made.body
            assert asking.create(deployment(0), namespace).status == 201
            before = explained()
            assert names(before) == ["app"]
            assert f"webhook {name} (fail closed) is not computed" in texts(before)
            scaled(1)
            after = explained()
            assert names(after) == ["app", "proxy"]
            assert value(after, "app", "limits", "memory") == (REWRITTEN, "seen/added-on-create")
            assert value(after, "proxy", "limits", "cpu") == (
                PROXY["resources"]["limits"]["cpu"], "seen/added-on-create",
            )  # fmt: skip
            assert names(explained("--no-seen")) == ["app"]
            [cost] = [one for one in after["quotas"] if one["quota"] == "team"]
            predicted = cost["charge"]["after"]
            scaled(2)
            assert {key: used_amounts()[key] for key in predicted} == dict(predicted)
        # Nobody answers any more.
        refused = asking.create(pod(), namespace, dry=True)
        assert refused.status == 500
        assert "failed calling webhook" in refused.body["message"]
        assert "(fail closed)" in " ".join(texts(explained()))
        again = configuration(controlplane, name, url, namespace, "Ignore")
        asking.send("DELETE", f"{CONFIGURATIONS}/{name}")
        assert asking.send("POST", CONFIGURATIONS, again).status == 201
        until(lambda: asking.create(pod(), namespace, dry=True).status == 201)
        assert f"webhook {name} (fail open) is not computed" in texts(explained())
    finally:
        asking.send("DELETE", f"{CONFIGURATIONS}/{name}")


def pod() -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [BOX]}}


def names(found: dict[str, Any]) -> list[str]:
    return [one["name"] for one in found["containers"]]


def texts(found: dict[str, Any]) -> list[str]:
    return [one["text"] for one in found["assumptions"]]


def value(found: dict[str, Any], container: str, side: str, resource: str) -> tuple[str, str]:
    [one] = [
        one
        for held in found["containers"]
        if held["name"] == container
        for one in held["values"]
        if (one["side"], one["resource"]) == (side, resource)
    ]
    return one["value"], one["rule"]


def _settled(asking: Asking, namespace: str, replicas: int) -> bool:
    """Whether the controller has seen what was asked of it."""
    found = asking.get("Deployment", namespace, "web")
    status = found.get("status", {})
    return status.get("observedGeneration") == found["metadata"]["generation"] and status.get("replicas", 0) == replicas
