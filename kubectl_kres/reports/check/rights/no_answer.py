"""KRES902: an object that could not be judged."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """What has no answer, with the reason."""
    assert scene.judged is not None
    for subject, error in scene.unanswered:
        yield Broken(subject.ref, {"error": error.message})


RULE = Rule(
    code="KRES902",
    title="an object could not be judged",
    severity="warning",
    reason="The other rules say nothing of it.",
    remedy="Its explanation says what is wrong with it, and where.",
    message="{error}",
    find=find,
    about="both",
    failing="""
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, generation: 1}
spec:
  replicas: 1
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: many}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: app, resources: {limits: {memory: 64Mi}}}]}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1}
""",
    passing="""
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, generation: 1}
spec:
  replicas: 1
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: app, resources: {limits: {memory: 64Mi}}}]}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1}
""",
)
