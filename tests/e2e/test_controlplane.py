"""The test control plane itself: it admits, counts and makes pods, and leaves nothing behind."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import controlplane as launcher
import pytest
from controlplane import ControlPlane

pytestmark = pytest.mark.e2e

CONTAINER = {"name": "app", "image": "example/app"}
LIMITS = {"type": "Container", "default": {"memory": "64Mi"}}


def poll(value: Callable[[], object], expected: object) -> None:
    """Wait until ``value`` gives what is expected; fails with the last value."""
    deadline = time.monotonic() + 30
    while (last := value()) != expected and time.monotonic() < deadline:
        time.sleep(0.1)
    assert last == expected


def create(plane: ControlPlane, path: str, name: str, **body: object) -> dict[str, dict]:
    status, answer = plane.request("POST", path, {"metadata": {"name": name}, **body})
    assert status == 201, answer
    return answer


def test_admits_and_counts(controlplane: ControlPlane, namespace: str) -> None:
    core = f"/api/v1/namespaces/{namespace}"
    create(controlplane, f"{core}/limitranges", "lr", spec={"limits": [LIMITS]})
    create(controlplane, f"{core}/resourcequotas", "rq", spec={"hard": {"requests.memory": "100Mi"}})
    quota = f"{core}/resourcequotas/rq"
    poll(lambda: controlplane.request("GET", quota)[1].get("status", {}).get("used"), {"requests.memory": "0"})

    pod = create(controlplane, f"{core}/pods", "first", spec={"containers": [CONTAINER]})
    assert pod["spec"]["containers"][0]["resources"] == {"limits": {"memory": "64Mi"}, "requests": {"memory": "64Mi"}}
    second = {"metadata": {"name": "second"}, "spec": {"containers": [CONTAINER]}}
    status, refusal = controlplane.request("POST", f"{core}/pods", second)
    assert (status, refusal["reason"]) == (403, "Forbidden")
    assert "exceeded quota: rq" in refusal["message"]


def test_deployment_makes_pods(controlplane: ControlPlane, namespace: str) -> None:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [CONTAINER]}}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    create(controlplane, f"/apis/apps/v1/namespaces/{namespace}/deployments", "web", spec=spec)
    poll(lambda: len(controlplane.request("GET", f"/api/v1/namespaces/{namespace}/pods")[1]["items"]), 2)


def test_kubectl(kubectl: Path, namespace: str, plugin_env: dict[str, str]) -> None:
    command = [kubectl, "get", "namespace", namespace, "-o", "name"]
    done = subprocess.run(command, env=plugin_env, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"namespace/{namespace}\n", "")


def test_taken_ports_are_given_up(assets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = launcher.free_port
    with socket.create_server((launcher.HOST, 0)) as other:
        taken = other.getsockname()[1]
        ports = iter([taken, free(), free(), taken])
        monkeypatch.setattr(launcher, "free_port", lambda: next(ports, None) or free())
        with ControlPlane(assets, controllers=()) as plane:
            assert plane.request("GET", "/version")[0] == 200
            folder = plane.folder
    assert not folder.exists()
    assert next(ports, None) is None


def test_bad_flag_is_told(assets: Path) -> None:
    plane = ControlPlane(assets, controllers=(), apiserver_args=["--no-such-flag"])
    with pytest.raises(launcher.StartError, match=r"(?s)kube-apiserver ended with .*no-such-flag"), plane:
        pass
    assert not plane.processes


@pytest.mark.parametrize("end", ["stdin", signal.SIGTERM, signal.SIGKILL])
def test_ends_with_its_parent(assets: Path, end: signal.Signals | str) -> None:
    command = [sys.executable, launcher.__file__, "--assets", str(assets), "--controllers", ""]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        config = Path(process.stdout.readline().strip())
        url = urlsplit(json.loads(config.read_text())["clusters"][0]["cluster"]["server"])
        address = (url.hostname, url.port)
        socket.create_connection(address).close()
        if isinstance(end, signal.Signals):
            process.send_signal(end)
        else:
            process.stdin.close()
        process.wait(30)
    poll(lambda: reachable(address), expected=False)
    assert config.parent.exists() == (end == signal.SIGKILL)
    shutil.rmtree(config.parent, ignore_errors=True)


def reachable(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address).close()
    except ConnectionRefusedError:
        return False
    return True
