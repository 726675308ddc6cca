"""KRES301: the status of a quota is not what its objects add up to."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """Names of quotas whose used is not what a recount finds."""
    for report in () if scene.of_files else scene.quota_reports:
        for use in report.uses:
            if use.drift is not None and use.counted is not None:
                values = {"name": use.name, "used": use.used or "nothing", "counted": use.counted}
                yield Broken(report.subject, values, f"status.used[{use.name}]")


RULE = Rule(
    code="KRES301",
    title="status.used is not what a recount finds",
    severity="warning",
    reason="Pods are refused, or admitted, by a count that is not true: the quota controller has not caught up, "
    "or is not running.",
    remedy="a recount names the cause; the quota controller counts again within 5 minutes.",
    message="its status says {used} of {name} are used, a recount finds {counted}",
    find=find,
    failing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.cpu: '4'}}
status: {hard: {requests.cpu: '4'}, used: {requests.cpu: '3'}}
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
spec: {hard: {requests.cpu: '4'}}
status: {hard: {requests.cpu: '4'}, used: {requests.cpu: '1'}}
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
