"""KRES401: a pod whose memory nothing bounds."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """The workloads none of whose containers has a memory limit, after all defaults."""
    for judged in scene.judged:
        draft = judged.draft
        if draft is None or (draft.pod is not None and "memory" in draft.pod.limits):
            continue
        if not any("memory" in slot.limits for slot in draft.containers):
            names = ", ".join(slot.name for slot in draft.containers)
            yield Broken(judged.ref, {"containers": names})


RULE = Rule(
    code="KRES401",
    title="no memory limit",
    severity="warning",
    reason="One leak takes the memory of the node, and the kernel kills whatever it finds there.",
    remedy="Give each container a memory limit, or the namespace a LimitRange with a default.",
    message="no container has a memory limit: {containers}",
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
      containers:
      - {name: app, image: app, resources: {requests: {cpu: 100m, memory: 64Mi}}}
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
    spec:
      containers:
      - {name: app, image: app, resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 64Mi}}}
status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2}
""",
)
