"""KRES202: the default of a LimitRange is refused by its own bounds, or by those of another."""

from __future__ import annotations

from kubectl_kres.reports.check.conflicts.of_kind import of_kind
from kubectl_kres.reports.check.rule import Rule

RULE = Rule(
    code="KRES202",
    title="a default is out of bounds",
    severity="error",
    reason="Containers that state nothing get a default that a LimitRange refuses: each of them must state its own.",
    remedy="Give the LimitRange a default within the bounds.",
    message="{conflict}",
    find=of_kind("default-outside"),
    failing="""
apiVersion: v1
kind: LimitRange
metadata: {name: gives, namespace: shop}
spec:
  limits: [{type: Container, default: {memory: 1Gi}, defaultRequest: {memory: 1Gi}}]
---
apiVersion: v1
kind: LimitRange
metadata: {name: bounds, namespace: shop}
spec:
  limits:
  - {type: Container, max: {memory: 512Mi}, default: {memory: 1Gi}, defaultRequest: {memory: 1Gi}}
""",
    passing="""
apiVersion: v1
kind: LimitRange
metadata: {name: gives, namespace: shop}
spec:
  limits: [{type: Container, default: {memory: 512Mi}, defaultRequest: {memory: 512Mi}}]
---
apiVersion: v1
kind: LimitRange
metadata: {name: bounds, namespace: shop}
spec:
  limits:
  - {type: Container, max: {memory: 512Mi}, default: {memory: 512Mi}, defaultRequest: {memory: 512Mi}}
""",
)
