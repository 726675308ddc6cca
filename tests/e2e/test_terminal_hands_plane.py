"""Fast hands and a rough server in a real terminal: bursts, a paste, rights that go, ten thousand deletions at once,
hostile texts, a stopped process; the server is a real one with a scheduler.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from controlplane import BASIC_CONTROLLERS, WORKLOAD_CONTROLLERS, ControlPlane
from e2e.conftest import LIVELY, watched
from e2e.plugin import environment
from e2e.test_feed_plane import create
from e2e.test_rbac_plane import granted, wait_for_access
from e2e.test_terminal_plane import Terminal, pod

pytestmark = pytest.mark.e2e

#: Objects that are deleted at one stroke, and those who create them.
MANY, _HANDS = 10_000, 16
#: What a terminal would obey: its title, the screen, the order of letters.
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\u202edesrever\x07\r\x9b1m"
ROLE = {
    "kind": "Role",
    "metadata": {"name": "reads", "namespace": "kres-rights"},
    "rules": [{"apiGroups": ["", "apps"], "resources": ["*"], "verbs": ["get", "list", "watch"]}],
}


@pytest.fixture(scope="module")
def plane(assets: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    folder = tmp_path_factory.mktemp("hands")
    controllers = (*BASIC_CONTROLLERS, *WORKLOAD_CONTROLLERS)
    with watched(assets, folder, controllers=controllers, controller_args=LIVELY, scheduler=True) as running:
        yield running


@pytest.fixture
def started(plane: ControlPlane, kubectl: Path, tmp_path: Path) -> Iterator[Any]:
    """Starts the interface in a namespace of its own; ``words``: more of its command."""
    if shutil.which("tmux") is None:
        pytest.skip("there is no tmux")
    running: list[Terminal] = []

    def start(space: str, *words: str) -> Terminal:
        create(plane, "/api/v1/namespaces", {"metadata": {"name": space}})
        command = shlex.join([sys.executable, "-m", "kubectl_kres", "tui", "-n", space, *words])
        running.append(Terminal(command, environment(plane.kubeconfig, kubectl, tmp_path), tmp_path))
        return running[-1]

    yield start
    for terminal in running:
        terminal.close()


def put(plane: ControlPlane, space: str, item: dict[str, Any]) -> None:
    create(plane, f"/api/v1/namespaces/{space}/pods", item)


def patch(plane: ControlPlane, path: str, body: dict[str, Any]) -> None:
    status, answer = plane.request("PATCH", path, body, content_type="application/merge-patch+json")
    assert status == 200, answer


def held(name: str) -> dict[str, Any]:
    """A pod that no scheduler looks at."""
    found = pod(name)
    return {**found, "spec": {**found["spec"], "schedulerName": "nobody"}}


def test_keys_in_one_burst_and_a_paste_belong_to_the_screen_that_comes(plane: ControlPlane, started: Any) -> None:
    space = "kres-bursts"
    terminal = started(space)
    for name in ("web", "db"):
        put(plane, space, held(name))
    terminal.until("overview")
    terminal._tmux("send-keys", ":", "p", "o", "d", "s", "Enter", "/", "w", "e", "b", "Enter")
    screen = terminal.until("overview > pods", "filter web", "1 of 2 pods")
    assert " db " not in screen
    terminal.press("Escape")
    terminal.until("filter web", gone=True)
    terminal._tmux("send-keys", "/", "d", "b", "Enter", "Enter", "y")
    terminal.until("> pod/db", "[YAML]", "name: db")
    # A paste in brackets: its first line goes into the prompt, nothing of the rest is run.
    terminal._tmux("send-keys", ":")
    terminal._tmux("set-buffer", "pods\nquit\n")
    terminal._tmux("paste-buffer", "-p")
    terminal.until(":pods")
    terminal.press("Enter")
    terminal.until("overview > pods", "filter db", "1 of 2 pods")


def test_what_fits_no_node_says_what_the_nodes_lack(plane: ControlPlane, started: Any) -> None:
    space = "kres-nodes"
    allocatable = {"cpu": "1", "memory": "1Gi", "pods": "10"}
    create(plane, "/api/v1/nodes", {"metadata": {"name": "small"}})
    status = {"capacity": allocatable, "allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]}
    patch(plane, "/api/v1/nodes/small/status", {"status": status})
    # The server gives each new node the taint that it is not ready, which no kubelet takes away here.
    patch(plane, "/api/v1/nodes/small", {"spec": {"taints": None}})
    terminal = started(space)
    terminal.until("overview", "live")
    large = pod("large")
    large["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "4"}}
    put(plane, space, large)
    terminal.until("po/large", "no node: -", " cpu")
    terminal.press(":", "pods", "Enter")
    terminal.until("large", "Unschedulable")


def test_rights_go_and_come_back_while_it_runs(plane: ControlPlane, started: Any) -> None:
    space, user, asked = "kres-rights", "kres-hands", {"verb": "list", "resource": "pods", "namespace": "kres-rights"}
    granted(plane, ROLE, "kres-hands", [user])
    wait_for_access(plane, user, asked)
    terminal = started(space, "--as", user)
    put(plane, space, held("web"))
    terminal.press(":", "pods", "Enter")
    terminal.until("overview > pods", "web", "1 pod")
    binding = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{space}/rolebindings"
    plane.request("DELETE", f"{binding}/kres-hands")
    time.sleep(2)
    # A watch that runs goes on by the server's rules; what is read again is refused, and that is said with the rule.
    terminal.press("C-r")
    terminal.until("incomplete", "forbidden", "pods")
    subjects = [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "kres-hands"}
    create(plane, binding, {"metadata": {"name": "again"}, "roleRef": role, "subjects": subjects})
    wait_for_access(plane, user, asked)
    terminal.press("C-r")
    terminal.until("web", "1 pod")
    terminal.until("forbidden", gone=True)


def test_ten_thousand_pods_go_at_once(plane: ControlPlane, started: Any) -> None:
    space = "kres-many"
    pods = f"/api/v1/namespaces/{space}/pods"
    terminal = started(space)
    terminal.until("overview", "live")
    with ThreadPoolExecutor(_HANDS) as hands:
        list(hands.map(lambda at: put(plane, space, held(f"p-{at:05}")), range(MANY)))
    terminal.press(":", "pods", "Enter")
    terminal.until(f"{MANY:,} pods", "p-00000")
    with ThreadPoolExecutor(_HANDS) as hands:
        list(hands.map(lambda at: plane.request("DELETE", f"{pods}/p-{at:05}?gracePeriodSeconds=0"), range(MANY)))
    terminal.until(f"no pods in {space}", "live")
    # It has its hands free.
    put(plane, space, held("after"))
    terminal.until("after", "1 pod")


def test_hostile_texts_of_a_server_are_not_obeyed(plane: ControlPlane, started: Any) -> None:
    space = "kres-hostile"
    terminal = started(space)
    put(plane, space, held("web"))
    status = {"phase": "Failed", "reason": "Evicted", "message": HOSTILE}
    patch(plane, f"/api/v1/namespaces/{space}/pods/web/status", {"status": status})
    event = {
        "metadata": {"name": "web.1", "namespace": space},
        "involvedObject": {"kind": "Pod", "namespace": space, "name": "web", "apiVersion": "v1"},
        "reason": "FailedScheduling",
        "message": HOSTILE,
        "type": "Warning",
        "count": 1,
        "lastTimestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    create(plane, f"/api/v1/namespaces/{space}/events", event)
    title = terminal.flag("pane_title")
    for screen in ("pods", "timeline", "overview"):
        terminal.press(":", screen, "Enter")
        seen = terminal.until("web", "red", f"> {screen}" if screen != "overview" else "WORST FIRST", "kubectl kres")
        assert "\u202e" not in seen and "owned" not in terminal.flag("pane_title")
        assert len(seen.splitlines()) == 40
    assert terminal.flag("pane_title") == title


def test_a_stop_and_a_continuation_leave_a_whole_screen(started: Any) -> None:
    terminal = started("kres-stopped")
    before = terminal.until("overview", "live", "quotas")
    shell = int(terminal.flag("pane_pid"))
    found = subprocess.run(["pgrep", "-P", str(shell)], capture_output=True, text=True, check=True).stdout.split()
    program = int(found[0])
    os.kill(program, signal.SIGTSTP)
    time.sleep(1)
    assert Path(f"/proc/{program}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    terminal._tmux("clear-history")
    os.kill(program, signal.SIGCONT)
    after = terminal.until("overview", "live", "quotas")
    assert after.splitlines()[0].split()[:4] == before.splitlines()[0].split()[:4]
    terminal.press(":", "pods", "Enter")
    terminal.until("overview > pods", "no pods in kres-stopped")
    assert terminal.flag("alternate_on") == "1"
