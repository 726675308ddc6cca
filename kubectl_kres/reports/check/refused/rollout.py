"""KRES104: a rollout that is started now would never end."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Judged, Scene
from kubectl_kres.reports.rollout.rolling_update import if_started
from kubectl_kres.reports.rollout.room import pods_in_a_row

_KINDS = frozenset({"Deployment", "StatefulSet", "DaemonSet"})


def find(scene: Scene) -> Iterator[Broken]:
    """The workloads with all of their pods, whose quotas have no room for a change of the template."""
    for judged in scene.judged:
        replicas = judged.replicas
        if judged.ref.kind not in _KINDS or replicas is None or replicas.missing or not scene.quotas:
            continue
        if scene.of_files or _has_room(judged) or _refused_otherwise(judged):
            continue
        end = if_started(scene.store, judged.subject, judged.analysis, replicas)
        if end is not None and not end.complete:
            values = {"updated": str(end.updated), "of": str(end.of), "surge": str(replicas.surge)}
            ref = judged.ref
            fit = f"kubectl kres quota --fit {ref.kind.lower()}/{quote(ref.name)} -n {quote(ref.namespace)}"
            yield Broken(ref, values, commands=(fit,))


def _has_room(judged: Judged) -> bool:
    """Whether the whole surge fits, so that old pods go as new ones come."""
    assert judged.replicas is not None
    rooms = [pods_in_a_row(outcome, judged.analysis) for outcome in judged.analysis.outcomes]
    return judged.replicas.surge > 0 and all(room is None or room >= judged.replicas.surge for room in rooms)


def _refused_otherwise(judged: Judged) -> bool:
    refusals = [one.refusal for one in judged.analysis.outcomes if one.refusal is not None]
    return any(one.rule != "quota/exceeded" for refusal in refusals for one in refusal.findings)


RULE = Rule(
    code="KRES104",
    title="a rollout would get stuck",
    severity="warning",
    reason="All pods run, and the next deployment of a new image never finishes: the quota has no room for a "
    "new pod before an old one may go.",
    remedy="Raise the quota by one pod, or let an old pod go first: maxUnavailable 1 (quota --fit shows how "
    "far a rollout comes).",
    message="a rollout that is started now ends with {updated} of {of} new pods (maxSurge {surge})",
    find=find,
    failing="""
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
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: app, resources: {requests: {cpu: 500m, memory: 64Mi}, limits: {memory: 64Mi}}}
status:
  observedGeneration: 1
  replicas: 2
  updatedReplicas: 2
  readyReplicas: 2
  availableReplicas: 2
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
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: app, resources: {requests: {cpu: 500m, memory: 64Mi}, limits: {memory: 64Mi}}}
status:
  observedGeneration: 1
  replicas: 2
  updatedReplicas: 2
  readyReplicas: 2
  availableReplicas: 2
""",
)
