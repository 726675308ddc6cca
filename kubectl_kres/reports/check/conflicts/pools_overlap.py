"""KRES211: two resource pools limit the same resource in the same namespace."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """Each pair once, at the pool whose name comes first."""
    index = scene.pools
    of_space: dict[str, list[str]] = {}
    for name in sorted(index.pools):
        for space in index.spaces(index.pools[name]):
            of_space.setdefault(space, []).append(name)
    pairs: dict[tuple[str, str], list[str]] = {}
    for space in sorted(of_space):
        names = of_space[space]
        for at, first in enumerate(names):
            for second in names[at + 1 :]:
                pairs.setdefault((first, second), []).append(space)
    for (first, second), spaces in pairs.items():
        both = sorted(index.hard(index.pools[first]).keys() & index.hard(index.pools[second]).keys())
        if both:
            values = {"other": second, "resources": ", ".join(both), "namespaces": ", ".join(spaces[:5])}
            yield Broken(ObjectRef("ResourcePool", first), values, "spec.selectors")


RULE = Rule(
    code="KRES211",
    title="resource pools overlap",
    severity="warning",
    reason="Each pool keeps a quota in the namespace, and a pod must fit both: the room of one pool is of no "
    "use without the other's.",
    remedy="Let the selectors of the pools match different namespaces, or share out different resources.",
    message="pool {other} also limits {resources} in {namespaces}",
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
kind: ResourcePool
metadata: {name: silver, uid: pool-silver, generation: 1}
spec: {selectors: [{matchLabels: {pool: gold}}], quota: {hard: {requests.cpu: '4'}}}
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
kind: ResourcePool
metadata: {name: silver, uid: pool-silver, generation: 1}
spec: {selectors: [{matchLabels: {pool: gold}}], quota: {hard: {requests.memory: 4Gi}}}
status:
  observedGeneration: 1
  namespaces: [shop]
  allocation:
    hard: {requests.memory: 4Gi}
    used: {requests.memory: '0'}
    available: {requests.memory: 4Gi}
  conditions: [{type: Ready, status: 'True', reason: Succeeded}]
""",
)
