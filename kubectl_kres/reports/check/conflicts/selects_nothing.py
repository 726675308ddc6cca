"""KRES212: a resource pool that serves no namespace."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.model import ResourcePool
from kubectl_kres.capsule.rules.selection import fault, fits, is_active, is_empty, is_usable
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.policy import Namespace
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene
from kubectl_kres.simulate.cluster import labelled
from kubectl_kres.store.coverage import Need


def find(scene: Scene) -> Iterator[Broken]:
    """Pools without selectors, and selectors that are skipped or match nothing."""
    known = scene.store.covered(Need("Namespace")).known
    spaces = (
        [labelled(namespace) for namespace in scene.store.all("Namespace") if is_active(namespace)] if known else None
    )
    for name, pool in sorted(scene.pools.pools.items()):
        for path, why in _idle(pool, spaces):
            yield Broken(ObjectRef("ResourcePool", name), {"why": why}, path)


def _idle(pool: ResourcePool, spaces: list[Namespace] | None) -> Iterator[tuple[str, str]]:
    """``spaces`` None: they could not be read."""
    if not pool.spec.selectors:
        yield "spec.selectors", "it has no selectors, and without one a pool selects nothing"
    for place, selector in enumerate(pool.spec.selectors or ()):
        path = f"spec.selectors[{place}]"
        if is_empty(selector):
            yield path, f"{path} is empty, and an empty selector of a pool selects nothing"
        elif fault(selector):
            yield path, f"{path} does not parse and is skipped: {fault(selector)}"
        elif (
            spaces is not None
            and is_usable(selector)
            and not any(fits(selector, it.metadata.labels or {}) for it in spaces)
        ):
            yield path, f"{path} matches no namespace"


RULE = Rule(
    code="KRES212",
    title="a resource pool selects nothing",
    severity="warning",
    reason="Claims of the namespaces that were meant get no pool, and wait.",
    remedy="Correct the selector, or label the namespaces.",
    message="{why}",
    find=find,
    about="cluster",
    failing="""
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {pool: golden}}
status: {phase: Active}
---
apiVersion: capsule.clastix.io/v1beta2
kind: ResourcePool
metadata: {name: gold, uid: pool-gold, generation: 1}
spec: {selectors: [{matchLabels: {pool: gold}}], quota: {hard: {requests.cpu: '4'}}}
status:
  observedGeneration: 1
  namespaces: []
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
""",
)
