"""Which Task a run uses, where it is said to stand, and what is said of one that is not there."""

from __future__ import annotations

import msgspec
import pytest
from tekton.made import limit_range, pipelinerun, results, taskrun, world

from kubectl_kres.provenance.journal import Assumption, Set
from kubectl_kres.tekton.model import ChildReference
from kubectl_kres.tekton.rules.base.result import MissingReference
from kubectl_kres.tekton.rules.controller.resolve import Lookups
from kubectl_kres.tekton.rules.controller.taskrun import default_task_run, task_run
from kubectl_kres.tekton.rules.pipeline.pipeline_run import pipeline_run
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import default_pipeline_run as pipeline_alone
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import plan

BUILD = {"steps": [{"name": "a", "computeResources": {"requests": {"cpu": "1"}}}]}
OTHER = {"steps": [{"name": "a", "computeResources": {"requests": {"cpu": "2"}}}]}


def source(run, around):
    """The value of the first step and where it comes from."""
    (one,) = results(run, around)
    (entry,) = [entry for entry in one.journal if isinstance(entry, Set) and entry.rule == "tekton/step"]
    return entry.after, f"{entry.source.kind}/{entry.source.name} {entry.source.field.partition('.steps')[0]}"


@pytest.mark.parametrize(
    ("kept", "tasks", "expected"),
    [
        (None, {"build": BUILD}, ("1", "Task/build spec")),
        (BUILD, {"build": BUILD}, ("1", "Task/build spec")),
        (BUILD, {"build": OTHER}, ("1", "TaskRun/run status.taskSpec")),
        (BUILD, {}, ("1", "TaskRun/run status.taskSpec")),
    ],
)
def test_the_status_keeps_what_the_pod_was_made_from(kept, tasks, expected):
    run = taskrun(taskRef={"name": "build"}, status={"taskSpec": kept} if kept else None)
    assert source(run, world(tasks=tasks)) == expected


def test_a_remote_task_is_known_once_the_run_keeps_it():
    run = taskrun(taskRef={"resolver": "hub"}, status={"taskSpec": BUILD})
    assert source(run, world()) == ("1", "TaskRun/run status.taskSpec")


@pytest.mark.parametrize(
    ("ref", "gap", "text"),
    [
        (
            {"resolver": "git"},
            MissingReference("Task", "", "remote", "git"),
            "the Task comes from the resolver git and is not looked up",
        ),
        (
            {"name": "t", "bundle": "registry.example/x"},
            MissingReference("Task", "t", "remote", "bundles"),
            "Task t comes from the resolver bundles and is not looked up",
        ),
        (
            {"name": "w", "kind": "Wait", "apiVersion": "example.com/v1"},
            MissingReference("Wait", "w", "custom"),
            "Wait w is a custom task: its controller decides what runs",
        ),
        (
            {"name": "c", "kind": "ClusterTask"},
            MissingReference("ClusterTask", "c", "unreadable"),
            "ClusterTask c is not looked up: Tekton has no ClusterTasks any more, the resolver cluster does that now",
        ),
    ],
)
def test_what_is_missing_is_said(ref, gap, text):
    found = task_run(taskrun(taskRef=ref), world())
    assert found == gap
    assert str(found) == text
    (task,) = plan(pipelinerun([{"name": "a", "taskRef": ref}]), Lookups()).tasks
    assert (task.task, task.gap) == (None, gap)


def test_tasks_that_may_not_be_read():
    around = msgspec.structs.replace(world(), lookups=Lookups(partial={"Task": frozenset()}))
    assert task_run(taskrun(taskRef={"name": "t"}), around) == MissingReference("Task", "t", "unreadable")


@pytest.mark.parametrize(
    ("run", "actions", "reason", "text"),
    [
        (taskrun(taskRef={"name": "gone"}), {}, "TaskRunResolutionFailed",
         'error when listing tasks for taskRun run: tasks.tekton.dev "gone" not found'),
        (taskrun([{"name": "a"}, {"ref": {"name": "act"}}]), {}, "TaskRunResolutionFailed",
         'failed to resolve step ref for step "" (index 1): stepactions.tekton.dev "act" not found'),
        (taskrun([{"name": "a", "ref": {"name": "act"}, "params": [{"name": "x", "value": "1"}]}]),
         {"act": {"image": "i", "params": [{"name": "d"}]}}, "TaskRunResolutionFailed",
         'failed to resolve step ref for step "a" (index 0): extra params passed by Step to StepAction: [x]'),
        (taskrun([{"name": "a", "ref": {"name": "act"}}]),
         {"act": {"image": "i", "params": [{"name": "d"}, {"name": "e", "default": ""}]}}, "TaskRunResolutionFailed",
         'failed to resolve step ref for step "a" (index 0): non-existent params in Step: [d]'),
    ],
)  # fmt: skip
def test_what_does_not_exist_ends_a_run(run, actions, reason, text):
    around = world(actions=actions)
    (one,) = results(run, around)
    assert one.condition == ("False", reason, text)
    had = msgspec.structs.replace(run, status=msgspec.structs.replace(run.status, pod_name="run-pod"))
    found = task_run(had, around)
    assert isinstance(found, MissingReference) or found[0].problem is None, "a pod that was made had all of it"


@pytest.mark.parametrize("started", [True, False])
def test_a_task_that_does_not_exist_ends_a_pipeline_run(started):
    tasks = [{"name": "a", "taskRef": {"name": "build"}}, {"name": "b", "taskRef": {"name": "gone"}}]
    run = pipelinerun(tasks)
    children = (ChildReference("TaskRun", "pr-b", "b"),) if started else ()
    run = msgspec.structs.replace(run, status=msgspec.structs.replace(run.status, child_references=children))
    answer = pipeline_run(run, world(tasks={"build": BUILD}))
    assert bool(answer.results) is started
    assert started or (answer.plan.problem.reason, answer.plan.problem.status) == ("CouldntGetTask", "False")


def test_a_missing_pipeline():
    run = msgspec.structs.replace(pipelinerun([]), spec=pipeline_alone(_pipeline("gone")).spec)
    answer = pipeline_run(run, world())
    assert answer.plan.problem.reason == "CouldntGetPipeline"
    assert 'pipelines.tekton.dev "gone" not found' in answer.plan.problem.message


def _pipeline(name):
    around = world(pipelines={name: {"tasks": [{"name": "a", "taskRef": {"name": "build"}}]}})
    return around.lookups.pipelines[name]


def test_a_task_or_pipeline_alone_runs_with_defaults():
    around = world(tasks={"build": BUILD}, pipelines={"p": {"tasks": [{"name": "a", "taskRef": {"name": "build"}}]}})
    (one,) = task_run(default_task_run(around.lookups.tasks["build"]), around)
    assert one.submitted.spec.containers[0].resources.requests == {"cpu": "1"}
    answer = pipeline_run(pipeline_alone(around.lookups.pipelines["p"]), around)
    assert answer.results["a"][0].submitted.metadata.name == "p-a-pod"


def test_step_actions_give_what_is_run_but_no_resources():
    step = {"name": "a", "ref": {"name": "act"}, "computeResources": {"requests": {"cpu": "1"}}}
    act = {"script": "x", "workingDir": "sub", "computeResources": {"requests": {"cpu": "9"}}}
    (one,) = results(taskrun([step]), world(actions={"act": act}))
    assert [held.name for held in one.submitted.spec.init_containers] == [
        "prepare",
        "place-scripts",
        "working-dir-initializer",
    ]
    assert one.submitted.spec.containers[0].resources.requests == {"cpu": "1"}


def test_without_its_step_action_a_step_still_has_its_resources():
    step = {"name": "a", "ref": {"resolver": "hub"}, "computeResources": {"requests": {"cpu": "1"}}}
    (one,) = results(taskrun([step]), world(limit_range("l", max={"cpu": "500m"})))
    assert one.problem.reason == "PodCreationFailed"
    (remark,) = [entry for entry in one.journal if isinstance(entry, Assumption)]
    assert remark.code == "tekton/step-action-unknown"
    assert remark.text.startswith("the StepAction comes from the resolver hub")
