"""What ``explain`` says of claims and pools: which needs, and which of the two answers."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from kubectl_kres.errors import UsageError
from kubectl_kres.reports.capsule.common.pool_index import PoolIndex
from kubectl_kres.reports.capsule.explain.claim_or_pool import ClaimExplanation, PoolExplanation
from kubectl_kres.reports.capsule.explain.explain_claim import explain_claim
from kubectl_kres.reports.capsule.explain.explain_pool import explain_pool
from kubectl_kres.reports.capsule.pool.tenant_view import glimpsed, pool_glimpse
from kubectl_kres.reports.capsule.simulate.prediction import predicted
from kubectl_kres.reports.common.explanation import Unseen
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.reports.pod.manifest_source import missing
from kubectl_kres.store.store import Store

KINDS = ("ResourcePool", "ResourcePoolClaim")


class Explaining:
    """Explains many claims and pools of one store; what they share is looked up once."""

    def __init__(self, store: Store) -> None:
        self._store, self._found = store, predicted(store)
        self._scene = PoolIndex(self._found.store)

    @property
    def supposed(self) -> tuple[str, ...]:
        """What had to be supposed of objects in files."""
        return self._found.supposed

    def explain(self, subject: Subject) -> ClaimExplanation | PoolExplanation:
        """Raises NotFound or Forbidden if the object cannot be had, UsageError if the server would not take it."""
        ref = subject.ref
        if self._store.get(ref.kind, ref.name, ref.namespace) is None:
            if ref.kind == "ResourcePool" and ref.name in glimpsed(self._scene):
                return PoolExplanation(pool_glimpse(self._scene, ref.name))
            raise missing(self._store, subject)
        if ref in self._found.refused:
            raise UsageError(f"{ref}: {self._found.refused[ref]}")
        item: Any = self._found.store.get(ref.kind, ref.name, ref.namespace)
        if ref.kind == "ResourcePool":
            return explain_pool(self._scene, item)
        found = explain_claim(self._scene, item)
        return structs.replace(found, claim=self._found.noted(ref, found.claim))


def unseen_in(found: ClaimExplanation | PoolExplanation) -> tuple[Unseen, ...]:
    """What the answer could not see."""
    return found.claim.unseen if isinstance(found, ClaimExplanation) else found.pool.unseen


def negative(found: ClaimExplanation | PoolExplanation) -> bool:
    """Whether a claim waits, or a pool does not serve all of its claims."""
    if isinstance(found, ClaimExplanation):
        return found.claim.waits
    return found.pool.exhausted or found.pool.ready is False
