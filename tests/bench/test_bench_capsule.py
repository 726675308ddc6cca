"""What the bench writes into pools and claims, and what the project's engine computes, are told apart by nobody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench.made import make, objects

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.replay.reconcile import settle_world
from kubectl_kres.capsule.replay.world import PoolWorld, build_pool_world
from kubectl_kres.model.objects import Namespace, ResourceQuota


def read(folder: Path, kind: str, struct: Any) -> list[Any]:
    return [msgspec.convert(one, struct) for one in objects(folder, kind)]


def world(folder: Path) -> PoolWorld:
    return build_pool_world(
        read(folder, "namespaces", Namespace),
        read(folder, "resourcepools", ResourcePool),
        read(folder, "resourcepoolclaims", ResourcePoolClaim),
        read(folder, "resourcequotas", ResourceQuota),
    )


def said(claim: ResourcePoolClaim) -> dict[str, tuple[str, str, frozenset[str]]]:
    """The conditions; lines of messages come in any order."""
    found = claim.status.conditions or ()
    return {one.type: (one.status, one.reason, frozenset(one.message.split("; "))) for one in found}


@pytest.mark.parametrize("sizes", [(), ("--pods", "60", "--pools", "3", "--claims", "200", "--resources", "9")])
def test_nothing_is_left_to_do_for_the_controller(folder: Path, tmp_path: Path, sizes: tuple[str, ...]) -> None:
    made = world(make(tmp_path / "made", "--namespaces", "14", "--nodes", "5", *sizes) if sizes else folder)
    worlds = settle_world(made, pools=made.pools)
    assert worlds
    for after in worlds:
        assert {key: said(one) for key, one in after.claims.items()} == {
            key: said(one) for key, one in made.claims.items()
        }
        for name, pool in after.pools.items():
            before = made.pools[name].status
            assert pool.status.claims == before.claims
            assert pool.status.exhaustions == before.exhaustions
        assert {key: one.spec for key, one in after.quotas.items()} == {
            key: one.spec for key, one in made.quotas.items()
        }


def test_claims_that_find_their_pools_settle_as_written(folder: Path) -> None:
    """The pools without claims, the claims not yet looked at: the order of the queue decides the same."""
    made = world(folder)
    fresh = build_pool_world(
        made.namespaces.values(),
        [msgspec.structs.replace(pool, status=blank(pool)) for pool in made.pools.values()],
        [msgspec.structs.replace(one, status=assigned(one)) for one in made.claims.values()],
        [quota for (_, name), quota in made.quotas.items() if not name.startswith("capsule-pool-")],
    )
    worlds = settle_world(fresh, pools=fresh.pools)
    assert worlds
    for after in worlds:
        for name, pool in after.pools.items():
            assert pool.status.claims == made.pools[name].status.claims
        waiting = {key for key, one in after.claims.items() if said(one).get("Exhausted", ("",))[0] == "True"}
        assert waiting == {key for key, one in made.claims.items() if said(one).get("Exhausted", ("",))[0] == "True"}


def blank(pool: ResourcePool) -> Any:
    allocation = msgspec.structs.replace(pool.status.allocation, used=None, available=pool.spec.quota.hard)
    return msgspec.structs.replace(pool.status, claims=None, exhaustions=None, claim_count=0, allocation=allocation)


def assigned(claim: ResourcePoolClaim) -> Any:
    return msgspec.structs.replace(claim.status, conditions=(claim.status.conditions or ())[:1])
