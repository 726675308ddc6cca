"""KRES105: a claim on a resource pool that can never be allocated."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.reports.common.claim_state import STUCK, WAITING
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.check.claims import beyond
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene

#: States from which nothing but an edit leads.
_ENDED = frozenset({"failed", "unassigned"})


def find(scene: Scene) -> Iterator[Broken]:
    """The claims that ask for more than their pool has, and those that no pool takes."""
    for claim, standing in scene.pools.claims:
        if standing.state not in STUCK:
            continue
        why = (
            beyond(scene.pools, claim)
            if standing.state in WAITING
            else standing.because
            if standing.state in _ENDED
            else ""
        )
        if why:
            meta = claim.metadata
            yield Broken(ObjectRef("ResourcePoolClaim", meta.name, meta.namespace), {"why": why}, "spec.claim")


RULE = Rule(
    code="KRES105",
    title="a claim can never be allocated",
    severity="error",
    reason="The claim never starts, and in an ordered queue so does every claim behind it.",
    remedy="Ask for less, or raise the pool's spec.quota.hard.",
    message="it can never be allocated: {why}",
    find=find,
    about="cluster",
    failing="""
apiVersion: capsule.clastix.io/v1beta2
kind: ResourcePool
metadata: {name: gold, uid: pool-1, generation: 1}
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
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {pool: gold}}
status: {phase: Active}
---
apiVersion: capsule.clastix.io/v1beta2
kind: ResourcePoolClaim
metadata:
  name: need
  namespace: shop
  uid: claim-1
  generation: 1
  creationTimestamp: '2026-01-01T00:00:00Z'
spec: {pool: gold, claim: {requests.cpu: '5'}}
status:
  pool: {name: gold, uid: pool-1}
  conditions:
  - {type: Ready, status: 'True', reason: Succeeded, message: reconciled}
  - type: Exhausted
    status: 'True'
    reason: PoolExhausted
    message: 'requested: requests.cpu=5, available: requests.cpu=4'
  - {type: Bound, status: 'False', reason: Unused}
""",
    passing="""
apiVersion: capsule.clastix.io/v1beta2
kind: ResourcePool
metadata: {name: gold, uid: pool-1, generation: 1}
spec: {selectors: [{matchLabels: {pool: gold}}], quota: {hard: {requests.cpu: '4'}}}
status:
  observedGeneration: 1
  namespaces: [shop]
  allocation:
    hard: {requests.cpu: '4'}
    used: {requests.cpu: '3'}
    available: {requests.cpu: '1'}
  claims: {shop: [{name: other, uid: claim-0, claims: {requests.cpu: '3'}}]}
  conditions: [{type: Ready, status: 'True', reason: Succeeded}]
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {pool: gold}}
status: {phase: Active}
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
  pool: {name: gold, uid: pool-1}
  conditions:
  - {type: Ready, status: 'True', reason: Succeeded, message: reconciled}
  - type: Exhausted
    status: 'True'
    reason: PoolExhausted
    message: 'requested: requests.cpu=2, available: requests.cpu=1'
  - {type: Bound, status: 'False', reason: Unused}
""",
)
