"""KRES302: a quota uses more than its hard."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """Names of quotas of which more is used than allowed."""
    for report in () if scene.of_files else scene.quota_reports:
        for use in report.uses:
            if use.over and use.used is not None:
                values = {"name": use.name, "used": use.used, "hard": use.hard}
                yield Broken(report.subject, values, f"spec.hard[{use.name}]")


RULE = Rule(
    code="KRES302",
    title="use is above hard",
    severity="warning",
    reason="Nothing is evicted, and nothing new is admitted: the next pod that is replaced does not come back.",
    remedy="Raise the quota above what is used, or delete what uses it (quota --by workload names it).",
    message="{used} of {name} are used, hard is {hard}",
    find=find,
    failing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.cpu: 500m}}
status: {hard: {requests.cpu: 500m}, used: {requests.cpu: '1'}}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, uid: pod-1}
spec:
  containers:
  - {name: app, image: app, resources: {requests: {cpu: '1', memory: 64Mi}, limits: {memory: 64Mi}}}
status: {phase: Running}
""",
    passing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.cpu: '1'}}
status: {hard: {requests.cpu: '1'}, used: {requests.cpu: '1'}}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, uid: pod-1}
spec:
  containers:
  - {name: app, image: app, resources: {requests: {cpu: '1', memory: 64Mi}, limits: {memory: 64Mi}}}
status: {phase: Running}
""",
)
