"""How long one reconcile of a pool takes with many waiting claims, and a whole world until it is at rest.

    python bench/claims.py [CLAIMS] [RESOURCES] [ASKED]

CLAIMS (100000) that wait on RESOURCES (50), each asking for ASKED of them (4). Prints seconds; nothing is written.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kubectl_kres.capsule.model import (
    PoolConfig,
    PoolRef,
    ResourcePool,
    ResourcePoolClaim,
    ResourcePoolClaimSpec,
    ResourcePoolClaimStatus,
    ResourcePoolSpec,
    ResourcePoolStatus,
)
from kubectl_kres.capsule.replay.reconcile import settle_world
from kubectl_kres.capsule.replay.world import build_pool_world
from kubectl_kres.capsule.rules.allocation import ClaimCandidate, ClaimShare, allocate, amounts, sort_queue
from kubectl_kres.model.objects import LabelSelector, ManagedMetadata, Namespace, ResourceQuotaSpec

SPACES = 50


def names(count: int) -> list[str]:
    return [f"count/things-{number}.example.com" for number in range(count)]


def claims(count: int, resources: list[str], asked: int) -> list[ResourcePoolClaim]:
    """Every claim asks for more than there is of one resource, and they were created in any order of their names."""
    found = []
    for number in range(count):
        picked = [resources[(number + step * 7) % len(resources)] for step in range(asked)]
        asks = dict.fromkeys(picked, str(1 + number % 97))
        meta = ManagedMetadata(
            f"claim-{number * 7919 % count:06}",
            f"space-{number % SPACES}",
            uid=f"uid-{number}",
            creation_timestamp=f"2026-11-20T{number % 24:02}:{number % 60:02}:{number * 7 % 60:02}Z",
            generation=1,
        )
        status = ResourcePoolClaimStatus(PoolRef("green", "pool"))
        found.append(ResourcePoolClaim(meta, ResourcePoolClaimSpec("green", asks), status))
    return found


def pool(resources: list[str], *, ordered: bool) -> ResourcePool:
    """Nothing is left of any resource but the first ones of each."""
    hard = {name: "0" if number % 2 else "1" for number, name in enumerate(resources)}
    spec = ResourcePoolSpec(
        (LabelSelector({"team": "solar"}),), ResourceQuotaSpec(hard), config=PoolConfig(ordered_queue=ordered)
    )
    return ResourcePool(ManagedMetadata("green", uid="pool", generation=1), spec, ResourcePoolStatus())


@contextmanager
def timed(what: str) -> Iterator[None]:
    began, busy = time.perf_counter(), time.process_time()
    yield
    wall, cpu = time.perf_counter() - began, time.process_time() - busy
    print(f"{what:58} {wall:7.2f} s wall {cpu:7.2f} s cpu")


def main() -> None:
    given = [int(word) for word in sys.argv[1:]]
    count, kinds, asked = (*given, *(100_000, 50, 4)[len(given) :])
    resources = names(kinds)
    held = claims(count, resources, asked)
    print(f"{count} claims, {kinds} resources, {asked} in each claim")
    with timed("amounts read"):
        queue = [ClaimCandidate(claim, amounts(claim.spec.claim)) for claim in held]
    with timed("queue sorted"):
        queue = sort_queue(queue)
    none: tuple[ClaimShare, ...] = ()
    for ordered in (False, True):
        green = pool(resources, ordered=ordered)
        hard = amounts(green.spec.quota.hard)
        with timed(f"one pass, {'ordered' if ordered else 'not ordered'}"):
            found = allocate(hard, none, queue, ordered=ordered)
        print(f"  {len(found.shares)} got a share, {len(found.exhausted)} resources exhausted")
        with timed("  every message"):
            for turn in found.turns:
                turn.message()
        spaces = [Namespace(ManagedMetadata(f"space-{number}", labels={"team": "solar"})) for number in range(SPACES)]
        with timed("  a world until it is at rest"):
            settle_world(build_pool_world(spaces, [green], held), pools=("green",))
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()
