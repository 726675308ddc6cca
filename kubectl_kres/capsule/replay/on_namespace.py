"""Events of a namespace, and what happens only after a while."""

from __future__ import annotations

from msgspec import structs

from kubectl_kres.capsule.replay.on_claim import gone
from kubectl_kres.capsule.replay.on_pool import ENDING
from kubectl_kres.capsule.replay.settle import settle
from kubectl_kres.capsule.replay.world import (
    PoolWorld,
    distinct,
    dropped,
    with_namespace,
    without_claims,
    without_quotas,
)
from kubectl_kres.capsule.rules.leaving import is_orphan
from kubectl_kres.capsule.rules.selection import selected
from kubectl_kres.model.policy import Namespace


def stored(world: PoolWorld, namespace: Namespace) -> tuple[PoolWorld, ...]:
    """A new namespace, or one with other labels: the pools that select it or list it look again."""
    name = namespace.metadata.name
    now = with_namespace(world, namespace)
    if name not in world.namespaces:
        now = structs.replace(now, objects={**world.objects, name: ()})
    spaces = [namespace for namespace in (world.namespaces.get(name), namespace) if namespace is not None]
    woken = [
        pool.metadata.name
        for pool in now.pools.values()
        if name in (pool.status.namespaces or ()) or selected(pool, spaces)
    ]
    return settle(now, pools=woken)


def ending(world: PoolWorld, namespace: Namespace) -> PoolWorld:
    """The deletion begins, which wakes nobody: pools go on to list the namespace."""
    metadata = structs.replace(namespace.metadata, deletion_timestamp=ENDING)
    return with_namespace(world, structs.replace(namespace, metadata=metadata))


def waited(world: PoolWorld) -> tuple[PoolWorld, ...]:
    """Namespaces that are ending are gone with all that was in them; so are claims whose pools are all gone."""
    worlds: tuple[PoolWorld, ...] = (world,)
    for name, namespace in world.namespaces.items():
        if namespace.metadata.deletion_timestamp:
            worlds = distinct(pool_world for world in worlds for pool_world in _ended(world, name))
    return distinct(pool_world for world in worlds for pool_world in _collected(world))


def _ended(world: PoolWorld, name: str) -> tuple[PoolWorld, ...]:
    woken = [pool.metadata.name for pool in world.pools.values() if name in (pool.status.namespaces or ())]
    empty = without_claims(world, lambda claim: claim.metadata.namespace == name)
    empty = without_quotas(empty, [key for key in world.quotas if key[0] == name])
    rest = structs.replace(empty, namespaces=dropped(world.namespaces, name), objects=dropped(world.objects, name))
    return settle(rest, pools=woken)


def _collected(world: PoolWorld) -> tuple[PoolWorld, ...]:
    pools = tuple(world.pools.values())
    orphans = [claim for claim in world.claims.values() if is_orphan(claim, pools)]
    return gone(world, orphans) if orphans else (world,)
