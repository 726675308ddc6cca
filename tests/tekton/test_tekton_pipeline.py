"""PipelineRuns: which task waits for which, names and numbers of runs, what is asked for at once, finished tasks."""

from __future__ import annotations

import pytest
from tekton.made import config, limit_range, pipelinerun, quota, taskrun, world

from kubectl_kres.tekton.model import PipelineRun
from kubectl_kres.tekton.rules.controller.resolve import Lookups
from kubectl_kres.tekton.rules.pipeline.pipeline_run import pipeline_run, progress
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import plan

ONE_CPU = {"steps": [{"name": "s", "computeResources": {"requests": {"cpu": "1"}}}]}


def peaks(run: PipelineRun, around=None, **more):
    """Amount and tasks by resource, ``finally`` marked."""
    answer = pipeline_run(run, around or world(), **more)
    return {
        (one.resource, "finally" if one.is_finally else "tasks"): (str(one.amount), one.tasks) for one in answer.peaks
    }


@pytest.mark.parametrize(
    ("task", "after"),
    [
        ({"runAfter": ["a", "b"]}, ("a", "b")),
        ({"params": [{"name": "p", "value": "x $(tasks.a.results.r) $(tasks.b.results['s'])"}]}, ("a", "b")),
        ({"params": [{"name": "p", "value": ["$(tasks.b.results.r[*])"]}], "runAfter": ["b"]}, ("b",)),
        ({"params": [{"name": "p", "value": {"k": "$(tasks.a.results.r)"}}]}, ("a",)),
        (
            {"when": [{"input": "$(tasks.a.results.r)", "operator": "in", "values": ["$(tasks.b.results.r)"]}]},
            ("a", "b"),
        ),
        ({"when": [{"cel": "'$(tasks.a.results.r)' == 'x'"}]}, ("a",)),
        ({"matrix": {"params": [{"name": "p", "value": "$(tasks.a.results.r[*])"}]}}, ("a",)),
        ({"matrix": {"include": [{"params": [{"name": "p", "value": "$(tasks.b.results.r)"}]}]}}, ("b",)),
        ({"params": [{"name": "p", "value": "$(params.tasks.a.results.r)"}]}, ()),
    ],
)
def test_what_a_task_waits_for(task, after):
    found = plan(pipelinerun([{"name": "a"}, {"name": "b"}, {"name": "c", **task}]), Lookups())
    assert found.graph["c"] == after
    assert found.cycle == ()


def test_a_cycle_is_named_and_has_no_peaks():
    run = pipelinerun([{"name": "a", "runAfter": ["b"]}, {"name": "b", "runAfter": ["a"]}])
    answer = pipeline_run(run, world())
    assert set(answer.plan.cycle) == {"a", "b"}
    assert answer.peaks == ()


MATRIX = {"params": [{"name": "os", "value": ["l", "w"]}, {"name": "v", "value": ["1", "2", "3"]}]}


@pytest.mark.parametrize(
    ("matrix", "number"),
    [
        (None, 1),
        ({}, 1),
        (MATRIX, 6),
        ({**MATRIX, "include": [{"params": [{"name": "os", "value": "l"}, {"name": "x", "value": "y"}]}]}, 6),
        ({**MATRIX, "include": [{"params": [{"name": "os", "value": "mac"}]}]}, 7),
        ({"include": [{"params": []}, {"params": []}]}, 2),
        ({"params": [{"name": "p", "value": "$(params.list[*])"}]}, 4),
        ({"params": [{"name": "p", "value": "$(params.default[*])"}]}, 2),
        ({"params": [{"name": "p", "value": "$(params.gone[*])"}]}, None),
        ({"params": [{"name": "p", "value": "$(tasks.a.results.r[*])"}]}, None),
        ({"params": [{"name": "p", "value": ["$(params.list[*])", "z"]}]}, 5),
        ({"params": [{"name": "p", "value": ["$(params.list)"]}]}, 4),
        ({"params": [{"name": "p", "value": "$(params.list)"}]}, None),
        ({"params": [{"name": "p", "value": "$(params['list'][*])"}]}, 4),
        ({"params": [{"name": "p", "value": ["$(params.list[0])", "$(params.text)"]}]}, 2),
        ({"params": [{"name": "p", "value": ["a", "$(tasks.a.results.r[*])"]}]}, None),
        ({"params": [{"name": "p", "value": ["$(params.gone[*])"]}]}, None),
    ],
)
def test_how_many_runs_a_matrix_makes(matrix, number):
    run = pipelinerun(
        [{"name": "m", **({"matrix": matrix} if matrix is not None else {})}],
        params=[{"name": "list", "value": ["a", "b", "c", "d"]}, {"name": "text", "value": "t"}],
        pipeline={"params": [{"name": "default", "default": ["a", "b"]}, {"name": "list", "default": []}]},
    )
    (task,) = plan(run, Lookups()).tasks
    assert task.number == number
    fans_out = bool(matrix)
    assert task.names == (tuple(f"pr-m-{index}" for index in range(number or 0)) if fans_out else ("pr-m",))


@pytest.mark.parametrize(
    "matrix",
    [
        {"params": [{"name": "p", "value": ["x", "y"]}]},
        {"include": [{"params": [{"name": "p", "value": "x"}]}]},
    ],
)
def test_parameters_that_a_matrix_gives_are_given(matrix):
    """Each TaskRun is made with its combination: pipelinerun.go createTaskRuns, v1/matrix_types.go FanOut.

    And before: taskrun/validate_taskrun.go ValidateResolvedTask, which counts GetAllParams of the matrix as given.
    """
    task = {"steps": [{"name": "s", "image": "i"}], "params": [{"name": "p"}]}
    answer = pipeline_run(pipelinerun([{"name": "m", "taskSpec": task, "matrix": matrix}]), world())
    (result,) = answer.results["m"]
    assert result.problem is None
    assert [one.name for one in result.submitted.spec.containers] == ["step-s"]


def test_what_is_asked_for_at_once():
    tasks = [
        {"name": "a", "taskSpec": ONE_CPU},
        {
            "name": "b",
            "taskSpec": ONE_CPU,
            "runAfter": ["a"],
            "matrix": {"params": [{"name": "p", "value": ["x", "y"]}]},
        },
        {"name": "c", "taskSpec": ONE_CPU, "runAfter": ["a"]},
        {"name": "d"},
    ]
    run = pipelinerun(tasks, [{"name": "f", "taskSpec": ONE_CPU}, {"name": "g"}])
    assert peaks(run) == {
        ("count/pods", "tasks"): ("4", ("b", "c", "d")),
        ("count/pods", "finally"): ("2", ("f", "g")),
        ("cpu", "tasks"): ("3", ("b", "c")),
        ("cpu", "finally"): ("1", ("f",)),
        ("pods", "tasks"): ("4", ("b", "c", "d")),
        ("pods", "finally"): ("2", ("f", "g")),
        ("requests.cpu", "tasks"): ("3", ("b", "c")),
        ("requests.cpu", "finally"): ("1", ("f",)),
    }


def test_finished_and_skipped_tasks_ask_for_nothing():
    ended = {"conditions": [{"type": "Succeeded", "status": "True"}]}
    status = {
        "childReferences": [{"kind": "TaskRun", "name": "pr-a", "pipelineTaskName": "a"},
                            {"kind": "TaskRun", "name": "pr-b", "pipelineTaskName": "b"}],
        "skippedTasks": [{"name": "c"}],
    }  # fmt: skip
    run = pipelinerun([{"name": name} for name in "abcd"], status=status)
    children = {"pr-a": taskrun(name="pr-a", status=ended), "pr-b": taskrun(name="pr-b")}
    assert pipeline_run(run, world(), children=children).finished == {"a", "c"}
    assert peaks(run, children=children)["pods", "tasks"] == ("2", ("b", "d"))


def test_a_pod_that_is_refused_for_good_asks_for_nothing_one_that_waits_does():
    tasks = [{"name": "a", "taskSpec": ONE_CPU}, {"name": "b"}]
    assert peaks(
        pipelinerun(tasks), world(quota("q", {"requests.cpu": "0"}), limit_range("l", defaultRequest={"cpu": "1"}))
    )["pods", "tasks"] == ("2", ("a", "b"))
    assert peaks(pipelinerun(tasks), world(limit_range("l", max={"cpu": "100m"})))["pods", "tasks"] == ("1", ("b",))


def test_a_number_that_is_not_known_counts_once_and_says_so():
    run = pipelinerun([{"name": "m", "matrix": {"params": [{"name": "p", "value": "$(tasks.x.results.r[*])"}]}}])
    (peak,) = [one for one in pipeline_run(run, world()).peaks if one.resource == "pods"]
    assert (str(peak.amount), peak.at_least) == ("1", True)


def test_values_come_from_the_last_entry_and_templates_from_all():
    entries = [
        {
            "pipelineTaskName": "a",
            "computeResources": {"requests": {"cpu": "1"}},
            "podTemplate": {"runtimeClassName": "x"},
        },
        {"pipelineTaskName": "b", "podTemplate": {"runtimeClassName": "no"}},
        {
            "pipelineTaskName": "a",
            "stepSpecs": [{"name": "s", "computeResources": {"requests": {"cpu": "2"}}}],
            "timeout": "1m",
        },
    ]
    run = pipelinerun([{"name": "a", "timeout": "5m"}, {"name": "b", "timeout": "2m"}], taskRunSpecs=entries,
                      taskRunTemplate={"podTemplate": {"priorityClassName": "high"}})  # fmt: skip
    first, second = (one.run.spec for one in plan(run, Lookups()).tasks)
    assert first.compute_resources is None
    assert first.step_specs[0].name == "s"
    assert (first.timeout, second.timeout) == ("1m", "2m")
    assert (first.pod_template.runtime_class_name, first.pod_template.priority_class_name) == ("x", "high")
    (one,) = pipeline_run(run, world()).results["a"]
    (last,) = [entry for entry in one.journal if getattr(entry, "rule", "") == "tekton/step-spec"]
    assert (str(last.source.ref), last.source.field) == (
        "PipelineRun/pr",
        "spec.taskRunSpecs[2].stepSpecs[0].computeResources.requests[cpu]",
    )


def test_a_task_that_the_webhook_refuses():
    entry = {"pipelineTaskName": "a", "computeResources": {"requests": {"cpu": "1"}}}
    stable = world(settings=config(enable_api_fields="stable"))
    (one,) = pipeline_run(pipelinerun([{"name": "a"}], taskRunSpecs=[entry]), stable).results["a"]
    assert (one.problem.stage, one.problem.rule) == ("validation", "tekton/api-fields")


@pytest.mark.parametrize(
    ("flag", "workspaces", "number"),
    [
        ("workspaces", [{"name": "w", "volumeClaimTemplate": {"spec": {}}}, {"name": "v", "emptyDir": {}}], 1),
        ("workspaces", [{"name": str(index), "persistentVolumeClaim": {"claimName": "x"}} for index in range(2)], 1),
        ("pipelineruns", [], 1),
        ("isolate-pipelinerun", [{"name": "w", "emptyDir": {}}], 1),
        ("disabled", [{"name": "w", "persistentVolumeClaim": {"claimName": "x"}}], 0),
    ],
)
def test_affinity_assistants(flag, workspaces, number):
    run = pipelinerun([{"name": "a"}], workspaces=workspaces)
    found = pipeline_run(run, world(settings=config(coschedule=flag))).assistants
    assert len({one.name for one in found}) == number


def test_hundreds_of_tasks():
    tasks = [{"name": f"t{index}", "runAfter": [f"t{index - 20}"] if index >= 20 else []} for index in range(200)]
    assert peaks(pipelinerun(tasks))["pods", "tasks"][0] == "20"


@pytest.mark.parametrize(("failed", "reason"), [(0, "Running"), (1, "PipelineRunStopping")])
def test_the_condition_while_tasks_are_left(failed, reason):
    assert progress(failed, 1, failed) == (
        "Unknown",
        reason,
        f"Tasks Completed: {failed} (Failed: {failed}, Cancelled 0), Incomplete: 1, Skipped: 0",
    )


def test_a_run_has_to_give_what_its_pipeline_has_no_default_for():
    run = pipelinerun(
        [{"name": "a", "taskSpec": ONE_CPU}], pipeline={"params": [{"name": "x"}, {"name": "y", "default": "1"}]}
    )
    problem = pipeline_run(run, world()).plan.problem
    assert (problem.reason, problem.status) == ("ParameterMissing", "False")
    assert problem.message.endswith("pipelineRun missing parameters: [x]")
