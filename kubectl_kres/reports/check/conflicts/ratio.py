"""KRES203: the defaults of a LimitRange break its ratio."""

from __future__ import annotations

from kubectl_kres.reports.check.conflicts.of_kind import of_kind
from kubectl_kres.reports.check.rule import Rule

RULE = Rule(
    code="KRES203",
    title="the defaults are further apart than the ratio",
    severity="error",
    reason="Containers that state nothing get a limit and a request that maxLimitRequestRatio refuses.",
    remedy="Bring default and defaultRequest closer together, or raise maxLimitRequestRatio.",
    message="{conflict}",
    find=of_kind("ratio"),
    failing="""
apiVersion: v1
kind: LimitRange
metadata: {name: gives, namespace: shop}
spec:
  limits:
  - type: Container
    default: {memory: 1Gi}
    defaultRequest: {memory: 256Mi}
    maxLimitRequestRatio: {memory: '2'}
""",
    passing="""
apiVersion: v1
kind: LimitRange
metadata: {name: gives, namespace: shop}
spec:
  limits:
  - type: Container
    default: {memory: 1Gi}
    defaultRequest: {memory: 512Mi}
    maxLimitRequestRatio: {memory: '2'}
""",
)
