"""Tekton's objects without their texts are answered for as before."""

from __future__ import annotations

import msgspec
import pytest

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import decode_object
from kubectl_kres.model.pod import Pod
from kubectl_kres.tekton.model import PipelineRun, TaskRun
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.base.variables import variables_of
from kubectl_kres.tekton.rules.controller.resolve import Lookups
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import plan
from kubectl_kres.tekton.rules.resources.container_draft import layout
from kubectl_kres.tekton.snapshot import redact

STEPS = [
    {"name": "a", "script": "rm -rf /"},
    {"name": "b", "workingDir": "secret/place"},
    {"name": "c", "workingDir": "/opt/place"},
    {"name": "d", "args": ["--to=$(step.artifacts.path)/x"]},
    {"name": "e"},
]
DIRECTORIES = ["$(params.home)", "$(params.home)/place", "$(params.ours)", "$(params.root)", "$(params.root)/place",
               "$(workspaces.w.path)", "$(workspaces.v.path)/place", "$(params.no)", "/opt/$(params.home)"]  # fmt: skip
PARAMS = {"home": "/home/place", "ours": "/workspace/place", "root": "/workspace"}


@pytest.mark.parametrize(
    "chosen",
    [STEPS, STEPS[1:], STEPS[2:], STEPS[3:], STEPS[4:], *([{"name": "a", "workingDir": one}] for one in DIRECTORIES)],
)
def test_the_same_containers_are_added(chosen):
    workspaces = [{"name": "v"}, {"name": "w", "mountPath": "/mnt/place"}]
    spec = {"steps": chosen, "sidecars": [{"name": "s", "script": ""}], "workspaces": workspaces}
    params = [{"name": name, "value": value} for name, value in PARAMS.items()]
    run = decode_object({"metadata": {"name": "r"}, "spec": {"taskSpec": spec, "params": params}}, TaskRun)
    kept = redact(run)
    for flags in (Flags(), Flags(results_from="sidecar-logs")):
        before, after = (
            [place.name for places in layout(one.spec.task_spec, None, flags, (1, 36), known) for place in places]
            for one in (run, kept)
            for known in (variables_of(one.spec, one.spec.task_spec),)
        )
        assert before == after
    assert "rm -rf" not in repr(kept)
    assert "place" not in repr(kept)


def test_a_matrix_still_counts():
    params = [{"name": "os", "value": ["linux", "windows", "linux"]}, {"name": "v", "value": "$(params.list[*])"}]
    include = [{"params": [{"name": "os", "value": "linux"}]}, {"params": [{"name": "os", "value": "mac"}]}]
    tasks = [{"name": "m", "taskSpec": {"steps": STEPS}, "matrix": {"params": params, "include": include}},
             {"name": "n", "when": [{"input": "x $(tasks.m.results.r) y", "values": ["z"]}]}]  # fmt: skip
    spec = {"pipelineSpec": {"tasks": tasks}, "params": [{"name": "list", "value": ["s3cret", "b"]}]}
    run = decode_object({"metadata": {"name": "r"}, "spec": spec}, PipelineRun)
    kept = msgspec.json.decode(msgspec.json.encode(redact(run)), type=PipelineRun)
    assert [one.number for one in plan(run, Lookups()).tasks] == [7, 1]
    for one in (run, kept):
        assert [(task.number, task.after) for task in plan(one, Lookups()).tasks] == [(7, ()), (1, ("m",))]
    assert "s3cret" not in repr(kept)
    assert "linux" not in repr(kept)


def test_what_is_not_tektons_is_left_alone():
    pod = Pod()
    assert redact(pod) is pod
    run = TaskRun()
    assert redact(run) is run
    assert redact(BY_KIND["PipelineRun"].detail()).metadata.managed_fields is None
