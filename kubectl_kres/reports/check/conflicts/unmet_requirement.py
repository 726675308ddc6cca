"""KRES206: a quota requires a value on every container, and no LimitRange gives one."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """The quotas that a pod without requests or limits of its own does not pass."""
    for demand in scene.demands:
        if demand.unfilled:
            ref = ObjectRef("ResourceQuota", demand.quota, scene.namespace)
            yield Broken(ref, {"names": ", ".join(demand.unfilled)}, "spec.hard")


RULE = Rule(
    code="KRES206",
    title="a quota requires what nothing gives",
    severity="note",
    reason='Every container must state the value itself: a pod that relies on defaults is refused with "must specify".',
    remedy="Add a LimitRange with a default for it.",
    message="it requires {names} on every container, and no LimitRange gives a default",
    find=find,
    failing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {limits.memory: 4Gi}}
status: {hard: {limits.memory: 4Gi}, used: {limits.memory: 1Gi}}
""",
    passing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {limits.memory: 4Gi}}
status: {hard: {limits.memory: 4Gi}, used: {limits.memory: 1Gi}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: gives, namespace: shop}
spec:
  limits: [{type: Container, default: {memory: 128Mi}, defaultRequest: {memory: 128Mi}}]
""",
)
