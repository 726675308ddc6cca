"""What a pool has left: its hard amounts without what its allocated claims hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.admission.aggregate import add_into
from kubectl_kres.admission.draft import Quantities
from kubectl_kres.model.capsule import PoolClaim, ResourcePool
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.reports.amounts import parsed


def held(pool: ResourcePool) -> Iterator[tuple[str, PoolClaim]]:
    """The claims that a pool's status lists as allocated, with their namespaces, in the order of their allocation."""
    for space, claims in (pool.status.claims or {}).items():
        yield from ((space, one) for one in claims)


def hard_of(pool: ResourcePool) -> Quantities:
    """What the pool shares out, as its spec says now; the status takes it over in the next reconcile."""
    return parsed(pool.spec.quota.hard)


def claimed(pool: ResourcePool) -> Quantities:
    """What the claims that its status lists hold; each resource of ``hard`` is there, with zero if nobody holds any."""
    found: Quantities = dict.fromkeys(hard_of(pool), ZERO)
    for _, one in held(pool):
        add_into(found, parsed(one.claims))
    return found


def available(pool: ResourcePool) -> Quantities:
    """``hard`` without ``claimed``; below zero where claims hold more than there is."""
    taken = claimed(pool)
    return {name: quantity - taken[name] for name, quantity in hard_of(pool).items()}


def short(asked: Quantity, room: Quantity | None) -> bool:
    """Whether a pool refuses: it has no such resource, nothing left of it (even for 0), or less than is asked for.

    Source: the pool controller's canClaim: a resource is short where available is zero or below the request.
    """
    return room is None or not room.nano or room < asked


def summed(lists: Iterable[Quantities]) -> Quantities:
    """Sums by resource."""
    found: Quantities = {}
    for one in lists:
        add_into(found, one)
    return found
