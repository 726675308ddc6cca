"""KRES108: tasks of a PipelineRun that run at the same time and do not fit a quota together."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """The runs that have not ended, with each quota that their tasks exceed together although each fits alone."""
    for pipeline in scene.pipelines if scene.quotas else ():
        if pipeline.verdict.allowed is False:
            continue
        for at_once in pipeline.at_once:
            if at_once.exceeded and len(at_once.tasks) > 1:
                values = {
                    "tasks": ", ".join(at_once.tasks),
                    "amount": at_once.amount,
                    "resource": at_once.resource,
                    "quota": at_once.quota,
                    "used": at_once.used,
                    "hard": at_once.hard,
                }
                yield Broken(pipeline.subject, values, f"quota[{at_once.quota}].{at_once.resource}")


RULE = Rule(
    code="KRES108",
    title="tasks that run at the same time do not fit together",
    severity="warning",
    reason="Each task is admitted alone, and some wait for the others: the run takes longer than planned, "
    "and fails where a task waits beyond its timeout.",
    remedy="Raise the quota, let one task run after the other (runAfter), or ask for less in each.",
    message="tasks {tasks} ask for {amount} of {resource} at the same time, quota {quota} has {used} of {hard} used",
    find=find,
    failing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.cpu: '3'}}
status: {hard: {requests.cpu: '3'}, used: {requests.cpu: '0'}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: gives, namespace: shop}
spec:
  limits:
  - {type: Container, defaultRequest: {cpu: 10m}}
---
apiVersion: tekton.dev/v1
kind: PipelineRun
metadata: {name: release, namespace: shop, uid: run-1}
spec:
  pipelineSpec:
    tasks:
    - name: test
      taskSpec:
        steps: [{name: a, image: a, computeResources: {requests: {cpu: '2'}}}]
    - name: lint
      taskSpec:
        steps: [{name: a, image: a, computeResources: {requests: {cpu: '2'}}}]
""",
    passing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.cpu: '3'}}
status: {hard: {requests.cpu: '3'}, used: {requests.cpu: '0'}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: gives, namespace: shop}
spec:
  limits:
  - {type: Container, defaultRequest: {cpu: 10m}}
---
apiVersion: tekton.dev/v1
kind: PipelineRun
metadata: {name: release, namespace: shop, uid: run-1}
spec:
  pipelineSpec:
    tasks:
    - name: test
      taskSpec:
        steps: [{name: a, image: a, computeResources: {requests: {cpu: '2'}}}]
    - name: lint
      runAfter: [test]
      taskSpec:
        steps: [{name: a, image: a, computeResources: {requests: {cpu: '2'}}}]
""",
)
