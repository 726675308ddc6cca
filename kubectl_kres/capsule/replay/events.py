"""What happens to a world: something is created, patched or deleted, or time passes; and every world that follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import permutations
from typing import Any

from msgspec import Struct

from kubectl_kres.admission.base.outcome import Refusal
from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.replay import on_claim, on_namespace, on_object, on_pool
from kubectl_kres.capsule.replay.outcome import WorldOutcome
from kubectl_kres.capsule.replay.settle import MOST_WORLDS
from kubectl_kres.capsule.replay.world import PoolWorld, distinct
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.policy import Namespace

#: So many claims are created at once in every order; more of them in the order of the queue, and with each of so many
#: the first that its pool saw.
_MOST_AT_ONCE, _MOST_FIRST = 5, 20


class Create(Struct, frozen=True):
    """A pool, claim, namespace, or an object that quotas count, as it is sent. UID and time of creation come with it:
    without a time it is the youngest, without a UID it is known by its name.
    """

    item: Any


class PatchEvent(Struct, frozen=True):
    """A JSON merge patch of an object: null removes. Labels and annotations are patched with it, too."""

    kind: str
    name: str
    patch: Mapping[str, Any]
    namespace: str = ""


class DeleteEvent(Struct, frozen=True):
    """An object is deleted. Of a namespace only the deletion begins: see ``Wait``."""

    kind: str
    name: str
    namespace: str = ""


class CreatedTogether(Struct, frozen=True):
    """Claims that are created at once, so that any of them can be the first to be looked at."""

    claims: tuple[Create, ...]


class Wait(Struct, frozen=True):
    """Time passes: namespaces end, and the garbage collector deletes claims whose pool is gone."""


WorldEvent = Create | PatchEvent | DeleteEvent | CreatedTogether | Wait


def replay(world: PoolWorld, event: WorldEvent) -> tuple[WorldOutcome, ...]:
    """Every outcome of an event, each at rest; a refused event leaves the world as it is.

    Raises WrongType for a patch that puts a value of a wrong type into a field.
    """
    match event:
        case Wait():
            return _of(on_namespace.waited(world))
        case CreatedTogether():
            return _together(world, event.claims)
        case Create():
            return _created(world, event.item)
        case PatchEvent():
            return _patched(world, event)
        case DeleteEvent():
            return _deleted(world, event)


def replay_all(world: PoolWorld, events: Iterable[WorldEvent]) -> tuple[PoolWorld, ...]:
    """Every world after some events, one after the other. A refused event changes nothing."""
    worlds: tuple[PoolWorld, ...] = (world,)
    for event in events:
        pool_worlds = [outcome.world for world in worlds for outcome in replay(world, event)]
        worlds = distinct(pool_worlds)[:MOST_WORLDS]
    return worlds


def _of(worlds: Iterable[PoolWorld]) -> tuple[WorldOutcome, ...]:
    return tuple(WorldOutcome(world) for world in worlds)


def _created(world: PoolWorld, item: Any) -> tuple[WorldOutcome, ...]:
    meta = item.metadata
    if _held(world, item.kind, meta.name, meta.namespace) is not None:
        message = f'{BY_KIND[item.kind].qualified} "{meta.name}" already exists'
        return (WorldOutcome(world, Refusal(409, "AlreadyExists", message, ())),)
    if isinstance(item, ResourcePool):
        return on_pool.created(world, item)
    if isinstance(item, ResourcePoolClaim):
        return on_claim.created(world, item)
    if isinstance(item, Namespace):
        return _of(on_namespace.stored(world, item))
    return on_object.created(world, item)


def _patched(world: PoolWorld, event: PatchEvent) -> tuple[WorldOutcome, ...]:
    result = _held(world, event.kind, event.name, event.namespace)
    if result is None:
        return (_missing(world, event.kind, event.name),)
    item = on_object.merged(result, event.patch)
    if isinstance(item, ResourcePool):
        return on_pool.updated(world, result, item)
    if isinstance(item, ResourcePoolClaim):
        return on_claim.updated(world, result, item)
    if isinstance(item, Namespace):
        return _of(on_namespace.stored(world, item))
    return _of(on_object.stored(world, item))


def _deleted(world: PoolWorld, event: DeleteEvent) -> tuple[WorldOutcome, ...]:
    result = _held(world, event.kind, event.name, event.namespace)
    if result is None:
        return (_missing(world, event.kind, event.name),)
    if isinstance(result, ResourcePool):
        return _of(on_pool.deleted(world, result))
    if isinstance(result, ResourcePoolClaim):
        return on_claim.deleted(world, result)
    if isinstance(result, Namespace):
        return _of((on_namespace.ending(world, result),))
    return _of(on_object.deleted(world, result))


def _together(world: PoolWorld, claims: tuple[Create, ...]) -> tuple[WorldOutcome, ...]:
    """Claims in every order of arrival; a refusal of one of them is not told."""
    if len(claims) <= _MOST_AT_ONCE:
        worlds = [pool_world for order in permutations(claims) for pool_world in replay_all(world, order)]
        return _of(distinct(worlds))
    together = on_claim.created_together(world, [claim.item for claim in claims])
    if len(claims) > _MOST_FIRST:
        return together
    worlds = [world_outcome.world for world_outcome in together]
    for first in claims:
        rest = [claim.item for claim in claims if claim is not first]
        for begun in replay_all(world, [first]):
            worlds += [world_outcome.world for world_outcome in on_claim.created_together(begun, rest)]
    return _of(distinct(worlds))


_KINDS: Mapping[str, Callable[[PoolWorld, str, str], Any]] = {
    "Namespace": lambda world, name, _: world.namespaces.get(name),
    "ResourcePool": lambda world, name, _: world.pools.get(name),
    "ResourcePoolClaim": lambda world, name, space: world.claims.get((space, name)),
    "ResourceQuota": lambda world, name, space: world.quotas.get((space, name)),
}


def _held(world: PoolWorld, kind: str, name: str, namespace: str) -> Any | None:
    if kind in _KINDS:
        return _KINDS[kind](world, name, namespace)
    return on_object.held(world, kind, name, namespace)


def _missing(world: PoolWorld, kind: str, name: str) -> WorldOutcome:
    known = BY_KIND.get(kind)
    message = f'{known.qualified if known else kind} "{name}" not found'
    return WorldOutcome(world, Refusal(404, "NotFound", message, ()))
