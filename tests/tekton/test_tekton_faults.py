"""What the webhooks and the controller refuse beside values, in the words of Tekton 1.15 that was asked for them."""

from __future__ import annotations

from typing import Any

import pytest
from tekton.made import config, pipelinerun, results, taskrun, world

from kubectl_kres.tekton.rules.base.config import Flags, TektonConfig
from kubectl_kres.tekton.rules.controller.taskrun import default_task_run
from kubectl_kres.tekton.rules.pipeline.pipeline_run import pipeline_run
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import plan
from kubectl_kres.tekton.rules.validation.webhook import admit_object

STEP = {"name": "a", "image": "i"}
TASK = {"steps": [STEP]}
LABEL = "Task step name must be a valid DNS Label, For more info refer to https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names"
PIPELINE_LABEL = "Pipeline Task name must be a valid DNS Label.For more info refer to https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names"


def said(kind: str, spec: dict[str, Any], version: str = "v1", **flags: Any) -> str:
    """The webhook's message; empty if it takes the object."""
    meta = {"name": "x", "namespace": "ns"}
    raw = {"apiVersion": f"tekton.dev/{version}", "kind": kind, "metadata": meta, "spec": spec}
    return getattr(admit_object(raw, Flags(**flags)), "message", "").removeprefix("validation failed: ")


@pytest.mark.parametrize(
    ("spec", "v1", "beta"),
    [
        ({"steps": [STEP, STEP]}, "expected exactly one, got both: spec.steps[1].name",
         "invalid value: a: spec.steps[1].name"),
        ({"steps": [{**STEP, "name": "A"}]}, f'invalid value "A": spec.steps[0].name\n{LABEL}', ...),
        ({"steps": [{**STEP, "name": "a" * 63}]}, "", ...),
        ({"steps": [{**STEP, "name": "a" * 64}]}, f'invalid value "{"a" * 64}": spec.steps[0].name\n{LABEL}', ...),
        ({"steps": [{"name": "a"}]}, "missing field(s): spec.steps[0].Image", ...),
        ({"steps": [{"name": "a"}], "stepTemplate": {"image": "i"}}, "", ...),
        ({"steps": [{**STEP, "script": "x", "command": ["y"]}]},
         "script cannot be used with command: spec.steps[0].script", ...),
        ({"steps": [{**STEP, "script": "x"}], "stepTemplate": {"command": ["y"]}},
         "script cannot be used with command: spec.steps[0].script", ...),
        ({"steps": [{**STEP, "params": [{"name": "p", "value": "x"}]}]},
         "params cannot be used without Ref: spec.steps[0].params", ...),
        ({"steps": [{**STEP, "ref": {"name": "s"}, "workingDir": "x"}]},
         ("image cannot be used with Ref: spec.steps[0].image\n"
         "working dir cannot be used with Ref: spec.steps[0].workingDir"), ...),
        ({"steps": [{"ref": {"name": "s"}}], "stepTemplate": {"workingDir": "x", "image": "i"}}, "", ...),
        ({"steps": [{**STEP, "script": "#!win\ndir"}]},
         'windows script support requires "enable-api-fields" feature gate to be "alpha" but it is "beta": ', ...),
        ({"steps": [{**STEP, "args": ["$(step.artifacts.path)"]}]},
         "feature flag enable-artifacts should be set to true to use artifacts feature.: spec.steps[0]", ...),
        ({**TASK, "sidecars": [{"name": "s"}]}, "missing field(s): spec.sidecars.image", ""),
        ({**TASK, "sidecars": [{"name": "s", "image": "i", "script": "x", "command": ["y"]}]},
         "script cannot be used with command: spec.sidecars.script", ""),
        ({**TASK, "sidecars": [{"name": "tekton-log-results", "image": "i"}]},
         "Invalid: cannot use reserved sidecar name tekton-log-results : spec.sidecars.name",
         "Invalid: cannot use reserved sidecar name tekton-log-results : spec.sidecars"),
        ({**TASK, "resources": {"inputs": []}}, "", "must not set the field(s): spec.resources"),
    ],
)  # fmt: skip
def test_tasks(spec, v1, beta):
    assert said("Task", spec) == v1
    assert said("Task", spec, "v1beta1") == (v1 if beta is ... else beta)


def test_artifacts_where_they_are_allowed():
    assert not said("Task", {"steps": [{**STEP, "args": ["$(step.artifacts.path)"]}]}, artifacts=True)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"timeout": "-1h"}, "invalid value: -1h0m0s should be >= 0: spec.timeout"),
        ({"timeout": "10"}, 'mutation failed: cannot decode incoming new object: time: missing unit in duration "10"'),
        ({"timeout": 10}, "mutation failed: cannot decode incoming new object: json: cannot unmarshal number into Go struct field TaskRunSpec.spec.timeout of type string"),  # noqa: E501
        ({"retries": -1}, "invalid value: -1 should be >= 0: spec.retries"),
        ({"status": "Done"}, "invalid value: Done should be TaskRunCancelled or TaskRunPending: spec.status"),
        ({"status": "TaskRunPending"}, ""),
        ({"debug": {"breakpoints": {"beforeSteps": ["a"]}}},
         ("invalid value: onFailure breakpoint is empty, it is only allowed to be set as enabled: "
         "spec.debug.breakpoints.onFailure")),
        ({"debug": {"breakpoints": {"onFailure": "enabled", "beforeSteps": ["a", "a"]}}},
         ("before step must be unique, the same step: a is defined multiple times at: "
         "spec.debug.breakpoints.beforeSteps[1]")),
        ({"debug": {"breakpoints": {"onFailure": "no"}}},
         ("invalid value: no is not a valid onFailure breakpoint value, onFailure breakpoint is only allowed to be set "
         "as enabled: spec.debug.breakpoints.onFailure")),
        ({"taskSpec": None, "taskRef": {}}, "missing field(s): spec.taskRef.name"),
        ({"taskSpec": None, "taskRef": {"params": [{"name": "a", "value": "b"}]}},
         "missing field(s): spec.taskRef.resolver"),
    ],
)  # fmt: skip
def test_runs(spec, message):
    assert said("TaskRun", {"taskSpec": TASK, **spec}, api_fields="alpha") == message


@pytest.mark.parametrize(
    ("timeouts", "single", "message"),
    [
        ({}, "60m", ""),
        ({}, "90m", "1h30m0s should be <= pipeline duration 1h0m0s: spec.taskRunSpecs[0].timeout"),
        ({"pipeline": "2h", "tasks": "1h"}, "90m",
         "1h30m0s should be <= pipeline tasks duration 1h0m0s: spec.taskRunSpecs[0].timeout"),
        ({"tasks": "2h"}, None, "2h0m0s should be <= pipeline duration: spec.timeouts.tasks"),
        ({"tasks": "0"}, None, "0s (no timeout) should be <= pipeline duration: spec.timeouts.tasks"),
        ({"tasks": "50m", "finally": "20m"}, None,
         "50m0s + 20m0s should be <= pipeline duration: spec.timeouts.finally, spec.timeouts.tasks"),
        ({"pipeline": "3h", "tasks": "2h", "finally": "1h"}, None, ""),
        ({"pipeline": "-1s"}, None, "-1s should be >= 0: spec.timeouts.pipeline"),
    ],
)  # fmt: skip
def test_timeouts_of_pipelines(timeouts, single, message):
    spec = {"pipelineRef": {"name": "p"}, "timeouts": timeouts, "taskRunSpecs": [{"timeout": single}]}
    assert said("PipelineRun", spec) == (message and f"invalid value: {message}")


@pytest.mark.parametrize(
    ("tasks", "last", "message"),
    [
        ([{"name": "P"}], [], f'invalid value "P": spec.tasks[0].name\n{PIPELINE_LABEL}'),
        ([{"name": "p"}, {"name": "p"}], [],
         ("expected exactly one, got both: spec.tasks[1].name\ninvalid value: task p is already present in Graph, "
         "can't add it again: duplicate pipeline task: spec.tasks")),
        ([{"name": "p"}], [{"name": "p"}], "expected exactly one, got both: spec.finally[0].name"),
        ([{"name": "p", "taskSpec": None}], [],
         "expected exactly one, got neither: spec.tasks[0].taskRef, spec.tasks[0].taskSpec"),
        ([{"name": "p", "taskRef": {"name": "t"}}], [],
         "expected exactly one, got multiple: spec.tasks[0].taskRef, spec.tasks[0].taskSpec"),
        ([{"name": "p", "runAfter": ["q"]}], [],
         ("invalid value: couldn't add link between p and q: task p depends on q but q wasn't present in Pipeline: "
         "spec.tasks")),
        ([{"name": "p", "runAfter": ["q"]}, {"name": "q", "runAfter": ["p", "r"]}, {"name": "r"}], [],
         'invalid value: cycle detected; task "p" depends on "q": spec.tasks'),
        ([{"name": "p"}], [{"name": "f", "runAfter": ["p"]}],
         ("invalid value: no runAfter allowed under spec.finally, final task f has runAfter specified: "
         "spec.finally[0]")),
    ],
)  # fmt: skip
def test_pipelines(tasks, last, message):
    groups = {"tasks": tasks, "finally": last}
    spec = {field: [{"taskSpec": TASK, **one} for one in group] for field, group in groups.items()}
    assert said("Pipeline", spec) == message


@pytest.mark.parametrize(
    ("task", "spec", "message"),
    [
        ({"params": [{"name": "p"}, {"name": "q", "default": ""}, {"name": "r"}]}, {},
         "invalid input params for task run: missing values for these params which have no default values: [p r]"),
        ({"params": [{"name": "p", "type": "array"}]}, {"params": [{"name": "p", "value": []}]}, ""),
        ({"params": [{"name": "p", "type": "array"}, {"name": "q"}, {"name": "r", "default": "x"}]},
         {"params": [{"name": "p", "value": "x"}, {"name": "q", "value": {"k": "v"}}, {"name": "r", "value": [1]}]},
         "invalid input params for task run: param types don't match the user-specified type: [p q]"),
        ({"params": [{"name": "p", "type": "array"}]},
         {"params": [{"name": "p", "value": "$(tasks.t.results.r[*])"}]}, ""),
        ({"params": [{"name": "o", "properties": {"k": {}, "m": {}, "n": {}}, "default": {"n": "1"}}]},
         {"params": [{"name": "o", "value": {"k": "1"}}]},
         ("invalid input params for task run: missing keys for these params which are required in ParamSpec's "
         "properties map[o:[m]]")),
        ({"params": [{"name": "l", "type": "array", "default": ["a"]}],
          "steps": [{"name": "a", "image": "i", "args": ["$(params.l[0])", "$(params['l'][2])", "$(params.l[1])"]}]},
         {},
         "non-existent param references:[$(params.l[1]) $(params['l'][2])]"),
        ({"params": [{"name": "l", "type": "array", "default": ["a"]}],
          "steps": [{"name": "a", "image": "i", "args": ["$(params.l[1])"]}]},
         {"params": [{"name": "l", "value": ["a", "b"]}]}, ""),
        ({"workspaces": [{"name": "v", "optional": True}, {"name": "w"}]}, {},
         'declared workspace "w" is required but has not been bound'),
        ({"workspaces": [{"name": "w"}]}, {"workspaces": [{"name": "w"}, {"name": "more"}]}, ""),
    ],
)  # fmt: skip
def test_what_a_run_has_to_give(task, spec, message):
    (one,) = results(taskrun(**spec, taskSpec={**TASK, **task}))
    assert (one.problem.message if one.problem else "") == (message and f"[User error] {message}")


@pytest.mark.parametrize(
    ("claims", "coschedule", "refused"),
    [
        (["x", "y"], "workspaces", True),
        (["x", "x"], "workspaces", False),
        (["x", None], "workspaces", True),
        (["x", "y"], "disabled", False),
    ],
)
def test_workspaces_on_several_claims(claims, coschedule, refused):
    bound = [{"persistentVolumeClaim": {"claimName": one}} if one else {"volumeClaimTemplate": {}} for one in claims]
    spaces = [{"name": name, **one} for name, one in zip("vw", bound, strict=True)]
    declared = {**TASK, "workspaces": [{"name": "v"}, {"name": "w"}]}
    around = world(settings=TektonConfig(flags=Flags(coschedule=coschedule)))
    (one,) = results(taskrun(taskSpec=declared, workspaces=spaces), around)
    said = "[User error] more than one PersistentVolumeClaim is bound" if refused else ""
    assert (one.problem.message if one.problem else "") == said
    task = {"name": "p", "taskSpec": declared, "workspaces": [{"name": "v"}, {"name": "w", "workspace": "w"}]}
    planned = plan(pipelinerun([task], workspaces=spaces), around.lookups)
    assert [bool(one.persistent_volume_claim) for one in planned.tasks[0].run.spec.workspaces] == [True, True]
    (one,) = results(planned.tasks[0].run, around)
    assert (one.problem.message if one.problem else "") == said


def test_a_workspace_that_the_task_does_not_declare():
    run = taskrun(taskRef={"name": "t"}, workspaces=[{"name": "w"}])
    (one,) = results(run, world(tasks={"t": TASK}))
    assert one.problem.message == '[User error] workspace binding "w" does not match any declared workspace'


def test_a_run_that_has_its_pod_has_passed():
    run = taskrun(taskSpec={**TASK, "params": [{"name": "p"}]}, status={"podName": "run-pod"})
    (one,) = results(run)
    assert one.problem is None


def test_a_default_binding():
    run = taskrun(taskSpec={**TASK, "workspaces": [{"name": "w"}]})
    (one,) = results(run, world(settings=config(default_task_run_workspace_binding="emptyDir: {}")))
    assert one.problem is None


def test_what_a_pipeline_gives_is_not_missed():
    piece = {"taskSpec": {**TASK, "params": [{"name": "p"}], "workspaces": [{"name": "w"}]}}
    answer = pipeline_run(pipelinerun([{"name": "t", **piece}]), world())
    assert answer.results["t"][0].problem is None


def test_a_task_alone_has_what_it_needs():
    spec = {**TASK, "params": [{"name": "p"}], "workspaces": [{"name": "w"}]}
    around = world(tasks={"t": spec})
    (one,) = results(default_task_run(around.lookups.tasks["t"]), around)
    assert one.problem is None


@pytest.mark.parametrize(
    ("kind", "spec", "paths"),
    [
        ("TaskRun", {"taskSpec": {**TASK, "resources": {}}}, "spec.taskSpec.resources"),
        ("PipelineRun", {"resources": [], "pipelineSpec": {"resources": []}},
         "spec.pipelineSpec.resources, spec.resources"),
        ("Pipeline", {"tasks": [{"name": "p", "resources": {}, "taskSpec": {**TASK, "resources": {}}}]},
         "spec.tasks[0].resources, spec.tasks[0].taskSpec.resources"),
    ],
)  # fmt: skip
def test_inputs_and_outputs_of_old(kind, spec, paths):
    assert said(kind, spec, "v1beta1") == f"must not set the field(s): {paths}"


@pytest.mark.parametrize(
    ("kind", "spec", "stops"),
    [
        ("TaskRun", {"taskSpec": {"steps": [{**STEP, "computeResources": {"foo": {}}}]}}, 'json: unknown field "foo"'),
        ("TaskRun", {"taskSpec": {"steps": [{**STEP, "computeResources": {"Limits": {}}}]}}, ""),
        ("Pipeline", {"tasks": [{"name": "p", "taskSpec": TASK, "timeout": 5}]},
         "json: cannot unmarshal number into Go struct field PipelineTask.spec.tasks.timeout of type string"),
        ("PipelineRun", {"pipelineRef": {"name": "p"}, "timeouts": {"tasks": "1d"}},
         'time: unknown unit "d" in duration "1d"'),
        ("PipelineRun", {"pipelineRef": {"name": "p"}, "taskRunSpecs": [{"timeout": "x"}]},
         'time: invalid duration "x"'),
    ],
)  # fmt: skip
def test_what_does_not_decode(kind, spec, stops):
    assert said(kind, spec) == (stops and f"mutation failed: cannot decode incoming new object: {stops}")


def test_names_of_v1_in_v1beta1_are_pruned():
    spec = {"taskSpec": TASK, "stepSpecs": [{"name": "a", "computeResources": {"requests": {"cpu": "1"}}}]}
    meta = {"name": "x", "namespace": "ns"}
    run = admit_object({"apiVersion": "tekton.dev/v1beta1", "kind": "TaskRun", "metadata": meta, "spec": spec}, Flags())
    assert run.spec.step_specs is None


@pytest.mark.parametrize(
    ("sidecar", "text"),
    [
        ({"name": "s"}, "missing field(s): sidecars.image"),
        ({"name": "s", "image": "i", "script": "x", "command": ["y"]},
         "script cannot be used with command: sidecars.script"),
    ],
)  # fmt: skip
def test_sidecars_that_v1beta1_lets_pass(sidecar, text):
    spec = {"steps": [STEP], "sidecars": [sidecar]}
    run = {"taskSpec": spec}
    assert not said("TaskRun", run, "v1beta1")
    raw = {"apiVersion": "tekton.dev/v1beta1", "kind": "TaskRun", "metadata": {"name": "run"}, "spec": run}
    (one,) = results(admit_object(raw, Flags()), world())
    assert one.condition == ("False", "PodCreationFailed",
                             f'failed to create task run pod "run": {text}. Maybe invalid TaskSpec')  # fmt: skip
    answer = pipeline_run(pipelinerun([{"name": "a", "taskSpec": spec}]), world())
    refused = answer.results["a"][0].problem
    assert (refused.stage, refused.message) == ("validation", f"validation failed: {text}".replace(
        "sidecars.", "spec.taskSpec.sidecars."))  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "message"),
    [({"image": "i", "script": "x", "command": ["y"]}, "script cannot be used with command: spec.script"),
     ({}, "missing field(s): spec.Image"), ({"image": "i"}, "")],
)  # fmt: skip
def test_step_actions(spec, message):
    assert said("StepAction", spec, "v1beta1") == message


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("own", ["", "Always", "Never"])
def test_a_sidecars_own_restart_policy(native, own):
    settings = config(enable_kubernetes_sidecar="true" if native else "false")
    run = taskrun(sidecars=[{"name": "s", **({"restartPolicy": own} if own else {})}])
    (one,) = results(run, world(settings=settings))
    spec = one.submitted.spec
    held = (spec.init_containers if native else spec.containers)[-1]
    assert (held.name, held.restart_policy) == ("sidecar-s", "Always" if native else own or None)


def test_faults_of_several_rules_keep_theirs():
    spec = {"taskSpec": {"steps": [{"name": "A", "image": "i"}, {"name": "b"}, {"name": "c"}]}}
    raw = {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": {"name": "x"}, "spec": spec}
    assert [(one.rule, one.text.partition("\n")[0]) for one in admit_object(raw, Flags()).faults] == [
        ("tekton/step-name", 'invalid value "A": spec.taskSpec.steps[0].name'),
        ("tekton/image", "missing field(s): spec.taskSpec.steps[1].Image, spec.taskSpec.steps[2].Image"),
    ]
