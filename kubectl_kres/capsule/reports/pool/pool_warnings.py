"""What is odd about a pool: what selects nothing, what contradicts its status, what nobody can ever get."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.model import ResourcePool
from kubectl_kres.capsule.reports.claim.claim_notes import unwritable
from kubectl_kres.capsule.reports.common.amount_lists import faults, parsed, plain, sentence, shown
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.common.pool_room import STAYS, beyond_quota, held
from kubectl_kres.capsule.reports.common.tenancy import version_remarks
from kubectl_kres.capsule.rules.amounts import added
from kubectl_kres.capsule.rules.assignment import is_writable
from kubectl_kres.capsule.rules.conditions import READY, find
from kubectl_kres.capsule.rules.selection import fault, fits, is_active, is_empty, is_usable
from kubectl_kres.quantity import ZERO
from kubectl_kres.reports.common.resource_lists import listed
from kubectl_kres.reports.common.scope_words import scope_words
from kubectl_kres.store.coverage import Need

_FIT = "a pod must fit all that count it"


def warnings_of(scene: PoolIndex, pool: ResourcePool) -> tuple[str, ...]:
    """A sentence each, the gravest first."""
    return (
        *_broken(pool),
        *_unnamable(pool),
        *_dotted(scene, pool),
        *_lowered(scene, pool),
        *_cut_off(scene, pool),
        *_stale(scene, pool),
        *_overdrawn(scene, pool),
        *_selectors(scene, pool),
        *_overlaps(scene, pool),
        *_unservable(scene, pool),
        *_unlimited(scene, pool),
        *version_remarks(scene.store, "pools"),
    )


def _broken(pool: ResourcePool) -> Iterator[str]:
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


def _dotted(scene: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    names = [
        f"{standings.claim.metadata.namespace}/{standings.claim.metadata.name}"
        for standings in scene.of_pool(pool.metadata.name)
        if unwritable(standings.claim.metadata.name)
    ]
    if names:
        yield (
            f"its status cannot be written any more because of claims with a dot in their name, or more than 63 "
            f"characters ({listed(names)}): quotas are still raised, and what is claimed here is too low; delete them"
        )


def _lowered(scene: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    """Recorded from Capsule 0.14.0: a pool of 1Pi with one claim of 1Ti ended at 98Ti, after 309 edits of its own."""
    if names := scene.lowered(pool):
        hard = {name: scene.hard(pool)[name] for name in sorted(names)}
        yield (
            f"Capsule cannot count with amounts as large as its {sentence(shown(hard))}: with each look it takes what "
            "is claimed off spec.quota.hard itself, and gives out less than there is; written without a suffix "
            f"({sentence(plain(hard))}) it is counted right"
        )


def _cut_off(scene: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    if names := scene.cut_off(pool):
        yield (
            f"its {listed(sorted(names))} {'is' if len(names) == 1 else 'are'} near the most that the API server keeps "
            "(2^63-1): it cuts sums off there, so what they come to here is not certain"
        )


def _stale(scene: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    """Where the status is not what the spec, or the rest of the status, says."""
    meta, status = pool.metadata, pool.status
    if not status.conditions:
        return
    if status.observed_generation and meta.generation > status.observed_generation:
        yield f"its status is of generation {status.observed_generation}, its spec of {meta.generation}"
    hard, quantities = scene.hard(pool), parsed(status.allocation.hard)
    if quantities != hard:
        yield f"its status still counts with hard {sentence(shown(quantities))}, its spec says {sentence(shown(hard))}"
    used, taken = parsed(status.allocation.used), scene.taken(pool)
    odd = {name: used.get(name, ZERO) for name in taken if name in quantities and used.get(name, ZERO) != taken[name]}
    if odd:
        really = {name: taken[name] for name in odd}
        yield (
            f"its status says that claims hold {sentence(shown(odd))}, but the claims that it lists hold "
            f"{sentence(shown(really))}; the figures here are theirs"
        )
    if scene.claims_known(pool):
        gone = [
            f"{space}/{pool_claim.name}"
            for space, pool_claim in held(pool)
            if (space, pool_claim.name) not in scene.states()
        ]
        if gone:
            yield f"its status lists claims that do not exist: {listed(gone)}"
    moved = [
        f"{space}/{pool_claim.name}"
        for space, pool_claim in held(pool)
        if scene.pool_named(space, pool_claim) not in {"", meta.name}
    ]
    if moved:
        yield (
            f"its status lists claims that are in another pool now ({listed(moved)}): when it looks at them next, as "
            "after any change of it, they lose what they hold there, too"
        )


def _overdrawn(scene: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    over = {name: -room for name, room in scene.room(pool).items() if room < ZERO}
    if over:
        yield f"claims hold {sentence(shown(over))} more than it has; nobody is put out, and nobody new gets in"
    stray = added(parsed(pool_claim.claims) for _, pool_claim in held(pool))
    stray = {name: value for name, value in stray.items() if name not in scene.hard(pool) and value}
    if stray:
        yield f"claims hold {sentence(shown(stray))}, which it does not share out any more"
    name = pool.metadata.name
    uses = [quota for space in sorted(scene.spaces(pool)) if (quota := scene.quota(name, space)) is not None]
    used = added(parsed(quota.status.used) for quota in uses)
    beyond = {name: used[name] for name, hard in scene.hard(pool).items() if name in used and used[name] > hard}
    if beyond:
        yield (
            f"{sentence(shown(beyond))} in use is more than it has: claims were released, or defaults add to what they "
            "hold"
        )
    for quota in uses:
        over = beyond_quota(quota)
        if over:
            yield (
                f"namespace {quota.metadata.namespace} uses {sentence(shown(over))}, more than its quota allows now: "
                f"{STAYS.format(listed(sorted(over)))}"
            )


def _selectors(scene: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    selectors = pool.spec.selectors or ()
    if not selectors:
        yield "it has no selectors, and so no namespaces: nothing selects nothing, not everything"
    known = scene.store.covered(Need("Namespace")).known
    spaces = [namespace for namespace in scene.store.all("Namespace") if is_active(namespace)] if known else []
    for place, selector in enumerate(selectors):
        path = f"spec.selectors[{place}]"
        if is_empty(selector):
            yield f"{path} is empty and selects nothing; elsewhere in Kubernetes that selects everything"
        elif fault(selector):
            yield f"{path} does not parse and is skipped without a word: {fault(selector)}"
        elif known and is_usable(selector) and not any(fits(selector, space.metadata.labels or {}) for space in spaces):
            yield f"{path} matches no namespace"


def _overlaps(scene: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    mine = scene.spaces(pool)
    for name, other in sorted(scene.pools.items()):
        shared = mine & scene.spaces(other)
        both = sorted(scene.hard(pool).keys() & scene.hard(other).keys())
        if name != pool.metadata.name and shared and both:
            scopes = dict.fromkeys((*scope_words(pool.spec.quota), *scope_words(other.spec.quota)))
            what = f"what both count ({' and '.join(scopes)}) must fit both" if scopes else _FIT
            where = listed(sorted(shared))
            yield f"pool {name} also limits {listed(both)} in {where}: each has a quota there, and {what}"


def _unservable(scene: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    nothing = sorted(name for name, hard in scene.hard(pool).items() if hard <= ZERO)
    if nothing:
        yield f"nobody can ever claim {listed(nothing)}: hard is 0, and even a claim for 0 of it waits forever"


def _unlimited(scene: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    """Namespaces whose quota does not name a resource of the pool at all."""
    defaults = parsed(pool.spec.defaults)
    claims = pool.status.claims or {}
    free: dict[tuple[str, ...], list[str]] = {}
    for name in sorted(scene.hard(pool).keys() - defaults.keys()):
        spaces = (
            space
            for space in sorted(scene.spaces(pool))
            if not any(parsed(pool_claim.claims).get(name) for pool_claim in claims.get(space, ()))
        )
        free.setdefault(tuple(spaces), []).append(name)
    for key, names in free.items():
        if key:
            them = "it" if len(names) == 1 else "them"
            yield (
                f"the pool does not limit {listed(names)} in {listed(key)}: no claim for {them} is allocated there, "
                "and it has no default (defaultsZero would set 0)"
            )
