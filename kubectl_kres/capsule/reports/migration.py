"""The migration from a Tenant's quotas to resource pools and claims: the same limits, sized from use, simulated
first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Any

import msgspec

from kubectl_kres.admission.base.draft import Unparsable, parse_list
from kubectl_kres.admission.base.server import Server
from kubectl_kres.capsule.model import Tenant, quota_name
from kubectl_kres.capsule.replay.world import PoolWorld
from kubectl_kres.capsule.reports.common.claim_state import HELD, claim_standing_of
from kubectl_kres.capsule.reports.common.shared_quotas import tenant_quota_name
from kubectl_kres.errors import NotFound, UsageError
from kubectl_kres.model.objects import ObjectRef, ResourceQuota, ResourceQuotaSpec
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.record import Record
from kubectl_kres.reports.changes.compare import report
from kubectl_kres.reports.changes.given_steps import cluster_needs, namespace_needs
from kubectl_kres.reports.changes.report import ChangeReport, WorkloadChange
from kubectl_kres.reports.remedies.commands import directed_command, patch_command
from kubectl_kres.simulate.change import Apply, Delete, PlacedStep
from kubectl_kres.simulate.cluster import ChangeOutcome, simulate_steps
from kubectl_kres.store.store import ReadRequest, Store

_API = "capsule.clastix.io/v1beta2"
_TENANT = "capsule.clastix.io/tenant"
_UNIT = 10**9
#: The smallest part that amounts of these resources are claimed in; of all others whole units.
_PARTS = {"cpu": 10**6}


class Migration(Record, frozen=True):
    """Objects to apply in their order, the patch of the Tenant, and the way back.

    problems: what would get worse in the simulation; empty: all pods that run would be admitted again. stalling:
    workloads that have their pods and whose next rollout would not complete with what is claimed. idle: namespaces that
    use nothing and so get no claim.
    """

    tenant: ObjectRef
    scope: str
    objects: tuple[Mapping[str, Any], ...]
    patch: str
    back: tuple[str, ...]
    problems: tuple[str, ...] = ()
    stalling: tuple[ObjectRef, ...] = ()
    idle: tuple[str, ...] = ()


class Verification(Record, frozen=True):
    """Whether a migration is finished. ``open``: what is still to be done."""

    tenant: ObjectRef
    open: tuple[str, ...] = ()


def tenant_needs(name: str) -> Iterator[ReadRequest]:
    """Yield the first read; the others depend on the Tenant's namespaces."""
    yield ReadRequest("Tenant", name=name)


def migration_needs(tenant: Tenant) -> Iterator[ReadRequest]:
    """Yield the reads of the Tenant's namespaces, and of the pools and claims."""
    yield from namespace_needs(tenant.status.namespaces or ())
    yield from cluster_needs()


def tenant_of(store: Store, name: str) -> Tenant:
    """Return the Tenant. Raises NotFound, and ClusterError where it may not be read."""
    tenant = store.get("Tenant", name)
    if not isinstance(tenant, Tenant):
        coverage = store.covered(*tenant_needs(name))
        if coverage.state in {"denied", "failed"}:
            raise coverage.error()
        raise NotFound(f'tenants.capsule.clastix.io "{name}" not found', code=404, reason="NotFound")
    return tenant


def migration(store: Store, tenant: Tenant, headroom: int, server: Server) -> Migration:
    """Return the migration of a Tenant. Raises UsageError for a Tenant without quotas."""
    name, quotas = tenant.metadata.name, tenant.spec.resource_quotas
    if quotas is None or not quotas.items:
        raise UsageError(f"Tenant/{name} has no resourceQuotas to migrate")
    spaces = tuple(tenant.status.namespaces or ())
    problems: list[str] = []
    claims: list[dict[str, Any]] = []
    pools: list[dict[str, Any]] = []
    for number, item in enumerate(quotas.items):
        hard = _parse_amounts(item.hard, f"spec.resourceQuotas.items[{number}].hard")
        shares = _shares(store, tenant, number, hard, headroom, problems)
        if quotas.scope == "Namespace":
            shares = dict.fromkeys(spaces, hard)
            hard = {key: Quantity(amount.nano * len(spaces), amount.format) for key, amount in hard.items()}
        pools.append(_pool(name, number, item, hard))
        claims += [_claim(name, number, space, shares[space]) for space in spaces if any(shares[space].values())]
    objects = (*claims, *pools)
    outcome = _simulate_migration(store, tenant, objects, len(quotas.items), server)
    change_report = report(outcome)
    problems += _problems(outcome, change_report, objects)
    stalling = tuple(change.subject for change in change_report.workloads if _only_stalls(change))
    ref, origin = ObjectRef("Tenant", name), store.origin
    patch = patch_command(origin, ref, {"spec": {"resourceQuotas": {"items": []}}}, "merge")
    back = (
        patch_command(origin, ref, {"spec": {"resourceQuotas": msgspec.to_builtins(quotas)}}, "merge"),
        *(directed_command(origin, f"delete resourcepool {quote(pool['metadata']['name'])}") for pool in pools),
    )
    claiming = {raw["metadata"]["namespace"] for raw in claims}
    idle = tuple(space for space in spaces if space not in claiming)
    return Migration(ref, quotas.scope, objects, patch, back, tuple(dict.fromkeys(problems)), stalling, idle)


def _parse_amounts(values: Mapping[str, Any] | None, path: str) -> dict[str, Quantity]:
    try:
        return parse_list(values, path)
    except Unparsable as fault:
        raise UsageError(f"{fault.path}: {fault.error.message}") from fault


def _shares(
    store: Store,
    tenant: Tenant,
    number: int,
    hard: Mapping[str, Quantity],
    headroom: int,
    problems: list[str],
) -> dict[str, dict[str, Quantity]]:
    """Return what each namespace claims: what it uses and its headroom, as far as the item has that much."""
    name = tenant.metadata.name
    spaces = tuple(tenant.status.namespaces or ())
    used = {space: _read_used(store, space, tenant_quota_name(name, number)) for space in spaces}
    shares: dict[str, dict[str, Quantity]] = {space: {} for space in spaces}
    for resource, limit in hard.items():
        amounts = {space: used[space].get(resource, ZERO) for space in spaces}
        total = sum(amount.nano for amount in amounts.values())
        if total > limit.nano:
            text = f"{resource}: {Quantity(total, limit.format)} is used of {limit} in item {number}: claims get less"
            problems.append(text)
        extra = {space: amount.nano * headroom // 100 for space, amount in amounts.items()}
        room, wanted_count = max(0, limit.nano - total), sum(extra.values())
        part = _PARTS.get(resource.rpartition(".")[2], _UNIT)
        for space, amount in amounts.items():
            more = extra[space] if wanted_count <= room else extra[space] * room // wanted_count
            base = amount.nano if total <= limit.nano else amount.nano * limit.nano // total
            notation = amount.format if amount.nano else limit.format
            shares[space][resource] = Quantity((base + more) // part * part, notation)
    return shares


def _read_used(store: Store, space: str, name: str) -> Mapping[str, Quantity]:
    quota = store.get("ResourceQuota", name, space)
    return _parse_amounts(quota.status.used, "status.used") if isinstance(quota, ResourceQuota) else {}


def _pool(tenant: str, number: int, item: ResourceQuotaSpec, hard: Mapping[str, Quantity]) -> dict[str, Any]:
    quota = {**msgspec.json.decode(msgspec.json.encode(item)), "hard": {key: str(value) for key, value in hard.items()}}
    return {
        "apiVersion": _API,
        "kind": "ResourcePool",
        "metadata": {"name": f"{tenant}-{number}"},
        "spec": {
            "config": {"defaultsZero": True},
            "selectors": [{"matchLabels": {_TENANT: tenant}}],
            "quota": quota,
        },
    }


def _claim(tenant: str, number: int, space: str, amounts: Mapping[str, Quantity]) -> dict[str, Any]:
    """Return the claim of what is not 0: of a used-up resource even 0 is too much, and the pool's defaults are 0."""
    return {
        "apiVersion": _API,
        "kind": "ResourcePoolClaim",
        "metadata": {"name": f"{tenant}-{number}", "namespace": space},
        "spec": {"pool": f"{tenant}-{number}", "claim": {key: str(value) for key, value in amounts.items() if value}},
    }


def _simulate_migration(
    store: Store, tenant: Tenant, objects: Sequence[Mapping[str, Any]], items: int, server: Server
) -> ChangeOutcome:
    """Return the objects after the claims are applied and then the Tenant's quotas are removed."""
    spaces = tuple(tenant.status.namespaces or ())
    steps = [PlacedStep(Apply(raw), raw["metadata"].get("namespace", "")) for raw in objects]
    for space in spaces:
        for number in range(items):
            name = tenant_quota_name(tenant.metadata.name, number)
            if store.get("ResourceQuota", name, space) is not None:
                steps.append(PlacedStep(Delete("ResourceQuota", name), space))
    return simulate_steps(store, steps, server, spaces)


def _problems(
    outcome: ChangeOutcome, change_report: ChangeReport, objects: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield what would get worse: workloads, and claims that do not get what they ask for."""
    for step in change_report.steps:
        if not step.allowed:
            yield f"{step.subject}: {step.message}"
    for change in change_report.workloads:
        if change.effect == "worse" and not _only_stalls(change):
            next_answer = change.next_after
            reasons = change.refusals or (
                (next_answer.message,) if next_answer is not None and next_answer.message else ()
            )
            yield f"{change.subject.namespace}/{change.subject}: {'; '.join(reasons) or 'gets fewer pods'}"
    claims = [raw for raw in objects if raw["kind"] == "ResourcePoolClaim"]
    yield from filter(None, (_format_unallocated_claim(outcome, raw) for raw in claims))


def _only_stalls(change: WorkloadChange) -> bool:
    """Return whether all that is worse for a workload is its next rollout."""
    refused = change.next_after is not None and not change.next_after.admitted
    return change.rollout_after is not None and change.before == change.after and not refused


def _format_unallocated_claim(outcome: ChangeOutcome, raw: Mapping[str, Any]) -> str:
    """Return the sentence that a claim would not get what it asks for; empty if it would."""
    space, name = raw["metadata"]["namespace"], raw["metadata"]["name"]
    pools: PoolWorld = outcome.after.worlds["capsule"]
    claim = pools.claims.get((space, name))
    state = claim_standing_of(claim, pools.pools.get(raw["spec"]["pool"])).state if claim is not None else "absent"
    return "" if state in HELD else f"claim {space}/{name} would be {state}"


def verification(store: Store, tenant: Tenant) -> Verification:
    """Return what of a migration is still open."""
    return Verification(ObjectRef("Tenant", tenant.metadata.name), tuple(_open(store, tenant)))


def _open(store: Store, tenant: Tenant) -> Iterator[str]:
    name, quotas = tenant.metadata.name, tenant.spec.resource_quotas
    if quotas is not None and quotas.items:
        yield f"Tenant/{name} still has {len(quotas.items)} resourceQuotas: patch it"
    pools = [pool for pool in store.all("ResourcePool") if _is_numbered(pool.metadata.name, f"{name}-")]
    if not pools:
        yield f"there is no pool {name}-0"
    for space in tenant.status.namespaces or ():
        for quota in store.all("ResourceQuota", space):
            if _is_numbered(quota.metadata.name, f"capsule-{name}-"):
                yield f"{space}: ResourceQuota/{quota.metadata.name} is still there"
        for pool in pools:
            claims = [claim for claim in store.all("ResourcePoolClaim", space) if claim.spec.pool == pool.metadata.name]
            allocated = any(claim_standing_of(claim, pool).state in HELD for claim in claims)
            if not allocated and (claims or _has_usage(store, space, pool.metadata.name)):
                yield f"{space}: no claim on pool {pool.metadata.name} is allocated"


def _has_usage(store: Store, space: str, pool: str) -> bool:
    """Return whether a namespace uses any of what a pool counts; True where that is not known."""
    quota = store.get("ResourceQuota", quota_name(pool), space)
    return not isinstance(quota, ResourceQuota) or any(_parse_amounts(quota.status.used, "status.used").values())


def _is_numbered(name: str, head: str) -> bool:
    """Return whether a name is ``head`` and a number: others of a Tenant's pools may begin alike."""
    return name.startswith(head) and name.removeprefix(head).isdecimal()
