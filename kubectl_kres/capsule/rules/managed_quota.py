"""The ResourceQuota that a pool keeps in each of its namespaces: claims added up, defaults on top."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import structs

from kubectl_kres.admission.base.draft import Unparsable, parse_list
from kubectl_kres.admission.base.field_errors import invalid
from kubectl_kres.admission.base.outcome import Refusal, invalid_object
from kubectl_kres.admission.quota import quota_object
from kubectl_kres.capsule.model import GROUP, MANAGED_LABEL, POOL_LABEL, VERSION, ResourcePool, quota_name
from kubectl_kres.capsule.rules.allocation import ClaimShare, add_amounts, readable
from kubectl_kres.capsule.rules.assignment import LONGEST_NAME
from kubectl_kres.model import objects
from kubectl_kres.provenance.journal import Derive, Source, Term
from kubectl_kres.quantity import Quantity, parse

_TOO_LONG = f"must be no more than {LONGEST_NAME} bytes"


def hard_of(pool: ResourcePool, shares: Iterable[ClaimShare]) -> dict[str, Quantity]:
    """``spec.hard`` of a managed quota: shares of its namespace in order of allocation, sums of zero left out, then
    every default. As the server stores it: read anew from the text, rounded up to thousandths.

    Source: capsule internal/controllers/resourcepools/pool_controller.go syncResourceQuotas.
    """
    claimed = {
        name: quantity for name, quantity in add_amounts(share.amounts for share in shares).items() if quantity.nano
    }
    total = add_amounts((claimed, _defaults(pool)))
    return {name: parse(str(quantity)).round_up() for name, quantity in sorted(total.items())}


def terms_of(pool: ResourcePool, shares: Iterable[ClaimShare]) -> tuple[Derive, ...]:
    """Return where each amount of a managed quota comes from: a term for each claim that names it, and its default."""
    claim_shares, defaults = tuple(shares), _defaults(pool)
    source = Source("ResourcePool", pool.metadata.name)
    result = []
    for name, quantity in hard_of(pool, claim_shares).items():
        terms = [
            Term(f"ResourcePoolClaim/{share.namespace}/{share.name}", str(share.amounts[name]))
            for share in claim_shares
            if name in share.amounts
        ]
        if name in defaults:
            terms.append(Term(f"spec.defaults[{name}]", str(defaults[name])))
        result.append(Derive(f"spec.hard[{name}]", "capsule/managed-quota", str(quantity), tuple(terms), source))
    return tuple(result)


def managed_quota(
    pool: ResourcePool, namespace: str, shares: Iterable[ClaimShare], stored: objects.ResourceQuota | None = None
) -> objects.ResourceQuota:
    """Return the quota as the pool writes it. ``stored``: what is there under its name, whose other labels and status
    stay.

    It is not written where nothing differs but the notation of an amount.
    """
    hard = {name: str(quantity) for name, quantity in hard_of(pool, shares).items()}
    spec = objects.ResourceQuotaSpec(hard or None, pool.spec.quota.scopes or None, _without_blanks(pool))
    name, meta = pool.metadata.name, pool.metadata
    resource_quota = stored or objects.ResourceQuota(metadata=objects.ManagedMetadata(quota_name(name), namespace))
    labels = {**(resource_quota.metadata.labels or {}), POOL_LABEL: name, MANAGED_LABEL: "controller"}
    owner = objects.OwnerReference("ResourcePool", name, meta.uid, f"{GROUP}/{VERSION}", controller=True)
    metadata = structs.replace(resource_quota.metadata, labels=labels, owner_references=(owner,))
    written = structs.replace(resource_quota, metadata=metadata, spec=spec)
    return stored if stored is not None and _compared_fields(stored) == _compared_fields(written) else written


def _without_blanks(pool: ResourcePool) -> objects.ScopeSelector | None:
    """Return the scope selector as a quota is stored with it: an empty list of values is none."""
    selector = pool.spec.quota.scope_selector
    if selector is None:
        return None
    expressions = tuple(
        structs.replace(match_expression, values=match_expression.values or None)
        for match_expression in selector.match_expressions or ()
    )
    return structs.replace(selector, match_expressions=expressions or None)


def _compared_fields(quota: objects.ResourceQuota) -> tuple[object, ...]:
    """Return what two quotas are compared by; equal amounts are equal in any notation."""
    meta, spec = quota.metadata, quota.spec
    hard = readable(spec.hard, objects.ObjectRef("ResourceQuota", meta.name, meta.namespace), "spec.hard", None)
    owners = [owner_reference for owner_reference in meta.owner_references or () if owner_reference.controller]
    return meta.labels, [(owner.kind, owner.uid) for owner in owners], hard, spec.scopes or (), spec.scope_selector


def quota_refusal(quota: objects.ResourceQuota, stored: objects.ResourceQuota | None = None) -> Refusal | None:
    """Return why the API server would not take the quota: names, negative amounts, scopes that do not fit or would
    change.
    """
    try:
        hard = parse_list(quota.spec.hard, "spec.hard")
    except Unparsable:
        return None
    pool = (quota.metadata.labels or {}).get(POOL_LABEL, "")
    errors = [invalid("metadata.labels", pool, _TOO_LONG, "capsule/pool-name")] if len(pool) > LONGEST_NAME else []
    errors += (
        quota_object.validate(quota.spec, hard)
        if stored is None
        else quota_object.validate_update(quota.spec, hard, stored.spec)
    )
    return invalid_object("ResourceQuota", quota.metadata.name, errors) if errors else None


def sync_fault(refusal: Refusal) -> str:
    """Return what the pool's Ready condition says of it."""
    return f"sync resourcequotas: {refusal.message}"


def _defaults(pool: ResourcePool) -> dict[str, Quantity]:
    return readable(pool.spec.defaults, objects.ObjectRef("ResourcePool", pool.metadata.name), "spec.defaults", None)
