"""The answer of ``pools``: what a pool has, who holds it, who waits, and what is wrong about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.capsule.model import ResourcePool
from kubectl_kres.capsule.reports.common.amount_lists import amount, parsed, shown, texts
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex, Standings
from kubectl_kres.capsule.reports.common.pool_room import held, short
from kubectl_kres.capsule.reports.pool.pool_report import Holder, PoolNamespace, PoolReport, PoolUse, Queued
from kubectl_kres.capsule.reports.pool.pool_warnings import warnings_of
from kubectl_kres.capsule.rules.amounts import Amounts, added
from kubectl_kres.capsule.rules.conditions import READY, find
from kubectl_kres.capsule.rules.selection import fault, is_active, is_empty, selected
from kubectl_kres.model.meta import LabelSelector, ObjectRef, Requirement
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.reports.common.explanation import LastEdit
from kubectl_kres.reports.common.last_editor import last_edit
from kubectl_kres.reports.common.resource_lists import percent_of
from kubectl_kres.reports.common.scope_words import scope_words
from kubectl_kres.store.coverage import Need


def pool_report(scene: PoolIndex, pool: ResourcePool) -> PoolReport:
    """What is not known (claims, quotas, namespaces that were not read) is left out; ``unseen`` is not filled here."""
    ready = find(pool.status.conditions, READY)
    spaces = tuple(_namespaces(scene, pool))
    known = scene.claims_known(pool)
    return PoolReport(
        ObjectRef("ResourcePool", pool.metadata.name),
        uses=tuple(_uses(scene, pool, spaces)),
        namespaces=spaces,
        selectors=tuple(map(_selector_words, pool.spec.selectors or ())),
        claims=sum(1 for _ in held(pool)),
        holders=tuple(_holders(scene, pool)),
        queue=tuple(_queue(scene, pool)) if known else None,
        ordered=pool.spec.config.ordered_queue,
        options=tuple(_options(pool)),
        scopes=scope_words(pool.spec.quota),
        ready=None if ready is None else ready.status == "True",
        message=ready.message if ready is not None else "",
        warnings=warnings_of(scene, pool),
        edits=_edits(pool),
    )


def _uses(scene: PoolIndex, pool: ResourcePool, spaces: tuple[PoolNamespace, ...]) -> Iterator[PoolUse]:
    hard, taken, room = scene.hard(pool), scene.taken(pool), scene.room(pool)
    used = _used(spaces)
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
    """A quantity of the status, which leaves zeros out."""
    quantity = amount(value)
    return str(value) if quantity is None else str(quantity)


def _used(spaces: tuple[PoolNamespace, ...]) -> Amounts | None:
    """What pods use in all namespaces; None where a quota is not known."""
    if any(space.used is None for space in spaces):
        return None
    return added(parsed(space.used) for space in spaces)


def _namespaces(scene: PoolIndex, pool: ResourcePool) -> Iterator[PoolNamespace]:
    """Those in the status, and those that its selectors choose now where namespaces could be read."""
    name, hard = pool.metadata.name, scene.hard(pool)
    known = scene.store.covered(Need("Namespace")).known
    chosen = selected(pool, scene.store.all("Namespace")) if known else {}
    words = tuple(map(_selector_words, pool.spec.selectors or ()))
    for space in sorted({*scene.spaces(pool), *chosen}):
        listed = (pool.status.claims or {}).get(space, ())
        claimed = {
            name: value for name, value in added(parsed(claim.claims) for claim in listed).items() if name in hard
        }
        percents = {
            name: part for name, value in claimed.items() if (part := percent_of(value, hard[name])) is not None
        }
        yield PoolNamespace(
            space,
            tuple(words[place] for place in chosen.get(space, ())),
            len(listed),
            shown(claimed),
            dict(sorted(percents.items())),
            _pods_use(scene, name, space, hard),
            _note(scene, pool, space, chosen) if known else "",
        )


def _pods_use(scene: PoolIndex, pool: str, space: str, hard: Amounts) -> Mapping[str, str] | None:
    """What the managed quota counts, by the resources of the pool; None where the quota is not known."""
    quota = scene.quota(pool, space)
    if quota is not None:
        used = parsed(quota.status.used)
        return {name: str(used[name]) for name in sorted(used) if name in hard}
    return {} if scene.quotas_known(pool, space) else None


def _note(scene: PoolIndex, pool: ResourcePool, space: str, chosen: Mapping[str, object]) -> str:
    listed = space in scene.spaces(pool)
    if space in chosen:
        return "" if listed else "selected, but the status does not list it yet: claims in it are not taken"
    namespace = scene.namespace(space)
    if namespace is None:
        return "in the status, but there is no such namespace any more"
    if not is_active(namespace):
        return "is being deleted; the pool keeps it until something wakes its controller"
    return "in the status, but no selector matches it now"


def _holders(scene: PoolIndex, pool: ResourcePool) -> Iterator[Holder]:
    states = scene.states()
    for space, pool_claim in held(pool):
        standing = states.get((space, pool_claim.name))
        ref = ObjectRef("ResourcePoolClaim", pool_claim.name, space)
        yield Holder(ref, texts(pool_claim.claims), standing.state if standing is not None else None)


def _queue(scene: PoolIndex, pool: ResourcePool) -> Iterator[Queued]:
    room = scene.room(pool)
    for place, standings in enumerate(scene.waiting(pool.metadata.name), 1):
        yield _queued(place, standings, room)


def _queued(place: int, standings: Standings, room: Amounts) -> Queued:
    claim, standing = standings
    meta, asked = claim.metadata, parsed(claim.spec.claim)
    lacks = {name: lack_of(asked[name], room.get(name)) for name in sorted(asked) if short(asked[name], room.get(name))}
    ref = ObjectRef("ResourcePoolClaim", meta.name, meta.namespace)
    behind = tuple(sorted(standing.queued))
    return Queued(place, ref, standing.state, texts(claim.spec.claim), lacks, behind, meta.creation_timestamp or "")


def lack_of(asked: Quantity, room: Quantity | None) -> str:
    """How much is missing of a resource that is short; of one that is used up even a request of 0 is not served."""
    if room is None:
        return str(asked)
    return str(asked - room) if asked > room else "more than 0"


def _options(pool: ResourcePool) -> Iterator[str]:
    config = pool.spec.config
    if config.ordered_queue:
        yield "orderedQueue: what a claim waits for is closed for all behind it"
    if config.defaults_zero:
        yield "defaultsZero: each namespace starts with 0 of every resource"
    if config.delete_bound_resources:
        yield "deleteBoundResources: its claims are deleted with the pool, also those in use"
    defaults = texts(pool.spec.defaults)
    given = {name: value for name, value in defaults.items() if value != "0"}
    if given:
        yield f"defaults: each namespace has {', '.join(f'{k} {v}' for k, v in given.items())} without a claim"


def _edits(pool: ResourcePool) -> Mapping[str, LastEdit]:
    """Who last changed what is shared out, and among whom."""
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
