"""The webhooks, where the recordings do not tell: every kind and version, several faults at once, what is converted."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
import yaml
from tekton.made import quota, world

from kubectl_kres.tekton.model import PipelineRun, Task, TaskRun
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.base.convert import to_v1
from kubectl_kres.tekton.rules.controller.taskrun import send_object
from kubectl_kres.tekton.rules.validation.decoder import fault_in, fields_of, misnamed_fields, table
from kubectl_kres.tekton.rules.validation.webhook import admit_object

STEP = {"name": "a", "image": "i"}
CPU = {"requests": {"cpu": "1"}}


def raw(kind: str, spec: dict[str, Any], *, beta: bool = False) -> dict[str, Any]:
    version = "tekton.dev/v1beta1" if beta else "tekton.dev/v1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "x", "namespace": "ns"}, "spec": spec}


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        ("Task", {}, "missing field(s): spec.steps"),
        ("Task", {"steps": [STEP], "sidecars": [{"name": "tekton-log-results", "image": "i"}]},
         "Invalid: cannot use reserved sidecar name tekton-log-results : spec.sidecars.name"),
        ("TaskRun", {"taskRef": {"name": "t"}, "taskSpec": {"steps": [STEP]}},
         "expected exactly one, got both: spec.taskRef, spec.taskSpec"),
        ("PipelineRun", {}, "expected exactly one, got neither: spec.pipelineRef, spec.pipelineSpec"),
        ("Pipeline", {"tasks": [{"name": "a", "taskSpec": {}}], "finally": [{"name": "b", "taskSpec": {}}]},
         "missing field(s): spec.finally[0].taskSpec.steps, spec.tasks[0].taskSpec.steps"),
        ("TaskRun", {"taskSpec": {}, "stepSpecs": [{"name": "A"}, {"name": "a"}, {"name": "a"}, {}]},
         ("expected exactly one, got both: spec.stepSpecs[1].name, spec.stepSpecs[2].name\n"
          "missing field(s): spec.stepSpecs[3].name, spec.taskSpec.steps")),
    ],
)  # fmt: skip
def test_what_is_refused(kind, spec, message):
    problem = admit_object(raw(kind, spec), Flags())
    assert problem.message == f"validation failed: {message}"
    assert problem.text.startswith('admission webhook "validation.webhook.pipeline.tekton.dev" denied the request: ')
    assert (problem.stage, problem.object, problem.code) == ("validation", kind, 400)


@pytest.mark.parametrize(
    ("item", "fault"),
    [
        (raw("TaskRun", {"taskSpec": {"steps": [{**STEP, "resources": {}}]}}), 'json: unknown field "resources"'),
        (raw("TaskRun", {"taskSpec": {"steps": [{**STEP, "computeResources": {}}]}}, beta=True),
         'json: unknown field "computeResources"'),
        (raw("TaskRun", {"taskSpec": {"steps": [{**STEP, "COMPUTERESOURCES": CPU}]}}), ""),
        (raw("Task", {"steps": [{**STEP, "resources": {}}]}), ""),
        (raw("TaskRun", {"stepSpecs": [{"computeResources": {"limits": {"cpu": "x"}}}]}), "quantities must match"),
        (raw("TaskRun", {"computeResources": {"limits": {"cpu": None, "memory": [1]}}}), "quantities must match"),
        (raw("PipelineRun", {"taskRunSpecs": [{"sidecarOverrides": [{"resources": {"limits": {"cpu": "1Q"}}}]}]},
             beta=True),
         "quantities must match"),
        (raw("PipelineRun", {"pipelineSpec": {"tasks": [{"name": "a", "taskSpec": {"step": []}}]}}),
         'json: unknown field "step"'),
        (raw("Pipeline", {"tasks": [{"name": "a", "taskSpec": {"steps": [{"x": 1}]}}]}), 'json: unknown field "x"'),
        (raw("Pipeline", {"tasks": [{"name": "a", "unknown": 1}]}), ""),
        ({"kind": "TaskRun"}, ""),
        ({"kind": "TaskRun", "spec": {"taskSpec": [1], "stepSpecs": {"a": 1}, "computeResources": "x"}}, ""),
    ],
)  # fmt: skip
def test_where_the_decoder_stops(item, fault):
    found = fault_in(item)
    assert (found.text if found is not None else "").startswith(fault)
    assert (found is not None) == bool(fault)


@pytest.mark.parametrize(
    ("item", "path", "observed"),
    [
        (raw("TaskRun", {"taskSpec": {"steps": [STEP, {**STEP, "resources": {}}]}}),
         "spec.taskSpec.steps[1].resources", "resources"),
        (raw("TaskRun", {"stepSpecs": [{"computeResources": {"limits": {"cpu": "1 m"}}}]}),
         "spec.stepSpecs[0].computeResources.limits[cpu]", "1 m"),
        (raw("Task", {"stepTemplate": {"resources": {"requests": {"memory": "1GB"}}}}, beta=True),
         "spec.stepTemplate.resources.requests[memory]", "1GB"),
        (raw("PipelineRun", {"taskRunSpecs": [{}, {"computeResources": {"limits": {"cpu": "x"}}}]}),
         "spec.taskRunSpecs[1].computeResources.limits[cpu]", "x"),
        (raw("Pipeline", {"finally": [{"name": "a", "taskSpec": {"steps": [{"x": 1}]}}]}),
         "spec.finally[0].taskSpec.steps[0].x", "x"),
    ],
)  # fmt: skip
def test_the_place_where_it_stops_is_known(item, path, observed):
    problem = admit_object(item, Flags())
    assert (problem.field, problem.observed) == (path, observed)


@pytest.mark.parametrize(
    ("item", "found"),
    [
        (raw("Task", {"steps": [STEP, {**STEP, "resources": {}}]}),
         [(("spec", "steps", 1, "resources"), "computeResources")]),
        (raw("Task", {"stepTemplate": {"computeResources": {}}, "sidecars": [{"computeResources": {}}]}, beta=True),
         [(("spec", "sidecars", 0, "computeResources"), "resources"),
          (("spec", "stepTemplate", "computeResources"), "resources")]),
        (raw("TaskRun", {"stepOverrides": []}), [(("spec", "stepOverrides"), "stepSpecs")]),
        (raw("TaskRun", {"resources": {}}), [(("spec", "resources"), "computeResources")]),
        (raw("TaskRun", {"sidecarSpecs": [{"resources": {}}]}, beta=True),
         [(("spec", "sidecarSpecs"), "sidecarOverrides")]),
        (raw("TaskRun", {"stepSpecs": [{"resources": {}}]}),
         [(("spec", "stepSpecs", 0, "resources"), "computeResources")]),
        (raw("PipelineRun", {"taskRunSpecs": [{"stepOverrides": []}]}),
         [(("spec", "taskRunSpecs", 0, "stepOverrides"), "stepSpecs")]),
        (raw("TaskRun", {"resources": {}}, beta=True), []),
        (raw("TaskRun", {"taskSpec": {"steps": [{**STEP, "resources": {}}]}}), []),
        (raw("Task", {"steps": [1], "sidecars": {"a": 1}, "stepTemplate": "x"}), []),
        ({"apiVersion": "tekton.dev/v1", "kind": "PipelineRun", "spec": [1]}, []),
        ({"apiVersion": "apps/v1", "kind": "Task", "spec": {"steps": [{"resources": {}}]}}, []),
    ],
)  # fmt: skip
def test_fields_of_the_other_version(item, found):
    assert [*misnamed_fields(item)] == found


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        ("TaskRun", {"taskSpec": {"steps": [STEP, None]}},
         "validation failed: missing field(s): spec.taskSpec.steps[1].Image"),
        ("TaskRun", {"taskSpec": {"steps": [STEP]}, "stepSpecs": [None]},
         "validation failed: missing field(s): spec.stepSpecs[0].name"),
        ("TaskRun", {"taskSpec": {"steps": [STEP]}, "workspaces": [None]},
         "validation failed: missing field(s): spec.workspaces[0]"),
        ("TaskRun", {"taskSpec": {"steps": [{**STEP, "when": [None]}]}},
         "validation failed: missing field(s): spec.taskSpec.steps[0].when[0]"),
        ("PipelineRun", {"pipelineSpec": {"tasks": [{"name": "a", "taskSpec": {"steps": [STEP]}, "when": [None]}]}},
         "validation failed: missing field(s): spec.pipelineSpec.tasks[0].when[0]"),
        ("TaskRun", {"taskSpec": {"steps": [{**STEP, "args": [None, "x"], "env": [None]}], "volumes": [None]}}, ""),
        ("TaskRun", {"taskSpec": {"steps": [STEP]}, "params": [{"name": "x", "value": None}]}, ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("beta", [False, True])
def test_null_in_a_list_is_an_empty_value(kind, spec, message, beta):
    item = raw(kind, spec, beta=beta)
    if beta and "stepSpecs" in spec:
        item["spec"] = {**spec, "stepOverrides": spec["stepSpecs"]}
        del item["spec"]["stepSpecs"]
        message = message.replace("stepSpecs", "stepOverrides")
    found = admit_object(item, Flags())
    assert (found.message if message else found.metadata.name) == (message or "x")


@pytest.mark.parametrize("beta", [False, True])
@pytest.mark.parametrize("param", [{"name": "p"}, {}, None])
@pytest.mark.parametrize("place", ["run", "resolver", "matrix"])
def test_a_param_without_a_value_cannot_be_written_again(place, param, beta):
    """The webhook writes the object out once it has read it: knative.dev/pkg defaulting.go roundTripPatch."""
    task = {"name": "a", "taskSpec": {"steps": [STEP]}, "matrix": {"params": [param]}}
    item = {
        "run": raw("TaskRun", {"taskSpec": {"steps": [STEP]}, "params": [param]}, beta=beta),
        "resolver": raw("TaskRun", {"taskRef": {"resolver": "git", "params": [param]}}, beta=beta),
        "matrix": raw("Pipeline", {"tasks": [task]}, beta=beta),
    }[place]
    problem = admit_object(item, Flags())
    assert problem.message == (
        "mutation failed: cannot create patch for round tripped newBytes: cannot marshal interface: "
        f"json: error calling MarshalJSON for type {'v1beta1' if beta else 'v1'}.ParamValue: "
        'impossible ParamValues.Type: ""'
    )
    assert problem.field.endswith("params[0].value")


def test_what_cannot_be_read_comes_before_what_cannot_be_written():
    spec = {"params": [{"name": "p"}], "taskSpec": {"steps": [{**STEP, "image": 1}]}}
    assert "cannot decode incoming new object" in admit_object(raw("TaskRun", spec), Flags()).message


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ({}, "missing field(s)"),
        ({"input": "x"}, 'invalid value: operator "" is not recognized. valid operators: in,notin'),
        ({"input": "x", "operator": "in"}, "invalid value: expecting non-empty values field"),
        ({"operator": "notin", "values": [""]}, ""),
        ({"cel": "true"}, ""),
    ],
)
@pytest.mark.parametrize("field", ["tasks", "finally"])
def test_conditions_of_a_pipeline_task(field, when, said):
    bare = {"name": "b", "taskSpec": {"steps": [STEP]}}
    held = {"tasks": [bare], field: [{**bare, "name": "a", "when": [when]}]}
    found = admit_object(raw("Pipeline", held), Flags())
    assert getattr(found, "message", "") == (f"validation failed: {said}: spec.{field}[0].when[0]" if said else "")


def test_a_wrong_type_is_a_refusal_too():
    problem = admit_object(raw("TaskRun", {"taskSpec": {"steps": "none"}}), Flags())
    assert problem.message.startswith("mutation failed: cannot decode incoming new object: ")
    assert problem.text.startswith('admission webhook "webhook.pipeline.tekton.dev" denied the request: ')


BETA_TASK = {
    "steps": [{**STEP, "resources": CPU}],
    "stepTemplate": {"resources": CPU},
    "sidecars": [{"name": "s", "image": "i", "resources": CPU}],
}


def test_v1beta1_becomes_v1():
    run = admit_object(
        raw(
            "PipelineRun",
            {
                "pipelineSpec": {
                    "tasks": [{"name": "a", "taskSpec": BETA_TASK}],
                    "finally": [{"name": "f", "taskSpec": BETA_TASK}],
                },
                "taskRunSpecs": [
                    {
                        "pipelineTaskName": "a",
                        "stepOverrides": [{"name": "a", "resources": CPU}],
                        "sidecarOverrides": [{"name": "s", "resources": CPU}],
                        "taskPodTemplate": {"runtimeClassName": "kata"},
                    }
                ],
                "podTemplate": {"priorityClassName": "high"},
                "timeout": "5m",
            },
            beta=True,
        ),
        Flags(),
    )
    assert isinstance(run, PipelineRun)
    assert run.spec.timeouts.pipeline == "5m"
    assert run.spec.task_run_template.pod_template.priority_class_name == "high"
    (entry,) = run.spec.task_run_specs
    assert entry.pod_template.runtime_class_name == "kata"
    (one,), (last,) = run.spec.pipeline_spec.tasks, run.spec.pipeline_spec.finally_
    holders = [*entry.step_specs, *entry.sidecar_specs]
    for task in (one.task_spec, last.task_spec):
        holders += [*task.steps, task.step_template, *task.sidecars]
    assert [held.compute_resources.requests for held in holders] == [{"cpu": "1"}] * 8


def test_other_kinds_and_versions_of_v1beta1():
    assert isinstance(admit_object(raw("Task", BETA_TASK, beta=True), Flags()), Task)
    assert isinstance(
        admit_object(raw("TaskRun", {"taskRef": {"name": "t"}, "resources": None}, beta=True), Flags()), TaskRun
    )
    bundled = raw("TaskRun", {"taskRef": {"name": "t", "bundle": "b"}}, beta=True)
    assert to_v1(bundled)["spec"]["taskRef"]["resolver"] == "bundles"
    assert admit_object(bundled, Flags()).message == "validation failed: must not set the field(s): spec.taskRef.bundle"
    retired = admit_object(raw("TaskRun", {"taskRef": {"name": "t"}, "resources": {"inputs": []}}, beta=True), Flags())
    assert retired.message == "validation failed: must not set the field(s): spec.resources"
    action = {"apiVersion": "tekton.dev/v1beta1", "kind": "StepAction", "spec": {"script": "x"}}
    assert to_v1(action) is action


def test_conversion_leaves_wrong_types_to_the_decoder():
    for spec in (None, "x", {"taskSpec": [], "stepOverrides": "x", "pipelineSpec": {"tasks": [1]}, "taskRunSpecs": {}}):
        for kind in ("Task", "TaskRun", "Pipeline", "PipelineRun"):
            assert (
                to_v1({"apiVersion": "tekton.dev/v1beta1", "kind": kind, "spec": spec})["apiVersion"] == "tekton.dev/v1"
            )


@pytest.mark.parametrize(("flags", "refused"), [(Flags(), True), (Flags("stable"), True), (Flags("alpha"), False)])
def test_breakpoints_are_alpha(flags, refused):
    run = raw("TaskRun", {"taskRef": {"name": "t"}, "debug": {"breakpoints": {"onFailure": "enabled"}}})
    assert hasattr(admit_object(run, flags), "rule") == refused


def test_quotas_count_the_objects_themselves():
    full = world(quota("q", {"count/taskruns.tekton.dev": "1"}, {"count/taskruns.tekton.dev": "1"}))
    (problem,) = send_object(raw("TaskRun", {"taskRef": {"name": "t"}}), full).refusals
    assert (problem.stage, problem.code, problem.reason) == ("object", 403, "Forbidden")
    assert problem.text.startswith('taskruns.tekton.dev "x" is forbidden: exceeded quota: q')
    assert send_object(raw("Task", {"steps": [STEP]}), full).item.metadata.name == "x"


CRDS = Path(__file__).parents[1] / "crds"
"""Tekton's own, as they are installed."""


@functools.cache
def schema(kind: str, version: str) -> dict[str, Any]:
    """The fields of a kind's spec."""
    text = (CRDS / f"tekton_300-{kind.lower()}.yaml").read_text()
    (found,) = filter(None, yaml.load_all(text, yaml.CSafeLoader))
    (held,) = (one for one in found["spec"]["versions"] if one["name"] == version)
    return held["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


@pytest.mark.parametrize(
    ("kind", "version"),
    [(kind, one.rpartition("/")[2]) for one, kinds in table().kinds.items() for kind in kinds],
)
def test_the_fields_that_the_decoder_knows_are_those_of_the_crds(kind, version):
    assert compared(table().kinds[f"tekton.dev/{version}"][kind], schema(kind, version)) > 10


def compared(name: str, properties: dict[str, Any]) -> int:
    """How many structs were compared below one, itself included. What the CRD leaves open is not looked into."""
    fields = fields_of(table().types[name])
    assert set(fields) == set(properties), name
    count = 1
    for field, held in properties.items():
        inner = fields[field] if isinstance(fields[field], str) else fields[field][0]
        below = held
        while table().types[inner].kind in {"list", "map"}:
            inner = table().types[inner].more
            below = below.get("items") or below.get("additionalProperties") or {}
        if below.get("properties"):
            count += compared(inner, below["properties"])
    return count
