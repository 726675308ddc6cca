"""Everything that Capsule's controllers look at as one value, and the worlds that an event leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct, structs

from kubectl_kres.admission.base.outcome import Finding, Refusal
from kubectl_kres.admission.base.server import Server
from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.rules.allocation import AmountFault, ClaimKey, key_of
from kubectl_kres.model.objects import Namespace, ResourceQuota

K = TypeVar("K")
V = TypeVar("V")


class PoolWorld(Struct, frozen=True):
    """Namespaces and pools by name; claims and quotas by namespace and name.

    objects: by namespace what quotas count there (pods, claims on storage, services, ...). Of a namespace that is not
    in it they are not known: its quotas keep the use that they have, and a resource new to them counts as unused.
    server: whose quotas these are. ended: uids of pools that are gone.
    """

    namespaces: Mapping[str, Namespace] = {}
    pools: Mapping[str, ResourcePool] = {}
    claims: Mapping[ClaimKey, ResourcePoolClaim] = {}
    quotas: Mapping[ClaimKey, ResourceQuota] = {}
    objects: Mapping[str, tuple[Any, ...]] = {}
    server: Server = Server()
    ended: frozenset[str] = frozenset()


def build_pool_world(
    namespaces: Iterable[Namespace] = (),
    pools: Iterable[ResourcePool] = (),
    claims: Iterable[ResourcePoolClaim] = (),
    quotas: Iterable[ResourceQuota] = (),
    objects: Mapping[str, Iterable[Any]] | None = None,
    server: Server | None = None,
) -> PoolWorld:
    """Return a world of objects as they were read, statuses as they are."""
    return PoolWorld(
        {namespace.metadata.name: namespace for namespace in namespaces},
        {pool.metadata.name: pool for pool in pools},
        {key_of(claim): claim for claim in claims},
        {(quota.metadata.namespace, quota.metadata.name): quota for quota in quotas},
        {space: tuple(item) for space, item in (objects or {}).items()},
        server or Server(),
    )


def with_namespace(world: PoolWorld, namespace: Namespace) -> PoolWorld:
    return structs.replace(world, namespaces={**world.namespaces, namespace.metadata.name: namespace})


def with_pool(world: PoolWorld, pool: ResourcePool) -> PoolWorld:
    return structs.replace(world, pools={**world.pools, pool.metadata.name: pool})


def with_claims(world: PoolWorld, claims: Mapping[ClaimKey, ResourcePoolClaim]) -> PoolWorld:
    """Return the claims given replace those of the same name."""
    return structs.replace(world, claims={**world.claims, **claims}) if claims else world


def with_quotas(world: PoolWorld, quotas: Mapping[ClaimKey, ResourceQuota]) -> PoolWorld:
    return structs.replace(world, quotas={**world.quotas, **quotas}) if quotas else world


def without_claims(world: PoolWorld, gone: Callable[[ResourcePoolClaim], bool]) -> PoolWorld:
    kept = {key: claim for key, claim in world.claims.items() if not gone(claim)}
    return world if len(kept) == len(world.claims) else structs.replace(world, claims=kept)


def without_quotas(world: PoolWorld, gone: Iterable[ClaimKey]) -> PoolWorld:
    dropped = set(gone)
    kept = {key: quota for key, quota in world.quotas.items() if key not in dropped}
    return world if len(kept) == len(world.quotas) else structs.replace(world, quotas=kept)


def without_pool(world: PoolWorld, name: str) -> PoolWorld:
    """Return the world in which the pool is gone; no other one gets its uid."""
    uids = {world.pools[name].metadata.uid} if name in world.pools else set()
    return structs.replace(world, pools=without_keys(world.pools, name), ended=world.ended | uids)


def without_keys(mapping: Mapping[K, V], *keys: K) -> dict[K, V]:
    """Return a mapping without some keys."""
    gone = {*keys}
    return {key: value for key, value in mapping.items() if key not in gone}


def quotas_in(world: PoolWorld, namespace: str) -> Iterator[ResourceQuota]:
    """Yield the quotas of one namespace."""
    return (quota for (space, _), quota in world.quotas.items() if space == namespace)


def distinct_worlds(worlds: Iterable[PoolWorld]) -> tuple[PoolWorld, ...]:
    """Return the worlds, equal ones once."""
    pool_worlds: list[PoolWorld] = []
    for world in worlds:
        if world not in pool_worlds:
            pool_worlds.append(world)
    return tuple(pool_worlds)


#: The webhook that decodes first, and what it calls the object.
_DECODING = {
    "ResourcePool": ("resourcepools.mutating.projectcapsule.dev", "object"),
    "ResourcePoolClaim": ("resourcepoolclaims.mutating.projectcapsule.dev", "new object"),
}


class WorldOutcome(Struct, frozen=True):
    """One of the possible worlds after an event, at rest. ``refusal``: the event was refused and changed nothing."""

    world: PoolWorld
    refusal: Refusal | None = None


def unreadable(fault: AmountFault) -> Refusal:
    """Return what the mutating webhook answers to an amount that is no quantity: it comes before the schema. No
    reason.
    """
    hook, word = _DECODING[fault.ref.kind]
    message = f'admission webhook "{hook}" denied the request: failed to decode {word}: {fault.text}'
    return Refusal(500, "", message, (Finding(fault.text, "quantity/unparsable", fault.path),))
