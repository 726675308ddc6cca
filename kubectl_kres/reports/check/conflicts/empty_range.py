"""KRES201: the bounds of LimitRanges leave no value."""

from __future__ import annotations

from kubectl_kres.reports.check.conflicts.of_kind import of_kind
from kubectl_kres.reports.check.rule import Rule

RULE = Rule(
    code="KRES201",
    title="no value is allowed",
    severity="error",
    reason="Two LimitRanges, or one, ask for more than they allow: no container, pod or claim can state a "
    "value that passes.",
    remedy="Lower the min or raise the max.",
    message="{conflict}",
    find=of_kind("empty-range"),
    failing="""
apiVersion: v1
kind: LimitRange
metadata: {name: low, namespace: shop}
spec: {limits: [{type: Container, min: {memory: 1Gi}}]}
---
apiVersion: v1
kind: LimitRange
metadata: {name: high, namespace: shop}
spec: {limits: [{type: Container, max: {memory: 512Mi}}]}
""",
    passing="""
apiVersion: v1
kind: LimitRange
metadata: {name: low, namespace: shop}
spec: {limits: [{type: Container, min: {memory: 512Mi}}]}
---
apiVersion: v1
kind: LimitRange
metadata: {name: high, namespace: shop}
spec: {limits: [{type: Container, max: {memory: 512Mi}}]}
""",
)
