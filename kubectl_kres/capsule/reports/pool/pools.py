"""The answer of ``pools``: what a pool has, who holds it, who waits, and what is wrong about it.

What is odd about a pool: what selects nothing, what contradicts its status, what nobody can ever get.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.capsule.model import ResourcePool
from kubectl_kres.capsule.reports.claim.claims import unwritable
from kubectl_kres.capsule.reports.common.amount_lists import (
    amount,
    amount_texts,
    faults,
    parse_amounts,
    sentence,
    texts,
    whole_number_texts,
)
from kubectl_kres.capsule.reports.common.pool_index import (
    STAYS,
    ClaimStates,
    PoolIndex,
    allocated_claims,
    excess_usage,
    short,
)
from kubectl_kres.capsule.reports.common.tenancy import version_remarks
from kubectl_kres.capsule.reports.pool.pool_report import Holder, PoolNamespace, PoolReport, PoolUse, Queued
from kubectl_kres.capsule.rules.allocation import Amounts, add_amounts
from kubectl_kres.capsule.rules.assignment import (
    fault,
    fits,
    is_active,
    is_empty,
    is_usable,
    is_writable,
    selected_namespaces,
)
from kubectl_kres.capsule.rules.conditions import READY, find
from kubectl_kres.model.objects import LabelSelector, ObjectRef, Requirement
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.reports.common.explanation import LastEdit
from kubectl_kres.reports.common.last_editor import last_edit
from kubectl_kres.reports.common.resource_lists import join_words, percent_of, scope_words
from kubectl_kres.store.store import ReadRequest

_FIT = "a pod must fit all that count it"


def warnings_of(context: PoolIndex, pool: ResourcePool) -> tuple[str, ...]:
    """Return a sentence each, the gravest first."""
    return (
        *_broken_status(pool),
        *_unnamable(pool),
        *_dotted_name_remarks(context, pool),
        *_lowered_amount_remarks(context, pool),
        *_truncated_amount_remarks(context, pool),
        *_stale(context, pool),
        *_overdrawn_remarks(context, pool),
        *_selectors(context, pool),
        *_overlaps(context, pool),
        *_unservable(context, pool),
        *_unlimited_remarks(context, pool),
        *version_remarks(context.store, "pools"),
    )


def _broken_status(pool: ResourcePool) -> Iterator[str]:
    ready = find(pool.status.conditions, READY)
    if pool.metadata.deletion_timestamp:
        yield (
            f"it is being deleted, since {pool.metadata.deletion_timestamp}: it serves no namespace, and its waiting "
            "claims are deleted with it"
        )
    if ready is not None and ready.status == "False":
        yield f"its last reconcile failed, and nothing tries again by itself: {ready.message}"
    if not pool.status.conditions and not pool.status.observed_generation:
        yield "it has no status yet: Capsule's controller has not seen it, or is not running"
    yield from faults(pool.spec.quota.hard, "spec.quota.hard")
    yield from faults(pool.spec.defaults, "spec.defaults")


def _unnamable(pool: ResourcePool) -> Iterator[str]:
    if not is_writable(pool.metadata.name):
        yield (
            "its name has a dot, or more than 63 characters, which no status of a claim can hold: no claim ever gets "
            "anything of it; create it under another name"
        )


def _dotted_name_remarks(context: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    names = [
        f"{standings.claim.metadata.namespace}/{standings.claim.metadata.name}"
        for standings in context.claims_of_pool(pool.metadata.name)
        if unwritable(standings.claim.metadata.name)
    ]
    if names:
        yield (
            f"its status cannot be written any more because of claims with a dot in their name, or more than "
            f"63 characters ({join_words(names)}): quotas are still raised, and what is claimed here is too low; "
            "delete them"
        )


def _lowered_amount_remarks(context: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    """Recorded from Capsule 0.14.0: a pool of 1Pi with one claim of 1Ti ended at 98Ti, after 309 edits of its own."""
    if names := context.lowered_resources(pool):
        hard = {name: context.hard(pool)[name] for name in sorted(names)}
        yield (
            f"Capsule cannot count with amounts as large as its {sentence(amount_texts(hard))}: with each look it "
            "takes what is claimed off spec.quota.hard itself, and gives out less than there is; written without a "
            f"suffix ({sentence(whole_number_texts(hard))}) it is counted right"
        )


def _truncated_amount_remarks(context: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    if names := context.truncated_amounts(pool):
        yield (
            f"its {join_words(sorted(names))} {'is' if len(names) == 1 else 'are'} near the most that the API server "
            "keeps (2^63-1): it cuts sums off there, so what they come to here is not certain"
        )


def _stale(context: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    """Yield where the status is not what the spec, or the rest of the status, says."""
    meta, status = pool.metadata, pool.status
    if not status.conditions:
        return
    if status.observed_generation and meta.generation > status.observed_generation:
        yield f"its status is of generation {status.observed_generation}, its spec of {meta.generation}"
    hard, quantities = context.hard(pool), parse_amounts(status.allocation.hard)
    if quantities != hard:
        counted, written = sentence(amount_texts(quantities)), sentence(amount_texts(hard))
        yield f"its status still counts with hard {counted}, its spec says {written}"
    used, taken = parse_amounts(status.allocation.used), context.allocated_amounts(pool)
    odd = {name: used.get(name, ZERO) for name in taken if name in quantities and used.get(name, ZERO) != taken[name]}
    if odd:
        really = {name: taken[name] for name in odd}
        yield (
            f"its status says that claims hold {sentence(amount_texts(odd))}, but the claims that it lists hold "
            f"{sentence(amount_texts(really))}; the figures here are theirs"
        )
    if context.claims_known(pool):
        gone = [
            f"{space}/{pool_claim.name}"
            for space, pool_claim in allocated_claims(pool)
            if (space, pool_claim.name) not in context.states()
        ]
        if gone:
            yield f"its status lists claims that do not exist: {join_words(gone)}"
    moved = [
        f"{space}/{pool_claim.name}"
        for space, pool_claim in allocated_claims(pool)
        if context.pool_named(space, pool_claim) not in {"", meta.name}
    ]
    if moved:
        yield (
            f"its status lists claims that are in another pool now ({join_words(moved)}): when it looks at them next, "
            "as after any change of it, they lose what they hold there, too"
        )


def _overdrawn_remarks(context: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    over = {name: -room for name, room in context.room(pool).items() if room < ZERO}
    if over:
        yield f"claims hold {sentence(amount_texts(over))} more than it has; nobody is put out, and nobody new gets in"
    stray = add_amounts(parse_amounts(pool_claim.claims) for _, pool_claim in allocated_claims(pool))
    stray = {name: value for name, value in stray.items() if name not in context.hard(pool) and value}
    if stray:
        yield f"claims hold {sentence(amount_texts(stray))}, which it does not share out any more"
    name = pool.metadata.name
    uses = [quota for space in sorted(context.spaces(pool)) if (quota := context.quota(name, space)) is not None]
    used = add_amounts(parse_amounts(quota.status.used) for quota in uses)
    excess = {name: used[name] for name, hard in context.hard(pool).items() if name in used and used[name] > hard}
    if excess:
        yield (
            f"{sentence(amount_texts(excess))} in use is more than it has: claims were released, or defaults add to "
            "what they hold"
        )
    for quota in uses:
        over = excess_usage(quota)
        if over:
            yield (
                f"namespace {quota.metadata.namespace} uses {sentence(amount_texts(over))}, more than its quota allows "
                f"now: {STAYS.format(join_words(sorted(over)))}"
            )


def _selectors(context: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    selectors = pool.spec.selectors or ()
    if not selectors:
        yield "it has no selectors, and so no namespaces: nothing selects nothing, not everything"
    is_known = context.store.covered(ReadRequest("Namespace")).is_known
    spaces = [namespace for namespace in context.store.all("Namespace") if is_active(namespace)] if is_known else []
    for index, selector in enumerate(selectors):
        path = f"spec.selectors[{index}]"
        if is_empty(selector):
            yield f"{path} is empty and selects nothing; elsewhere in Kubernetes that selects everything"
        elif fault(selector):
            yield f"{path} does not parse and is skipped without a word: {fault(selector)}"
        elif (
            is_known
            and is_usable(selector)
            and not any(fits(selector, space.metadata.labels or {}) for space in spaces)
        ):
            yield f"{path} matches no namespace"


def _overlaps(context: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    mine = context.spaces(pool)
    for name, other in sorted(context.pools.items()):
        shared = mine & context.spaces(other)
        both = sorted(context.hard(pool).keys() & context.hard(other).keys())
        if name != pool.metadata.name and shared and both:
            scopes = dict.fromkeys((*scope_words(pool.spec.quota), *scope_words(other.spec.quota)))
            what = f"what both count ({' and '.join(scopes)}) must fit both" if scopes else _FIT
            shared_names = join_words(sorted(shared))
            yield f"pool {name} also limits {join_words(both)} in {shared_names}: each has a quota there, and {what}"


def _unservable(context: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    nothing = sorted(name for name, hard in context.hard(pool).items() if hard <= ZERO)
    if nothing:
        yield f"nobody can ever claim {join_words(nothing)}: hard is 0, and even a claim for 0 of it waits forever"


def _unlimited_remarks(context: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    """Namespaces whose quota does not name a resource of the pool at all."""
    defaults = parse_amounts(pool.spec.defaults)
    claims = pool.status.claims or {}
    free: dict[tuple[str, ...], list[str]] = {}
    for name in sorted(context.hard(pool).keys() - defaults.keys()):
        spaces = (
            space
            for space in sorted(context.spaces(pool))
            if not any(parse_amounts(pool_claim.claims).get(name) for pool_claim in claims.get(space, ()))
        )
        free.setdefault(tuple(spaces), []).append(name)
    for key, names in free.items():
        if key:
            them = "it" if len(names) == 1 else "them"
            yield (
                f"the pool does not limit {join_words(names)} in {join_words(key)}: no claim for {them} is allocated "
                "there, and it has no default (defaultsZero would set 0)"
            )


def pool_report(context: PoolIndex, pool: ResourcePool) -> PoolReport:
    """Return what is not known (claims, quotas, namespaces that were not read) is left out; ``unseen`` is not filled
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
            _note(context, pool, space, chosen) if is_known else "",
        )


def _pods_use(context: PoolIndex, pool: str, space: str, hard: Amounts) -> Mapping[str, str] | None:
    """Return what the managed quota counts, by the resources of the pool; None where the quota is not known."""
    quota = context.quota(pool, space)
    if quota is not None:
        used = parse_amounts(quota.status.used)
        return {name: str(used[name]) for name in sorted(used) if name in hard}
    return {} if context.quotas_known(pool, space) else None


def _note(context: PoolIndex, pool: ResourcePool, space: str, chosen: Mapping[str, object]) -> str:
    listed = space in context.spaces(pool)
    if space in chosen:
        return "" if listed else "selected, but the status does not list it yet: claims in it are not taken"
    namespace = context.namespace(space)
    if namespace is None:
        return "in the status, but there is no such namespace any more"
    if not is_active(namespace):
        return "is being deleted; the pool keeps it until something wakes its controller"
    return "in the status, but no selector matches it now"


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
        yield "orderedQueue: a resource that a claim waits for is given to none behind it"
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
