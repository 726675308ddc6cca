"""KRES213: a namespace in which a resource pool allows nothing, since nobody has claimed."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.reports.common.amount_lists import parsed
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """Pools that set 0 where there is no claim, with each such namespace."""
    for name, pool in sorted(scene.pools.pools.items()):
        if not pool.spec.config.defaults_zero:
            continue
        claims, defaults = pool.status.claims or {}, parsed(pool.spec.defaults)
        names = [name for name in sorted(scene.pools.hard(pool)) if not defaults.get(name)]
        for space in sorted(scene.pools.spaces(pool)):
            if names and not claims.get(space):
                values = {"pool": name, "resources": ", ".join(names)}
                yield Broken(ObjectRef("Namespace", space), values)


RULE = Rule(
    code="KRES213",
    title="a pool allows nothing in a namespace without a claim",
    severity="warning",
    reason="With defaultsZero the pool's quota is 0 until a claim is allocated: every pod of the namespace is refused.",
    remedy="Create a ResourcePoolClaim in the namespace (claims --for writes one).",
    message="pool {pool} allows 0 of {resources} in it: no claim is allocated there",
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
spec:
  selectors: [{matchLabels: {pool: gold}}]
  quota: {hard: {requests.cpu: '4'}}
  config: {defaultsZero: true}
status:
  observedGeneration: 1
  namespaces: [shop]
  allocation:
    hard: {requests.cpu: '4'}
    used: {requests.cpu: '0'}
    available: {requests.cpu: '4'}
  conditions: [{type: Ready, status: 'True', reason: Succeeded}]
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
spec:
  selectors: [{matchLabels: {pool: gold}}]
  quota: {hard: {requests.cpu: '4'}}
  config: {defaultsZero: true}
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
