"""KRES106: a claim on a resource pool waits for others."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.reports.claim.claims import Claims
from kubectl_kres.capsule.reports.common.claim_state import WAITING
from kubectl_kres.reports.check.claims import beyond
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """The claims in a queue that the pool could serve if others gave way."""
    reports = Claims(scene.pools)
    for claim, standing in scene.pools.claims:
        if standing.state not in WAITING or beyond(scene.pools, claim):
            continue
        report = reports.report(claim)
        behind = [amount.name for amount in report.amounts if amount.behind is not None]
        lacks = [f"{amount} of {name}" for name, amount in report.lacks.items()]
        why = f"it lacks {' and '.join(lacks)}" if lacks else f"earlier claims wait for {' and '.join(behind)}"
        if lacks or behind:
            yield Broken(report.subject, {"state": standing.state, "pool": report.pool, "why": why}, "spec.claim")


RULE = Rule(
    code="KRES106",
    title="a claim waits",
    severity="warning",
    reason="Its namespace has less than it asked for until other claims are released or the pool grows.",
    remedy="Its answer names the smallest changes that unblock it.",
    message="{state} in pool {pool}: {why}",
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
spec: {pool: gold, claim: {requests.cpu: '2'}}
status:
  pool: {name: gold, uid: pool-1}
  conditions:
  - {type: Ready, status: 'True', reason: Succeeded, message: reconciled}
  - {type: Exhausted, status: 'False', reason: Succeeded}
  - {type: Bound, status: 'False', reason: Unused}
""",
)
