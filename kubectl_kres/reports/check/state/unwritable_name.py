"""KRES306: the name of a pool or claim that no status of Capsule can hold."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.rules.assignment import is_writable
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """Pools and claims whose name has a dot or more than 63 characters."""
    for kind in ("ResourcePool", "ResourcePoolClaim"):
        for item in scene.store.all(kind):
            if not is_writable(item.metadata.name):
                yield Broken(ObjectRef(kind, item.metadata.name, item.metadata.namespace), field="metadata.name")


RULE = Rule(
    code="KRES306",
    title="a name that Capsule cannot write",
    severity="error",
    reason="The name is legal for the object and not for the status that lists it: the controller's update "
    "fails each time, and nothing of the pool is decided any more.",
    remedy="Create the object again under a name without dots of at most 63 characters.",
    message="its name has a dot or more than 63 characters, which no status of Capsule can hold",
    find=find,
    about="cluster",
    failing="""
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {pool: gold}}
status: {phase: Active}
---
apiVersion: capsule.clastix.io/v1beta2
kind: ResourcePool
metadata: {name: gold, uid: pool-gold, generation: 1}
spec: {selectors: [{matchLabels: {pool: gold}}], quota: {hard: {requests.cpu: '4'}}}
status:
  observedGeneration: 1
  namespaces: [shop]
  allocation:
    hard: {requests.cpu: '4'}
    used: {requests.cpu: '0'}
    available: {requests.cpu: '4'}
  conditions: [{type: Ready, status: 'True', reason: Succeeded}]
---
apiVersion: capsule.clastix.io/v1beta2
kind: ResourcePoolClaim
metadata:
  name: need.cpu
  namespace: shop
  uid: claim-1
  generation: 1
  creationTimestamp: '2026-01-01T00:00:00Z'
spec: {pool: gold, claim: {requests.cpu: '2'}}
status:
  pool: {name: gold, uid: pool-gold}
  conditions:
  - {type: Ready, status: 'True', reason: Succeeded, message: reconciled}
  - {type: Exhausted, status: 'False', reason: Succeeded}
  - {type: Bound, status: 'False', reason: Unused}
""",
    passing="""
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {pool: gold}}
status: {phase: Active}
---
apiVersion: capsule.clastix.io/v1beta2
kind: ResourcePool
metadata: {name: gold, uid: pool-gold, generation: 1}
spec: {selectors: [{matchLabels: {pool: gold}}], quota: {hard: {requests.cpu: '4'}}}
status:
  observedGeneration: 1
  namespaces: [shop]
  allocation:
    hard: {requests.cpu: '4'}
    used: {requests.cpu: '0'}
    available: {requests.cpu: '4'}
  conditions: [{type: Ready, status: 'True', reason: Succeeded}]
---
apiVersion: capsule.clastix.io/v1beta2
kind: ResourcePoolClaim
metadata:
  name: need-cpu
  namespace: shop
  uid: claim-1
  generation: 1
  creationTimestamp: '2026-01-01T00:00:00Z'
spec: {pool: gold, claim: {requests.cpu: '2'}}
status:
  pool: {name: gold, uid: pool-gold}
  conditions:
  - {type: Ready, status: 'True', reason: Succeeded, message: reconciled}
  - {type: Exhausted, status: 'False', reason: Succeeded}
  - {type: Bound, status: 'False', reason: Unused}
""",
)
