"""Events (create, patch, delete, time passes), and every world that one can lead to: of pools, claims, namespaces and
what quotas count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import permutations
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, structs

from kubectl_kres.admission.base.outcome import QuotaCharge, Refusal
from kubectl_kres.admission.request.create import create_decoded
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim, pool_of
from kubectl_kres.capsule.replay import object_events
from kubectl_kres.capsule.replay.object_events import ENDING, remove_claims
from kubectl_kres.capsule.replay.reconcile import MOST_WORLDS, recount_quota, settle_world
from kubectl_kres.capsule.replay.world import (
    PoolWorld,
    WorldOutcome,
    distinct_worlds,
    quotas_in,
    with_namespace,
    with_quotas,
    without_claims,
    without_keys,
    without_quotas,
)
from kubectl_kres.capsule.rules.allocation import ClaimKey
from kubectl_kres.capsule.rules.assignment import refers_to_pool, selected_namespaces
from kubectl_kres.capsule.rules.webhooks import is_orphan
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import Namespace, ResourceQuota, convert_value, to_wire
from kubectl_kres.model.pod import Pod

T = TypeVar("T")


def find_object(world: PoolWorld, kind: str, name: str, namespace: str) -> Any | None:
    """Return the object, if the objects of its namespace are known."""
    result = world.objects.get(namespace, ())
    return next((item for item in result if (item.kind, item.metadata.name) == (kind, name)), None)


def create_object(world: PoolWorld, item: Any) -> tuple[WorldOutcome, ...]:
    """Return a pod or another object that quotas count: refused where one has no room, else counted.

    LimitRanges are no part of a world: what is created states all that it is to have.
    """
    if isinstance(item, ResourceQuota):
        return tuple(WorldOutcome(pool_world) for pool_world in store_object(world, item))
    space = item.metadata.namespace
    raw = {"kind": item.kind, "apiVersion": item.api_version, **to_wire(item)}
    policies = policies_of((), quotas_in(world, space))
    answers = create_decoded(item, policies, world.server)
    refused = [WorldOutcome(world, answer.refusal) for answer in answers if answer.refusal is not None]
    if refused:
        return tuple(refused)
    if space not in world.objects:
        return tuple(
            WorldOutcome(pool_world)
            for pool_world in _settle_changed_quotas(_charge_quotas(world, space, answers[0].charges), world, space)
        )
    whole = convert_value(merge(raw, answers[0].object or {}), Pod) if isinstance(item, Pod) else item
    return tuple(WorldOutcome(pool_world) for pool_world in store_object(world, whole))


def store_object(world: PoolWorld, item: Any) -> tuple[PoolWorld, ...]:
    """Return the object as it is now; of a quota that a pool manages the pool undoes the change."""
    space, name = item.metadata.namespace, item.metadata.name
    if isinstance(item, ResourceQuota):
        old = world.quotas.get((space, name))
        return _settle_quota_pools(with_quotas(world, {(space, name): recount_quota(world, item)}), old, item)
    others = [entry for entry in world.objects.get(space, ()) if (entry.kind, entry.metadata.name) != (item.kind, name)]
    return _recount_quotas(world, space, (*others, item))


def delete_object(world: PoolWorld, item: Any) -> tuple[PoolWorld, ...]:
    """The object is gone, and counts no more; a managed quota comes back."""
    space, name = item.metadata.namespace, item.metadata.name
    if isinstance(item, ResourceQuota):
        return _settle_quota_pools(without_quotas(world, [(space, name)]), item)
    return _recount_quotas(world, space, tuple(entry for entry in world.objects.get(space, ()) if entry is not item))


def apply_merge_patch(item: T, patch: Mapping[str, Any]) -> T:
    """Return an object after a JSON merge patch. Raises WrongType for a value of a wrong type."""
    return convert_value(merge(msgspec.to_builtins(item, enc_hook=str), patch), type(item))


def merge(old: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """RFC 7386: maps merge, null removes, all else replaces."""
    result = dict(old)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            below = result.get(key)
            result[key] = merge(below if isinstance(below, Mapping) else {}, value)
        else:
            result[key] = value
    return result


def _recount_quotas(world: PoolWorld, space: str, objects: tuple[Any, ...]) -> tuple[PoolWorld, ...]:
    now = structs.replace(world, objects={**world.objects, space: objects})
    quotas = {(space, quota.metadata.name): recount_quota(now, quota) for quota in quotas_in(now, space)}
    return _settle_changed_quotas(with_quotas(now, quotas), world, space)


def _settle_changed_quotas(now: PoolWorld, before: PoolWorld, space: str) -> tuple[PoolWorld, ...]:
    """Return the pools of quotas whose use has changed look again."""
    changed = [quota for quota in quotas_in(now, space) if quota.status != before.quotas[_key(quota)].status]
    return settle_world(now, pools=[pool_of(quota) for quota in changed if pool_of(quota)])


def _charge_quotas(world: PoolWorld, space: str, charges: tuple[QuotaCharge, ...]) -> PoolWorld:
    """Return the quotas with what a request cost them."""
    resource_quotas: dict[ClaimKey, ResourceQuota] = {}
    for charge in charges:
        quota = world.quotas[space, charge.quota]
        used = {**(quota.status.used or {}), **charge.after}
        resource_quotas[_key(quota)] = structs.replace(quota, status=structs.replace(quota.status, used=used))
    return with_quotas(world, resource_quotas)


def _settle_quota_pools(world: PoolWorld, *quotas: ResourceQuota | None) -> tuple[PoolWorld, ...]:
    """Pools look after the quotas that they own, whatever became of the labels."""
    resource_quotas = [quota for quota in quotas if quota is not None]
    named = {pool_of(resource_quota) for resource_quota in resource_quotas}
    owners = [owner for resource_quota in resource_quotas for owner in resource_quota.metadata.owner_references or ()]
    woken = [
        name
        for name, pool in world.pools.items()
        if name in named or any(refers_to_pool(owner, pool) for owner in owners)
    ]
    return settle_world(world, pools=woken)


def _key(quota: ResourceQuota) -> ClaimKey:
    return quota.metadata.namespace, quota.metadata.name


def namespace_stored(world: PoolWorld, namespace: Namespace) -> tuple[PoolWorld, ...]:
    """Return a new namespace, or one with other labels: the pools that select it or list it look again."""
    name = namespace.metadata.name
    now = with_namespace(world, namespace)
    if name not in world.namespaces:
        now = structs.replace(now, objects={**world.objects, name: ()})
    spaces = [namespace for namespace in (world.namespaces.get(name), namespace) if namespace is not None]
    woken = [
        pool.metadata.name
        for pool in now.pools.values()
        if name in (pool.status.namespaces or ()) or selected_namespaces(pool, spaces)
    ]
    return settle_world(now, pools=woken)


def begin_deletion(world: PoolWorld, namespace: Namespace) -> PoolWorld:
    """Return the deletion begins, which wakes nobody: pools go on to list the namespace."""
    metadata = structs.replace(namespace.metadata, deletion_timestamp=ENDING)
    return with_namespace(world, structs.replace(namespace, metadata=metadata))


def finish_deletions(world: PoolWorld) -> tuple[PoolWorld, ...]:
    """Namespaces that are ending are gone with all that was in them; so are claims whose pools are all gone."""
    worlds: tuple[PoolWorld, ...] = (world,)
    for name, namespace in world.namespaces.items():
        if namespace.metadata.deletion_timestamp:
            worlds = distinct_worlds(pool_world for world in worlds for pool_world in _end_namespace(world, name))
    return distinct_worlds(pool_world for world in worlds for pool_world in _collect_orphans(world))


def _end_namespace(world: PoolWorld, name: str) -> tuple[PoolWorld, ...]:
    woken = [pool.metadata.name for pool in world.pools.values() if name in (pool.status.namespaces or ())]
    empty = without_claims(world, lambda claim: claim.metadata.namespace == name)
    empty = without_quotas(empty, [key for key in world.quotas if key[0] == name])
    rest = structs.replace(
        empty, namespaces=without_keys(world.namespaces, name), objects=without_keys(world.objects, name)
    )
    return settle_world(rest, pools=woken)


def _collect_orphans(world: PoolWorld) -> tuple[PoolWorld, ...]:
    pools = tuple(world.pools.values())
    orphans = [claim for claim in world.claims.values() if is_orphan(claim, pools)]
    return remove_claims(world, orphans) if orphans else (world,)


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


class TimePasses(Struct, frozen=True):
    """Time passes: namespaces end, and the garbage collector deletes claims whose pool is gone."""


WorldEvent = Create | PatchEvent | DeleteEvent | CreatedTogether | TimePasses


def replay(world: PoolWorld, event: WorldEvent) -> tuple[WorldOutcome, ...]:
    """Return every outcome of an event, each at rest; a refused event leaves the world as it is.

    Raises WrongType for a patch that puts a value of a wrong type into a field.
    """
    match event:
        case TimePasses():
            return _build_outcomes(finish_deletions(world))
        case CreatedTogether():
            return _create_claims_together(world, event.claims)
        case Create():
            return _create_object(world, event.item)
        case PatchEvent():
            return _patch_object(world, event)
        case DeleteEvent():
            return _delete_object(world, event)


def replay_all(world: PoolWorld, events: Iterable[WorldEvent]) -> tuple[PoolWorld, ...]:
    """Return every world after some events, one after the other. A refused event changes nothing."""
    worlds: tuple[PoolWorld, ...] = (world,)
    for event in events:
        pool_worlds = [outcome.world for world in worlds for outcome in replay(world, event)]
        worlds = distinct_worlds(pool_worlds)[:MOST_WORLDS]
    return worlds


def _build_outcomes(worlds: Iterable[PoolWorld]) -> tuple[WorldOutcome, ...]:
    return tuple(WorldOutcome(world) for world in worlds)


def _create_object(world: PoolWorld, item: Any) -> tuple[WorldOutcome, ...]:
    meta = item.metadata
    if _find_any(world, item.kind, meta.name, meta.namespace) is not None:
        message = f'{BY_KIND[item.kind].qualified_name} "{meta.name}" already exists'
        return (WorldOutcome(world, Refusal(409, "AlreadyExists", message, ())),)
    if isinstance(item, ResourcePool):
        return object_events.pool_created(world, item)
    if isinstance(item, ResourcePoolClaim):
        return object_events.claim_created(world, item)
    if isinstance(item, Namespace):
        return _build_outcomes(namespace_stored(world, item))
    return create_object(world, item)


def _patch_object(world: PoolWorld, event: PatchEvent) -> tuple[WorldOutcome, ...]:
    result = _find_any(world, event.kind, event.name, event.namespace)
    if result is None:
        return (_build_not_found_outcome(world, event.kind, event.name),)
    item = apply_merge_patch(result, event.patch)
    if isinstance(item, ResourcePool):
        return object_events.pool_updated(world, result, item)
    if isinstance(item, ResourcePoolClaim):
        return object_events.claim_updated(world, result, item)
    if isinstance(item, Namespace):
        return _build_outcomes(namespace_stored(world, item))
    return _build_outcomes(store_object(world, item))


def _delete_object(world: PoolWorld, event: DeleteEvent) -> tuple[WorldOutcome, ...]:
    result = _find_any(world, event.kind, event.name, event.namespace)
    if result is None:
        return (_build_not_found_outcome(world, event.kind, event.name),)
    if isinstance(result, ResourcePool):
        return _build_outcomes(object_events.pool_deleted(world, result))
    if isinstance(result, ResourcePoolClaim):
        return object_events.claim_deleted(world, result)
    if isinstance(result, Namespace):
        return _build_outcomes((begin_deletion(world, result),))
    return _build_outcomes(delete_object(world, result))


def _create_claims_together(world: PoolWorld, claims: tuple[Create, ...]) -> tuple[WorldOutcome, ...]:
    """Claims in every order of arrival; refusals are left out."""
    if len(claims) <= _MOST_AT_ONCE:
        worlds = [pool_world for order in permutations(claims) for pool_world in replay_all(world, order)]
        return _build_outcomes(distinct_worlds(worlds))
    together = object_events.created_together(world, [claim.item for claim in claims])
    if len(claims) > _MOST_FIRST:
        return together
    worlds = [world_outcome.world for world_outcome in together]
    for first in claims:
        rest = [claim.item for claim in claims if claim is not first]
        for begun in replay_all(world, [first]):
            worlds += [world_outcome.world for world_outcome in object_events.created_together(begun, rest)]
    return _build_outcomes(distinct_worlds(worlds))


_KINDS: Mapping[str, Callable[[PoolWorld, str, str], Any]] = {
    "Namespace": lambda world, name, _: world.namespaces.get(name),
    "ResourcePool": lambda world, name, _: world.pools.get(name),
    "ResourcePoolClaim": lambda world, name, space: world.claims.get((space, name)),
    "ResourceQuota": lambda world, name, space: world.quotas.get((space, name)),
}


def _find_any(world: PoolWorld, kind: str, name: str, namespace: str) -> Any | None:
    if kind in _KINDS:
        return _KINDS[kind](world, name, namespace)
    return find_object(world, kind, name, namespace)


def _build_not_found_outcome(world: PoolWorld, kind: str, name: str) -> WorldOutcome:
    known_kind = BY_KIND.get(kind)
    message = f'{known_kind.qualified_name if known_kind else kind} "{name}" not found'
    return WorldOutcome(world, Refusal(404, "NotFound", message, ()))
