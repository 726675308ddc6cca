"""Runbooks on a real server: the state is broken, the page's command is asked, its remedy applied, the last step ends.

Pages on Tekton and Capsule need controllers that do not run here: their commands run on the bundled example.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

BOOKS = Path(__file__).parents[2] / "docs" / "runbooks"
Shell = Callable[..., "subprocess.CompletedProcess[str]"]


def typed(page: str, part: str, namespace: str) -> list[str]:
    """The commands of a part of a page, for the namespace of the test."""
    text = (BOOKS / page).read_text().partition(f"## {part}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [re.sub(r"\bshop\b", namespace, line) for line in lines]


@pytest.fixture
def shell(plugin_env: dict[str, str], tmp_path: Path) -> Shell:
    def run(command: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["sh", "-c", command],
            env=plugin_env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )
        assert code is None or done.returncode == code, (command, done.stdout, done.stderr)
        return done

    return run


@pytest.fixture
def put(controlplane: Any, namespace: str) -> Callable[..., None]:
    def make(root: str, plural: str, name: str, spec: Any) -> None:
        body = {"metadata": {"name": name}, "spec": spec}
        status, answer = controlplane.request("POST", f"{root}/namespaces/{namespace}/{plural}", body)
        assert status == 201, answer

    return make


def quota(put: Callable[..., None], **hard: str) -> None:
    put("/api/v1", "resourcequotas", "team", {"hard": {name.replace("_", "."): value for name, value in hard.items()}})


def web(put: Callable[..., None], replicas: int, resources: Any, **spec: Any) -> None:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "image": "i", "resources": resources}]},
    }
    put(
        "/apis/apps/v1",
        "deployments",
        "web",
        {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template, **spec},
    )


def asked(shell: Shell, page: str, namespace: str, word: str) -> str:
    """What the page's first command prints, once it says the word: controllers need a moment."""
    (command, *_) = typed(page, "Ask", namespace)
    for _ in range(60):
        found = shell(command, None).stdout
        if word in found:
            return found
        time.sleep(1)
    raise AssertionError((command, found))


def remedied(shell: Shell, namespace: str) -> None:
    """Runs the commands of the first remedy."""
    answer = json.loads(shell(f"kubectl kres explain deploy/web -n {namespace} -o json").stdout)["items"][0]
    commands = answer["remedies"][0]["commands"]
    assert commands, answer["remedies"]
    for command in commands:
        shell(command)


def worked(shell: Shell, page: str, namespace: str) -> None:
    for command in typed(page, "Worked", namespace):
        shell(re.sub(r"--timeout \w+", "--timeout 90s", command))


def test_quota_refuses(shell: Shell, put: Callable[..., None], namespace: str):
    quota(put, requests_memory="600Mi")
    time.sleep(2)
    web(put, 3, {"requests": {"memory": "512Mi"}})
    assert "requests.memory" in asked(shell, "quota-refuses.md", namespace, "refused")
    remedied(shell, namespace)
    worked(shell, "quota-refuses.md", namespace)
    assert "0 of" not in shell(f"kubectl kres quota --denied -n {namespace}").stdout.partition("refused")[2]


def test_must_specify(shell: Shell, put: Callable[..., None], namespace: str):
    quota(put, limits_cpu="4")
    time.sleep(2)
    web(put, 1, {"requests": {"cpu": "50m"}})
    assert "requires limits.cpu" in asked(shell, "must-specify.md", namespace, "refused")
    remedied(shell, namespace)
    worked(shell, "must-specify.md", namespace)


def test_rollout_stuck(shell: Shell, put: Callable[..., None], namespace: str):
    quota(put, requests_memory="256Mi")
    time.sleep(2)
    strategy = {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
    web(put, 2, {"requests": {"memory": "128Mi"}}, strategy=strategy)
    time.sleep(3)
    shell(f"kubectl set env deploy/web -n {namespace} A=1")
    assert "stuck" in asked(shell, "rollout-stuck.md", namespace, "stuck")
    remedied(shell, namespace)
    worked(shell, "rollout-stuck.md", namespace)


def test_policy_refuses(shell: Shell, put: Callable[..., None], namespace: str):
    shell(f"kubectl label namespace {namespace} pod-security.kubernetes.io/enforce=restricted")
    web(put, 1, {})
    assert "restricted" in asked(shell, "policy-refuses.md", namespace, "restricted")
    for command in typed("policy-refuses.md", "Do", namespace):
        shell(command)
    worked(shell, "policy-refuses.md", namespace)


def test_who_changed_my_limits(shell: Shell, put: Callable[..., None], namespace: str):
    put("/api/v1", "limitranges", "defaults", {"limits": [{"type": "Container", "default": {"memory": "256Mi"}}]})
    web(put, 1, {})
    assert "LimitRange/defaults" in asked(shell, "who-changed-my-limits.md", namespace, "set by")
    shell(f"kubectl set resources deploy/web -n {namespace} -c app --limits memory=256Mi --requests memory=256Mi")
    worked(shell, "who-changed-my-limits.md", namespace)


def test_before_lowering_a_limitrange(shell: Shell, put: Callable[..., None], namespace: str, tmp_path: Path):
    web(put, 1, {"limits": {"memory": "512Mi"}, "requests": {"memory": "512Mi"}})
    bound = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "bounds"}}
    for limit, outcome in (("256Mi", 1), ("1Gi", 0)):
        spec = {"limits": [{"type": "Container", "max": {"memory": limit}}]}
        (tmp_path / "limitrange.yaml").write_text(json.dumps({**bound, "spec": spec}))
        if outcome:
            assert "Deployment/web" in asked(shell, "before-lowering-a-limitrange.md", namespace, "Worse")
        (command,) = typed("before-lowering-a-limitrange.md", "Worked", namespace)
        shell(command, outcome)


def test_oomkilled(shell: Shell, put: Callable[..., None], namespace: str):
    web(put, 1, {"limits": {"memory": "128Mi"}})
    assert "128Mi" in asked(shell, "oomkilled.md", namespace, "set by")
    for command in typed("oomkilled.md", "Do", namespace):
        shell(command)
    (command,) = typed("oomkilled.md", "Worked", namespace)
    assert shell(command).stdout == "1Gi"


@pytest.mark.parametrize("page", ["claim-waits.md", "taskrun-waits.md"])
def test_pages_of_controllers_that_do_not_run_here(shell: Shell, page: str):
    text = (BOOKS / page).read_text()
    (command,) = re.findall(r"```console\n\$ (kubectl kres .*)\n", text)
    assert shell(command).stdout
