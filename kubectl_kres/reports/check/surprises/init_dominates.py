"""KRES405: an init container that decides what the pod is charged."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.admission.pod.aggregate import of_pod
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene

#: So many times as much as the containers ask for is worth a word.
_TIMES = 2
_RESOURCES = ("cpu", "memory")


def find(scene: Scene) -> Iterator[Broken]:
    """The init containers that ask for more than twice what all containers ask for together."""
    for judged in scene.judged:
        draft = judged.draft
        if draft is None or (draft.pod is not None and draft.pod.requests) or judged.ref.kind in _RUNS:
            continue
        for name in _RESOURCES:
            running = sum(slot.requests[name].nano for slot in draft.containers if name in slot.requests)
            inits = [slot for slot in draft.inits if slot.role == "init" and name in slot.requests]
            largest = max(inits, key=lambda slot: slot.requests[name], default=None)
            if largest is None or not running or largest.requests[name].nano <= _TIMES * running:
                continue
            values = {
                "init": largest.name,
                "asked": str(largest.requests[name]),
                "resource": name,
                "charged": str(of_pod(draft, "requests")[name]),
            }
            yield Broken(judged.ref, values, judged.at(largest.at("requests", name)))


#: The init containers of runs are Tekton's.
_RUNS = frozenset({"TaskRun", "Task"})


RULE = Rule(
    code="KRES405",
    title="an init container dominates",
    severity="note",
    reason="Scheduler and quotas charge the pod for its largest moment as long as it lives, although the init "
    "container ends at once.",
    remedy="Ask for less in the init container, or do its work in a Job.",
    message="init container {init} asks for {asked} of {resource}, more than twice what the containers do: the "
    "pod is charged {charged}",
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
      initContainers:
      - {name: migrate, image: m, resources: {requests: {cpu: '2'}, limits: {memory: 64Mi}}}
      containers:
      - {name: app, image: app, resources: {requests: {cpu: 100m}, limits: {memory: 64Mi}}}
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
      initContainers:
      - {name: migrate, image: m, resources: {requests: {cpu: 200m}, limits: {memory: 64Mi}}}
      containers:
      - {name: app, image: app, resources: {requests: {cpu: 100m}, limits: {memory: 64Mi}}}
status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2}
""",
)
