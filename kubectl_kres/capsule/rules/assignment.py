"""Who belongs to which pool: the claim controller's decision, and the namespaces that a pool's selectors choose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import structs

from kubectl_kres.capsule.model import GROUP, VERSION, PoolRef, ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.rules import conditions
from kubectl_kres.capsule.rules.allocation import readable
from kubectl_kres.model.objects import LabelSelector, Namespace, ObjectRef, OwnerReference, Requirement

Pools = Mapping[str, ResourcePool]

LONGEST_NAME = 63
#: What the schemas take for a pool's name in the status of a claim, and a claim's in that of a pool.
_WRITABLE = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_UNWRITABLE = "status.pool.name cannot hold the pool's name: it has a dot, or more than 63 characters"


class AssignmentStep(NamedTuple):
    """One check in the controller's order. ``fault`` holds the messages of which one is written; empty: it passed."""

    rule: str
    fault: tuple[str, ...] = ()


def steps(claim: ResourcePoolClaim, pools: Pools) -> tuple[AssignmentStep, ...]:
    """Return the checks up to the first that fails. Source: capsule
    internal/controllers/resourcepools/claim_controller.go.
    """
    name, resource_pool = claim.spec.pool, pools.get(claim.spec.pool)
    if not name:
        return (AssignmentStep("capsule/pool-named", (conditions.NO_POOL,)),)
    passed: tuple[AssignmentStep, ...] = (AssignmentStep("capsule/pool-named"),)
    if resource_pool is None:
        return (*passed, AssignmentStep("capsule/pool-exists", (conditions.not_found(name),)))
    passed = (*passed, AssignmentStep("capsule/pool-exists"))
    if resource_pool.metadata.deletion_timestamp or claim.metadata.namespace not in (
        resource_pool.status.namespaces or ()
    ):
        return (*passed, AssignmentStep("capsule/namespace-selected", (conditions.NOT_AVAILABLE,)))
    passed = (*passed, AssignmentStep("capsule/namespace-selected"))
    foreign = tuple(conditions.foreign(resource, name) for resource in foreign_resources(claim, resource_pool))
    if foreign:
        return (*passed, AssignmentStep("capsule/resource-in-pool", foreign))
    passed = (*passed, AssignmentStep("capsule/resource-in-pool"))
    old = claim.status.pool
    if old is not None and old.name != name and conditions.is_in_use(claim):
        return (*passed, AssignmentStep("capsule/immutable", (conditions.in_use_elsewhere(old.name),)))
    return passed if is_writable(name) else (*passed, AssignmentStep("capsule/pool-name", (_UNWRITABLE,)))


def is_writable(name: str) -> bool:
    """Return whether a status can hold the name: no dot, at most 63 characters. Pools and claims may have other
    names.
    """
    return len(name) <= LONGEST_NAME and _WRITABLE.fullmatch(name) is not None


def foreign_resources(claim: ResourcePoolClaim, pool: ResourcePool) -> tuple[str, ...]:
    """Return what the claim asks for and the pool's status does not have, sorted."""
    ref = ObjectRef("ResourcePool", pool.metadata.name)
    hard = readable(pool.status.allocation.hard, ref, "status.allocation.hard", None)
    return tuple(sorted(name for name in claim.spec.claim or () if name not in hard))


def assign(claim: ResourcePoolClaim, pools: Pools) -> tuple[ResourcePoolClaim, ...]:
    """Return the claim after the controller has looked at it: several where the message that it writes is random.

    Assigned means ``status.pool`` and an owner reference, not a share. A claim that fails keeps the pool it had. One
    whose pool has a name that its status cannot hold stays as it is: the controller tries that again and again.
    """
    last = steps(claim, pools)[-1]
    if last.rule == "capsule/pool-name":
        return (claim,)
    if last.fault:
        return tuple(_set_ready_condition(claim, message) for message in last.fault)
    pool = pools[claim.spec.pool]
    meta = structs.replace(claim.metadata, owner_references=_replace_pool_owner(claim, pool))
    status = structs.replace(claim.status, pool=PoolRef(pool.metadata.name, pool.metadata.uid))
    return (_set_ready_condition(structs.replace(claim, metadata=meta, status=status), ""),)


def is_assigned(claim: ResourcePoolClaim) -> bool:
    """Return whether the claim belongs to a pool."""
    return claim.status.pool is not None


def belongs_to_pool(claim: ResourcePoolClaim, pool: ResourcePool) -> bool:
    """Return whether the claim belongs to this pool: by UID where both have one, else by name."""
    ref = claim.status.pool
    if ref is None:
        return False
    uid = pool.metadata.uid
    return ref.uid == uid if ref.uid and uid else ref.name == pool.metadata.name


def refers_to_pool(reference: OwnerReference, pool: ResourcePool) -> bool:
    """Return whether an owner reference is to this pool."""
    if reference.kind != "ResourcePool":
        return False
    uid = pool.metadata.uid
    return reference.uid == uid if reference.uid and uid else reference.name == pool.metadata.name


def _replace_pool_owner(claim: ResourcePoolClaim, pool: ResourcePool) -> tuple[OwnerReference, ...]:
    """Return the claim's owners with this pool instead of any other."""
    others = tuple(
        owner_reference
        for owner_reference in claim.metadata.owner_references or ()
        if owner_reference.kind != "ResourcePool"
    )
    meta = pool.metadata
    return (*others, OwnerReference("ResourcePool", meta.name, meta.uid, f"{GROUP}/{VERSION}"))


def _set_ready_condition(claim: ResourcePoolClaim, message: str) -> ResourcePoolClaim:
    """With the Ready condition; the condition of old versions goes with any write."""
    status = structs.replace(
        claim.status,
        conditions=conditions.set_condition(claim.status.conditions, conditions.ready(message)),
        condition=None,
        observed_generation=claim.metadata.generation,
    )
    return structs.replace(claim, status=status)


_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_LONGEST_PREFIX = 253


def selected_namespaces(pool: ResourcePool, namespaces: Iterable[Namespace]) -> dict[str, tuple[int, ...]]:
    """Names of the namespaces that the pool selects, sorted, each with the places of the selectors that match it.

    A pool that is being deleted selects nothing; selectors without fields and those that do not parse do not either.
    A namespace that is being deleted, or whose phase is not Active, is left out; no phase counts as Active.
    Source: capsule internal/controllers/resourcepools/pool_controller.go gatherMatchingNamespaces.
    """
    if pool.metadata.deletion_timestamp:
        return {}
    usable = [(index, selector) for index, selector in enumerate(pool.spec.selectors or ()) if is_usable(selector)]
    result: dict[str, tuple[int, ...]] = {}
    for space in namespaces:
        if not is_active(space):
            continue
        labels = space.metadata.labels or {}
        indexes = tuple(index for index, label_selector in usable if fits(label_selector, labels))
        if indexes:
            result[space.metadata.name] = indexes
    return dict(sorted(result.items()))


def is_active(namespace: Namespace) -> bool:
    """Return whether a namespace can belong to a pool."""
    return not namespace.metadata.deletion_timestamp and namespace.status.phase in {"", "Active"}


def is_empty(selector: LabelSelector) -> bool:
    """Return whether a selector has no fields: in a pool it selects nothing."""
    return not selector.match_labels and not selector.match_expressions


def is_usable(selector: LabelSelector) -> bool:
    """Return whether a selector can select anything: it has fields and they parse."""
    return not is_empty(selector) and not fault(selector)


def fault(selector: LabelSelector) -> str:
    """Return why a selector does not parse; empty if it does. The controller skips such a selector without a word.

    Source: apimachinery meta/v1/helpers.go LabelSelectorAsSelector, labels.NewRequirement.
    """
    for key, value in (selector.match_labels or {}).items():
        if not _is_key(key):
            return f"matchLabels: {key!r} is no label key"
        if not _is_value(value):
            return f"matchLabels[{key}]: {value!r} is no label value"
    for expression in selector.match_expressions or ():
        wrong = _expression_fault(expression)
        if wrong:
            return f"matchExpressions: {wrong}"
    return ""


def fits(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Return whether labels fit a selector that parses: all of its labels and all of its expressions."""
    wanted = selector.match_labels or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_matches_expression(match_expression, labels) for match_expression in selector.match_expressions or ())


def _matches_expression(expression: Requirement, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(expression.key), expression.values or ()
    match expression.operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case _:
            return value is None


def _expression_fault(expression: Requirement) -> str:
    operator, values = expression.operator, expression.values or ()
    if operator in {"In", "NotIn"}:
        if not values:
            return f"{operator} needs values"
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            return f"{operator} takes no values"
    else:
        return f"{operator!r} is no operator"
    if not _is_key(expression.key):
        return f"{expression.key!r} is no label key"
    wrong = [value for value in values if not _is_value(value)]
    return f"{wrong[0]!r} is no label value" if wrong else ""


def _is_key(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and not (len(prefix) <= _LONGEST_PREFIX and _PREFIX.fullmatch(prefix)):
        return False
    return _NAME.fullmatch(name) is not None


def _is_value(value: str) -> bool:
    return not value or _NAME.fullmatch(value) is not None
