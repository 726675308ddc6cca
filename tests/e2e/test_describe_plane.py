"""``-o describe`` beside the real kubectl describe, on the demo and on pods that have everything that is told."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from controlplane import ControlPlane
from e2e.plugin import Kres, environment

pytestmark = pytest.mark.e2e

#: Takes the words after ``describe``, returns what kubectl prints.
Describe = Callable[..., str]

SPACES = ("shop", "batch", "payments")


def describing(kubectl: Path, env: dict[str, str]) -> Describe:
    def call(*words: str) -> str:
        command = [str(kubectl), "describe", *words]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    return call


def lines(text: str) -> list[str]:
    """Without values of the demo's variables, which are hidden, and names of ports, which old kubectls do not tell."""
    shown = re.sub(r"not-for-snapshots-\d+", "<not shown>", text)
    return re.sub(r"(/(?:TCP|UDP|SCTP)) \([a-z]+\)", r"\1", shown).splitlines()


@pytest.fixture
def kubectl_says(demo: ControlPlane, kubectl: Path, tmp_path: Path) -> Describe:
    """kubectl describe on the demo's control plane."""
    return describing(kubectl, environment(demo.kubeconfig, kubectl, tmp_path))


@pytest.mark.parametrize("command", ["quota", "explain quota"])
@pytest.mark.parametrize("space", SPACES)
def test_quotas(demo_kres: Kres, kubectl_says: Describe, space: str, command: str):
    done = demo_kres(*command.split(), "-n", space, "-o", "describe")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", kubectl_says("quota", "-n", space))


@pytest.mark.parametrize(
    "words",
    [("limits", "-n", "shop"), ("limits", "-n", "payments"), *(("ns", space) for space in SPACES), ("limits", "-A")],
)
def test_limit_ranges_and_namespaces(demo_kres: Kres, kubectl_says: Describe, words: tuple[str, ...]):
    """kubectl shows the resources of an item in an arbitrary order."""
    done = demo_kres("explain", *words, "-o", "describe")
    wanted = kubectl_says(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == sorted(wanted.splitlines())
    assert len(wanted.splitlines()) > 4


@pytest.mark.parametrize("space", SPACES)
def test_pods(demo_kres: Kres, kubectl_says: Describe, space: str):
    done = demo_kres("explain", "pods", "-n", space, "-o", "describe", TZ="UTC")
    wanted = kubectl_says("pods", "-n", space, "--show-events=false")
    assert (done.returncode, done.stderr) == (0, "")
    assert lines(done.stdout) == lines(wanted)
    assert "QoS Class:" in wanted


PROBES = {
    "livenessProbe": {"httpGet": {"path": "/live?a=1", "port": 8080, "host": "::1"}, "initialDelaySeconds": 3},
    "readinessProbe": {"exec": {"command": ["cat", "/tmp/ready now"]}, "failureThreshold": 5},
    "startupProbe": {"grpc": {"port": 9090, "service": "health"}, "timeoutSeconds": 2},
}
SPEC = {
    "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
    "activeDeadlineSeconds": 600,
    "initContainers": [
        {"name": "side", "image": "example/side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1m"}}},
        {"name": "once", "image": "example/once", "command": ["sh", "-c"], "args": ["true\nfalse"]},
    ],
    "containers": [
        {"name": "app", "image": "example/app", **PROBES, "ports": [{"name": "web", "containerPort": 8080}]},
        {"name": "tcp", "image": "example/tcp", "readinessProbe": {"tcpSocket": {"port": "web"}}},
        {"name": "more", "image": "example/more", "ports": [{"containerPort": 1}, {"containerPort": 2}]},
    ],
    "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "1Gi", "medium": "Memory"}}],
}


def test_a_pod_with_everything(
    controlplane: ControlPlane, kres: Kres, kubectl: Path, plugin_env: dict[str, str], namespace: str
):
    pods = f"/api/v1/namespaces/{namespace}/pods"
    body = {"metadata": {"name": "web", "labels": {"b": "1", "a": "2"}}, "spec": SPEC}
    status, answer = controlplane.request("POST", pods, body)
    assert status == 201, answer
    done = kres("explain", "pod/web", "-n", namespace, "-o", "describe")
    wanted = describing(kubectl, plugin_env)("pod", "web", "-n", namespace, "--show-events=false")
    assert (done.returncode, done.stderr) == (0, "")
    assert lines(done.stdout) == lines(wanted)


def test_values_of_variables_are_not_shown(
    controlplane: ControlPlane, kres: Kres, kubectl: Path, plugin_env: dict[str, str], namespace: str
):
    container = {"name": "app", "image": "example/app", "env": [{"name": "TOKEN", "value": "hunter2"}, {"name": "NO"}]}
    body = {"metadata": {"name": "web"}, "spec": {"containers": [container]}}
    status, answer = controlplane.request("POST", f"/api/v1/namespaces/{namespace}/pods", body)
    assert status == 201, answer
    done = kres("explain", "pod/web", "-n", namespace, "-o", "describe")
    wanted = describing(kubectl, plugin_env)("pod", "web", "-n", namespace, "--show-events=false")
    assert "hunter2" in wanted
    assert (done.returncode, done.stdout) == (0, wanted.replace("hunter2", "<not shown>"))
