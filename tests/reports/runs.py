"""Stores with Tekton's objects in the namespace ns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reports.stored import made, owned_by

LIMITS = made(
    "LimitRange",
    "limits",
    spec={"limits": [{"type": "Container", "default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}}]},
)
BUSY = made(
    "ResourceQuota",
    "team",
    spec={"hard": {"requests.cpu": "2", "pods": "9"}},
    status={"hard": {"requests.cpu": "2", "pods": "9"}, "used": {"requests.cpu": "1500m", "pods": "3"}},
)
WAITS = {
    "conditions": [
        {
            "type": "Succeeded",
            "status": "Unknown",
            "reason": "ExceededResourceQuota",
            "message": "TaskRun Pod exceeded available resources: no room",
            "lastTransitionTime": "2026-11-20T03:01:07Z",
        }
    ]
}


def step(name: str, requests: Mapping[str, str] | None = None, limits: Mapping[str, str] | None = None) -> Any:
    """A step with its values."""
    held = {"requests": requests, "limits": limits}
    return {"name": name, "image": "i", "computeResources": {key: one for key, one in held.items() if one}}


def task(name: str, *steps: Any, **more: Any) -> dict[str, Any]:
    return made("Task", name, spec={"steps": list(steps), **more})


def run(name: str, of: str = "build", status: Any = None, owner: str = "", **spec: Any) -> dict[str, Any]:
    """A TaskRun of a Task, made by a PipelineRun if it has an owner."""
    metadata = {**owned_by("PipelineRun", owner), "labels": {"tekton.dev/pipelineRun": owner}} if owner else {}
    return made("TaskRun", name, spec={"taskRef": {"name": of}, **spec}, status=status, **metadata)


def pipeline_run(name: str, *tasks: Any, last: Any = (), status: Any = None, **spec: Any) -> dict[str, Any]:
    held = {"pipelineSpec": {"tasks": list(tasks), "finally": list(last)}, **spec}
    return made("PipelineRun", name, spec=held, status=status)


def piece(name: str, *after: str, cpu: str = "1", **more: Any) -> dict[str, Any]:
    """A pipeline task of one step."""
    return {"name": name, "runAfter": list(after), "taskSpec": {"steps": [step("a", {"cpu": cpu})]}, **more}


def config(text: str = "", namespace: str = "tekton-pipelines") -> dict[str, Any]:
    data = {"default-container-resource-requirements": text}
    return {**made("ConfigMap", "config-defaults"), "data": data} | {
        "metadata": {"name": "config-defaults", "namespace": namespace}
    }


def info(version: str, namespace: str = "tekton-pipelines") -> dict[str, Any]:
    return {
        "kind": "ConfigMap",
        "metadata": {"name": "pipelines-info", "namespace": namespace},
        "data": {"version": version},
    }
