"""Claims of files of which it depends on the order of their arrival whether they get what they ask for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_kres.capsule.replay.events import Create, replay_all
from kubectl_kres.capsule.replay.on_claim import created_together
from kubectl_kres.capsule.replay.world import PoolWorld
from kubectl_kres.capsule.rules.allocation import ClaimKey, key_of, place
from kubectl_kres.model.capsule import ResourcePoolClaim
from kubectl_kres.reports.capsule.common.claim_state import HELD, standing

#: So many claims are each tried as the first; so many the other way round; of more it is only looked at what comes of
#: all at once.
_FIRST, _REVERSED = 12, 200


def undecided(
    world: PoolWorld, claims: Sequence[ResourcePoolClaim], after: Sequence[PoolWorld]
) -> tuple[ClaimKey, ...]:
    """Those claims, in the queue's order.

    ``world``: without the claims. ``after``: what can come of their order in the files. Beside it are tried: all at
    once, the other way round, and each as the first. A controller looks at claims when it gets to it, not when they
    come: recorded were all of these for three claims of one file.
    """
    found: set[ClaimKey] = set()
    base = _decided(after[0], claims)
    for other in (*after[1:], *(_orders(world, claims) if len(claims) > 1 else ())):
        found |= {key for key, held in _decided(other, claims).items() if held != base.get(key)}
    return tuple(key_of(one) for one in sorted(claims, key=place) if key_of(one) in found)


def _orders(world: PoolWorld, claims: Sequence[ResourcePoolClaim]) -> Iterator[PoolWorld]:
    yield from (one.world for one in created_together(world, claims)[:1])
    if len(claims) <= _REVERSED:
        yield from _after(world, reversed(claims))
    for first in claims[1:] if len(claims) <= _FIRST else ():
        yield from _after(world, (first, *(one for one in claims if one is not first)))


def _after(world: PoolWorld, claims: Iterable[ResourcePoolClaim]) -> Iterator[PoolWorld]:
    yield from replay_all(world, [Create(one) for one in claims])[:1]


def _decided(world: PoolWorld, claims: Iterable[ResourcePoolClaim]) -> dict[ClaimKey, bool]:
    keys = map(key_of, claims)
    return {key: standing(one).state in HELD for key in keys if (one := world.claims.get(key)) is not None}
