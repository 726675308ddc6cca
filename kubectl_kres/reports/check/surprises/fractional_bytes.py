"""KRES406: an amount of memory that is no whole number of bytes."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene

_UNIT = 10**9
_BYTES = ("memory", "ephemeral-storage")


def find(scene: Scene) -> Iterator[Broken]:
    """Requests and limits of memory in thousandths, as 512m, which was meant as 512M or 512Mi."""
    for judged in scene.judged:
        for slot in judged.draft.slots() if judged.draft is not None else ():
            for name in _BYTES:
                limit, request = slot.limits.get(name), slot.requests.get(name)
                for side, value in (("limits", limit), ("requests", request if request != limit else None)):
                    if value is not None and value.nano % _UNIT:
                        path = f"{slot.path}.resources.{side}[{name}]"
                        yield Broken(judged.ref, {"path": path, "value": str(value)}, judged.at(path))


RULE = Rule(
    code="KRES406",
    title="memory in fractions of a byte",
    severity="error",
    reason="The suffix m means thousandths: 512m of memory is half a byte, rounded up to one, and the "
    "container cannot start.",
    remedy="Write Mi or M where m stands.",
    message="{path} is {value}: m means thousandths of a byte",
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
    spec: {containers: [{name: app, image: app, resources: {limits: {memory: 512m}}}]}
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
    spec: {containers: [{name: app, image: app, resources: {limits: {memory: 512M}}}]}
status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2}
""",
)
