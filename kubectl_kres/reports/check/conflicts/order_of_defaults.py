"""KRES205: LimitRanges give different defaults."""

from __future__ import annotations

from kubectl_kres.reports.check.conflicts.of_kind import of_kind
from kubectl_kres.reports.check.rule import Rule

RULE = Rule(
    code="KRES205",
    title="the order of LimitRanges decides about a default",
    severity="warning",
    reason="The API server reads several LimitRanges in an arbitrary order: the same pod gets one default "
    "today and another tomorrow.",
    remedy="Keep one LimitRange a namespace, or give all of them the same defaults.",
    message="{conflict}",
    find=of_kind("order"),
    failing="""
apiVersion: v1
kind: LimitRange
metadata: {name: one, namespace: shop}
spec:
  limits: [{type: Container, default: {memory: 256Mi}, defaultRequest: {memory: 128Mi}}]
---
apiVersion: v1
kind: LimitRange
metadata: {name: two, namespace: shop}
spec:
  limits: [{type: Container, default: {memory: 512Mi}, defaultRequest: {memory: 128Mi}}]
""",
    passing="""
apiVersion: v1
kind: LimitRange
metadata: {name: one, namespace: shop}
spec:
  limits: [{type: Container, default: {memory: 256Mi}, defaultRequest: {memory: 128Mi}}]
---
apiVersion: v1
kind: LimitRange
metadata: {name: two, namespace: shop}
spec: {limits: [{type: Container, default: {cpu: 500m}, defaultRequest: {cpu: 500m}}]}
""",
)
