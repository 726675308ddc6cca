"""Pools, claims and worlds in few words, for the tests of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.capsule.model import (
    PoolConfig,
    PoolRef,
    ResourcePool,
    ResourcePoolClaim,
    ResourcePoolClaimSpec,
    ResourcePoolClaimStatus,
    ResourcePoolSpec,
)
from kubectl_kres.capsule.replay.events import Create, WorldEvent, replay_all
from kubectl_kres.capsule.replay.world import PoolWorld
from kubectl_kres.model.objects import LabelSelector, ManagedMetadata, Namespace, ResourceQuotaSpec

TEAM = LabelSelector({"team": "solar"})


def namespace(name: str, **labels: str) -> Namespace:
    return Namespace(ManagedMetadata(name, labels={"team": "solar", **labels}))


def pool(name: str, hard: Mapping[str, Any] | None, *, uid: str = "", **options: Any) -> ResourcePool:
    """A pool for team solar. options: those of the config, selectors, defaults, scopes."""
    selectors, defaults = options.pop("selectors", (TEAM,)), options.pop("defaults", None)
    quota = ResourceQuotaSpec(hard, options.pop("scopes", None))
    spec = ResourcePoolSpec(selectors, quota, defaults, PoolConfig(**options))
    return ResourcePool(ManagedMetadata(name, uid=uid or f"pool-{name}"), spec)


def claim(name: str, asks: Mapping[str, Any] | None, *, to: str = "green", space: str = "a", at: int = 0) -> Any:
    """A claim as it is sent; ``at``: the second of its creation."""
    time = f"2026-11-20T{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}Z"
    metadata = ManagedMetadata(name, space, uid=f"claim-{space}-{name}", creation_timestamp=time)
    return ResourcePoolClaim(metadata, ResourcePoolClaimSpec(to, asks))


def assigned(one: ResourcePoolClaim, to: str = "green") -> ResourcePoolClaim:
    """The claim as the claim controller leaves it."""
    return ResourcePoolClaim(one.metadata, one.spec, ResourcePoolClaimStatus(PoolRef(to, f"pool-{to}")))


def worlds(*events: Any) -> tuple[PoolWorld, ...]:
    """Every world after these; an object stands for its creation."""
    return replay_all(PoolWorld(), [one if isinstance(one, WorldEvent) else Create(one) for one in events])


def world(*events: Any) -> PoolWorld:
    """The only world after these."""
    (found,) = worlds(*events)
    return found


def says(one: ResourcePoolClaim, kind: str) -> tuple[str, str, str] | None:
    """Status, reason and message of a condition."""
    found = [item for item in one.status.conditions or () if item.type == kind]
    return (found[0].status, found[0].reason, found[0].message) if found else None
