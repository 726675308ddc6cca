"""KRES109: workloads of files that are admitted each alone, and not all of them side by side."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene
from kubectl_kres.reports.pod.verdict import is_negative


def find(scene: Scene) -> Iterator[Broken]:
    """The workloads that lack pods once all files are applied; those that lack them alone have a finding already."""
    together = scene.together
    if together is None:
        return
    alone = {judged.ref for judged in scene.judged if is_negative(scene.verdict(judged))}
    lacks = [
        f"quota {lack.quota.name} lacks {lack.amount} of {lack.resource}"
        for lack in together.lacks
        if lack.quota.namespace == scene.namespace
    ]
    for reach in together.workloads:
        if reach.pods < reach.wanted and reach.subject not in alone and reach.subject.namespace == scene.namespace:
            words = next(iter(reach.messages), "the others take the room")
            # An object that the server does not take lacks no room for pods.
            why = words if f"{reach.subject}: {words}" in together.refused else " and ".join(lacks) or words
            yield Broken(reach.subject, {"pods": str(reach.pods), "wanted": str(reach.wanted), "why": why})


RULE = Rule(
    code="KRES109",
    title="workloads of the files do not fit side by side",
    severity="error",
    reason="Each manifest is admitted by itself, and once all of them are applied some pods are refused; which ones is "
    "decided by who comes first.",
    remedy="Raise the quota for all of them together, or ask for less.",
    message="beside the others {pods} of {wanted} pods are admitted: {why}",
    find=find,
    failing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.cpu: '1'}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      containers:
      - {name: app, image: app, resources: {requests: {cpu: 400m}, limits: {memory: 64Mi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: app, resources: {requests: {cpu: 400m}, limits: {memory: 64Mi}}}
""",
    passing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.cpu: '2'}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      containers:
      - {name: app, image: app, resources: {requests: {cpu: 400m}, limits: {memory: 64Mi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: app, resources: {requests: {cpu: 400m}, limits: {memory: 64Mi}}}
""",
)
