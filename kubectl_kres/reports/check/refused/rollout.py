"""KRES104: a rollout that is started now would never end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import quote

from msgspec import structs

from kubectl_kres.admission.quota.quota_admission import Quota, charges
from kubectl_kres.admission.request.new_pod import quota_request
from kubectl_kres.quantity import ZERO, Quantity, parse
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Judged, Scene
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.replicas import Replicas
from kubectl_kres.reports.rollout.rolling_update import if_started
from kubectl_kres.reports.rollout.room import pods_in_a_row

#: Kinds whose pods are replaced when the template changes.
ROLLED = frozenset({"Deployment", "StatefulSet", "DaemonSet"})


def find(scene: Scene) -> Iterator[Broken]:
    """The workloads with all of their pods, whose quotas have no room for a change of the template.

    Those of files that the cluster does not have are looked at as if all of their pods were there.
    """
    for judged in scene.judged if scene.quotas else ():
        replicas, analysis = judged.replicas, judged.analysis
        if judged.ref.kind not in ROLLED or replicas is None or _refused_otherwise(judged):
            continue
        if scene.of_files and not replicas.existing:
            replicas, analysis = _once_there(replicas, analysis)
        if replicas.missing or _has_room(replicas, analysis):
            continue
        end = if_started(scene.store, judged.subject, analysis, replicas)
        if end is not None and not end.complete:
            values = {"updated": str(end.updated), "of": str(end.of), "surge": str(replicas.surge)}
            ref = judged.ref
            fit = f"kubectl kres quota --fit {ref.kind.lower()}/{quote(ref.name)} -n {quote(ref.namespace)}"
            yield Broken(ref, values, commands=(fit,))


def _once_there(replicas: Replicas, analysis: Analysis) -> tuple[Replicas, Analysis]:
    """The same once all pods came; unchanged where not all of them fit."""
    rooms = [pods_in_a_row(outcome, analysis) for outcome in analysis.outcomes]
    draft = analysis.outcomes[0].draft
    if draft is None or any(room is not None and room < replicas.wanted for room in rooms):
        return replicas, analysis
    policies = analysis.known.policies
    asked = {
        charge.quota: charge.requested for charge in charges(quota_request(analysis.start.pod, draft), policies.quotas)
    }
    quotas = tuple(_with(quota, asked.get(quota.name, {}), replicas.wanted) for quota in policies.quotas)
    known = structs.replace(analysis.known, policies=structs.replace(policies, quotas=quotas))
    return structs.replace(replicas, existing=replicas.wanted), structs.replace(analysis, known=known)


def _with(quota: Quota, asked: Mapping[str, str], times: int) -> Quota:
    """The quota once it has counted so many pods more that ask for this."""
    used = dict(quota.used)
    for name, text in asked.items():
        quantity = parse(text)
        used[name] = used.get(name, ZERO) + Quantity(quantity.nano * times, quantity.format)
    return quota.using(used)


def _has_room(replicas: Replicas, analysis: Analysis) -> bool:
    """Whether the whole surge fits, so that old pods go as new ones come."""
    rooms = [pods_in_a_row(outcome, analysis) for outcome in analysis.outcomes]
    return replicas.surge > 0 and all(room is None or room >= replicas.surge for room in rooms)


def _refused_otherwise(judged: Judged) -> bool:
    return not judged.admitted and not judged.lacks_room_alone


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
