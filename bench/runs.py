"""Tekton: a Task for each group of runs, and its TaskRuns with status; the configuration that the controller read."""

from __future__ import annotations

from collections.abc import Iterator

from owners import Made
from podjson import Group, Maker, Template, cut
from podspec import milli, show
from sink import compact

NAMESPACE = "ci-runs"
RELEASE = "v1.15.0"
FLAGS = {"enableAPIFields": "beta", "resultExtractionMethod": "termination-message", "coschedule": "workspaces"}
STATES = {
    "Succeeded": ("True", "Succeeded", "All Steps have completed executing"),
    "Failed": ("False", "Failed", '"step-build" exited with code 1: Error'),
    "Running": ("Unknown", "Running", "Not all Steps in the Task have finished executing"),
}


def waiting(pod: str, room: int) -> tuple[str, str, str]:
    """The condition of a run whose pod a quota of so many pods refuses: status, reason, message."""
    counts = f"requested: pods=1, used: pods={room}, limited: pods={room}"
    text = f'pods "{pod}" is forbidden: exceeded quota: compute, {counts}'
    return "Unknown", "ExceededResourceQuota", f"TaskRun Pod exceeded available resources: {text}"


def task_spec(group: Group, template: Template) -> dict:
    """What the author of the Task wrote: without resources if the run gives them to the whole task."""
    steps = []
    for c in template.spec["containers"]:
        step = {"name": c["name"].removeprefix("step-"), "image": c["image"], "script": "#!/bin/sh\nmake\n"}
        if c["resources"] and not group.task_level:
            step["computeResources"] = c["resources"]
        steps.append(step)
    return {"description": f"builds {group.app}", "steps": steps}


def whole(template: Template) -> dict:
    """The task level that was shared out: the requests of all steps together, the limits of each."""
    steps = template.spec["containers"]
    each = steps[0]["resources"]
    requests = {name: show(name, milli(text) * len(steps)) for name, text in each["requests"].items()}
    return {"limits": each["limits"], "requests": requests}


def task(k: Maker, ns: str, group: Group, template: Template) -> Made:
    meta = k.meta(group.app, ns, generation=1, labels={"app.kubernetes.io/version": "0.3"})
    return "tasks", {"metadata": meta, "spec": task_spec(group, template)}


def run_parts(ns: str, group: Group, template: Template, room: int) -> list[str]:
    """A TaskRun of the group in pieces around the values that differ. ``room``: pods that the quota allows."""
    status, reason, message = waiting("@A", room) if group.phase == "Waiting" else STATES[group.phase]
    condition = {
        "type": "Succeeded",
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": "@T",
    }
    steps = [{"name": c["name"].removeprefix("step-"), "container": c["name"]} for c in template.spec["containers"]]
    thing = {
        "metadata": {
            "name": "@O",
            "generateName": group.stem,
            "namespace": ns,
            "uid": "@W",
            "resourceVersion": "@R",
            "generation": 1,
            "creationTimestamp": "@T",
            "labels": {"app.kubernetes.io/managed-by": "tekton-pipelines", "tekton.dev/task": group.app},
            "annotations": {"pipeline.tekton.dev/release": RELEASE},
        },
        "spec": {
            "serviceAccountName": "default",
            "taskRef": {"kind": "Task", "name": group.app},
            "timeout": "1h0m0s",
            **({"computeResources": whole(template)} if group.task_level else {}),
        },
        "status": {
            "conditions": [condition],
            "podName": "" if group.phase == "Waiting" else "@A",
            "provenance": {"featureFlags": FLAGS},
            **({} if group.phase == "Waiting" else {"startTime": "@T", "steps": steps}),
            **({"completionTime": "@T"} if status != "Unknown" else {}),
            "taskSpec": task_spec(group, template),
        },
    }
    return cut(compact(thing))


def configuration(k: Maker) -> Iterator[Made]:
    """The ConfigMaps of Tekton, all defaults."""
    data = {
        "config-defaults": {"default-timeout-minutes": "60"},
        "feature-flags": {"enable-api-fields": "beta", "results-from": "termination-message"},
        "pipelines-info": {"version": RELEASE},
    }
    for name, values in data.items():
        yield "configmaps", {"metadata": k.meta(name, "tekton-pipelines"), "data": values}
