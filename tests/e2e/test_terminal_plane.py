"""The program in a real terminal on a real API server, which dies and is back; objects come, go and are refused."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from controlplane import BASIC_CONTROLLERS, WORKLOAD_CONTROLLERS, ControlPlane
from e2e.conftest import LIVELY, watched
from e2e.plugin import environment
from e2e.test_feed_plane import create, without

pytestmark = pytest.mark.e2e

SPACE = "kres-terminal"
#: Seconds that are waited for what is to be seen; a loaded machine needs some of them.
_PATIENCE = 90.0
_WIDTH, _HEIGHT = 120, 40


class Terminal:
    """A tmux of its own with one pane. ``KRES_SCREENS``: a folder for what was seen at each step, with its colours."""

    def __init__(self, command: str, env: dict[str, str], folder: Path) -> None:
        self._socket, self._step = f"kres-{secrets.token_hex(4)}", 0
        size = ("-x", str(_WIDTH), "-y", str(_HEIGHT))
        self._env = {**{key: value for key, value in env.items() if key != "TMUX"}, "TERM": "xterm-256color"}
        # What the program leaves behind is looked at by a shell.
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, "-c", str(folder), f"{command}; echo gone $?; sh")

    def _tmux(self, *words: str) -> str:
        command = ["tmux", "-L", self._socket, *words]
        return subprocess.run(command, env=self._env, capture_output=True, text=True, check=True).stdout

    def press(self, *keys: str) -> None:
        """Keys as tmux calls them; a text of several letters is typed."""
        for key in keys:
            self._tmux("send-keys", key)

    def seen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def until(self, *parts: str, gone: bool = False) -> str:
        """Waits until all these texts are on the screen at once, or none is any more; the screen then."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            screen = self.seen()
            if all((part in screen) != gone for part in parts):
                self._keep()
                return screen
            time.sleep(0.1)
        raise AssertionError(f"{parts} {'still' if gone else 'not'} on\n{screen}")

    def _keep(self) -> None:
        self._step += 1
        if folder := os.environ.get("KRES_SCREENS"):
            path = Path(folder) / f"{self._step:02}.ansi"
            path.write_text(self._tmux("capture-pane", "-pe"), encoding="utf-8")

    def flag(self, name: str) -> str:
        """What tmux knows of its terminal, as ``alternate_on``."""
        return self._tmux("display-message", "-p", f"#{{{name}}}").strip()

    def close(self) -> None:
        self._tmux("kill-server")


@pytest.fixture(scope="module")
def plane(assets: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """One that may be broken: nobody else uses it."""
    folder = tmp_path_factory.mktemp("terminal")
    controllers = (*BASIC_CONTROLLERS, *WORKLOAD_CONTROLLERS)
    with watched(assets, folder, controllers=controllers, controller_args=LIVELY) as running:
        yield running


@pytest.fixture
def terminal(plane: ControlPlane, kubectl: Path, tmp_path: Path) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        pytest.skip("there is no tmux")
    create(plane, "/api/v1/namespaces", {"metadata": {"name": SPACE}})
    quota = {"metadata": {"name": "team"}, "spec": {"hard": {"pods": "3", "requests.cpu": "1"}}}
    create(plane, f"/api/v1/namespaces/{SPACE}/resourcequotas", quota)
    command = shlex.join([sys.executable, "-m", "kubectl_kres", "tui", "-n", SPACE])
    running = Terminal(command, environment(plane.kubeconfig, kubectl, tmp_path), tmp_path)
    yield running
    running.close()


def pod(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": spec()}


def spec() -> dict[str, Any]:
    return {"containers": [{"name": "app", "image": "app", "resources": {"requests": {"cpu": "300m"}}}]}


def deployment(name: str, replicas: int) -> dict[str, Any]:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": spec()}
    return {
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


def test_a_day_at_the_terminal(plane: ControlPlane, terminal: Terminal) -> None:
    pods = f"/api/v1/namespaces/{SPACE}/pods"
    terminal.until("overview", "quotas", "live")
    # Created and deleted by somebody else.
    terminal.press(":", "pods", "Enter")
    terminal.until("overview > pods")
    create(plane, pods, pod("solo"))
    terminal.until("solo", "Burstable")
    plane.request("DELETE", f"{pods}/solo?gracePeriodSeconds=0")
    terminal.until("solo", gone=True)
    # Refused: the remedy stands on the first screen, and before the server's words.
    create(plane, f"/apis/apps/v1/namespaces/{SPACE}/deployments", deployment("web", 4))
    terminal.until("web-")
    terminal.press(":", "overview", "Enter")
    terminal.until("deploy/web", "refused: quota team is short by", "fix     raise")
    terminal.press("Enter")
    screen = terminal.until("overview > deployment/web", "fix     raise", "server ")
    assert screen.index("refused: ") < screen.index("fix     raise") < screen.index("server ")
    # The time line has it.
    terminal.press("t")
    terminal.until("> timeline", "FailedCreate", "Deployment/web", "exceeded quota: team")
    # A key right after an escape would be one with alt.
    terminal.press("Escape")
    terminal.until("timeline", gone=True)
    # The server dies: what was seen stays, and it is said how old it is.
    terminal.press(":", "quotas", "Enter")
    terminal.until("overview > quotas", "team")
    with without(plane, "kube-apiserver"):
        terminal.until("stale", "ctrl-r now", "team")
        terminal.press("Enter")
        terminal.until("overview > quotas > quota/team", "requests.cpu")
    # It is back: nobody has to start anew, and what came meanwhile is there.
    second = {"metadata": {"name": "second"}, "spec": {"hard": {"pods": "9"}}}
    create(plane, f"/api/v1/namespaces/{SPACE}/resourcequotas", second)
    terminal.press("Escape")
    terminal.until("> quota/team", gone=True)
    terminal.press("C-r")
    terminal.until("overview > quotas", "second", "live")
    # The terminal is left as it was.
    assert terminal.flag("alternate_on") == "1"
    terminal.press("C-c")
    terminal.until("gone 0")
    assert (terminal.flag("alternate_on"), terminal.flag("cursor_flag")) == ("0", "1")
