"""KRES305: a claim that has lost what it held."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene

_STATES = frozenset({"lost", "released"})


def find(scene: Scene) -> Iterator[Broken]:
    """The claims that are in no pool any more, although nobody deleted them."""
    for claim, standing in scene.pools.claims:
        if standing.state in _STATES:
            ref = ObjectRef("ResourcePoolClaim", claim.metadata.name, claim.metadata.namespace)
            yield Broken(ref, {"state": standing.state, "because": standing.because})


RULE = Rule(
    code="KRES305",
    title="a claim is lost or was released",
    severity="warning",
    reason="The claim holds nothing, and no controller queues it again by itself: what runs in the namespace "
    "may be over its quota.",
    remedy="Delete the claim if it is not needed, or change its spec so that it is queued again.",
    message="{state}: {because}",
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
  name: need
  namespace: shop
  uid: claim-1
  generation: 1
  creationTimestamp: '2026-01-01T00:00:00Z'
spec: {pool: gold, claim: {requests.cpu: '2'}}
status:
  conditions:
  - {type: Ready, status: 'True', reason: Succeeded, message: reconciled}
  - {type: Exhausted, status: 'False', reason: Succeeded}
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
    used: {requests.cpu: '2'}
    available: {requests.cpu: '2'}
  conditions: [{type: Ready, status: 'True', reason: Succeeded}]
  claims: {shop: [{name: need, uid: claim-1, claims: {requests.cpu: '2'}}]}
---
apiVersion: capsule.clastix.io/v1beta2
kind: ResourcePoolClaim
metadata:
  name: need
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
