"""KRES304: a claim says that its pool is exhausted, and the pool has room for it."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.reports.claim.claims import Claims
from kubectl_kres.capsule.reports.common.claim_state import WAITING
from kubectl_kres.reports.check.claims import beyond
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """The claims that wait although everything that they ask for is there."""
    reports = Claims(scene.pools)
    for claim, standing in scene.pools.claims:
        if standing.state not in WAITING or scene.pools.pool_of(claim) is None or beyond(scene.pools, claim):
            continue
        report = reports.report(claim)
        if not report.lacks and all(amount.behind is None for amount in report.amounts):
            yield Broken(report.subject, {"pool": report.pool})


RULE = Rule(
    code="KRES304",
    title="a claim waits although there is room",
    severity="warning",
    reason="Capsule's controller decides about a claim when the claim, its pool or a claim before it changes: "
    "one that was missed stays Exhausted.",
    remedy="Change the pool or the claim, as by an annotation, so that the controller looks again.",
    message="it says that pool {pool} is exhausted, and the pool has room for all that it asks for",
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
  pool: {name: gold, uid: pool-gold}
  conditions:
  - {type: Ready, status: 'True', reason: Succeeded, message: reconciled}
  - type: Exhausted
    status: 'True'
    reason: PoolExhausted
    message: 'requested: requests.cpu=2, available: requests.cpu=1'
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
    used: {requests.cpu: '3'}
    available: {requests.cpu: '1'}
  conditions: [{type: Ready, status: 'True', reason: Succeeded}]
  claims: {shop: [{name: other, uid: claim-0, claims: {requests.cpu: '3'}}]}
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
  - type: Exhausted
    status: 'True'
    reason: PoolExhausted
    message: 'requested: requests.cpu=2, available: requests.cpu=1'
  - {type: Bound, status: 'False', reason: Unused}
""",
)
