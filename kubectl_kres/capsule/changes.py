"""What Capsule registers with the reports of changes: claims whose state differs, pools and claims to write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kubectl_kres.admission.base.draft import parse_list
from kubectl_kres.capsule.model import Tenant
from kubectl_kres.capsule.replay.world import PoolWorld
from kubectl_kres.capsule.reports.common.claim_state import HELD, claim_standing_of
from kubectl_kres.capsule.reports.common.shared_quotas import tenant_quota_name
from kubectl_kres.capsule.reports.common.tenancy import cordoned_text
from kubectl_kres.model.objects import ObjectRef, Raw, decode_object, mapping
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.reports.changes.given_steps import GivenStep
from kubectl_kres.reports.changes.report import ClaimChange, Effect
from kubectl_kres.reports.changes.system import Altered, ChangeSystem, KeptObjects
from kubectl_kres.simulate.change import Apply, Delete, PlacedStep, Step, apply_step, key_of_step
from kubectl_kres.simulate.live import raw_of
from kubectl_kres.store.store import ReadRequest, Store


def _claim_changes(before: PoolWorld, after: PoolWorld) -> Iterator[ClaimChange]:
    keys = {key for key in (*before.claims, *after.claims) if not _is_unchanged_claim(before, after, key)}
    for key in sorted(keys):
        previous, now = _claim_state(before, key), _claim_state(after, key)
        if previous == now:
            continue
        claim = after.claims.get(key) or before.claims[key]
        effect: Effect = "other"
        if previous in HELD and now not in HELD and now:
            effect = "worse"
        elif now in HELD and previous not in HELD:
            effect = "better"
        elif not previous and now not in HELD:
            effect = "worse"
        status = claim.status.pool
        pool = status.name if status is not None else claim.spec.pool
        yield ClaimChange(ObjectRef("ResourcePoolClaim", key[1], key[0]), effect, pool, previous, now)


def _is_unchanged_claim(before: PoolWorld, after: PoolWorld, key: tuple[str, str]) -> bool:
    """Return whether neither a claim nor its pool was touched, so that nothing has to be compared."""
    claim = after.claims.get(key)
    if claim is None or claim is not before.claims.get(key):
        return False
    named = claim.status.pool.name if claim.status.pool is not None else claim.spec.pool
    return before.pools.get(named) is after.pools.get(named)


def _claim_state(pools: PoolWorld, key: tuple[str, str]) -> str:
    claim = pools.claims.get(key)
    if claim is None:
        return ""
    named = claim.status.pool.name if claim.status.pool is not None else claim.spec.pool
    return claim_standing_of(claim, pools.pools.get(named)).state


def _altered(before: PoolWorld, after: PoolWorld) -> Altered:
    pools = (pool for name, pool in after.pools.items() if pool != before.pools.get(name))
    claims = (claim for key, claim in after.claims.items() if claim != before.claims.get(key))
    gone = (ObjectRef("ResourcePoolClaim", name, space) for space, name in before.claims.keys() - after.claims.keys())
    return Altered(
        (*(("ResourcePool", pool) for pool in pools), *(("ResourcePoolClaim", claim) for claim in claims)), tuple(gone)
    )


def _expand(step: Step, store: Store, spaces: Sequence[str]) -> tuple[PlacedStep, ...] | None:
    """Return a changed Tenant as what it is to each of its namespaces, with the LimitRanges and quotas that follow it.

    Source: capsule 0.14.0 internal/controllers/tenant/{limitranges,resourcequotas}.go.
    """
    kind, name = key_of_step(step)
    if kind != "Tenant" or isinstance(step, Delete):
        return None
    stored: Tenant | None = store.get("Tenant", name)
    raw = apply_step(step, raw_of(stored) if stored is not None else None)
    if raw is None:
        return None
    own = [space for space in decode_object(raw, Tenant).status.namespaces or () if space in spaces]
    return tuple(
        placed for space in own for placed in (PlacedStep(Apply(raw), space), *_kept_objects(raw, name, store, space))
    )


def _kept_objects(raw: Raw, tenant: str, store: Store, space: str) -> Iterator[PlacedStep]:
    """Yield the LimitRanges and quotas of a Tenant in one of its namespaces, as its controller makes them."""
    spec = mapping(raw, "spec")
    ranges = _items(spec, "limitRanges")
    yield from _changed_objects("LimitRange", tenant, ranges, store, space)
    quotas = _items(spec, "resourceQuotas")
    if mapping(spec, "resourceQuotas").get("scope", "Tenant") == "Tenant":
        quotas = [_share(item, tenant, number, store, space) for number, item in enumerate(quotas)]
    yield from _changed_objects("ResourceQuota", tenant, quotas, store, space)


def _items(spec: Raw, field: str) -> list[Raw]:
    items = mapping(spec, field).get("items")
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []


def _changed_objects(kind: str, tenant: str, specs: Sequence[Raw], store: Store, space: str) -> Iterator[PlacedStep]:
    for number, spec in enumerate(specs):
        name = tenant_quota_name(tenant, number)
        metadata = {"name": name, "namespace": space, "labels": {_TENANT: tenant}}
        made = {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec}
        stored = store.get(kind, name, space)
        if stored is None or raw_of(stored).get("spec") != spec:
            yield PlacedStep(Apply(made), space)
    number = len(specs)
    while store.get(kind, tenant_quota_name(tenant, number), space) is not None:
        yield PlacedStep(Delete(kind, tenant_quota_name(tenant, number)), space)
        number += 1


def _share(item: Raw, tenant: str, number: int, store: Store, space: str) -> Raw:
    """Return the quota that a namespace gets of an item for all of them: what none of the others uses.

    Where all is used each gets what it uses itself.
    """
    name = tenant_quota_name(tenant, number)
    used = [
        (quota.metadata.namespace, parse_list(quota.status.used, "status.used"))
        for quota in store.all("ResourceQuota")
        if quota.metadata.name == name
    ]
    hard: dict[str, str] = {}
    for resource, most in parse_list(mapping(item, "hard"), "spec.hard").items():
        own = next((amounts.get(resource, ZERO) for where, amounts in used if where == space), ZERO)
        total = sum(amounts.get(resource, ZERO).nano for _, amounts in used)
        left = own.nano if total >= most.nano else most.nano - total + own.nano
        hard[resource] = str(Quantity(left, most.format))
    return {**item, "hard": hard}


_TENANT = "projectcapsule.dev/tenant"


def _reads(store: Store, spaces: Sequence[str], steps: Sequence[tuple[Step, str]]) -> Iterator[ReadRequest]:
    """Yield the Tenants of namespaces that a step is about, with their quotas in all of their namespaces."""
    del spaces
    for step, _ in steps:
        kind, name = key_of_step(step)
        if kind == "Tenant":
            yield ReadRequest("Tenant", name=name)
            tenant: Tenant | None = store.get("Tenant", name)
            for space in tenant.status.namespaces or () if tenant is not None else ():
                yield ReadRequest("ResourceQuota", space)


def _remarks(steps: Sequence[GivenStep], store: Store, default: str) -> Iterator[str]:
    """Yield what is not followed of a Tenant that changes."""
    del default
    for item in steps:
        kind, name = key_of_step(item.step)
        stored: Tenant | None = store.get("Tenant", name) if kind == "Tenant" else None
        if kind != "Tenant" or isinstance(item.step, Delete):
            continue
        if stored is None and not mapping(getattr(item.step, "object", {}), "status").get("namespaces"):
            yield f"Tenant {name} has no namespaces yet: nothing follows from it"
            continue
        before = mapping(raw_of(stored), "spec") if stored is not None else {}
        after = mapping(apply_step(item.step, raw_of(stored) if stored is not None else None) or {}, "spec")
        if before.get("nodeSelector") != after.get("nodeSelector"):
            yield f"Tenant {name}: what becomes of spec.nodeSelector is not simulated"
        if after.get("cordoned") and not before.get("cordoned"):
            yield cordoned_text(store.origin, name)
        yield f"Tenant {name}: its namespaces are taken as they are"


SYSTEM = ChangeSystem(
    "capsule",
    applied_before=dict.fromkeys(("Tenant", "ResourcePool", "ResourcePoolClaim"), "ResourceQuota"),
    not_followed=dict.fromkeys(
        ("Tenant", "GlobalResourceQuota", "CustomQuota", "GlobalCustomQuota"),
        "what Capsule makes of a {kind} is not simulated",
    ),
    remarks=_remarks,
    reads=_reads,
    essential=("Tenant",),
    expand=_expand,
    kept=KeptObjects(_claim_changes, _altered),
)
