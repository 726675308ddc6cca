"""KRES403: a container without a limit beside limited ones."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """The containers without a memory limit whose neighbours have one."""
    for judged in scene.judged:
        draft = judged.draft
        if draft is None or (draft.pod is not None and "memory" in draft.pod.limits):
            continue
        running = [*draft.containers, *(slot for slot in draft.inits if slot.role == "sidecar")]
        without = [slot for slot in running if "memory" not in slot.limits]
        if without and any("memory" in slot.limits for slot in draft.containers):
            names = ", ".join(slot.name for slot in without)
            yield Broken(judged.ref, {"containers": names}, judged.at(f"{without[0].path}.resources.limits"))


RULE = Rule(
    code="KRES403",
    title="a container is open beside limited ones",
    severity="warning",
    reason="The sum of limits looks like a bound of the pod and is none: the open container may take all "
    "memory of the node.",
    remedy="Give the container a memory limit, or the pod one of its own (spec.resources.limits).",
    message="other containers have a memory limit, and these have none: {containers}",
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
      - {name: app, image: app, resources: {limits: {memory: 64Mi}}}
      - {name: proxy, image: proxy}
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
      - {name: app, image: app, resources: {limits: {memory: 64Mi}}}
      - {name: proxy, image: proxy, resources: {limits: {memory: 64Mi}}}
status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2}
""",
)
