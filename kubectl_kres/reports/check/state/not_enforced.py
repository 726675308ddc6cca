"""KRES303: a quota without a status, which enforces nothing."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """Quotas that the quota controller has not looked at."""
    for report in () if scene.of_files else scene.quota_reports:
        if not report.enforced and not report.supposed:
            yield Broken(report.subject)


RULE = Rule(
    code="KRES303",
    title="a quota has no status",
    severity="warning",
    reason="The API server enforces status.hard: until the quota controller has written it, the quota limits nothing.",
    remedy="Look at the kube-controller-manager: its resource quota controller is slow, off, or lacks rights.",
    message="it has no status.hard, so it limits nothing yet",
    find=find,
    failing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.cpu: '4'}}
""",
    passing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.cpu: '4'}}
status: {hard: {requests.cpu: '4'}, used: {requests.cpu: '0'}}
""",
)
