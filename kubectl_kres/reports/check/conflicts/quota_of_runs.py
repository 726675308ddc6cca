"""KRES208: a quota that refuses the pods of TaskRuns for the containers that Tekton adds."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene

_RUNS = ("TaskRun", "PipelineRun")


def find(scene: Scene) -> Iterator[Broken]:
    """The quotas that require what no LimitRange gives, in namespaces with runs."""
    runs = any(subject.ref.kind in _RUNS for subject in scene.subjects)
    if not runs and not any(any(True for _ in scene.store.all(kind, scene.namespace)) for kind in _RUNS):
        return
    for demand in scene.demands:
        if demand.unfilled:
            ref = ObjectRef("ResourceQuota", demand.quota, scene.namespace)
            yield Broken(ref, {"names": ", ".join(demand.unfilled)}, f"spec.hard[{demand.unfilled[0]}]")


RULE = Rule(
    code="KRES208",
    title="a quota refuses the containers that Tekton adds",
    severity="warning",
    reason="Tekton adds containers of its own to the pod of a TaskRun, and they state nothing: the quota "
    "refuses the pod however well the steps are written.",
    remedy="Add a LimitRange with a default for it, or set default-container-resource-requirements in "
    "Tekton's config-defaults.",
    message="it requires {names} on every container, and the containers that Tekton adds state none",
    find=find,
    failing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {limits.memory: 4Gi}}
status: {hard: {limits.memory: 4Gi}, used: {limits.memory: '0'}}
---
apiVersion: tekton.dev/v1
kind: TaskRun
metadata: {name: build, namespace: shop, uid: run-1}
spec:
  taskSpec:
    steps: [{name: make, image: make, computeResources: {limits: {memory: 1Gi}}}]
""",
    passing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {pods: '4'}}
status: {hard: {pods: '4'}, used: {pods: '0'}}
---
apiVersion: tekton.dev/v1
kind: TaskRun
metadata: {name: build, namespace: shop, uid: run-1}
spec:
  taskSpec:
    steps: [{name: make, image: make, computeResources: {limits: {memory: 1Gi}}}]
""",
)
