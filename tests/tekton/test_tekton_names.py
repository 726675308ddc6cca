"""What the webhooks refuse in names and bindings, in the words of Tekton 1.15 that was asked for them."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.validation.webhook import admit_object

STEP = {"name": "a", "image": "i"}
NOPE = "$(params.nope)"
VOLUMES = ", ".join(
    f"spec.workspaces[0].{name}"
    for name in ("configmap", "emptydir", "persistentvolumeclaim", "secret", "volumeclaimtemplate")
)
EMPTY: dict[str, Any] = {"emptyDir": {}}


def said(kind: str, spec: dict[str, Any], version: str = "v1") -> str:
    """The webhook's message; empty if it takes the object."""
    meta = {"name": "x", "namespace": "ns"}
    raw = {"apiVersion": f"tekton.dev/{version}", "kind": kind, "metadata": meta, "spec": spec}
    return getattr(admit_object(raw, Flags()), "message", "").removeprefix("validation failed: ")


def value(name: str) -> dict[str, str]:
    return {"name": name, "value": "x"}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"params": [value("p"), value("P"), value("q")]}, "expected exactly one, got both: spec.params[P].name"),
        ({"params": [value("a.b"), value("a.b")]}, "expected exactly one, got both: spec.params.[a.b].name"),
        ({"workspaces": [{"name": "w"}]}, f"expected exactly one, got neither: {VOLUMES}"),
        ({"workspaces": [{"name": "w", "secret": {"secretName": "s"}, **EMPTY}]},
         f"expected exactly one, got both: {VOLUMES}"),
        ({"workspaces": [{"name": "w", "secret": {}}]}, "missing field(s): spec.workspaces[0].secret.secretName"),
        ({"workspaces": [{"name": "w", "persistentVolumeClaim": {}}]},
         "missing field(s): spec.workspaces[0].persistentvolumeclaim.claimname"),
        ({"workspaces": [{"name": "w", "csi": {"driver": "d"}}, {"name": "v", "volumeClaimTemplate": {}}]}, ""),
    ],
)  # fmt: skip
def test_what_a_run_gives(spec, message):
    assert said("TaskRun", {"taskSpec": {"steps": [STEP]}, **spec}) == message
    assert said("PipelineRun", {"pipelineRef": {"name": "p"}, **spec}) == message


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("TaskRun", "expected exactly one, got both: spec.workspaces[1].name"),
        ("PipelineRun",
         'workspace "w" provided by pipelinerun more than once, at index 0 and 1: spec.workspaces[1].name'),
    ],
)  # fmt: skip
def test_a_workspace_that_is_bound_twice(kind, message):
    ref = "taskRef" if kind == "TaskRun" else "pipelineRef"
    spaces = [{"name": "w", **EMPTY}, {"name": "w", **EMPTY}]
    assert said(kind, {ref: {"name": "t"}, "workspaces": spaces}) == message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("T.x_y", ""),
        ("a" * 64, "invalid value: name part must be no more than 63 bytes: spec.taskRef.name"),
        ("a b", "invalid value: name part must consist of alphanumeric characters"),
    ],
)
def test_names_of_tasks(name, message):
    found = said("TaskRun", {"taskRef": {"name": name}})
    assert found.startswith(message)
    assert bool(found) is bool(message)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"params": [{"name": "p"}, {"name": "p"}]}, "parameter appears more than once: {}.params[p]"),
        ({"workspaces": [{"name": "w"}, {"name": "w"}]},
         ('workspace mount path "/workspace/w" must be unique: {0}.workspaces[1].mountpath\n'
         'workspace name "w" must be unique: {0}.workspaces[1].name')),
        ({"steps": [{**STEP, "onError": "stop"}]}, ('invalid value: "stop": {}.steps[0].onError\n'
         'Task step onError must be either "continue" or "stopAndFail"')),
        ({"steps": [{**STEP, "onError": "continue"}]}, ""),
        ({"steps": [{**STEP, "args": ["x", f"-{NOPE}"], "env": [{"name": "E", "value": NOPE}]}]},
         ('non-existent variable in "$(params.nope)": spec.steps[0].env[E]\n'
         'non-existent variable in "-$(params.nope)": spec.steps[0].args[1]')),
        ({"steps": [{**STEP, "script": "token=$(cat secret)\n$(params['nope']) x"}]},
         'non-existent variable in "...$(params[\'nope\']) x": spec.steps[0].script'),
        ({"steps": [{**STEP, "args": ['$(params.no)$(params["q"])']}]},
         'non-existent variable in "$(params.no)$(params[\\"q\\"])": spec.steps[0].args[0]'),
        ({"params": [{"name": "o", "type": "object", "properties": {"k": {}}}, {"name": "l", "default": []}],
          "steps": [{**STEP, "args": ["$(params.o.k) $(params['o'].k) $(tasks.x)", "$(params.l[*])"]}]}, ""),
    ],
)  # fmt: skip
def test_what_a_task_declares(spec, message):
    spec = {"steps": [STEP], **spec}
    lines = sorted(message.split("\n")) if "onError" not in message else message.split("\n")
    assert said("Task", spec) == "\n".join(lines).format("spec")
    assert said("TaskRun", {"taskSpec": spec}) == "\n".join(lines).format("spec.taskSpec")


def test_a_run_gives_its_own_task_parameters_that_it_does_not_declare():
    spec = {"steps": [{**STEP, "args": [NOPE]}]}
    assert not said("TaskRun", {"taskSpec": spec, "params": [value("nope")]})
    assert said("Task", spec)
    beta = said("Task", {"steps": [{**STEP, "script": NOPE}]}, "v1beta1")
    assert beta == 'non-existent variable `nope` in "$(params.nope)": spec.steps[0].script'


@pytest.mark.parametrize(
    ("task", "final", "message"),
    [
        ({"onError": "stop"}, {}, ('invalid value: stop: spec.tasks[0].OnError\n'
         'PipelineTask OnError must be either "continue" or "stopAndFail"')),
        ({"onError": "continue", "retries": 1}, {},
         'PipelineTask OnError cannot be set to "continue" when Retries is greater than 0: '),
        ({}, {"params": [{"name": "x", "value": "$(tasks.z.results.r)"}]},
         ("invalid value: invalid task result reference, final task has task result reference from a task z which is "
         "not defined in the pipeline: spec.finally[0].params[x].value")),
        ({}, {"params": [{"name": "x", "value": "$(tasks.f.results.r)"}]},
         ("invalid value: invalid task result reference, final task has task result reference from a final task f: "
         "spec.finally[0].params[x].value")),
        ({}, {"params": [{"name": "x", "value": "$(tasks.p.results.r)"}]}, ""),
    ],
)  # fmt: skip
def test_pipeline_tasks(task, final, message):
    inner = {"taskSpec": {"steps": [STEP]}}
    spec = {"tasks": [{"name": "p", **inner, **task}], "finally": [{"name": "f", **inner, **final}]}
    assert said("Pipeline", spec) == message
