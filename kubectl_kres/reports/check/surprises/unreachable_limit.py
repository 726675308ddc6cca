"""KRES404: a limit of the pod that its containers cannot reach."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.quantity import Quantity
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """The pod-level limits above the sum of what each container is limited to."""
    for judged in scene.judged:
        draft = judged.draft
        if draft is None or draft.pod is None:
            continue
        running = [*draft.containers, *(slot for slot in draft.inits if slot.role == "sidecar")]
        for name, limit in draft.pod.limits.items():
            if running and all(name in slot.limits for slot in running):
                total = sum(slot.limits[name].nano for slot in running)
                if total < limit.nano:
                    values = {"limit": str(limit), "resource": name, "total": str(Quantity(total, limit.format))}
                    yield Broken(judged.ref, values, judged.at(draft.pod.at("limits", name)))


RULE = Rule(
    code="KRES404",
    title="a pod limit that containers cannot reach",
    severity="note",
    reason="Quotas and the node reserve for the limit of the pod, while its containers are bounded below it.",
    remedy="Lower spec.resources.limits, or take the limits of some containers away.",
    message="the pod may use {limit} of {resource}, its containers together at most {total}",
    find=find,
    failing="""
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, generation: 1}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      resources: {limits: {memory: 256Mi}}
      containers: [{name: app, image: app, resources: {limits: {memory: 64Mi}}}]
status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2}
""",
    passing="""
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, generation: 1}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {resources: {limits: {memory: 256Mi}}, containers: [{name: app, image: app}]}
status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2}
""",
)
