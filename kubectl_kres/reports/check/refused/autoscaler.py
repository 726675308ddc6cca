"""KRES110: a HorizontalPodAutoscaler may ask for more pods than the quotas have room for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import quote

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.workload import HorizontalPodAutoscaler
from kubectl_kres.quantity import parse
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Judged, Scene
from kubectl_kres.reports.common.explanation import Autoscaled
from kubectl_kres.reports.rollout.room import reach_of


def find(scene: Scene) -> Iterator[Broken]:
    """The autoscalers whose maximum a quota does not admit; of a file's workload without one in the files, itself."""
    scalers = _by_target(scene)
    for judged in scene.judged if scalers and scene.quotas else ():
        scaler = scalers.get((judged.ref.kind, judged.ref.name))
        # What the workload asks for already is told of the workload.
        if scaler is None or judged.replicas is None or scaler.spec.max_replicas <= judged.replicas.wanted:
            continue
        reach = reach_of(scaler, scene.store, judged.subject, judged.analysis, judged.replicas)
        if reach.lacks:
            yield _broken(scene, judged, scaler, reach)


def _by_target(scene: Scene) -> Mapping[tuple[str, str], HorizontalPodAutoscaler]:
    """Of several autoscalers of one workload the one that asks for most, by kind and name of the workload."""
    horizontal_pod_autoscalers: dict[tuple[str, str], HorizontalPodAutoscaler] = {}
    for horizontal_pod_autoscaler in scene.store.all("HorizontalPodAutoscaler", scene.namespace):
        key = (
            horizontal_pod_autoscaler.spec.scale_target_ref.kind,
            horizontal_pod_autoscaler.spec.scale_target_ref.name,
        )
        if (
            key not in horizontal_pod_autoscalers
            or horizontal_pod_autoscaler.spec.max_replicas > horizontal_pod_autoscalers[key].spec.max_replicas
        ):
            horizontal_pod_autoscalers[key] = horizontal_pod_autoscaler
    return horizontal_pod_autoscalers


def _broken(scene: Scene, judged: Judged, scaler: HorizontalPodAutoscaler, reach: Autoscaled) -> Broken:
    ref = ObjectRef(scaler.kind, scaler.metadata.name, scene.namespace)
    hard = {(quota.name, name): quantity for quota in scene.quotas for name, quantity in quota.hard.items()}
    raised = [
        f"{lack.resource} of quota {lack.quota} to {hard[lack.quota, lack.resource] + parse(lack.short)}"
        for lack in reach.lacks
    ]
    lowered = f", or lower maxReplicas to {reach.fits}" if reach.fits >= max(1, scaler.spec.min_replicas or 1) else ""
    name, space = judged.ref.name, judged.ref.namespace
    values = {
        "autoscaler": reach.autoscaler,
        "workload": f"{judged.ref.kind}/{name}",
        "most": str(reach.most),
        "fits": str(reach.fits),
        "why": ", ".join(
            f"quota {shortfall.quota} lacks {shortfall.short} of {shortfall.resource}" for shortfall in reach.lacks
        ),
    }
    return Broken(
        ref if scene.asks(ref) else judged.ref,
        values,
        "spec.maxReplicas" if scene.asks(ref) else "",
        f"raise {' and '.join(raised)}{lowered}",
        (f"kubectl kres quota --fit {judged.ref.kind.lower()}/{quote(name)} -n {quote(space)}",),
    )


RULE = Rule(
    code="KRES110",
    title="an autoscaler's maximum does not fit",
    severity="warning",
    reason="All looks well until load comes: then the autoscaler asks for pods that the quota refuses, when they are "
    "needed most.",
    remedy="Raise the quota, or lower maxReplicas to what fits.",
    message="of the {most} replicas of {workload} that autoscaler {autoscaler} may ask for {fits} fit: {why}",
    find=find,
    failing="""
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.cpu: '2'}}
status: {hard: {requests.cpu: '2'}, used: {requests.cpu: '1'}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 5}
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
spec: {hard: {requests.cpu: '2'}}
status: {hard: {requests.cpu: '2'}, used: {requests.cpu: '1'}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 4}
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
