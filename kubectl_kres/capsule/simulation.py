"""What Capsule registers with simulations: its webhooks and controllers play steps about pools and claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import structs

from kubectl_kres.admission.request.new_pod import ObjectWebhook, PodWebhook
from kubectl_kres.capsule.model import GROUP, ResourcePoolClaim, Tenant, tenant_name
from kubectl_kres.capsule.replay import events
from kubectl_kres.capsule.replay.world import PoolWorld, build_pool_world
from kubectl_kres.capsule.rules.conditions import is_in_use
from kubectl_kres.capsule.rules.tenant_classes import ClaimClasses, ClassWebhooks, TenantLists, lists_of
from kubectl_kres.capsule.rules.tenant_objects import ObjectWebhooks
from kubectl_kres.capsule.rules.webhooks import RELEASE
from kubectl_kres.capsule.rules.workload_rules import rules_of_tenant, webhook_of
from kubectl_kres.capsule.versions import Version, version_in
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import Namespace, Raw, StorageClass, decode_object, mapping, with_name_label
from kubectl_kres.model.quota_objects import DeviceClass
from kubectl_kres.simulate.change import Apply, Delete, Patch, PlacedStep, Step, apply_step, difference, key_of_step
from kubectl_kres.simulate.live import raw_of
from kubectl_kres.simulate.requests import StepAnswer
from kubectl_kres.simulate.state import World
from kubectl_kres.simulate.system import Controller, Played, PodWriter, SimulatedSystem
from kubectl_kres.store.store import Store

_KEPT = ("ResourcePool", "ResourcePoolClaim")
_NEVER_IN_USE = (
    "the webhook takes the release annotation off again: the claim is unused, "
    "so that it can be edited or deleted without a release"
)


def _build(store: Store, namespaces: Mapping[str, Namespace]) -> PoolWorld:
    return build_pool_world(
        namespaces.values(), store.all("ResourcePool"), store.all("ResourcePoolClaim"), store.all("ResourceQuota")
    )


def _play(world: PoolWorld, placed_step: PlacedStep) -> Played:
    step, space = placed_step.step, placed_step.namespace
    kind, name = key_of_step(step)
    if kind == "ResourceQuota" and isinstance(step, Delete):
        return Played(structs.replace(world, quotas={k: v for k, v in world.quotas.items() if k != (space, name)}))
    if kind not in {*_KEPT, "Namespace"}:
        return Played(world)
    answers, worlds = _replay(world, step, space)
    word = "release" if isinstance(step, Patch) and _is_release(step) else ""
    return Played(worlds[0], answers, tuple(_changed_quotas(world, worlds[0])), len(worlds), word)


def _replay(world: PoolWorld, step: Step, namespace: str) -> tuple[tuple[StepAnswer, ...], tuple[PoolWorld, ...]]:
    """Return every answer to a step, and every world that it can lead to."""
    kind, name = key_of_step(step)
    stored = _find_stored_object(world, kind, name, namespace)
    event = _event(step, namespace, stored)
    code = 200 if stored is not None or not isinstance(step, Apply) else 201
    if event is None:
        message = f'{BY_KIND[kind].qualified_name} "{name}" not found'
        return (StepAnswer(allowed=False, code=404, message=message),), (world,)
    # Source: capsule claim_mutating.go.
    if (
        isinstance(step, Patch)
        and isinstance(stored, ResourcePoolClaim)
        and _is_release(step)
        and not is_in_use(stored)
    ):
        return (StepAnswer(allowed=False, code=200, message=_NEVER_IN_USE),), (world,)
    answers: dict[StepAnswer, None] = {}
    worlds: list[PoolWorld] = []
    for outcome in events.replay(world, event):
        refusal = outcome.refusal
        answer = StepAnswer(allowed=True, code=code)
        if refusal is not None:
            answer = StepAnswer(allowed=False, code=refusal.code, message=refusal.message, findings=refusal.findings)
        answers[answer] = None
        if outcome.world not in worlds:
            worlds.append(outcome.world)
    if isinstance(step, Delete) and kind != "ResourcePoolClaim":
        worlds = [later.world for earlier in worlds for later in events.replay(earlier, events.TimePasses())]
    return tuple(answers), tuple(worlds)


def _is_release(step: Patch) -> bool:
    annotations = (step.patch.get("metadata") or {}).get("annotations") or {}
    return str(annotations.get(RELEASE, "")).lower() == "true"


def _find_stored_object(world: PoolWorld, kind: str, name: str, namespace: str) -> Any:
    if kind == "Namespace":
        return world.namespaces.get(name)
    return world.pools.get(name) if kind == "ResourcePool" else world.claims.get((namespace, name))


def _event(step: Step, namespace: str, stored: Any) -> events.WorldEvent | None:
    """Return what a step is to Capsule; None: there is no such object."""
    kind, name = key_of_step(step)
    if isinstance(step, Apply) and stored is None:
        raw = step.object
        if kind == "ResourcePoolClaim":
            raw = {**raw, "metadata": {**raw["metadata"], "namespace": namespace}}
        item = decode_object({key: value for key, value in raw.items() if key != "status"}, BY_KIND[kind].struct)
        return events.Create(with_name_label(item) if kind == "Namespace" else item)
    if stored is None:
        return None
    if isinstance(step, Delete):
        return events.DeleteEvent(kind, name, namespace)
    raw = raw_of(stored)
    patch = step.patch if isinstance(step, Patch) else difference(raw, apply_step(step, raw))
    return events.PatchEvent(kind, name, patch, namespace)


def _changed_quotas(before: PoolWorld, after: PoolWorld) -> Iterator[PlacedStep]:
    """Yield what Capsule did to quotas."""
    for key, quota in after.quotas.items():
        old = before.quotas.get(key)
        if old is None or old.spec != quota.spec:
            raw = {name: value for name, value in raw_of(quota).items() if name != "status"}
            for owner in raw.get("metadata", {}).get("ownerReferences", ()):
                # A pool of a file has no uid yet; the server gives it one before its controller sees it.
                owner["uid"] = owner.get("uid") or owner.get("name", "")
            yield PlacedStep(Apply(raw), key[0])
    for space, name in before.quotas:
        if (space, name) not in after.quotas:
            yield PlacedStep(Delete("ResourceQuota", name), space)


def _tenant_of(store: Store, namespace: str) -> Iterator[Raw]:
    """Yield the Tenant of a namespace, and what tells Capsule's version."""
    tenant: Tenant | None = store.get("Tenant", tenant_name(store.get("Namespace", namespace)))
    if tenant is not None:
        yield raw_of(tenant)
        definition = store.get("CustomResourceDefinition", _DEFINITION)
        if definition is not None:
            yield raw_of(definition)


_DEFINITION = f"tenants.{GROUP}"


def _tenant(world: World) -> tuple[Tenant, Mapping[str, str]]:
    """Return the Tenant, and the labels of its namespace."""
    space = next(iter(world.of_kind("Namespace")), {})
    return decode_object(world.of_kind("Tenant")[0], Tenant), mapping(mapping(space, "metadata"), "labels")


def _version(world: World) -> Version | None:
    definitions = world.of_kind("CustomResourceDefinition")
    return version_in(decode_object(definitions[0], Namespace).metadata) if definitions else None


def _lists(world: World) -> TenantLists:
    tenant, _ = _tenant(world)
    policies = world.policies
    storages = [decode_object(raw, StorageClass) for raw in world.of_kind("StorageClass")]
    devices = [decode_object(raw, DeviceClass) for raw in world.of_kind("DeviceClass")]
    return lists_of(
        tenant,
        priorities=policies.priorities,
        runtimes=policies.runtimes,
        storages={item.metadata.name: item for item in storages} if storages else None,
        devices={item.metadata.name: item for item in devices} if devices else None,
        version=_version(world),
    )


def _pod_webhooks(world: World) -> tuple[PodWebhook, ...]:
    (tenant, labels), version = _tenant(world), _version(world)
    webhook = webhook_of(rules_of_tenant(tenant, labels).rules, version)
    return (*([webhook] if webhook is not None else []), ClassWebhooks(_lists(world)))


def _object_webhooks(world: World) -> tuple[ObjectWebhook, ...]:
    return (ObjectWebhooks(_lists(world)),)


SYSTEM = SimulatedSystem(
    "capsule",
    controller=Controller("Capsule", _KEPT, _build, _play),
    writer=PodWriter(
        "Tenant",
        _tenant_of,
        _pod_webhooks,
        claims=lambda world: (ClaimClasses(_lists(world)),),
        others=_object_webhooks,
    ),
)
