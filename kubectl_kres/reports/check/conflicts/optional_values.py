"""KRES214: a quota names what pods need not state."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene
from kubectl_kres.reports.quota.optional_values import optional_names


def find(scene: Scene) -> Iterator[Broken]:
    """The names of quotas that a pod gets past which states no value; nothing where LimitRanges were not read."""
    if any(unseen.kind == "LimitRange" for unseen in scene.unread):
        return
    limit_ranges = tuple(scene.store.all("LimitRange", scene.namespace))
    for quota in scene.store.all("ResourceQuota", scene.namespace):
        names = sorted(optional_names(quota.spec.hard or (), limit_ranges))
        if names:
            ref = ObjectRef("ResourceQuota", quota.metadata.name, scene.namespace)
            yield Broken(ref, {"names": " and ".join(names)}, f"spec.hard[{names[0]}]")


RULE = Rule(
    code="KRES214",
    title="a quota that pods get past by stating nothing",
    severity="note",
    reason="Only cpu and memory have to be stated where a quota names them. A pod that states no ephemeral-storage "
    "costs the quota nothing and may use all of its node's disk.",
    remedy="Add a LimitRange with default.ephemeral-storage.",
    message="{names}: a pod that states no value costs nothing and is admitted, and no LimitRange gives a default",
    find=find,
    failing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {limits.ephemeral-storage: 1Gi}}
status: {hard: {limits.ephemeral-storage: 1Gi}, used: {limits.ephemeral-storage: '0'}}
""",
    passing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {limits.ephemeral-storage: 1Gi}}
status: {hard: {limits.ephemeral-storage: 1Gi}, used: {limits.ephemeral-storage: '0'}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: gives, namespace: shop}
spec:
  limits: [{type: Container, default: {ephemeral-storage: 64Mi}, defaultRequest: {ephemeral-storage: 64Mi}}]
""",
)
