"""KRES210: a quota whose scope selects no pod that there can be."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene
from kubectl_kres.store.coverage import Need


def find(scene: Scene) -> Iterator[Broken]:
    """Quotas of PriorityClasses of which none exists."""
    if not scene.store.covered(Need("PriorityClass")).known:
        return
    there = {priority_class.metadata.name for priority_class in scene.store.all("PriorityClass")}
    for quota in scene.quotas:
        for scope in quota.scopes:
            wanted = tuple(scope.values or ())
            if scope.scope_name == "PriorityClass" and scope.operator == "In" and not there & {*wanted}:
                ref = quota.source.ref
                yield Broken(ref, {"classes": ", ".join(wanted)}, "spec.scopeSelector")


RULE = Rule(
    code="KRES210",
    title="a quota scope that matches nothing",
    severity="warning",
    reason="The quota counts only pods of PriorityClasses that do not exist: it never limits anything.",
    remedy="Name a PriorityClass that exists (kubectl get priorityclasses), or create it.",
    message="it counts only pods of PriorityClass {classes}, and there is no such class",
    find=find,
    failing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec:
  hard: {pods: '4'}
  scopeSelector:
    matchExpressions: [{scopeName: PriorityClass, operator: In, values: [gone]}]
status: {hard: {pods: '4'}, used: {pods: '0'}}
""",
    passing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec:
  hard: {pods: '4'}
  scopeSelector:
    matchExpressions: [{scopeName: PriorityClass, operator: In, values: [high, gone]}]
status: {hard: {pods: '4'}, used: {pods: '0'}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
""",
)
