"""Generated namespaces with runs of Tekton in every phase, and quotas on all that they make."""

from __future__ import annotations

import random
from typing import Any

from cli.account_worlds import drawn_quotas
from cli.test_cli_tekton import INFO

Raw = dict[str, Any]
SPACE = "shop"
TIME = "2026-11-26T09:00:00Z"
PLURALS = {"TaskRun": "taskruns", "PipelineRun": "pipelineruns"}
#: Names of quotas, with what a run, or what is made for it, may be charged.
_NAMES = (
    "pods", "count/pods", "requests.cpu", "limits.memory", "requests.storage", "persistentvolumeclaims",
    "count/persistentvolumeclaims", "count/taskruns.tekton.dev", "count/pipelineruns.tekton.dev",
    "count/statefulsets.apps", "count/controllerrevisions.apps", "count/widgets.example.org",
)  # fmt: skip
#: A run's phase: not looked at yet, held back by a quota, with a pod that runs, failed for good, done.
_PHASES = ("new", "waits", "runs", "failed", "done")
_REFUSED = 'pods "{}" is forbidden: exceeded quota: q0, requested: pods=1, used: pods=1, limited: pods=1'


class RunWorld:
    """``objects`` of one namespace and of the cluster; ``runs``: kind and name of what is asked about."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(f"runs {seed}")
        self.objects: list[Raw] = [INFO]
        self.runs: list[tuple[str, str]] = []
        self._used: dict[str, int] = {}
        self._add("Namespace", "v1", SPACE, {"status": {"phase": "Active"}}, space="")
        self._add("ServiceAccount", "v1", "default")
        self._add("Task", "tekton.dev/v1", "build", {"spec": self._task()})
        for number in range(self.random.randint(1, 3)):
            self._task_run(f"run-{number}", self.random.choice(_PHASES))
        if self.random.random() < 0.6:
            self._pipeline_run("pipe")
        self._policies()

    def _add(
        self, kind: str, version: str, name: str, fields: Raw | None = None, space: str = SPACE, **more: Any
    ) -> None:
        metadata: Raw = {"name": name, "uid": f"u-{name}", "creationTimestamp": TIME, **more}
        if space:
            metadata["namespace"] = space
        self.objects.append({"apiVersion": version, "kind": kind, "metadata": metadata, **(fields or {})})

    def _charge(self, **amounts: int) -> None:
        for name, amount in amounts.items():
            known = name.replace("__", "/").replace("_", ".")
            self._used[known] = self._used.get(known, 0) + amount

    def _task(self) -> Raw:
        steps = []
        for name in "ab"[: self.random.randint(1, 2)]:
            step: Raw = {"name": name, "image": "img", "command": ["sh"]}
            if self.random.random() < 0.6:
                step["computeResources"] = {"requests": {"cpu": "100m"}, "limits": {"memory": "64Mi", "cpu": "100m"}}
            steps.append(step)
        return {"steps": steps, "workspaces": [{"name": "src", "optional": True}]}

    def _workspace(self) -> Raw:
        claim: Raw = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}
        return {"name": "src", "volumeClaimTemplate": {"spec": claim}}

    def _task_run(self, name: str, phase: str, **more: Any) -> None:
        spec: Raw = {"taskRef": {"name": "build"}}
        if self.random.random() < 0.3:
            spec = {"taskSpec": self._task()}
        if phase == "new" and self.random.random() < 0.5:
            spec["workspaces"] = [self._workspace()]
        if self.random.random() < 0.15:
            spec["retries"] = 1
        if self.random.random() < 0.1 and phase == "new":
            spec["serviceAccountName"] = "deployer"
        self.runs.append(("TaskRun", name))
        self._add("TaskRun", "tekton.dev/v1", name, {"spec": spec, "status": self._status(name, phase)}, **more)
        self._charge(count__taskruns_tekton_dev=1)

    def _status(self, name: str, phase: str) -> Raw:
        if phase == "new":
            return {}
        condition: Raw = {"type": "Succeeded", "status": "Unknown", "lastTransitionTime": TIME}
        status: Raw = {"conditions": [condition], "startTime": TIME}
        if phase == "waits":
            del status["startTime"]
            text = f"TaskRun Pod exceeded available resources: {_REFUSED.format(name + '-pod')}"
            condition |= {"reason": "ExceededResourceQuota", "message": text}
            return status
        status["podName"] = f"{name}-pod"
        if phase == "runs":
            condition |= {"reason": "Running", "message": "Not all Steps in the Task have finished executing"}
            self._pod(f"{name}-pod", name)
        else:
            condition |= {"status": "True" if phase == "done" else "False", "reason": "Failed", "message": "it ended"}
            status["completionTime"] = TIME
            self._charge(count__pods=1)
        return status

    def _pod(self, name: str, run: str) -> None:
        owner = {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "name": run, "uid": f"u-{run}", "controller": True}
        spec = {"containers": [{"name": "step-a", "image": "img"}], "nodeName": "n0"}
        labels = {"tekton.dev/taskRun": run}
        self._add("Pod", "v1", name, {"spec": spec, "status": {"phase": "Running", "qosClass": "BestEffort"}},
                  ownerReferences=[owner], labels=labels)  # fmt: skip
        self._charge(pods=1, count__pods=1)

    def _pipeline_run(self, name: str) -> None:
        tasks: list[Raw] = []
        for at in range(self.random.randint(1, 3)):
            task: Raw = {"name": f"t{at}", "taskSpec": self._task()}
            if at and self.random.random() < 0.5:
                task["runAfter"] = [f"t{at - 1}"]
            tasks.append(task)
        spec: Raw = {"pipelineSpec": {"tasks": tasks}}
        if self.random.random() < 0.5:
            spec["workspaces"] = [self._workspace()]
            spec["pipelineSpec"]["workspaces"] = [{"name": "src"}]
            for task in tasks:
                task["workspaces"] = [{"name": "src"}]
        self.runs.append(("PipelineRun", name))
        self._add("PipelineRun", "tekton.dev/v1", name, {"spec": spec, "status": {}})
        self._charge(count__pipelineruns_tekton_dev=1)

    def _policies(self) -> None:
        for number, spec, status in drawn_quotas(
            self.random, _NAMES, self._used, {"count/widgets.example.org"}, _shown
        ):
            self._add("ResourceQuota", "v1", f"q{number}", {"spec": spec, "status": status})
        if self.random.random() < 0.3:
            item = {"type": "PersistentVolumeClaim", "max": {"storage": self.random.choice(["1Gi", "4Gi"])}}
            self._add("LimitRange", "v1", "disks", {"spec": {"limits": [item]}})
        if self.random.random() < 0.3:
            item = {
                "type": "Container",
                self.random.choice(["defaultRequest", "max"]): {"cpu": "200m", "memory": "128Mi"},
            }
            self._add("LimitRange", "v1", "boxes", {"spec": {"limits": [item]}})


def _shown(name: str, amount: int) -> str:
    unit = {"limits.memory": "Mi", "requests.storage": "Gi"}.get(name, "")
    if name == "requests.cpu":
        return f"{amount * 100}m"
    return f"{amount * 64 if unit == 'Mi' else amount}{unit}"
