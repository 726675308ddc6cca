"""Runbooks on a real server: the state is broken, the page's command is asked, its remedy applied, the last step ends.

Neither Capsule nor Tekton runs here: what Capsule's controller made of the same steps was recorded from the real one,
and the condition of a waiting run is written as Tekton writes it.
"""

from __future__ import annotations

import json
import re
import secrets
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from controlplane import ControlPlane
from e2e.plugin import environment
from e2e.test_pools_plane import Estate

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
    return shell_in(plugin_env, tmp_path)


def shell_in(plugin_env: dict[str, str], tmp_path: Path) -> Shell:
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
    commands = answer["fixes"][0]["commands"]
    assert commands, answer["fixes"]
    for command in commands:
        shell(command)


def worked(shell: Shell, page: str, namespace: str, plane: Any | None = None) -> None:
    """The last step ends with 0; where it waits for readiness, not before pods run, as a kubelet would say.

    ``plane``: has no kubelet, so that the test says so.
    """
    for command in typed(page, "Worked", namespace):
        if plane is None or "--until ready" not in command:
            shell(re.sub(r"--timeout \w+", "--timeout 90s", command))
            continue
        shell(re.sub(r"--timeout \w+", "--timeout 3s", command), 1)
        over = threading.Event()
        kubelet = threading.Thread(target=run_pods, args=(plane, namespace, over))
        kubelet.start()
        try:
            shell(re.sub(r"--timeout \w+", "--timeout 90s", command))
        finally:
            over.set()
            kubelet.join()


def run_pods(plane: Any, namespace: str, over: threading.Event) -> None:
    """Says of every pod that it runs and is ready, until it is over."""
    pods = f"/api/v1/namespaces/{namespace}/pods"
    while not over.wait(0.5):
        for pod in plane.request("GET", pods, None)[1]["items"]:
            if pod["status"]["phase"] != "Running" and "deletionTimestamp" not in pod["metadata"]:
                plane.request("PUT", f"{pods}/{pod['metadata']['name']}/status", {**pod, "status": running(pod)})


def running(pod: Any) -> Any:
    """The status that a kubelet writes of a pod whose containers are ready."""
    now = pod["metadata"]["creationTimestamp"]
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": now}
        for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    ]
    containers = [
        {
            "name": container["name"], "image": "i", "imageID": "i", "ready": True, "started": True, "restartCount": 0,
            "state": {"running": {"startedAt": now}},
        }
        for container in pod["spec"]["containers"]
    ]  # fmt: skip
    return {**pod["status"], "phase": "Running", "conditions": conditions, "containerStatuses": containers}


def test_quota_refuses(shell: Shell, put: Callable[..., None], namespace: str, controlplane: ControlPlane):
    quota(put, requests_memory="600Mi")
    time.sleep(2)
    web(put, 3, {"requests": {"memory": "512Mi"}})
    assert "requests.memory" in asked(shell, "quota-refuses.md", namespace, "refused")
    remedied(shell, namespace)
    worked(shell, "quota-refuses.md", namespace, controlplane)
    assert "0 of" not in shell(f"kubectl kres quota --denied -n {namespace}").stdout.partition("refused")[2]


def test_must_specify(shell: Shell, put: Callable[..., None], namespace: str, controlplane: ControlPlane):
    quota(put, limits_cpu="4")
    time.sleep(2)
    web(put, 1, {"requests": {"cpu": "50m"}})
    assert "requires limits.cpu" in asked(shell, "must-specify.md", namespace, "refused")
    remedied(shell, namespace)
    worked(shell, "must-specify.md", namespace, controlplane)


def test_rollout_stuck(shell: Shell, put: Callable[..., None], namespace: str, controlplane: ControlPlane):
    quota(put, requests_memory="256Mi")
    time.sleep(2)
    strategy = {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
    web(put, 2, {"requests": {"memory": "128Mi"}}, strategy=strategy)
    time.sleep(3)
    shell(f"kubectl set env deploy/web -n {namespace} A=1")
    assert "stuck" in asked(shell, "rollout-stuck.md", namespace, "stuck")
    remedied(shell, namespace)
    worked(shell, "rollout-stuck.md", namespace, controlplane)


def test_policy_refuses(shell: Shell, put: Callable[..., None], namespace: str, controlplane: ControlPlane):
    shell(f"kubectl label namespace {namespace} pod-security.kubernetes.io/enforce=restricted")
    web(put, 1, {})
    assert "restricted" in asked(shell, "policy-refuses.md", namespace, "restricted")
    for command in typed("policy-refuses.md", "Do", namespace):
        shell(command)
    worked(shell, "policy-refuses.md", namespace, controlplane)


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


def test_oomkilled(shell: Shell, put: Callable[..., None], namespace: str, controlplane: ControlPlane):
    web(put, 1, {"limits": {"memory": "128Mi"}})
    assert "128Mi" in asked(shell, "oomkilled.md", namespace, "set by")
    for command in typed("oomkilled.md", "Do", namespace):
        shell(command)
    command, _ = typed("oomkilled.md", "Worked", namespace)
    assert shell(command).stdout == "1Gi"
    worked(shell, "oomkilled.md", namespace, controlplane)


def test_claim_waits(extended: ControlPlane, kubectl: Path, tmp_path: Path):
    """The claims before it are deleted, as the page proposes; the recording has what Capsule made of that."""
    estate = Estate(extended)
    estate.make()
    space = estate.name("a")
    shell = shell_in(environment(extended.kubeconfig, kubectl, tmp_path), tmp_path)

    def of_page(part: str) -> str:
        (command,) = typed("claim-waits.md", part, space)
        return command.replace("sweep", "c-large").replace("ml-training", space)

    assert shell(of_page("Ask")).stdout.startswith(f"exhausted: {space}/c-large of pool {estate.name('green')}\n")
    [claim] = json.loads(shell(f"{of_page('Ask')} -o json").stdout)["items"]
    first = claim["fixes"][0]
    commands = [deed["command"] for deed in first["actions"]]
    recorded = [f"kubectl delete resourcepoolclaim {name} -n {space}" for name in ("a", "b")]
    assert first["replayed"] and sorted(commands) == recorded
    # Nothing came of it yet.
    assert shell(re.sub(r"--timeout \w+", "--timeout 1s", of_page("Worked")), 1).returncode == 1
    for command in commands:
        shell(command)
    estate.expect = estate.case["expect"]
    estate.state()
    shell(re.sub(r"--timeout \w+", "--timeout 60s", of_page("Worked")))


def test_taskrun_waits(extended: ControlPlane, kubectl: Path, tmp_path: Path):
    """What Tekton writes to a run whose pod a quota refuses is written here; its pod is let in once there is room."""
    space = f"ci-{secrets.token_hex(3)}"
    shell = shell_in(environment(extended.kubeconfig, kubectl, tmp_path), tmp_path)

    def send(method: str, path: str, body: Any) -> Any:
        status, answer = extended.request(method, path, body)
        assert status in {200, 201}, answer
        return answer

    send("POST", "/api/v1/namespaces", {"metadata": {"name": space}})
    core, tekton = f"/api/v1/namespaces/{space}", f"/apis/tekton.dev/v1/namespaces/{space}"
    send("POST", f"{core}/resourcequotas", {"metadata": {"name": "runs"}, "spec": {"hard": {"requests.cpu": "500m"}}})
    defaults = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "10m"}}]}
    send("POST", f"{core}/limitranges", {"metadata": {"name": "defaults"}, "spec": defaults})
    step = {"name": "suite", "image": "i", "script": "true", "computeResources": {"requests": {"cpu": "1200m"}}}
    made = send("POST", f"{tekton}/taskruns", {
        "apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": {"name": "build"},
        "spec": {"taskSpec": {"steps": [step]}, "serviceAccountName": "default", "timeout": "1h0m0s"},
    })  # fmt: skip
    waits = {
        "type": "Succeeded",
        "status": "Unknown",
        "reason": "ExceededResourceQuota",
        "message": 'TaskRun Pod exceeded available resources: pods "build-pod" is forbidden: exceeded quota: runs, '
        "requested: requests.cpu=1200m, used: requests.cpu=0, limited: requests.cpu=500m",
        "lastTransitionTime": made["metadata"]["creationTimestamp"],
    }
    status = {"podName": "", "conditions": [waits], "startTime": made["metadata"]["creationTimestamp"]}
    send("PUT", f"{tekton}/taskruns/build/status", {**made, "status": status})

    def of_page(part: str) -> str:
        (command,) = typed("taskrun-waits.md", part, space)
        return re.sub(r"\bci\b", space, command)

    for _ in range(60):
        told = shell(of_page("Ask"), None).stdout
        if "requests.cpu=1200m" in told:
            break
        time.sleep(1)
    assert told.startswith(("refused: ", "blocked: ")), told
    [answer] = json.loads(shell(f"{of_page('Ask')} -o json").stdout)["items"]
    assert shell(re.sub(r"--timeout \w+", "--timeout 1s", of_page("Worked")), 1).returncode == 1
    # The first fix is for a new run; the second one makes room for this one.
    [commands] = [remedy["commands"] for remedy in answer["fixes"] if remedy["commands"]]
    for command in commands:
        shell(command)
    # There is room, and nothing runs yet.
    assert shell(re.sub(r"--timeout \w+", "--timeout 3s", of_page("Worked")), 1).returncode == 1
    container = {"name": "step-suite", "image": "i", "resources": {"requests": {"cpu": "1200m"}}}
    owner = {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "name": "build", "uid": made["metadata"]["uid"]}
    metadata = {"name": "build-pod", "ownerReferences": [{**owner, "controller": True}]}
    for _ in range(60):
        # The quota controller takes a moment to see the new hard.
        code, pod = extended.request(
            "POST", f"{core}/pods", {"metadata": metadata, "spec": {"containers": [container]}}
        )
        if code == 201:
            break
        time.sleep(1)
    assert code == 201, pod
    run = send("GET", f"{tekton}/taskruns/build", None)
    going = {**waits, "reason": "Running", "message": "Not all Steps in the Task have finished executing"}
    send(
        "PUT",
        f"{tekton}/taskruns/build/status",
        {**run, "status": {**status, "podName": "build-pod", "conditions": [going]}},
    )
    send("PUT", f"{core}/pods/build-pod/status", {**pod, "status": running(pod)})
    shell(re.sub(r"--timeout \w+", "--timeout 60s", of_page("Worked")))
