"""What is said of PipelineRuns: each task, what runs at once against quotas, assistants, what is missing."""

from __future__ import annotations

import time
from typing import Any

import pytest
from reports.runs import BUSY, LIMITS, WAITS, config, piece, pipeline_run, run, step, task
from reports.stored import advised, made, store_of, subject

from kubectl_kres.errors import ClusterError, Forbidden, UsageError
from kubectl_kres.render.verdict.object_list import PrintedTable
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.store.store import Coverage, ReadRequest
from kubectl_kres.tekton.reports.explain_pipeline import explain_pipeline
from kubectl_kres.tekton.reports.needs import pipeline_needs
from kubectl_kres.tekton.reports.pipeline import PipelineExplanation
from kubectl_kres.tekton.text import pipeline as render

ASK = EvaluationOptions(now="2026-11-20T03:10:00Z")
FILLED = config('{"prepare": {"requests": {"cpu": "10m"}}}')


def told(*objects: Any, name: str = "PipelineRun/p") -> PipelineExplanation:
    return explain_pipeline(store_of(*objects), subject(name), ASK)


def peaks(found: PipelineExplanation, resource: str = "requests.cpu") -> list[tuple[str, tuple[str, ...], bool]]:
    return [(one.amount, one.tasks, one.is_finally) for one in found.at_once if one.resource == resource]


def test_parallel_tasks_add_up_and_finally_stands_apart():
    tasks = (piece("a"), piece("b", "a"), piece("c", "a"), piece("d", "b", "c", cpu="1500m"))
    found = told(pipeline_run("p", *tasks, last=[piece("e", cpu="500m")]))
    assert peaks(found) == [("2", ("b", "c"), False), ("500m", ("e",), True)]


def test_a_matrix_is_multiplied_and_an_unknown_one_counts_once():
    os = {"matrix": {"params": [{"name": "os", "value": ["x", "y", "z"]}]}}
    unknown = {"matrix": {"params": [{"name": "os", "value": "$(tasks.a.results.all[*])"}]}}
    found = told(pipeline_run("p", piece("a", **os), piece("b", "a", **unknown)))
    assert peaks(found)[0] == ("3", ("a",), False)
    assert [one.runs for one in found.tasks] == [3, None]
    assert any("?" in line for line in render.lines(found))


def test_all_together_is_held_against_the_quota():
    run_ = pipeline_run("p", piece("a", cpu="300m"), piece("b", cpu="400m"))
    found = told(BUSY, FILLED, run_)
    one = next(one for one in found.at_once if one.resource == "requests.cpu")
    assert (one.quota, one.amount, one.used, one.hard, one.after) == ("team", "700m", "1500m", "2", "2200m")
    assert one.exceeded
    assert found.verdict.allowed is True, "each of them fits alone"
    text = [*render.lines(found)]
    assert text[0] == "admitted: ns/PipelineRun/p, but not all at once: requests.cpu of quota team"
    assert "which task is first is chance" in " ".join(" ".join(text).split())


def test_pods_that_are_there_are_counted_already():
    tasks = (piece("a", cpu="300m"), piece("b", cpu="400m"))
    child = run("p-a", status={"podName": "p-a-pod"}, owner="p", taskSpec=tasks[0]["taskSpec"], taskRef=None)
    references = [{"kind": "TaskRun", "name": "p-a", "pipelineTaskName": "a"}]
    found = told(BUSY, FILLED, child, pipeline_run("p", *tasks, status={"childReferences": references}))
    one = next(one for one in found.at_once if one.resource == "requests.cpu")
    assert (one.counted, one.after, one.exceeded) == ("300m", "1900m", False)
    assert [task.state for task in found.tasks] == ["running", ""]


def test_a_quota_of_taskruns_counts_all_that_the_run_makes():
    counts = {"count/taskruns.tekton.dev": "5"}
    used = {"count/taskruns.tekton.dev": "3"}
    quota = made("ResourceQuota", "objects", spec={"hard": counts}, status={"hard": counts, "used": used})
    matrix = {"matrix": {"params": [{"name": "x", "value": ["1", "2"]}]}}
    tasks = (piece("a"), piece("b", "a", **matrix))
    done = {"conditions": [{"type": "Succeeded", "status": "True"}]}
    child = run("p-a", status=done, owner="p")
    references = [{"kind": "TaskRun", "name": "p-a", "pipelineTaskName": "a"}]
    found = told(quota, child, pipeline_run("p", *tasks, last=[piece("c")], status={"childReferences": references}))
    (one,) = (one for one in found.at_once if one.quota == "objects")
    assert (one.amount, one.counted, one.used, one.after, one.exceeded) == ("4", "1", "3", "6", True)
    assert one.tasks == ("a", "b", "c")
    assert any("a TaskRun too many is refused" in line for line in render.lines(found))


def test_a_taskrun_that_a_quota_refuses_makes_the_run_a_refused_one():
    """The server: the PipelineRun stays Started, the second TaskRun is absent."""
    counting = {"count/taskruns.tekton.dev": "1"}
    quota = made(
        "ResourceQuota",
        "objects",
        spec={"hard": counting},
        status={"hard": counting, "used": dict.fromkeys(counting, "0")},
    )
    found = told(quota, pipeline_run("p", piece("a"), piece("b"), piece("c", "a")))
    words = [one.explanation.verdict.outcome for one in found.tasks]
    assert words == ["admitted", "refused", "refused"]
    assert found.verdict.outcome == "refused"
    assert found.verdict.message == (
        'task b: taskruns.tekton.dev "p-b" is forbidden: exceeded quota: objects, requested: '
        "count/taskruns.tekton.dev=1, used: count/taskruns.tekton.dev=1, limited: count/taskruns.tekton.dev=1"
    )


def test_what_has_ended_was_skipped_or_waits():
    tasks = [piece(name) for name in "abcd"]
    done = {"conditions": [{"type": "Succeeded", "status": "True"}], "podName": "x"}
    failed = {"conditions": [{"type": "Succeeded", "status": "False"}]}
    states = {"a": done, "b": failed, "c": WAITS}
    children = [run(f"p-{name}", status=one, owner="p") for name, one in states.items()]
    references = [{"kind": "TaskRun", "name": f"p-{name}", "pipelineTaskName": name} for name in states]
    status = {"childReferences": references, "skippedTasks": [{"name": "d"}]}
    found = told(*children, pipeline_run("p", *tasks, status=status))
    assert [one.state for one in found.tasks] == ["done", "failed", "waiting", "skipped"]
    assert peaks(found) == [("1", ("c",), False)]


def test_a_run_that_has_ended_asks_for_nothing_and_has_no_time():
    status = {"startTime": "2026-11-20T03:00:00Z", "conditions": [{"type": "Succeeded", "status": "True"}]}
    found = told(pipeline_run("p", piece("a"), status=status))
    assert (found.ended, found.seconds_left) == (True, None)
    assert any(line.startswith("ended:") for line in render.lines(found))


def test_a_run_that_has_failed_asks_no_quota_and_takes_a_new_one():
    failed = {"conditions": [{"type": "Succeeded", "status": "False", "reason": "Failed"}]}
    status = {**failed, "childReferences": [{"kind": "TaskRun", "name": "p-a", "pipelineTaskName": "a"}]}
    bound = made("LimitRange", "max", spec={"limits": [{"type": "Container", "max": {"cpu": "1"}}]})
    counting = {"count/taskruns.tekton.dev": "1"}
    full = made("ResourceQuota", "c", spec={"hard": counting}, status={"hard": counting, "used": counting})
    child = run("p-a", status=failed, owner="p")
    tasks = pipeline_run("p", piece("a", cpu="4"), piece("b", "a", cpu="4"), status=status)
    found = told(bound, full, BUSY, child, task("build", step("a", {"cpu": "4"})), tasks)
    assert [one.state for one in found.tasks] == ["failed", "skipped"]
    assert found.at_once == ()
    [way] = advised(found)
    assert way.startswith("task a: raise requests.cpu of quota team to 2500m and lower requests.cpu of step a ")
    assert way.endswith("then start a new run")
    assert next(render.lines(found)) == "failed: ns/PipelineRun/p: Failed"


@pytest.mark.parametrize(
    ("tasks", "message", "remedy"),
    [
        ((), "the Pipeline has no tasks", "give the Pipeline a task"),
        ((piece("a"), piece("a")), "several tasks are named a", "give each task a name of its own"),
        (({"name": "a"},), "task a neither names a Task", "give task a a taskRef or a taskSpec"),
        ((piece("a", "x"),), "task a comes after x, which is no task", "name a task of the Pipeline in task a"),
    ],
)
def test_a_pipeline_that_the_webhook_refuses(tasks: Any, message: str, remedy: str):
    found = told(pipeline_run("p", *tasks))
    assert found.verdict.allowed is False
    assert found.verdict.message.startswith(message)
    assert advised(found) == (remedy,)


def test_a_custom_task_is_no_taskrun():
    reference = {"apiVersion": "tekton.dev/v1", "kind": "Pipeline", "name": "q"}
    (one,) = told(pipeline_run("p", {"name": "a", "taskRef": reference})).tasks
    assert one.missing is not None
    assert one.missing.reason == "custom"


def test_values_come_from_the_last_entry_of_the_run():
    specs = [
        {"pipelineTaskName": "a", "computeResources": {"requests": {"cpu": "4"}}},
        {"pipelineTaskName": "a", "stepSpecs": [{"name": "a", "computeResources": {"requests": {"cpu": "3"}}}]},
    ]
    found = told(pipeline_run("p", piece("a"), taskRunSpecs=specs))
    value = found.tasks[0].explanation.containers[0].values[0]
    assert (value.value, value.rule) == ("3", "tekton/step-spec")
    assert value.source is not None
    assert str(value.source.ref) == "PipelineRun/p"
    assert value.source.field == "spec.taskRunSpecs[1].stepSpecs[0].computeResources.requests[cpu]"


def test_what_is_final_comes_before_what_waits():
    found = told(LIMITS, FILLED, BUSY, pipeline_run("p", piece("a"), piece("b", cpu="5")))
    assert found.verdict.allowed is False
    assert found.verdict.message.startswith("task b: failed to create task run pod")
    assert found.verdict.others[0].startswith("task a: TaskRun Pod exceeded available resources")
    [way] = advised(found)
    assert way.startswith(
        "task b: lower requests.cpu of step a of PipelineRun/p from 5 to 500m, then start a new run; task a: "
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"taskRunSpecs": [{"pipelineTaskName": "x"}]}, 'wrong taskName: "x"'),
        ({"pipelineSpec": {"tasks": [piece("a", "b"), piece("b", "a")]}}, "tasks wait for each other"),
        ({"pipelineSpec": {"tasks": [{"name": "b", "taskRef": {"name": "gone"}}]}},
         "Pipeline ns/p can't be Run; it contains Tasks that don't exist: Couldn't retrieve Task"),
        ({"pipelineRef": {"name": "gone"}, "pipelineSpec": None},
         'error when getting Pipeline for PipelineRun p: pipelines.tekton.dev "gone" not found'),
    ],
)  # fmt: skip
def test_a_run_of_which_nothing_runs(spec: Any, message: str):
    found = told(pipeline_run("p", piece("a"), **spec))
    assert found.verdict.allowed is False
    assert message in found.verdict.message
    shown = [*render.lines(found)]
    assert shown[shown.index("") + 1].startswith("fix ")


@pytest.mark.parametrize(
    ("member", "why"),
    [
        ({"taskRef": {"resolver": "bundles"}}, "resolver bundles"),
        ({"taskRef": {"name": "w", "apiVersion": "x.io/v1", "kind": "Wait"}}, "custom task"),
        ({"pipelineSpec": {"tasks": []}}, "pipeline in a pipeline"),
    ],
)
def test_a_task_that_is_not_known_is_said_and_left_out(member: Any, why: str):
    found = told(pipeline_run("p", piece("a"), {"name": "b", **member}))
    gap = found.tasks[1].missing
    assert gap is not None
    assert why in str(gap)
    assert found.verdict.allowed is True
    assert any("without b: not known" in line for line in render.lines(found))


@pytest.mark.parametrize(
    ("spec", "state", "error"),
    [
        ({"pipelineRef": {"name": "gone"}, "pipelineSpec": None}, "denied", Forbidden),
        ({"pipelineRef": {"resolver": "git"}, "pipelineSpec": None}, "read", ClusterError),
    ],
)
def test_a_pipeline_that_is_not_there_is_named(spec: Any, state: Any, error: type[ClusterError]):
    store = store_of(pipeline_run("p", **spec), unread=("Pipeline",))
    store.cover(ReadRequest("Pipeline", "ns", "gone"), Coverage(state, "no"))
    with pytest.raises(error):
        explain_pipeline(store, subject("PipelineRun/p"), ASK)


def test_an_assistant_that_a_limit_range_refuses_is_told():
    low = made("LimitRange", "low", spec={"limits": [{"type": "Container", "min": {"cpu": "100m"}}]})
    spaces = [{"name": "w", "persistentVolumeClaim": {"claimName": "c"}}]
    found = told(low, pipeline_run("p", piece("a"), workspaces=spaces))
    assert "minimum cpu usage per Container is 100m, but request is 50m" in found.assistants[0].refused[0]
    assert any("no status of a run says so" in line for line in render.lines(found))


def test_an_assistant_takes_its_part_of_a_quota_once():
    spaces = [{"name": "w", "persistentVolumeClaim": {"claimName": "c"}}]
    new = told(BUSY, FILLED, pipeline_run("p", piece("a", cpu="460m"), workspaces=spaces))
    begun = told(
        BUSY, FILLED,
        pipeline_run("p", piece("a", cpu="460m"), workspaces=spaces, status={"startTime": "2026-11-20T03:00:00Z"}),
    )  # fmt: skip
    after = [one.after for found in (new, begun) for one in found.at_once if one.resource == "requests.cpu"]
    assert after == ["2010m", "1960m"]


def test_a_pipeline_alone_is_run_with_defaults():
    store = (made("Pipeline", "p", spec={"tasks": [{"name": "a", "taskRef": {"name": "build"}}]}),
             task("build", step("x", {"cpu": "2"})))  # fmt: skip
    found = told(*store, name="Pipeline/p")
    assert peaks(found) == [("2", ("a",), False)]
    assert found.start == "Pipeline/p"


def test_one_task_in_full_and_one_that_is_not_there():
    found = told(pipeline_run("p", piece("a"), piece("b")))
    assert any("container step-a" in line for line in render.lines(found, task="b"))
    with pytest.raises(UsageError, match='no task "z"'):
        list(render.lines(found, task="z"))
    assert sum(line.startswith("task ") for line in render.lines(found, steps=True)) == 2


def test_many_tasks_are_one_list_and_few_are_read_by_name():
    def wanted(number: int) -> list[str]:
        members = [{"name": f"t{index}", "taskRef": {"name": f"t{index}"}} for index in range(number)]
        store = store_of(pipeline_run("p", *members))
        return [need.name for need in pipeline_needs(store, subject("PipelineRun/p")) if need.kind == "Task"]

    assert wanted(2) == ["t0", "t1"]
    assert wanted(9) == [""]


def test_two_hundred_tasks_take_bounded_time():
    members = [piece(f"t{index}", *([f"t{index - 20}"] if index >= 20 else [])) for index in range(200)]
    began = time.process_time()
    found = told(LIMITS, pipeline_run("p", *members))
    assert len(found.tasks) == 200
    assert peaks(found)[0][0] == "20"
    assert time.process_time() - began < 60


def test_hostile_names_stay_on_their_line():
    evil = "a\x1b]0;x\x07\nb"
    found = told(BUSY, pipeline_run("p", piece(evil), {"name": "b", "taskRef": {"name": evil}}))
    assert not [line for line in render.lines(found, steps=True) if "\x1b" in line or "\n" in line]
    assert not [line for line in PrintedTable().lines([render.row_of(found)], str) if "\x1b" in line]
