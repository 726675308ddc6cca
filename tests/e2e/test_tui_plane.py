"""The real terminal interface on a real API server, while keys are pressed and objects come, change and go."""

from __future__ import annotations

import csv
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from controlplane import ControlPlane
from e2e.plugin import Kres
from tui.test_tui_process import Terminal

pytestmark = pytest.mark.e2e

#: Seconds for a loaded machine; all of it comes in a few.
_DEADLINE = 60.0
FAIR: dict[str, Any] = {"requests": {"cpu": "100m", "memory": "64Mi"}}
EVEN: dict[str, Any] = {**FAIR, "limits": FAIR["requests"]}


@pytest.fixture
def screen(plugin_env: dict[str, str], tmp_path: Path) -> Iterator[Terminal]:
    kept = ("KUBECONFIG", "KUBECACHEDIR", "KUBERC", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    terminal = Terminal(
        "tui", "pods", "-A", size=(200, 50), folder=tmp_path, **{name: plugin_env[name] for name in kept}
    )
    yield terminal
    terminal.close()


def pod(name: str, resources: dict[str, Any]) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": {"app": name[:3]}},
        "spec": {"containers": [{"name": "app", "image": "app", "resources": resources}]},
    }


def asked(plane: ControlPlane, verb: str, path: str, body: dict[str, Any] | None = None) -> None:
    status, answer = plane.request(verb, path, body)
    assert status in {200, 201, 202}, answer


def rows(screen: Terminal, folder: Path) -> list[tuple[str, str, str]]:
    """Namespace, name and class of the screen's rows, as it saves them."""
    path = folder / "kres-pods.csv"
    path.unlink(missing_ok=True)
    os.write(screen.master, b"\x13")
    screen.read_until(path.name.encode())
    os.write(screen.master, b"\r")
    screen.read_until(b"saved")
    with path.open(encoding="utf-8", newline="") as file:
        return [(row["NAMESPACE"], row["NAME"], row["QOS"]) for row in csv.DictReader(file)]


def printed(kres: Kres) -> list[tuple[str, str, str]]:
    result = kres("qos", "-A", "-o", "json")
    assert result.returncode == 0, result.stderr
    items = json.loads(result.stdout)["items"]
    return sorted((one["subject"]["namespace"], one["subject"]["name"], one["liveClass"]) for one in items)


def test_the_pods_on_screen_are_those_of_the_command(
    controlplane: ControlPlane, kres: Kres, namespace: str, screen: Terminal, tmp_path: Path
) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    for number in range(6):
        asked(controlplane, "POST", pods, pod(f"web-{number}", FAIR if number % 2 else {}))
    screen.read_until(b"web-5")
    asked(controlplane, "DELETE", f"{pods}/web-1?gracePeriodSeconds=0")
    asked(controlplane, "POST", pods, pod("job-1", EVEN))
    screen.read_until(b"job-1")
    # A filter, a pod and its values, the way back, a sort, another screen.
    os.write(screen.master, f"/{namespace} job\r\r".encode())
    screen.read_until(b"cpu request")
    limits = {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"memory": "32Mi"}}
    kind = {"metadata": {"name": "defaults"}, "spec": {"limits": [limits]}}
    asked(controlplane, "POST", f"/api/v1/namespaces/{namespace}/limitranges", kind)
    asked(controlplane, "POST", pods, pod("late-1", {}))
    os.write(screen.master, b"\x1b")
    screen.read_until(b"filter")
    os.write(screen.master, b"\x1b")
    screen.read_until(b"web-0")
    os.write(screen.master, b":limitranges\r")
    screen.read_until(b"defaults")
    asked(controlplane, "DELETE", f"{pods}/web-3?gracePeriodSeconds=0")
    os.write(screen.master, b":pods all\r")
    screen.read_until(b"late-1")
    wanted = {(namespace, name) for name in ("web-0", "web-2", "web-4", "web-5", "job-1", "late-1")}
    assert wanted == {row[:2] for row in printed(kres) if row[0] == namespace}
    end = time.monotonic() + _DEADLINE
    while (shown := sorted(rows(screen, tmp_path))) != (told := printed(kres)):
        assert time.monotonic() < end, (shown, told)
    os.write(screen.master, b"\x03")
    assert screen.ended() == 0
