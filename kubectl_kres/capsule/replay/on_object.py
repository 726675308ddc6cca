"""Events of what quotas count, and of quotas themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import structs

from kubectl_kres.admission.base.outcome import QuotaCharge
from kubectl_kres.admission.request.create import create_decoded
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.capsule.model import pool_of
from kubectl_kres.capsule.replay.counting import counted
from kubectl_kres.capsule.replay.outcome import WorldOutcome
from kubectl_kres.capsule.replay.settle import settle
from kubectl_kres.capsule.replay.world import PoolWorld, quotas_in, with_quotas, without_quotas
from kubectl_kres.capsule.rules.allocation import ClaimKey
from kubectl_kres.capsule.rules.assignment import owns
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.policy import ResourceQuota
from kubectl_kres.model.raw import converted, on_wire

T = TypeVar("T")


def held(world: PoolWorld, kind: str, name: str, namespace: str) -> Any | None:
    """The object, if the objects of its namespace are known."""
    result = world.objects.get(namespace, ())
    return next((item for item in result if (item.kind, item.metadata.name) == (kind, name)), None)


def created(world: PoolWorld, item: Any) -> tuple[WorldOutcome, ...]:
    """A pod or another object that quotas count: refused where one has no room, else counted.

    LimitRanges are no part of a world: what is created states all that it is to have.
    """
    if isinstance(item, ResourceQuota):
        return tuple(WorldOutcome(pool_world) for pool_world in stored(world, item))
    space = item.metadata.namespace
    raw = {"kind": item.kind, "apiVersion": item.api_version, **on_wire(item)}
    policies = policies_of((), quotas_in(world, space))
    answers = create_decoded(item, policies, world.server)
    refused = [WorldOutcome(world, answer.refusal) for answer in answers if answer.refusal is not None]
    if refused:
        return tuple(refused)
    if space not in world.objects:
        return tuple(
            WorldOutcome(pool_world)
            for pool_world in _counted(_charged(world, space, answers[0].charges), world, space)
        )
    whole = converted(merge(raw, answers[0].object or {}), Pod) if isinstance(item, Pod) else item
    return tuple(WorldOutcome(pool_world) for pool_world in stored(world, whole))


def stored(world: PoolWorld, item: Any) -> tuple[PoolWorld, ...]:
    """The object as it is now; of a quota that a pool manages the pool undoes the change."""
    space, name = item.metadata.namespace, item.metadata.name
    if isinstance(item, ResourceQuota):
        old = world.quotas.get((space, name))
        return _woken(with_quotas(world, {(space, name): counted(world, item)}), old, item)
    others = [entry for entry in world.objects.get(space, ()) if (entry.kind, entry.metadata.name) != (item.kind, name)]
    return _recounted(world, space, (*others, item))


def deleted(world: PoolWorld, item: Any) -> tuple[PoolWorld, ...]:
    """The object is gone, and counts no more; a managed quota comes back."""
    space, name = item.metadata.namespace, item.metadata.name
    if isinstance(item, ResourceQuota):
        return _woken(without_quotas(world, [(space, name)]), item)
    return _recounted(world, space, tuple(entry for entry in world.objects.get(space, ()) if entry is not item))


def merged(item: T, patch: Mapping[str, Any]) -> T:
    """An object after a JSON merge patch. Raises WrongType for a value of a wrong type."""
    return converted(merge(msgspec.to_builtins(item, enc_hook=str), patch), type(item))


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


def _recounted(world: PoolWorld, space: str, objects: tuple[Any, ...]) -> tuple[PoolWorld, ...]:
    now = structs.replace(world, objects={**world.objects, space: objects})
    quotas = {(space, quota.metadata.name): counted(now, quota) for quota in quotas_in(now, space)}
    return _counted(with_quotas(now, quotas), world, space)


def _counted(now: PoolWorld, before: PoolWorld, space: str) -> tuple[PoolWorld, ...]:
    """The pools of quotas whose use has changed look again."""
    changed = [quota for quota in quotas_in(now, space) if quota.status != before.quotas[_key(quota)].status]
    return settle(now, pools=[pool_of(quota) for quota in changed if pool_of(quota)])


def _charged(world: PoolWorld, space: str, charges: tuple[QuotaCharge, ...]) -> PoolWorld:
    """The quotas with what a request cost them."""
    resource_quotas: dict[ClaimKey, ResourceQuota] = {}
    for charge in charges:
        quota = world.quotas[space, charge.quota]
        used = {**(quota.status.used or {}), **charge.after}
        resource_quotas[_key(quota)] = structs.replace(quota, status=structs.replace(quota.status, used=used))
    return with_quotas(world, resource_quotas)


def _woken(world: PoolWorld, *quotas: ResourceQuota | None) -> tuple[PoolWorld, ...]:
    """Pools look after the quotas that they own, whatever became of the labels."""
    resource_quotas = [quota for quota in quotas if quota is not None]
    named = {pool_of(resource_quota) for resource_quota in resource_quotas}
    owners = [owner for resource_quota in resource_quotas for owner in resource_quota.metadata.owner_references or ()]
    woken = [name for name, pool in world.pools.items() if name in named or any(owns(owner, pool) for owner in owners)]
    return settle(world, pools=woken)


def _key(quota: ResourceQuota) -> ClaimKey:
    return quota.metadata.namespace, quota.metadata.name
