"""Refusals by what kres cannot see, on real servers: each is told, and the printed command gets the pods created."""

from __future__ import annotations

import json
import random
import secrets
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from controlplane import ControlPlane
from e2e.asking import Asking
from e2e.differential import until
from e2e.injector import FULL, PROXY, configuration, injector
from e2e.limiting import Limiting
from e2e.plugin import environment
from e2e.test_webhooks_plane import CONFIGURATIONS

pytestmark = pytest.mark.e2e

WORLDS = 20


class World(NamedTuple):
    """A namespace of a server, and how the plugin and kubectl are called there."""

    asking: Asking
    kubectl: Path
    env: dict[str, str]
    namespace: str

    def kres(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run([str(self.kubectl), "kres", *words])

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)

    def explained(self, *words: str, code: int = 0) -> dict[str, Any]:
        done = self.kres("explain", "deploy/web", "-n", self.namespace, "-o", "json", *words)
        assert done.returncode == code, done.stderr
        [item] = json.loads(done.stdout)["items"]
        return dict(item)

    def refused(self) -> bool:
        found = self.asking.get("Deployment", self.namespace, "web")
        return any(one["type"] == "ReplicaFailure" for one in found.get("status", {}).get("conditions", ()))

    def existing(self) -> int:
        return int(self.asking.get("Deployment", self.namespace, "web").get("status", {}).get("replicas", 0))

    def retried(self, number: int) -> None:
        """Make the controller try at once, whose back-off grows: it looks again when the set is changed."""
        path = f"/apis/apps/v1/namespaces/{self.namespace}/deployments/web"
        found = dict(self.asking.get("Deployment", self.namespace, "web"))
        labels = {**(found["metadata"].get("labels") or {}), "try": str(number)}
        self.asking.send("PUT", path, {**found, "metadata": {**found["metadata"], "labels": labels}})


def deployment(replicas: int, container: dict[str, Any], **spec: Any) -> dict[str, Any]:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], **spec}}
    parts = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": parts}


def worlds(plane: ControlPlane, kubectl: Path, folder: Path, number: int = WORLDS) -> Iterator[World]:
    env = environment(plane.kubeconfig, kubectl, folder)
    with Asking(plane) as asking:
        for _ in range(number):
            name = f"test-{secrets.token_hex(4)}"
            assert plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})[0] == 201
            yield World(asking, kubectl, env, name)


def follow(world: World, fix: dict[str, Any], replicas: int) -> None:
    """Run the commands of a fix; what it promised is so."""
    for command in fix["commands"]:
        words = shlex.split(command)
        words[0] = str(world.kubectl)
        done = world.run(words)
        assert done.returncode == 0, (command, done.stderr)
    tries = iter(range(1, 1000))

    def all_there() -> bool:
        world.retried(next(tries))
        return world.existing() == replicas

    until(all_there)


def test_a_server_that_limits_resources(limiting: Limiting, kubectl: Path, tmp_path: Path) -> None:
    """No client can read that configuration: the server's sentence alone tells it."""
    with Asking(limiting.plane) as asking:
        asking.create({"kind": "PriorityClass", "metadata": {"name": "limited"}, "value": 5})
    draw = random.Random(1)
    for world in worlds(limiting.plane, kubectl, tmp_path):
        replicas, by_scope = draw.randint(1, 4), draw.random() < 0.5
        amount = {} if by_scope else {"limited.example.com/gpu": str(draw.randint(1, 3))}
        container = {"name": "app", "image": "app:1", "resources": {"limits": {"cpu": "1", **amount}}}
        more = {"priorityClassName": "limited"} if by_scope else {}
        assert world.asking.create(deployment(replicas, container, **more), world.namespace).status == 201
        until(world.refused)
        found = world.explained()
        verdict = found["verdict"]
        assert (verdict["outcome"], verdict["blocked"]["cause"]["type"]) == ("blocked", "limited-resources"), found
        assert verdict["missing"] == replicas
        [fix] = found["fixes"]
        assert fix["proven"] is True
        follow(world, fix, replicas)
        assert world.explained()["verdict"]["outcome"] in {"admitted", "full"}


def test_a_webhook_that_adds_a_container(controlplane: ControlPlane, kubectl: Path, tmp_path: Path) -> None:
    """The quota of the namespace refuses what the webhook adds; no pod exists that would show it."""
    draw = random.Random(2)
    added = int(PROXY["resources"]["limits"]["cpu"])
    with injector(controlplane) as url:
        for world in worlds(controlplane, kubectl, tmp_path):
            replicas, cpu = draw.randint(1, 4), draw.randint(1, 3)
            hard = {"limits.cpu": str(draw.randint(cpu, cpu + added - 1))}
            world.asking.create(
                {"kind": "ResourceQuota", "metadata": {"name": "team"}, "spec": {"hard": hard}}, world.namespace
            )
            until(lambda world=world: "hard" in world.asking.get("ResourceQuota", world.namespace, "team")["status"])
            name = f"injector-{world.namespace}"
            made = configuration(controlplane, name, url, world.namespace, "Fail")
            assert world.asking.send("POST", CONFIGURATIONS, made).status == 201
            try:
                container = {"name": "app", "image": "app:1", "resources": {"limits": {"cpu": str(cpu)}}}
                assert world.asking.create(deployment(replicas, container), world.namespace).status == 201
                until(world.refused)
                found = world.explained()
                cause = found["verdict"]["blocked"]["cause"]
                assert cause == {
                    "type": "injection", "containers": [], "requested": {"limits.cpu": str(cpu + added)},
                    "computed": {"limits.cpu": str(cpu)}, "webhooks": [name],
                }  # fmt: skip
                follow(world, found["fixes"][0], replicas)
            finally:
                world.asking.send("DELETE", f"{CONFIGURATIONS}/{name}")


def test_a_quota_that_only_a_webhook_keeps(controlplane: ControlPlane, kubectl: Path, tmp_path: Path) -> None:
    """It counts over all namespaces, and no object holds it: its own words stand, however often it is asked."""
    draw = random.Random(3)
    with injector(controlplane) as url:
        for world in worlds(controlplane, kubectl, tmp_path, WORLDS // 2):
            name = f"keeper-{world.namespace}"
            made = configuration(controlplane, name, url.replace("/mutate", "/quota"), world.namespace, "Fail")
            made["kind"] = "ValidatingWebhookConfiguration"
            place = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
            assert world.asking.send("POST", place, made).status == 201
            try:
                replicas = draw.randint(1, 4)
                container = {"name": "app", "image": "app:1", "resources": {"limits": {"cpu": "1"}}}
                assert world.asking.create(deployment(replicas, container), world.namespace).status == 201
                until(world.refused)
                verdict = world.explained()["verdict"]
                assert (verdict["outcome"], verdict["missing"]) == ("blocked", replicas)
                assert verdict["blocked"]["rule"] == "webhook/denied"
                assert verdict["blocked"]["message"].endswith(f"denied the request: {FULL}")
            finally:
                world.asking.send("DELETE", f"{place}/{name}")
            tries = iter(range(1, 1000))

            def all_there(world: World = world, replicas: int = replicas, tries: Iterator[int] = tries) -> bool:
                world.retried(next(tries))
                return world.existing() == replicas

            until(all_there)
            assert world.explained()["verdict"]["outcome"] in {"admitted", "full"}


def test_a_quota_that_the_user_may_not_read(controlplane: ControlPlane, kubectl: Path, tmp_path: Path) -> None:
    """Who may read everything of a namespace but its quotas is told what the server said, and no calmer."""
    draw = random.Random(4)
    rules = [
        {"apiGroups": [""], "resources": ["pods", "events", "limitranges", "namespaces"], "verbs": ["get", "list"]},
        {"apiGroups": ["apps"], "resources": ["deployments", "replicasets"], "verbs": ["get", "list"]},
    ]
    rbac = "rbac.authorization.k8s.io"
    role = {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": {"name": "no-quotas"}, "rules": rules}
    reference = {"apiGroup": rbac, "kind": "ClusterRole", "name": "no-quotas"}
    subjects = [{"apiGroup": rbac, "kind": "User", "name": "viewer"}]
    binding = {"apiVersion": f"{rbac}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "no-quotas"}}
    with Asking(controlplane) as asking:
        assert asking.send("POST", f"/apis/{rbac}/v1/clusterroles", role).status == 201
        made = {**binding, "roleRef": reference, "subjects": subjects}
        assert asking.send("POST", f"/apis/{rbac}/v1/clusterrolebindings", made).status == 201
    for world in worlds(controlplane, kubectl, tmp_path, WORLDS // 2):
        replicas, cpu = draw.randint(1, 4), draw.randint(2, 5)
        hard = {"limits.cpu": str(draw.randint(1, cpu - 1))}
        world.asking.create(
            {"kind": "ResourceQuota", "metadata": {"name": "team"}, "spec": {"hard": hard}}, world.namespace
        )
        until(lambda world=world: "hard" in world.asking.get("ResourceQuota", world.namespace, "team")["status"])
        container = {"name": "app", "image": "app:1", "resources": {"limits": {"cpu": str(cpu)}}}
        assert world.asking.create(deployment(replicas, container), world.namespace).status == 201
        until(world.refused)
        verdict = world.explained("--as", "viewer", code=4)["verdict"]
        assert verdict["outcome"].startswith("blocked"), verdict
        assert (verdict["missing"], verdict["blocked"]["rule"]) == (replicas, "quota/exceeded")
        assert f"exceeded quota: team, requested: limits.cpu={cpu}" in verdict["blocked"]["message"]
        assert world.explained()["verdict"]["outcome"] == "refused"
