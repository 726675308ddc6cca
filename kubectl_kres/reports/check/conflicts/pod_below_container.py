"""KRES204: the min of containers is over the max of pods."""

from __future__ import annotations

from kubectl_kres.reports.check.conflicts.of_kind import of_kind
from kubectl_kres.reports.check.rule import Rule

RULE = Rule(
    code="KRES204",
    title="a container needs more than a pod may have",
    severity="error",
    reason="The min of type Container is over the max of type Pod: no pod is admitted.",
    remedy="Lower the min of type Container or raise the max of type Pod.",
    message="{conflict}",
    find=of_kind("pod-below-container"),
    failing="""
apiVersion: v1
kind: LimitRange
metadata: {name: bounds, namespace: shop}
spec:
  limits: [{type: Container, min: {memory: 1Gi}}, {type: Pod, max: {memory: 512Mi}}]
""",
    passing="""
apiVersion: v1
kind: LimitRange
metadata: {name: bounds, namespace: shop}
spec:
  limits: [{type: Container, min: {memory: 256Mi}}, {type: Pod, max: {memory: 512Mi}}]
""",
)
