"""KRES207: the min of containers is over the hard of a quota."""

from __future__ import annotations

from kubectl_kres.reports.check.conflicts.of_kind import of_kind
from kubectl_kres.reports.check.rule import Rule

RULE = Rule(
    code="KRES207",
    title="a quota is smaller than one container",
    severity="error",
    reason="The smallest container that a LimitRange admits is more than the quota has in total: no pod is admitted.",
    remedy="Raise the quota or lower the min.",
    message="{conflict}",
    find=of_kind("quota-too-small"),
    failing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.memory: 512Mi}}
status: {hard: {requests.memory: 512Mi}, used: {requests.memory: '0'}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: bounds, namespace: shop}
spec:
  limits:
  - {type: Container, min: {memory: 1Gi}, default: {memory: 1Gi}, defaultRequest: {memory: 1Gi}}
""",
    passing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.memory: 1Gi}}
status: {hard: {requests.memory: 1Gi}, used: {requests.memory: '0'}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: bounds, namespace: shop}
spec:
  limits:
  - {type: Container, min: {memory: 1Gi}, default: {memory: 1Gi}, defaultRequest: {memory: 1Gi}}
""",
)
