"""What Tekton's controller writes into the demo: it does not run, so kres' own engine says which pod it would send.

The pods go to the real API server, and its answer settles what becomes of a run. That the engine foresaw it is checked.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from kube import DemoError, Kube, Object, documents, key_of
from msgspec import to_builtins
from statuses import now, stated, succeeded

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import OwnerReference, decode_object
from kubectl_kres.model.tekton_config import DEFAULTS, FLAGS, INFO
from kubectl_kres.tekton.model import TaskRun
from kubectl_kres.tekton.rules.base.config import parse_config
from kubectl_kres.tekton.rules.base.problem import Problem
from kubectl_kres.tekton.rules.base.result import MissingReference
from kubectl_kres.tekton.rules.controller import creation
from kubectl_kres.tekton.rules.controller.resolve import Lookups, UsedTask, task_of
from kubectl_kres.tekton.rules.controller.taskrun import RunNamespace, build_run_namespace, task_run
from kubectl_kres.tekton.rules.pipeline.pipeline_run import progress
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import Plan, Planned, plan

CI = Path(__file__).parent / "ci"
CONTROLLER, PERSON, KUBELET = "tekton-pipelines-controller", "kubectl-create", "kubelet"
MAPS = (DEFAULTS, FLAGS, INFO)
READ = ("LimitRange", "ResourceQuota", "Task", "StepAction", "Pipeline")
RELEASE = {"pipeline.tekton.dev/release": "v1.15.0"}
#: As Tekton notes it in a run: flags with Go's zero are left out.
PROVENANCE = {
    "featureFlags": {
        "awaitSidecarReadiness": True,
        "coschedule": "workspaces",
        "enableAPIFields": "beta",
        "enableProvenanceInStatus": True,
        "maxResultSize": 4096,
        "resultExtractionMethod": "termination-message",
        "runningInEnvWithInjectedSidecars": True,
        "verificationNoMatchPolicy": "ignore",
    }
}
RUNNING = "Not all Steps in the Task have finished executing"
DONE = "All Steps have completed executing"
#: The task of the pipeline that is through.
THROUGH = "lint"


def start(kube: Kube, file: str) -> None:
    """Start the runs of a file, one after the other."""
    for item in documents(CI / file):
        if item["kind"] == "PipelineRun":
            start_pipeline(kube, item)
        else:
            start_task(kube, item, PERSON)
    print(f"started ci/{file}", flush=True)


def start_task(kube: Kube, item: Object, manager: str) -> Object:
    """Create a TaskRun as the webhook leaves it, and its pod if it comes to that; the run as it is stored."""
    meta = item["metadata"]
    label = {"app.kubernetes.io/managed-by": "tekton-pipelines", "tekton.dev/task": item["spec"]["taskRef"]["name"]}
    metadata = {**meta, "labels": {**label, **meta.get("labels", {})}, "annotations": RELEASE}
    spec = {"serviceAccountName": "default", "timeout": "1h30m0s", **item["spec"]}
    raw = kube.post(path_of(item), {**item, "metadata": metadata, "spec": spec}, manager)
    run = decode_object(raw, TaskRun)
    world = seen(kube, run.metadata.namespace)
    used = task_of(run, world.lookups)
    found = task_run(run, world)
    if isinstance(found, MissingReference) or isinstance(used, MissingReference):
        raise DemoError(f"TaskRun {run.metadata.name}: {found}")
    result = found[0]
    problem = result.problem
    if result.built_pod is not None:
        problem = made(kube, run, pod_of(result.built_pod.pod, used))
        if (problem is None) != (result.problem is None) or (problem and problem != result.problem):
            raise DemoError(f"TaskRun {run.metadata.name}: the server says {problem}, foreseen was {result.problem}")
    task = {key: part for key, part in stored_task(kube, run)["spec"].items() if key != "description"}
    return put_status(kube, raw, {"taskSpec": task, "provenance": PROVENANCE, **said(run, problem)})


def start_pipeline(kube: Kube, item: Object) -> None:
    """Create a PipelineRun and the TaskRuns of the tasks that wait for no other."""
    label = {"tekton.dev/pipeline": item["spec"]["pipelineRef"]["name"]}
    metadata = {**item["metadata"], "labels": label, "annotations": RELEASE}
    spec = {"taskRunTemplate": {"serviceAccountName": "default"}, **item["spec"]}
    raw = kube.post(path_of(item), {**item, "metadata": metadata, "spec": spec}, PERSON)
    run = decode_object(raw, BY_KIND["PipelineRun"].struct)
    found = plan(run, seen(kube, run.metadata.namespace).lookups)
    if not isinstance(found, Plan):
        raise DemoError(f"PipelineRun {run.metadata.name}: {found}")
    first = [task for task in found.tasks if not task.after and not task.is_finally]
    for task in first:
        start_task(kube, child_of(raw, task), CONTROLLER)
    status, reason, message = progress(0, len(found.tasks))
    children = [
        {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "name": task.names[0], "pipelineTaskName": task.name}
        for task in first
    ]
    put_status(kube, raw, {
        "startTime": raw["metadata"]["creationTimestamp"],
        "conditions": [stated("Succeeded", status, reason, message)],
        "childReferences": children,
        "pipelineSpec": to_builtins(found.pipeline.spec),
        "provenance": PROVENANCE,
    })  # fmt: skip


def child_of(parent: Object, task: Planned) -> Object:
    """The TaskRun of a pipeline task as the controller creates it."""
    meta, labels = parent["metadata"], parent["metadata"]["labels"]
    owner = OwnerReference("PipelineRun", meta["name"], meta["uid"], parent["apiVersion"], controller=True)
    return {
        "apiVersion": parent["apiVersion"],
        "kind": "TaskRun",
        "metadata": {
            "name": task.names[0],
            "namespace": meta["namespace"],
            "labels": {**labels, "tekton.dev/pipelineRun": meta["name"], "tekton.dev/pipelineTask": task.name},
            "ownerReferences": [to_builtins(owner)],
        },
        "spec": to_builtins(task.run.spec),
    }


def follow(kube: Kube) -> None:
    """Write into each run what has become of its pod; the pod of one task is through."""
    pods = {(pod["metadata"]["namespace"], pod["metadata"]["name"]): pod for pod in kube.items("pods")}
    for raw in kube.items("taskruns.tekton.dev"):
        meta, status = raw["metadata"], raw["status"]
        pod = pods.get((meta["namespace"], status.get("podName", "")))
        if pod is None:
            continue
        told = {"conditions": [stated("Succeeded", "Unknown", "Running", RUNNING)]}
        if meta["labels"].get("tekton.dev/pipelineTask") == THROUGH:
            kube.put_status([succeeded(pod)], KUBELET)
            told = {"conditions": [stated("Succeeded", "True", "Succeeded", DONE)], "completionTime": now()}
        put_status(kube, raw, {**status, **told})
    for raw in kube.items("pipelineruns.tekton.dev"):
        spec, status = raw["status"]["pipelineSpec"], raw["status"]
        state = progress(0, len(spec["tasks"]) + len(spec["finally"]) - 1, 1)
        put_status(kube, raw, {**status, "conditions": [stated("Succeeded", *state)]})


def seen(kube: Kube, namespace: str) -> RunNamespace:
    """What a run meets in its namespace."""
    items = kube.items(",".join(BY_KIND[kind].qualified_name for kind in READ))
    held: dict[str, list[Any]] = {kind: [] for kind in READ}
    for item in items:
        if item["metadata"]["namespace"] == namespace:
            held[item["kind"]].append(decode_object(item, BY_KIND[item["kind"]].struct))
    by_name = {kind: {one.metadata.name: one for one in found} for kind, found in held.items()}
    maps = {item["metadata"]["name"]: item for item in kube.items("configmaps") if item["metadata"]["name"] in MAPS}
    config = parse_config(*(decode_object(maps[name], BY_KIND["ConfigMap"].struct) for name in MAPS), yaml.safe_load)
    lookups = Lookups(by_name["Task"], by_name["StepAction"], by_name["Pipeline"])
    return build_run_namespace(policies_of(held["LimitRange"], held["ResourceQuota"]), Server(), config, lookups)


def pod_of(pod: Any, used: UsedTask) -> Object:
    """The pod as it is sent: with images, which the engine has no use for."""
    steps = {f"step-{one.name}": one.image for one in used.spec.steps or ()}
    sent = to_builtins(pod)
    spec = {
        key: [{**one, "image": steps.get(one["name"], "example.com/tekton:1.15")} for one in value]
        if key in {"containers", "initContainers"}
        else value
        for key, value in sent["spec"].items()
    }
    metadata = {**sent["metadata"], "annotations": RELEASE}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def made(kube: Kube, run: TaskRun, pod: Object) -> Problem | None:
    """What is wrong with the pod in Tekton's words; None if the server takes it."""
    try:
        kube.post(f"/api/v1/namespaces/{run.metadata.namespace}/pods", pod, CONTROLLER)
    except DemoError as error:
        refusal = re.search(r"Error from server \(Forbidden\): (.*)", str(error))
        if refusal is None:
            raise
        return creation.refusal_problem(run, 403, "Forbidden", refusal[1])
    return None


def said(run: TaskRun, problem: Problem | None) -> Object:
    """The part of a run's status that tells how it fares just after its start."""
    if problem is None:
        pod = {"podName": f"{run.metadata.name}-pod", "startTime": now()}
        return {**pod, "conditions": [stated("Succeeded", "Unknown", "Pending", "Pending")]}
    told = {"podName": "", "conditions": [stated("Succeeded", problem.status, problem.reason, problem.message)]}
    return {**told, "startTime": now(), "completionTime": now()} if problem.final else told


def stored_task(kube: Kube, run: TaskRun) -> Object:
    ref, namespace = run.spec.task_ref, run.metadata.namespace
    name = ref.name if ref is not None else ""
    return next(item for item in kube.items("tasks.tekton.dev") if key_of(item) == (namespace, name))


def put_status(kube: Kube, raw: Object, status: Object) -> Object:
    return kube.put(f"{path_of(raw)}/{raw['metadata']['name']}/status", {**raw, "status": status}, CONTROLLER)


def path_of(item: Object) -> str:
    """Where objects of the kind are listed in its namespace."""
    return BY_KIND[item["kind"]].path(item["metadata"]["namespace"])
