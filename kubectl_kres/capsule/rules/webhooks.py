"""The webhooks of pools and claims: what they refuse and add, the pool that they choose for a claim, and how a claim
leaves one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from msgspec import Struct, structs

from kubectl_kres.admission.base.outcome import Finding, Refusal
from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim, ResourcePoolSpec
from kubectl_kres.capsule.rules.allocation import Amounts, amounts_equal, canonical, readable
from kubectl_kres.capsule.rules.assignment import refers_to_pool
from kubectl_kres.capsule.rules.conditions import BOUND, EXHAUSTED, is_in_use, without_types
from kubectl_kres.model.objects import LabelSelector, ObjectRef
from kubectl_kres.provenance.journal import Source
from kubectl_kres.quantity import ZERO


class Option(Struct, frozen=True):
    """A pool that lists the claim's namespace.

    verdict: room, every resource fits; full, some do not, so that pools with room go first; lacking, a resource is not
    in the pool, which is out; either, it lacks one and is short of another, and which is seen first is random.
    """

    pool: str
    verdict: Literal["room", "full", "lacking", "either"]
    missing: tuple[str, ...] = ()
    short: tuple[str, ...] = ()


class PoolChoice(Struct, frozen=True):
    """All pools that were looked at, and the names that can be written to ``spec.pool``; empty text: none was found."""

    options: tuple[Option, ...]
    possible: tuple[str, ...]


def choose(namespace: str, requested: Amounts, pools: Iterable[ResourcePool]) -> PoolChoice:
    """Return what the webhook writes into an empty ``spec.pool``. It goes by the status of the pools, room is no
    condition.

    Source: capsule internal/webhook/resourcepool/claim_mutating.go.
    """
    options = tuple(
        _option(pool, requested)
        for pool in sorted(pools, key=lambda pool: pool.metadata.name)
        if namespace in (pool.status.namespaces or ())
    )
    by = {
        verdict: [option.pool for option in options if option.verdict == verdict]
        for verdict in ("room", "full", "either")
    }
    possible = by["room"] or by["full"] + by["either"]
    if not by["room"] and not by["full"]:
        possible = [*possible, ""]
    return PoolChoice(options, tuple(possible))


def _option(pool: ResourcePool, requested: Amounts) -> Option:
    ref, allocation = ObjectRef("ResourcePool", pool.metadata.name), pool.status.allocation
    hard = readable(allocation.hard, ref, "status.allocation.hard", None)
    left = readable(allocation.available, ref, "status.allocation.available", None)
    missing = tuple(sorted(name for name in requested if name not in hard))
    short = tuple(
        sorted(
            name
            for name, requested_amounts in requested.items()
            if name in hard and left.get(name, ZERO) < requested_amounts
        )
    )
    if missing:
        return Option(pool.metadata.name, "either" if short else "lacking", missing, short)
    return Option(pool.metadata.name, "full" if short else "room", (), short)


RELEASE = "projectcapsule.dev/release"


def wants_release(claim: ResourcePoolClaim) -> bool:
    """Return whether the claim carries the release annotation with a value that counts."""
    return (claim.metadata.annotations or {}).get(RELEASE, "").lower() == "true"


def without_release(claim: ResourcePoolClaim) -> ResourcePoolClaim:
    """Return the claim without the annotation, whatever its value."""
    annotations = claim.metadata.annotations or {}
    if RELEASE not in annotations:
        return claim
    kept = {key: value for key, value in annotations.items() if key != RELEASE}
    return structs.replace(claim, metadata=structs.replace(claim.metadata, annotations=kept or None))


def disassociate(claim: ResourcePoolClaim, pool: ResourcePool) -> ResourcePoolClaim:
    """Return the claim as the pool lets go of it. Ready stays as it was, and the claim is not queued again.

    With ``deleteBoundResources`` the owner reference stays, unless the claim was released: the garbage collector
    deletes it with the pool.

    Source: capsule internal/controllers/resourcepools/pool_controller.go handleClaimDisassociation.
    """
    kept = without_types(claim.status.conditions, {BOUND, EXHAUSTED})
    released = structs.replace(claim, status=structs.replace(claim.status, pool=None, conditions=kept, condition=None))
    if pool.spec.config.delete_bound_resources and not wants_release(claim):
        return released
    owners = tuple(
        owner_reference
        for owner_reference in claim.metadata.owner_references or ()
        if not refers_to_pool(owner_reference, pool)
    )
    freed = structs.replace(released, metadata=structs.replace(claim.metadata, owner_references=owners or None))
    return without_release(freed)


def is_orphan(claim: ResourcePoolClaim, pools: Collection[ResourcePool]) -> bool:
    """Return whether the garbage collector deletes the claim: it has owners, all of them pools, and none of them
    exists.
    """
    owners = claim.metadata.owner_references or ()
    if any(owner.kind != "ResourcePool" for owner in owners):
        return False
    return bool(owners) and not any(refers_to_pool(owner, pool) for owner in owners for pool in pools)


_POOLS = "resourcepools.validating.projectcapsule.dev"
_CLAIMS = "resourcepoolclaims.validating.projectcapsule.dev"


def stored_pool(pool: ResourcePool) -> ResourcePool:
    """Return the pool as the mutating webhook leaves it: amounts canonical; with ``defaultsZero`` a default of 0 for
    each resource that has none. A default is never taken away, and an empty list of them stays.

    Source: capsule internal/webhook/resourcepool/pool_mutating.go.
    """
    spec = pool.spec
    hard = canonical(spec.quota.hard)
    defaults = canonical(spec.defaults)
    if spec.config.defaults_zero:
        defaults = {**dict.fromkeys(hard or (), "0"), **(defaults or {})}
    selectors = tuple(map(_stored_selector, spec.selectors or ())) or None
    quota = structs.replace(spec.quota, hard=hard or None)
    return structs.replace(pool, spec=ResourcePoolSpec(selectors, quota, defaults, spec.config))


def refuse_pool(old: ResourcePool, new: ResourcePool) -> tuple[Refusal, ...]:
    """Return each answer that an update can be refused with; one of them is given. Empty: it is allowed.

    Only what claims hold by the pool's status is protected. Creation and deletion are never refused.
    Source: capsule internal/webhook/resourcepool/pool_validation.go.
    """
    ref = ObjectRef("ResourcePool", new.metadata.name)
    before, after = (
        readable(resource_pool.spec.quota.hard, ref, "spec.quota.hard", None) for resource_pool in (old, new)
    )
    if amounts_equal(before, after):
        return ()
    used = readable(old.status.allocation.used, ref, "status.allocation.used", None)
    refusals: list[Refusal] = []
    for name, claimed in sorted(used.items()):
        field = f"spec.quota.hard[{name}]"
        source = Source("ResourcePool", old.metadata.name, field=f"status.allocation.used[{name}]")
        if name not in after:
            text = (
                f"can not remove resource {name} as it is still being allocated. "
                "Remove corresponding claims or keep the resources in the pool"
            )
            if claimed.nano:
                finding = Finding(text, "capsule/remove-claimed", field, name, limit=str(claimed), source=source)
                refusals.append(webhook_refusal(_POOLS, finding))
        elif after[name] < claimed:
            text = (
                f"can not reduce {name} usage to {after[name]} because quantity {claimed} is claimed . "
                "Remove corresponding claims or keep the resources in the pool"
            )
            finding = Finding(
                text,
                "capsule/shrink-claimed",
                field,
                name,
                requested=str(after[name]),
                limit=str(claimed),
                source=source,
            )
            refusals.append(webhook_refusal(_POOLS, finding))
    return tuple(refusals)


def stored_claim(
    claim: ResourcePoolClaim, pools: Iterable[ResourcePool], old: ResourcePoolClaim | None = None
) -> tuple[ResourcePoolClaim, ...]:
    """Return the claim as the mutating webhook leaves it, one for each pool that an empty ``spec.pool`` can become.

    A release annotation that counts is taken off again unless ``old``, the stored claim, is in use. None: the claim is
    created, and the annotation goes whatever its value.
    Source: capsule internal/webhook/resourcepool/claim_mutating.go.
    """
    if old is None or (wants_release(claim) and not is_in_use(old)):
        claim = without_release(claim)
    spec = structs.replace(claim.spec, claim=canonical(claim.spec.claim))
    if spec.pool:
        return (structs.replace(claim, spec=spec),)
    requested = readable(spec.claim, ObjectRef("ResourcePoolClaim", claim.metadata.name), "spec.claim", None)
    possible = choose(claim.metadata.namespace, requested, pools).possible
    return tuple(structs.replace(claim, spec=structs.replace(spec, pool=name)) for name in possible)


def refuse_claim(new: ResourcePoolClaim, old: ResourcePoolClaim | None = None) -> Refusal | None:
    """Return why a claim cannot be created, or changed from ``old``: amounts missing, or it is in use. None: it is
    allowed.

    Another notation of an amount passes if its canonical text is the same. Source: capsule
    internal/webhook/resourcepool/claim_validating.go.
    """
    if new.spec.claim is None:
        return _without_amounts(new)
    if old is None or not is_in_use(old):
        return None
    if old.spec.pool == new.spec.pool and canonical(old.spec.claim) == canonical(new.spec.claim):
        return None
    pool = _pool_name(old)
    text = f"cannot change the requested resources while claim is allocated to a resourcepool {pool}"
    return webhook_refusal(_CLAIMS, Finding(text, "capsule/immutable", "spec", source=_bound_condition_source(old)))


def refuse_deletion(claim: ResourcePoolClaim) -> Refusal | None:
    """Return why a claim cannot be deleted: it is in use. None: it can."""
    if not is_in_use(claim):
        return None
    text = f"cannot delete the pool while claim is used in resourcepool {_pool_name(claim)}"
    return webhook_refusal(_CLAIMS, Finding(text, "capsule/delete-used", source=_bound_condition_source(claim)))


def _stored_selector(selector: LabelSelector) -> LabelSelector:
    """Without what is empty, which the webhook leaves out when it encodes the pool anew."""
    expressions = tuple(
        structs.replace(expression, values=expression.values or None) for expression in selector.match_expressions or ()
    )
    return LabelSelector(selector.match_labels or None, expressions or None)


def _pool_name(claim: ResourcePoolClaim) -> str:
    return claim.status.pool.name if claim.status.pool else claim.spec.pool


def _bound_condition_source(claim: ResourcePoolClaim) -> Source:
    meta = claim.metadata
    return Source("ResourcePoolClaim", meta.name, meta.namespace, "status.conditions[Bound]")


def _without_amounts(claim: ResourcePoolClaim) -> Refusal:
    """The webhook writes null for amounts that are missing, and the schema refuses that."""
    text = 'spec.claim: Invalid value: "null": spec.claim in body must be of type object: "null"'
    message = f'ResourcePoolClaim.capsule.clastix.io "{claim.metadata.name}" is invalid: {text}'
    return Refusal(422, "Invalid", message, (Finding(text, "capsule/claim-amounts", "spec.claim"),))


def webhook_refusal(webhook: str, finding: Finding) -> Refusal:
    """Return the 403 that the API server makes of what a webhook answers."""
    message = f'admission webhook "{webhook}" denied the request: {finding.text}'
    return Refusal(403, "Forbidden", message, (finding,))


def failure(webhook: str, finding: Finding) -> Refusal:
    """Return the 500 that the API server makes of a webhook that fails."""
    return structs.replace(webhook_refusal(webhook, finding), code=500, reason="")
