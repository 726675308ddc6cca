"""KRES107: a TaskRun waits for room that its quota can never have."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.provenance.problem import TooMuch
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Judged, Scene


def find(scene: Scene) -> Iterator[Broken]:
    """The runs whose pod alone is more than the hard of a quota."""
    for judged in scene.judged:
        beyond = never_fits(judged)
        if beyond and not judged.ended:
            first = beyond[0]
            values = {"asked": first.requested, "resource": first.resource, "quota": first.quota, "hard": first.hard}
            yield Broken(judged.ref, values)


def never_fits(judged: Judged) -> tuple[TooMuch, ...]:
    """What the pod of a run asks for beyond the whole of a quota; empty for one that may come, and for no run."""
    part = judged.analysis.tekton
    return part.never if part is not None else ()


RULE = Rule(
    code="KRES107",
    title="a TaskRun never starts",
    severity="error",
    reason="Tekton tries again until the run times out: its pod alone asks for more than the quota allows in total.",
    remedy="Ask for less: spec.computeResources of the run bounds all steps together. Or raise the quota.",
    message="its pod asks for {asked} of {resource}, quota {quota} allows {hard} in total",
    find=find,
    failing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.cpu: '1'}}
status: {hard: {requests.cpu: '1'}, used: {requests.cpu: '0'}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: gives, namespace: shop}
spec:
  limits:
  - {type: Container, defaultRequest: {cpu: 10m}}
---
apiVersion: tekton.dev/v1
kind: TaskRun
metadata: {name: build, namespace: shop, uid: run-1}
spec:
  taskSpec:
    steps:
    - {name: make, image: make, script: make, computeResources: {requests: {cpu: '2'}}}
status:
  conditions:
  - {type: Succeeded, status: Unknown, reason: ExceededResourceQuota, message: exceeded quota}
""",
    passing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.cpu: '3'}}
status: {hard: {requests.cpu: '3'}, used: {requests.cpu: '1'}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: gives, namespace: shop}
spec:
  limits:
  - {type: Container, defaultRequest: {cpu: 10m}}
---
apiVersion: tekton.dev/v1
kind: TaskRun
metadata: {name: build, namespace: shop, uid: run-1}
spec:
  taskSpec:
    steps:
    - {name: make, image: make, script: make, computeResources: {requests: {cpu: '2'}}}
status:
  conditions:
  - {type: Succeeded, status: Unknown, reason: ExceededResourceQuota, message: exceeded quota}
""",
)
