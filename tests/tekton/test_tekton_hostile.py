"""Whatever is sent is answered: anything of any type at any field ends in a refusal or in a run that has an answer."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from tekton.made import config, limit_range, world

from kubectl_kres.tekton.model import Pipeline, PipelineRun, StepAction, Task, TaskRun
from kubectl_kres.tekton.rules.base.result import MissingReference
from kubectl_kres.tekton.rules.controller.taskrun import default_task_run, send_object, task_run
from kubectl_kres.tekton.rules.pipeline.pipeline_run import PipelineAnswer, pipeline_run
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import default_pipeline_run as pipeline_alone

KEYS = st.sampled_from([
    *("taskSpec", "taskRef", "steps", "stepTemplate", "sidecars", "name", "computeResources", "resources", "requests"),
    *("limits", "claims", "cpu", "memory", "stepSpecs", "stepOverrides", "sidecarSpecs", "pipelineSpec", "pipelineRef"),
    *("tasks", "finally", "taskRunSpecs", "pipelineTaskName", "matrix", "params", "include", "value", "when", "input"),
    *("values", "runAfter", "podTemplate", "taskRunTemplate", "timeout", "timeouts", "workspaces", "results", "debug"),
    *("breakpoints", "onFailure", "script", "workingDir", "ref", "retries", "image", "kind", "apiVersion", "default"),
])  # fmt: skip
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.floats(allow_nan=True),
    st.sampled_from(["", "a", "1", "-1", "1e9999", "$(tasks.a.results.r)", "$(params.x[*])", "0s", "\u202e", "9" * 40]),
    st.just("\ud800"),
)  # fmt: skip
JSON = st.recursive(
    LEAVES,
    lambda held: st.lists(held, max_size=3) | st.dictionaries(KEYS | st.integers(0, 1), held, max_size=4),
    max_leaves=12,
)
NAMED = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "b", ""]), "image": st.sampled_from(["x", "x", ""])},
    optional={"computeResources": JSON, "script": JSON},
)
SPECS = st.fixed_dictionaries({"steps": st.lists(NAMED, max_size=3)}, optional={"sidecars": JSON, "stepTemplate": JSON})
TASKS = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from(["a", "b", ""])},
                          optional={"taskSpec": SPECS | JSON, "runAfter": JSON, "matrix": JSON, "params": JSON}),
    max_size=3,
)  # fmt: skip
BY_KIND = {
    "Task": SPECS,
    "TaskRun": st.fixed_dictionaries({}, optional={"taskSpec": SPECS, "computeResources": JSON, "stepSpecs": JSON}),
    "Pipeline": st.fixed_dictionaries({"tasks": TASKS}, optional={"finally": TASKS, "params": JSON}),
    "PipelineRun": st.fixed_dictionaries(
        {"pipelineSpec": st.fixed_dictionaries({"tasks": TASKS}, optional={"finally": TASKS})},
        optional={"taskRunSpecs": JSON, "params": JSON, "workspaces": JSON, "timeouts": JSON},
    ),
    "StepAction": JSON,
}
OBJECTS = st.sampled_from(sorted(BY_KIND)).flatmap(
    lambda kind: st.fixed_dictionaries({
        "apiVersion": st.sampled_from(["tekton.dev/v1", "tekton.dev/v1beta1"]),
        "kind": st.just(kind),
        "metadata": st.just({"name": "x", "namespace": "ns"}),
        "spec": BY_KIND[kind] | JSON,
    })
)  # fmt: skip
AROUND = world(
    limit_range("a", defaultRequest={"cpu": "1"}),
    limit_range("b", defaultRequest={"memory": "1Gi"}, min={"cpu": "1m"}),
    settings=config({"default": {"requests": {"cpu": "1"}}}),
)


_STEPS = {"steps": [{"name": "a", "image": "x"}]}
_TASKS = {"tasks": [{"name": "a", "taskSpec": _STEPS}]}


def _of(kind, spec):
    return {"apiVersion": "tekton.dev/v1", "kind": kind, "metadata": {"name": "x", "namespace": "ns"}, "spec": spec}


@given(OBJECTS)
@example(_of("Task", _STEPS))
@example(_of("TaskRun", {"taskSpec": _STEPS}))
@example(_of("TaskRun", {"taskRef": {"name": "\ud800" * 64}, "params": [{"name": "\ud800", "value": "\ud800"}]}))
@example(_of("Pipeline", _TASKS))
@example(_of("PipelineRun", {"pipelineSpec": _TASKS}))
@example(_of("StepAction", {"image": "x"}) | {"apiVersion": "tekton.dev/v1beta1"})
def test_whatever_is_sent_is_answered(raw):
    found = send_object(raw, AROUND)
    if found.refusals:
        assert all(one.text and one.rule for one in found.refusals)
    elif isinstance(found.item, Task | TaskRun):
        run = default_task_run(found.item) if isinstance(found.item, Task) else found.item
        results = task_run(run, AROUND)
        assert isinstance(results, MissingReference) or results
    elif isinstance(found.item, Pipeline | PipelineRun):
        run = pipeline_alone(found.item) if isinstance(found.item, Pipeline) else found.item
        assert isinstance(pipeline_run(run, AROUND), MissingReference | PipelineAnswer)
    else:
        assert isinstance(found.item, StepAction)
