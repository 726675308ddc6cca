"""Runs, Tasks and worlds for tests, from few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.model.objects import LimitRange, Namespace, ResourceQuota, decode_object
from kubectl_kres.model.tekton_config import ConfigMap
from kubectl_kres.tekton.model import Pipeline, PipelineRun, StepAction, Task, TaskRun
from kubectl_kres.tekton.rules.base.config import TektonConfig, parse_config
from kubectl_kres.tekton.rules.base.problem import Problem
from kubectl_kres.tekton.rules.base.result import BuiltPod, MissingReference
from kubectl_kres.tekton.rules.controller.resolve import Lookups
from kubectl_kres.tekton.rules.controller.taskrun import RunNamespace, RunResult, build_run_namespace, task_run

Raw = Mapping[str, Any]


def taskrun(steps: Sequence[Raw] = ({"name": "a"},), *, name: str = "run", sidecars: Sequence[Raw] = (),
            template: Raw | None = None, status: Raw | None = None, **spec: Any) -> TaskRun:  # fmt: skip
    """A TaskRun in namespace ns; with ``taskRef`` among the spec there is no embedded Task."""
    task = {
        "steps": list(steps),
        "sidecars": [{"image": "i", **one} for one in sidecars],
        **({"stepTemplate": template} if template else {}),
    }
    body = spec if "taskRef" in spec else {"taskSpec": task, **spec}
    meta = {"name": name, "namespace": "ns"}
    return decode_object({"metadata": meta, "spec": body, "status": status or {}}, TaskRun)


def step(name: str, requests: Raw | None = None, limits: Raw | None = None, **more: Any) -> Raw:
    """A step with resources."""
    return {"name": name, "computeResources": resources(requests, limits), **more}


def resources(requests: Raw | None = None, limits: Raw | None = None) -> Raw:
    sides = {"requests": requests, "limits": limits}
    return {side: dict(values) for side, values in sides.items() if values}


def limit_range(name: str, **item: Raw) -> LimitRange:
    """One Container item."""
    raw = {"metadata": {"name": name, "namespace": "ns"}, "spec": {"limits": [{"type": "Container", **item}]}}
    return msgspec.convert(raw, LimitRange)


def quota(name: str, hard: Raw, used: Raw | None = None) -> ResourceQuota:
    status = {"hard": hard, "used": dict.fromkeys(hard, "0") | dict(used or {})}
    raw = {"metadata": {"name": name, "namespace": "ns"}, "spec": {"hard": hard}, "status": status}
    return msgspec.convert(raw, ResourceQuota)


def config(entries: Raw | None = None, info: str = "", **keys: str) -> TektonConfig:
    """A configuration: keys of either ConfigMap with ``_`` for ``-``; ``info``: Tekton's version."""
    data = {key.replace("_", "-"): value for key, value in keys.items()}
    text = msgspec.json.encode(entries or {}).decode()
    return parse_config(
        _config_map("config-defaults", {"default-container-resource-requirements": text, **data}),
        _config_map("feature-flags", data),
        _config_map("pipelines-info", {"version": info}),
        msgspec.yaml.decode,
    )


def _config_map(name: str, data: Raw) -> ConfigMap:
    return msgspec.convert({"metadata": {"name": name, "namespace": "tekton-pipelines"}, "data": data}, ConfigMap)


def world(
    *policies: LimitRange | ResourceQuota,
    settings: TektonConfig | None = None,
    tasks: Mapping[str, Raw] | None = None,
    actions: Mapping[str, Raw] | None = None,
    pipelines: Mapping[str, Raw] | None = None,
    version: tuple[int, int] = (1, 36),
    namespace: Namespace | None = None,
) -> RunNamespace:
    """A world with policies, and objects by name given as their specs."""
    ranges = [one for one in policies if isinstance(one, LimitRange)]
    quotas = [one for one in policies if isinstance(one, ResourceQuota)]
    lookups = Lookups(_held(Task, tasks), _held(StepAction, actions), _held(Pipeline, pipelines))
    server = Server(version)
    return build_run_namespace(
        policies_of(ranges, quotas), server, settings or TektonConfig(), lookups, namespace=namespace
    )


def _held(struct: Any, specs: Mapping[str, Raw] | None) -> dict[str, Any]:
    return {name: decode_object({"metadata": {"name": name, "namespace": "ns"}, "spec": spec}, struct)
            for name, spec in (specs or {}).items()}  # fmt: skip


def pipelinerun(tasks: Sequence[Raw], last: Sequence[Raw] = (), status: Raw | None = None, **spec: Any) -> PipelineRun:
    """A PipelineRun with an embedded Pipeline; a task without anything to run gets a Task of one step."""
    made = [[{"taskSpec": {"steps": [{"name": "s"}]}, **task} if "taskRef" not in task else dict(task)
             for task in group] for group in (tasks, last)]  # fmt: skip
    body = {"pipelineSpec": {"tasks": made[0], "finally": made[1], **spec.pop("pipeline", {})}, **spec}
    return decode_object(
        {"metadata": {"name": "pr", "namespace": "ns"}, "spec": body, "status": status or {}}, PipelineRun
    )


def results(run: TaskRun, around: RunNamespace | None = None) -> tuple[RunResult, ...]:
    """What becomes of a run whose Task is known."""
    found = task_run(run, around or world())
    assert not isinstance(found, MissingReference)
    return found


def built(run: TaskRun, around: RunNamespace | None = None) -> BuiltPod:
    """The only pod that Tekton can submit."""
    found = {id(one.built_pod): one.built_pod for one in results(run, around)}
    assert len(found) == 1
    (pod,) = found.values()
    assert pod is not None
    return pod


def problem(run: TaskRun, around: RunNamespace | None = None) -> Problem:
    """The only refusal."""
    (one,) = results(run, around)
    assert one.problem is not None
    return one.problem


def submitted(run: TaskRun, around: RunNamespace | None = None) -> dict[str, dict[str, dict[str, str]]]:
    """Container name to side to resource to text, of the only pod."""
    spec = built(run, around).pod.spec
    return {
        one.name: msgspec.to_builtins(one.resources) if one.resources is not None else {}
        for one in (*(spec.init_containers or ()), *(spec.containers or ()))
    }
