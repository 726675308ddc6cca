"""Names in working directories and pod templates, and the times that a PipelineRun leaves to its tasks."""

from __future__ import annotations

import pytest
from tekton.made import built, config, pipelinerun, taskrun, world

from kubectl_kres.tekton.rules.base.variables import replace_variables
from kubectl_kres.tekton.rules.controller.resolve import Lookups
from kubectl_kres.tekton.rules.pipeline.pipeline_run import pipeline_run
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import plan

PARAMS = [{"name": "src", "default": "/src"}, {"name": "rel", "default": "x"}, {"name": "at", "default": ["/a"]}]
WORKSPACES = [{"name": "w"}, {"name": "m", "mountPath": "/mnt"}, {"name": "o", "optional": True}]


def initial(pod) -> list[str]:
    return [one.name for one in pod.spec.init_containers or ()]


@pytest.mark.parametrize(
    ("directory", "made"),
    [
        ("$(params.src)", False),
        ("$(params['src'])/x", False),
        ("$(inputs.params.src)", False),
        ("$(params.at[0])", False),
        ("$(params.rel)", True),
        ("$(params.unknown)", True),
        ("$(workspaces.w.path)", True),
        ("$(workspaces.m.path)/x", False),
        ("$(workspaces.o.path)", False),
        ("$(workspaces.free.path)", True),
    ],
)
def test_where_a_directory_is_made(directory, made):
    spec = {"steps": [{"name": "a", "workingDir": directory}], "params": PARAMS, "workspaces": WORKSPACES}
    run = taskrun(taskSpec=spec, workspaces=[{"name": "w"}, {"name": "m"}, {"name": "free"}])
    one = built(run, world())
    assert ("working-dir-initializer" in initial(one.pod)) == made


def test_a_run_gives_other_values_than_the_task():
    spec = {"steps": [{"name": "a", "workingDir": "$(params.src)"}], "params": PARAMS}
    run = taskrun(taskSpec=spec, params=[{"name": "src", "value": "here"}, {"name": "class", "value": "kata"}],
                  podTemplate={"runtimeClassName": "$(params.class)", "priorityClassName": "$(params.no)"})  # fmt: skip
    one = built(run, world())
    assert "working-dir-initializer" in initial(one.pod)
    assert (one.pod.spec.runtime_class_name, one.pod.spec.priority_class_name) == ("kata", "$(params.no)")


def test_a_pipelines_values_reach_its_tasks():
    step = {"name": "a", "workingDir": "$(params.d)"}
    value = {"name": "d", "value": "$(params.base)/x"}
    given = {"taskSpec": {"steps": [step], "params": [{"name": "d"}]}, "params": [value]}
    seen = {"taskSpec": {"steps": [{**step, "workingDir": "$(params.base)"}]}}
    run = pipelinerun(
        [{"name": "given", **given}, {"name": "seen", **seen}], params=[{"name": "base", "value": "/src"}]
    )
    answer = pipeline_run(run, world())
    for name in ("given", "seen"):
        (one,) = answer.results[name]
        assert initial(one.submitted) == ["prepare"]


@pytest.mark.parametrize(
    ("timeouts", "single", "tasks", "last"),
    [
        ({}, None, 5400, 5400),
        ({"pipeline": "2h"}, None, 5400, 5400),
        ({"pipeline": "3h", "tasks": "2h"}, None, 10800, 5400),
        ({"pipeline": "3h", "finally": "30m"}, None, 13500, 5400),
        ({"pipeline": "3h", "tasks": "20m"}, None, 5400, 14400),
        ({"pipeline": "0", "tasks": "0"}, None, 2147483647, 5400),
        ({"pipeline": "3h", "tasks": "2h"}, "10m", 900, 5400),
    ],
)
def test_how_long_the_tasks_may_take(timeouts, single, tasks, last):
    piece = {"taskSpec": {"steps": [{"name": "a"}]}}
    # Of several entries for a task the last one counts as a whole.
    entries = [{"pipelineTaskName": "t", "timeout": "1m"}, {"pipelineTaskName": "t", "timeout": single}]
    run = pipelinerun([{"name": "t", **piece}], [{"name": "f", **piece}], timeouts=timeouts, taskRunSpecs=entries)
    answer = pipeline_run(run, world())
    assert [answer.results[name][0].submitted.spec.active_deadline_seconds for name in ("t", "f")] == [tasks, last]


def test_what_is_no_name_of_ours_stays():
    assert replace_variables("$(context.taskRun.name) $(HOME) $(params.a", {"params.a": "x"}) == (
        "$(context.taskRun.name) $(HOME) $(params.a"
    )


def test_entries_of_config_defaults_in_any_letters():
    around = world(settings=config({"default": {"Requests": {"cpu": "1"}, "requests": {"memory": "1Gi"}}}))
    one = built(taskrun(), around)
    assert one.pod.spec.containers[0].resources.requests == {"cpu": "1", "memory": "1Gi"}


def test_a_sidecar_without_a_name():
    one = built(taskrun(sidecars=[{"image": "i"}]), world())
    assert one.pod.spec.containers[-1].name == "sidecar"


def test_a_matrix_gives_what_is_not_known():
    task = {"taskSpec": {"steps": [{"name": "a"}], "params": [{"name": "m"}]},
            "matrix": {"params": [{"name": "m", "value": ["x", "y"]}]}}  # fmt: skip
    (one,) = plan(pipelinerun([{"name": "t", **task}]), Lookups()).tasks
    assert one.number == 2
