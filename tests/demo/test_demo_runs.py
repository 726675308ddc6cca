"""Tekton's part of the bundled demo: what is promised of it, and that the engine says of each run what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.model import PipelineRun, Step, TaskRun
from kubectl_kres.tekton.reports.world import tekton_world
from kubectl_kres.tekton.rules.base.variables import pod_name
from kubectl_kres.tekton.rules.controller.taskrun import RunResult, task_run
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import Plan, plan
from kubectl_kres.tekton.snapshot import HIDDEN

#: Every TaskRun of the demo with the reason of its condition.
FARES = {
    "ci/build-api-9c4f": "Running",
    "ci/build-web-2b1d": "TaskRunValidationFailed",
    "ci/integration-12": "ExceededResourceQuota",
    "ci/load-test-7": "PodCreationFailed",
    "ci/package-api-9c4f": "Running",
    "ci/release-41-image": "Running",
    "ci/release-41-lint": "Succeeded",
    "ci/release-41-unit": "Running",
    "ci-sandbox/try-1": "Running",
}
ASK = EvaluationOptions(read_yaml=yaml.safe_load)


def run(store: Store, key: str) -> TaskRun:
    space, _, name = key.partition("/")
    found: TaskRun = store.get("TaskRun", name, space)
    return found


def results(store: Store, key: str) -> tuple[RunResult, ...]:
    """What the engine says of a run; its pod, if it still runs, is in the quotas already."""
    one = run(store, key)
    space = one.metadata.namespace
    found = task_run(one, tekton_world(store, space, ASK), counted=FARES[key] == "Running")
    assert isinstance(found, tuple)
    return found


def test_how_each_run_fares(store: Store):
    runs: list[TaskRun] = list(store.all("TaskRun"))
    said = {f"{one.metadata.namespace}/{one.metadata.name}": one.status.conditions[0].reason for one in runs}
    assert said == FARES


@pytest.mark.parametrize("key", FARES)
def test_the_engine_says_what_the_server_did(store: Store, key: str):
    """Of a refused run the very condition; of one that has a pod the values of its containers."""
    one, found = run(store, key), results(store, key)
    if one.status.pod_name:
        pod = store.get("Pod", one.status.pod_name, one.metadata.namespace)
        assert pod.metadata.name == pod_name(one.metadata.name)
        live = {held.name: held.resources for held in (*pod.spec.init_containers, *pod.spec.containers)}
        assert any(values(result) == {name: given(held) for name, held in live.items()} for result in found)
    else:
        [condition] = one.status.conditions
        assert [result.condition for result in found] == [(condition.status, condition.reason, condition.message)]


def values(result: RunResult) -> dict[str, Any]:
    """Requests and limits of the pod's containers by name."""
    spec = result.stored_run["spec"]
    held = (*spec.get("initContainers", ()), *spec["containers"])
    return {one["name"]: one.get("resources", {}) for one in held}


def given(resources: Any) -> dict[str, Any]:
    sides = {"requests": resources.requests, "limits": resources.limits}
    return {side: dict(amounts) for side, amounts in sides.items() if amounts}


def test_one_runs_on_task_level(store: Store):
    """Three steps share what the run asks for; of CPU a thousandth is lost."""
    one = run(store, "ci/package-api-9c4f")
    assert one.spec.compute_resources.requests == {"cpu": "400m", "memory": "384Mi"}
    pod = store.get("Pod", one.status.pod_name, "ci")
    assert [container.resources.requests for container in pod.spec.containers] == [
        {"cpu": "133m", "memory": "128Mi"}
    ] * 3


def test_two_limit_ranges_leave_two_results(store: Store):
    assert len(list(store.all("LimitRange", "ci-sandbox"))) == 2
    limits = [values(result)["step-first"]["limits"]["memory"] for result in results(store, "ci-sandbox/try-1")]
    assert sorted(limits) == ["128Mi", "512Mi"]


def test_a_pipeline_in_progress(store: Store):
    [one] = store.all("PipelineRun")
    assert isinstance(one, PipelineRun)
    assert one.status.conditions[0].reason == "Running"
    made = {child.pipeline_task_name: child.name for child in one.status.child_references}
    assert made == {name: f"release-41-{name}" for name in ("lint", "unit", "image")}
    for name in made.values():
        assert [owner.uid for owner in run(store, f"ci/{name}").metadata.owner_references] == [one.metadata.uid]
    found = plan(one, tekton_world(store, "ci", ASK).lookups)
    assert isinstance(found, Plan)
    assert {task.name for task in found.tasks} - made.keys() == {"deploy", "notify"}


def test_times(store: Store):
    """What waits for a quota has not started; what is over has an end."""
    started = {key: run(store, key).status.start_time is not None for key in FARES}
    assert [key for key, there in started.items() if not there] == ["ci/integration-12"]
    ended = {key for key in FARES if run(store, key).status.completion_time}
    assert ended == {"ci/build-web-2b1d", "ci/load-test-7", "ci/release-41-lint"}


def test_configuration(store: Store):
    found = tekton_world(store, "ci", ASK).config
    assert (found.version, found.timeout_minutes) == ((1, 15, 0), 90)
    assert found.entries.keys() == {"prepare", "place-scripts", "prefix-sidecar"}


def test_no_texts_of_steps(store: Store):
    """That a step has a script or a command is kept, not what it says."""
    held = list(steps(store))
    words = {word for step in held for word in (*(step.command or ()), *(step.args or ()))}
    assert words == {HIDDEN}
    assert {step.script for step in held} == {"", HIDDEN}


def steps(store: Store) -> Iterator[Step]:
    for task in store.all("Task"):
        yield from task.spec.steps
    for one in store.all("TaskRun"):
        yield from one.status.task_spec.steps
