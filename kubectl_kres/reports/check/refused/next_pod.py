"""KRES102: pods run that would not be admitted again."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.quantity import parse
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Judged, Scene


def find(scene: Scene) -> Iterator[Broken]:
    """The workloads whose pods exist and could not be replaced, whatever room the old ones leave."""
    for judged in scene.judged:
        refusals = [outcome.refusal for outcome in judged.analysis.outcomes]
        # Of a file that is told as KRES101: the next pod is what it asks for.
        if scene.of_files or not _runs(judged) or any(refusal is None for refusal in refusals):
            continue
        first = refusals[0]
        lasting = [finding for finding in first.findings if _lasts(finding)] if first is not None else []
        if lasting:
            yield Broken(
                judged.ref, {"why": next((finding.text for finding in lasting if finding.text), lasting[0].rule)}
            )


def _runs(judged: Judged) -> bool:
    """Whether it has all of its pods."""
    if judged.replicas is not None:
        return judged.replicas.existing > 0 and not judged.replicas.missing
    return judged.analysis.start.live is not None and judged.analysis.tekton is None


def _lasts(finding: Finding) -> bool:
    """Whether the refusal stays when a pod goes: the room of a quota comes back with it, unless it is over its hard."""
    return finding.rule != "quota/exceeded" or parse(finding.used) > parse(finding.limit)


RULE = Rule(
    code="KRES102",
    title="running pods would not be admitted again",
    severity="warning",
    reason="All looks well until a node is drained, a pod crashes or somebody deploys: the next pod is refused.",
    remedy="Its explanation names what refuses the next pod, and each way to get it admitted.",
    message="its pods run, and the next one would be refused: {why}",
    find=find,
    failing="""
apiVersion: v1
kind: LimitRange
metadata: {name: bounds, namespace: shop}
spec:
  limits:
  - {type: Container, max: {memory: 32Mi}, default: {memory: 32Mi}, defaultRequest: {memory: 32Mi}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, generation: 1}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: app, resources: {requests: {cpu: 500m, memory: 64Mi}, limits: {memory: 64Mi}}}
status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2}
""",
    passing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.cpu: '1'}}
status: {hard: {requests.cpu: '1'}, used: {requests.cpu: '1'}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, generation: 1}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: app, resources: {requests: {cpu: 500m, memory: 64Mi}, limits: {memory: 64Mi}}}
status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2}
""",
)
