"""KRES402: a QoS class below the one that the object wishes for."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from kubectl_kres.admission.pod.qos import class_of
from kubectl_kres.model.workload import Workload
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene

WISH = "kres.dev/qos"
_RANK = {"BestEffort": 0, "Burstable": 1, "Guaranteed": 2}


def find(scene: Scene) -> Iterator[Broken]:
    """The objects whose annotation names a class that their pods do not reach."""
    for judged in scene.judged:
        start = judged.analysis.start
        metadata = start.owner.metadata if isinstance(start.owner, Workload) else start.pod.metadata
        wish = (metadata.annotations or {}).get(WISH) or (start.pod.metadata.annotations or {}).get(WISH, "")
        if wish not in _RANK or judged.draft is None:
            continue
        text = class_of(judged.draft)
        if _RANK[text] < _RANK[wish]:
            ref = judged.ref
            asking = f"kubectl kres qos {ref.kind.lower()}/{quote(ref.name)} -n {quote(ref.namespace)}"
            yield Broken(ref, {"wish": wish, "found": text}, f"metadata.annotations[{WISH}]", commands=(asking,))


RULE = Rule(
    code="KRES402",
    title="QoS class below the wish",
    severity="error",
    reason="The annotation kres.dev/qos says which class the pods need; after admission they are of a lower "
    "one, and are evicted earlier.",
    remedy="Its QoS answer names what keeps the pod from the class.",
    message="kres.dev/qos asks for {wish}, its pods are {found}",
    find=find,
    failing="""
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  generation: 1
  annotations: {kres.dev/qos: Guaranteed}
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
    passing="""
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  generation: 1
  annotations: {kres.dev/qos: Guaranteed}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: app, resources: {limits: {cpu: 100m, memory: 64Mi}}}
status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2}
""",
)
