"""KRES103: whether pods come depends on the order of LimitRanges or quotas."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.refused.pods_missing import cause
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """The workloads that some orders admit, and others do not."""
    for judged in scene.judged:
        answers = {outcome.allowed for outcome in judged.analysis.outcomes}
        if answers != {True, False} or (judged.replicas is not None and judged.replicas.missing):
            continue
        verdict = scene.verdict(judged)
        if not judged.ended and not verdict.missing:
            yield Broken(judged.ref, {"why": cause(verdict)})


RULE = Rule(
    code="KRES103",
    title="the order of LimitRanges decides about the next pod",
    severity="warning",
    reason="The API server reads several LimitRanges in an arbitrary order: the same pod is admitted once, and "
    "refused another time.",
    remedy="Keep one LimitRange a namespace, or give all of them the same defaults.",
    message="its next pod may be refused, depending on LimitRange order: {why}",
    find=find,
    failing="""
apiVersion: v1
kind: LimitRange
metadata: {name: large, namespace: shop}
spec:
  limits: [{type: Container, default: {memory: 1Gi}, defaultRequest: {memory: 1Gi}}]
---
apiVersion: v1
kind: LimitRange
metadata: {name: small, namespace: shop}
spec:
  limits:
  - {type: Container, max: {memory: 512Mi}, default: {memory: 128Mi}, defaultRequest: {memory: 128Mi}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, generation: 1}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: app}]}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1}
""",
    passing="""
apiVersion: v1
kind: LimitRange
metadata: {name: large, namespace: shop}
spec:
  limits: [{type: Container, default: {memory: 128Mi}, defaultRequest: {memory: 128Mi}}]
---
apiVersion: v1
kind: LimitRange
metadata: {name: small, namespace: shop}
spec:
  limits:
  - {type: Container, max: {memory: 512Mi}, default: {memory: 128Mi}, defaultRequest: {memory: 128Mi}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, generation: 1}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: app}]}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1}
""",
)
