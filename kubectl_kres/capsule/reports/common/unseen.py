"""What an answer about a claim or a pool could not see: never an error, since tenants may read little."""

from __future__ import annotations

from msgspec import structs

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.reports.common.needs import claim_needs, pool_needs
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.reports.common.explanation import Unseen, unread
from kubectl_kres.store.coverage import Need


def unseen_of_claim(scene: PoolIndex, claim: ResourcePoolClaim) -> tuple[Unseen, ...]:
    """Reads that an answer about one claim wanted, and that failed or were not allowed."""
    return _unseen(scene, claim_needs(scene.store, claim.metadata.namespace, claim.metadata.name))


def unseen_of_pool(scene: PoolIndex, pool: ResourcePool) -> tuple[Unseen, ...]:
    """The same for a pool."""
    return _unseen(scene, pool_needs(scene.store, pool.metadata.name))


def _unseen(scene: PoolIndex, needs: tuple[Need, ...]) -> tuple[Unseen, ...]:
    """A list over all namespaces that was not allowed does not matter where each namespace was read."""
    all_unseen = unread(scene.store, (need for need in needs if not _made_good(scene, need, needs)))
    return tuple(structs.replace(unseen, required=unseen.required or unseen.state == "failed") for unseen in all_unseen)


def failed_beside(scene: PoolIndex) -> tuple[Unseen, ...]:
    """Reads beside what was asked for that failed: who may not read gets a whole answer, who was let down does not."""
    needs = tuple(scene.store.needs())
    return tuple(
        unseen
        for unseen in _unseen(scene, tuple(need for need in needs if not need.required))
        if unseen.state == "failed"
    )


def is_whole(unseen: tuple[Unseen, ...]) -> bool:
    """Whether an answer is complete without these."""
    return not any(unseen.required for unseen in unseen)


def _made_good(scene: PoolIndex, need: Need, needs: tuple[Need, ...]) -> bool:
    if need.kind != "ResourcePoolClaim" or need.namespace or need.name:
        return False
    narrower = [item for item in needs if item.kind == need.kind and item.namespace and not item.name]
    # The namespaces that were asked for anyway are no more than the user named.
    return any(not need.required for need in narrower) and all(scene.store.covered(need).known for need in narrower)
