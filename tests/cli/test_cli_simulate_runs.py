"""``simulate`` of what Tekton's runs depend on: the next run's pod, before and after."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.running import Kres

DEFAULTS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: config-defaults, namespace: tekton-pipelines}
data:
  default-container-resource-requirements: |
    default: {requests: {cpu: 300m, memory: 128Mi}}
"""
TASK = """
apiVersion: tekton.dev/v1
kind: Task
metadata: {name: deploy, namespace: ci}
spec: {steps: [{name: render, image: example.test/x, computeResources: {requests: {memory: AMOUNT}}}]}
"""


def _changes(kres: Kres, words: str) -> dict[str, dict]:
    _, out, _ = kres(f"simulate --demo {words} -o json")
    return {
        f"{item['subject']['kind']}/{item['subject']['name']}": item
        for item in json.loads(out)["items"][0]["workloads"]
    }


def _explained(kres: Kres, words: str) -> dict[str, str]:
    _, out, _ = kres(f"explain --demo {words} -o json")
    result = {}
    for container in json.loads(out)["items"][0]["containers"]:
        for value in container["values"]:
            if value.get("value"):
                result[f"{container['name']}.{value['side']}.{value['resource']}"] = value["value"]
    return result


def test_new_defaults_of_tekton_reach_the_next_run_of_every_task(kres: Kres, tmp_path: Path):
    path = tmp_path / "config-defaults.yaml"
    path.write_text(DEFAULTS)
    changes = _changes(kres, f"-f {path}")
    assert {"Task/deploy", "TaskRun/try-1", "TaskRun/release-41-unit"} <= changes.keys()
    change = changes["Task/deploy"]
    assert change["nextBefore"]["values"] == _explained(kres, "task/deploy -n ci")
    assert change["nextAfter"]["values"] == _explained(kres, f"task/deploy -n ci -f {path}")
    assert change["nextAfter"]["values"]["step-render.requests.cpu"] == "300m"
    assert all(change["effect"] == "other" for change in changes.values())


def test_a_run_takes_its_task_as_it_is_then(kres: Kres, tmp_path: Path):
    path = tmp_path / "task.yaml"
    path.write_text(TASK.replace("AMOUNT", "96Mi").replace("deploy", "build"))
    changes = _changes(kres, f"-f {path}")
    assert changes.keys() == {"TaskRun/release-41-unit"}
    assert changes["TaskRun/release-41-unit"]["nextAfter"]["values"]["step-render.requests.memory"] == "96Mi"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("-f FILE", "less than or equal to memory limit of 256Mi"),
        ("--set task/deploy:spec.steps[render].computeResources.requests.memory=3Gi -n ci", "memory limit of 256Mi"),
        ("--set task/deploy:spec.steps[0].computeResources.requests.memory=3Gi -n ci", "memory limit of 256Mi"),
        ("--delete task/deploy -n ci", 'tasks.tekton.dev "deploy" not found'),
    ],
)
def test_a_run_that_would_be_refused_is_worse(kres: Kres, tmp_path: Path, words: str, text: str):
    path = tmp_path / "task.yaml"
    path.write_text(TASK.replace("AMOUNT", "3Gi"))
    code, out, _ = kres(f"simulate --demo {words.replace('FILE', str(path))} --exit-code")
    assert code == 1
    assert "ci  Task/deploy  next run, is refused" in out
    assert text in " ".join(out.split())


def test_a_limit_range_concerns_runs_of_its_namespace_alone(kres: Kres, tmp_path: Path):
    path = tmp_path / "limits.yaml"
    limits = "{limits: [{type: Container, max: {memory: 16Mi}}]}"
    path.write_text(f"{{apiVersion: v1, kind: LimitRange, metadata: {{name: small}}, spec: {limits}}}")
    _, out, _ = kres(f"simulate --demo -f {path} -n ci")
    assert "ci  TaskRun/release-41-lint  next run, is refused" in out
    assert "try-1" not in out
    _, out, _ = kres(f"simulate --demo -f {path} -n ci-sandbox")
    assert "ci-sandbox  TaskRun/try-1  next run, is refused" in out
    assert "release-41" not in out


def test_a_quota_that_is_lowered_refuses_the_next_run(kres: Kres):
    _, out, _ = kres("simulate --demo -n ci --set quota/runs:spec.hard.pods=1 --exit-code")
    assert "ci  TaskRun/release-41-lint  next run, is refused" in out
    assert "exceeded quota: runs, requested: pods=1" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("-f FILE", "Task step name must be a valid DNS Label"),
        ("--set task/deploy:spec.steps=5 -n ci", "denied the request: mutation failed"),
        ("--set cm/config-defaults:data=5 -n tekton-pipelines", "it cannot be read as a ConfigMap"),
        ("--delete task/nope -n ci", 'tasks.tekton.dev "nope" not found'),
    ],
)
def test_what_tektons_webhook_refuses_changes_nothing(kres: Kres, tmp_path: Path, words: str, text: str):
    path = tmp_path / "task.yaml"
    path.write_text(TASK.replace("AMOUNT", "96Mi").replace("name: render", "name: Render_X"))
    code, out, _ = kres(f"simulate --demo {words.replace('FILE', str(path))}")
    assert code == 1
    assert "step 1" in out
    assert text in " ".join(out.split())
    assert out.endswith("Nothing changes.\n")
