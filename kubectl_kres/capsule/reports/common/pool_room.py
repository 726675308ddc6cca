"""What a pool has left: its hard amounts without what its allocated claims hold."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.model import PoolClaim, ResourcePool
from kubectl_kres.capsule.reports.common.amount_lists import parsed
from kubectl_kres.capsule.rules.allocation import ClaimShare
from kubectl_kres.model.policy import ResourceQuota
from kubectl_kres.quantity import Quantity


def held(pool: ResourcePool) -> Iterator[tuple[str, PoolClaim]]:
    """The claims that a pool's status lists as allocated, with their namespaces, in the order of their allocation."""
    for space, claims in (pool.status.claims or {}).items():
        yield from ((space, claim) for claim in claims)


def shares(pool: ResourcePool) -> list[ClaimShare]:
    """The same as the allocation takes them."""
    return [
        ClaimShare(pool_claim.uid or f"{space}/{pool_claim.name}", space, pool_claim.name, parsed(pool_claim.claims))
        for space, pool_claim in held(pool)
    ]


#: What follows where more is in use than a quota allows.
STAYS = "what is there stays, and nothing that adds to {} is admitted until the use is below it"


def beyond_quota(quota: ResourceQuota) -> dict[str, Quantity]:
    """What is in use beyond a quota, by its spec; empty: nothing."""
    hard, used = parsed(quota.spec.hard), parsed(quota.status.used)
    return {name: amount for name, amount in used.items() if name in hard and amount > hard[name]}


def hard_of(pool: ResourcePool) -> dict[str, Quantity]:
    """What the pool shares out, as its spec says now; the status takes it over in the next reconcile."""
    return parsed(pool.spec.quota.hard)


def short(asked: Quantity, room: Quantity | None) -> bool:
    """Whether a pool refuses: it has no such resource, nothing left of it (even for 0), or less than is asked for.

    Source: the pool controller's comparison of available with the request.
    """
    return room is None or not room.nano or room < asked
