"""The answer of ``pools``: what each pool has, who holds it, who waits, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.capsule.model import ResourcePool
from kubectl_kres.capsule.reports.common.amount_lists import (
    amount,
    amount_texts,
    parse_amounts,
    texts,
)
from kubectl_kres.capsule.reports.common.pool_index import (
    ClaimStates,
    PoolIndex,
    allocated_claims,
    short,
)
from kubectl_kres.capsule.reports.pool.pool_report import (
    Holder,
    PoolNamespace,
    PoolReport,
    PoolUse,
    Queued,
)
from kubectl_kres.capsule.reports.pool.pool_warnings import NamespaceNote, warnings_of
from kubectl_kres.capsule.rules.allocation import Amounts, add_amounts
from kubectl_kres.capsule.rules.assignment import (
    fault,
    is_active,
    is_empty,
    selected_namespaces,
)
from kubectl_kres.capsule.rules.conditions import READY, find
from kubectl_kres.model.objects import LabelSelector, ObjectRef, Requirement
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.reports.common.explanation import LastEdit
from kubectl_kres.reports.common.last_editor import last_edit
from kubectl_kres.reports.common.resource_lists import percent_of, scope_words
from kubectl_kres.store.store import ReadRequest


def pool_report(context: PoolIndex, pool: ResourcePool) -> PoolReport:
    """Return what is not known (claims, quotas, namespaces that were not read) is left out; ``unread`` is not filled
    here.
    """
    ready = find(pool.status.conditions, READY)
    spaces = tuple(_namespaces(context, pool))
    is_known = context.claims_known(pool)
    return PoolReport(
        ObjectRef("ResourcePool", pool.metadata.name),
        uses=tuple(_list_uses(context, pool, spaces)),
        namespaces=spaces,
        selectors=tuple(map(_selector_words, pool.spec.selectors or ())),
        claims=sum(1 for _ in allocated_claims(pool)),
        holders=tuple(_holders(context, pool)),
        queue=tuple(_queue(context, pool)) if is_known else None,
        ordered=pool.spec.config.ordered_queue,
        options=tuple(_options(pool)),
        scopes=scope_words(pool.spec.quota),
        ready=None if ready is None else ready.status == "True",
        message=ready.message if ready is not None else "",
        warnings=warnings_of(context, pool),
        edits=_edits(pool),
    )


def _list_uses(context: PoolIndex, pool: ResourcePool, spaces: tuple[PoolNamespace, ...]) -> Iterator[PoolUse]:
    hard, taken, room = context.hard(pool), context.allocated_amounts(pool), context.room(pool)
    used = _sum_used_amounts(spaces)
    defaults, waits = texts(pool.spec.defaults), pool.status.exhaustions or {}
    for name in sorted(hard):
        wait = waits.get(name)
        yield PoolUse(
            name,
            str(hard[name]),
            str(taken[name]),
            str(room[name]),
            percent_of(taken[name], hard[name]),
            used=None if used is None else str(used.get(name, ZERO)),
            wanted=_text(wait.requesting) if wait is not None else None,
            offered=_text(wait.available) if wait is not None else None,
            default=defaults.get(name),
        )


def _text(value: object) -> str:
    """Return a quantity of the status, which leaves zeros out."""
    quantity = amount(value)
    return str(value) if quantity is None else str(quantity)


def _sum_used_amounts(spaces: tuple[PoolNamespace, ...]) -> Amounts | None:
    """Return what pods use in all namespaces; None where a quota is not known."""
    if any(space.used is None for space in spaces):
        return None
    return add_amounts(parse_amounts(space.used) for space in spaces)


def _namespaces(context: PoolIndex, pool: ResourcePool) -> Iterator[PoolNamespace]:
    """Yield those in the status, and those that its selectors choose now where namespaces could be read."""
    name, hard = pool.metadata.name, context.hard(pool)
    is_known = context.store.covered(ReadRequest("Namespace")).is_known
    chosen = selected_namespaces(pool, context.store.all("Namespace")) if is_known else {}
    words = tuple(map(_selector_words, pool.spec.selectors or ()))
    for space in sorted({*context.spaces(pool), *chosen}):
        listed = (pool.status.claims or {}).get(space, ())
        claimed = {
            name: value
            for name, value in add_amounts(parse_amounts(claim.claims) for claim in listed).items()
            if name in hard
        }
        percents = {
            name: part for name, value in claimed.items() if (part := percent_of(value, hard[name])) is not None
        }
        yield PoolNamespace(
            space,
            tuple(words[index] for index in chosen.get(space, ())),
            len(listed),
            amount_texts(claimed),
            dict(sorted(percents.items())),
            _pods_use(context, name, space, hard),
            _note(context, pool, space, chosen) if is_known else None,
        )


def _pods_use(context: PoolIndex, pool: str, space: str, hard: Amounts) -> Mapping[str, str] | None:
    """Return what the managed quota counts, by the resources of the pool; None where the quota is not known."""
    quota = context.quota(pool, space)
    if quota is not None:
        used = parse_amounts(quota.status.used)
        return {name: str(used[name]) for name in sorted(used) if name in hard}
    return {} if context.quotas_known(pool, space) else None


def _note(context: PoolIndex, pool: ResourcePool, space: str, chosen: Mapping[str, object]) -> NamespaceNote | None:
    if space in chosen:
        return None if space in context.spaces(pool) else NamespaceNote("not-listed")
    namespace = context.namespace(space)
    if namespace is None:
        return NamespaceNote("absent")
    return NamespaceNote("not-selected" if is_active(namespace) else "deleted")


def _holders(context: PoolIndex, pool: ResourcePool) -> Iterator[Holder]:
    states = context.states()
    for space, pool_claim in allocated_claims(pool):
        claim_standing = states.get((space, pool_claim.name))
        ref = ObjectRef("ResourcePoolClaim", pool_claim.name, space)
        yield Holder(ref, texts(pool_claim.claims), claim_standing.state if claim_standing is not None else None)


def _queue(context: PoolIndex, pool: ResourcePool) -> Iterator[Queued]:
    room = context.room(pool)
    for index, standings in enumerate(context.waiting_claims(pool.metadata.name), 1):
        yield _build_queued(index, standings, room)


def _build_queued(index: int, standings: ClaimStates, room: Amounts) -> Queued:
    claim, claim_standing = standings
    meta, requested = claim.metadata, parse_amounts(claim.spec.claim)
    lacks = {
        name: format_missing_amount(requested[name], room.get(name))
        for name in sorted(requested)
        if short(requested[name], room.get(name))
    }
    ref = ObjectRef("ResourcePoolClaim", meta.name, meta.namespace)
    behind = tuple(sorted(claim_standing.queued))
    return Queued(
        index, ref, claim_standing.state, texts(claim.spec.claim), lacks, behind, meta.creation_timestamp or ""
    )


def format_missing_amount(requested: Quantity, room: Quantity | None) -> str:
    """Return how much is missing of a resource that is short; of one that is used up even a request of 0 is not
    served.
    """
    if room is None:
        return str(requested)
    return str(requested - room) if requested > room else "more than 0"


def _options(pool: ResourcePool) -> Iterator[str]:
    config = pool.spec.config
    if config.ordered_queue:
        yield "orderedQueue: later claims cannot take what an earlier claim is waiting for"
    if config.defaults_zero:
        yield "defaultsZero: each namespace starts with 0 of every resource"
    if config.delete_bound_resources:
        yield "deleteBoundResources: its claims are deleted with the pool, also those in use"
    defaults = texts(pool.spec.defaults)
    nonzero = {name: value for name, value in defaults.items() if value != "0"}
    if nonzero:
        yield f"defaults: each namespace has {', '.join(f'{k} {v}' for k, v in nonzero.items())} without a claim"


def _edits(pool: ResourcePool) -> Mapping[str, LastEdit]:
    """Return who last changed what is shared out, and among whom."""
    fields = [*(f"spec.quota.hard[{name}]" for name in sorted(pool.spec.quota.hard or ())), "spec.selectors"]
    last_edits = {field: last_edit(pool.metadata.managed_fields, field) for field in fields}
    return {field: edit for field, edit in last_edits.items() if edit is not None}


def _selector_words(selector: LabelSelector) -> str:
    """``team=solar, env in (dev, test)`` as kubectl takes it; for one that selects nothing, that and why."""
    if is_empty(selector):
        return "{}, which selects nothing in a pool"
    wrong = fault(selector)
    labels = [f"{key}={value}" for key, value in sorted((selector.match_labels or {}).items())]
    shown = ", ".join([*labels, *map(_expression, selector.match_expressions or ())])
    return f"{shown}, which does not parse and so selects nothing: {wrong}" if wrong else shown


def _expression(requirement: Requirement) -> str:
    values = f"({', '.join(requirement.values or ())})"
    match requirement.operator:
        case "In":
            return f"{requirement.key} in {values}"
        case "NotIn":
            return f"{requirement.key} notin {values}"
        case "Exists":
            return requirement.key
        case "DoesNotExist":
            return f"!{requirement.key}"
        case _:
            return f"{requirement.key} {requirement.operator} {values if requirement.values else ''}".rstrip()
