"""Pools that would take a claim which is in none, or in a full one, and what keeps the others from it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from kubectl_kres.admission.quota.scopes import requirements
from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim, quota_name
from kubectl_kres.capsule.reports.common.amount_lists import parsed, sentence, shown
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.common.pool_room import shares
from kubectl_kres.capsule.reports.common.pool_run import held_by, trial_of, waiting_in
from kubectl_kres.capsule.reports.unblock.actions import again, asking, moving, raising, ref_of
from kubectl_kres.capsule.reports.unblock.option import UnblockOption
from kubectl_kres.capsule.rules.allocation import ClaimCandidate, ClaimKey, key_of
from kubectl_kres.capsule.rules.assignment import is_writable
from kubectl_kres.capsule.rules.managed import hard_of
from kubectl_kres.model.policy import ScopedRequirement
from kubectl_kres.quantity import Quantity
from kubectl_kres.reports.common.resource_lists import listed
from kubectl_kres.reports.common.scope_words import scope_words
from kubectl_kres.reports.common.system_parts import Deed

#: Claims that are named where many wait.
_NAMED = 20
_ANEW = "change its spec, or delete it and create it again"
#: A name for no pool.
_NONE = "none"


def elsewhere(scene: PoolIndex, claim: ResourcePoolClaim, but: str) -> Iterator[UnblockOption]:
    """Pools of the namespace that would take the claim as it is, except one; each is tried. The named one is first.

    Pods gain nothing from a pool that counts others than the one that is named does: such a pool is left out.
    """
    key, asks = key_of(claim), parsed(claim.spec.claim)
    named = scene.pools.get(but or claim.spec.pool)
    for name, pool in sorted(_serving(scene, claim), key=lambda texts: texts[0] != claim.spec.pool):
        if name == but or not asks.keys() <= scene.hard(pool).keys():
            continue
        if named is not None and _scopes(pool) != _scopes(named):
            continue
        after = trial_of(scene, pool).joined(ClaimCandidate(claim, asks))
        if not after.holds(key):
            continue
        also, behind = _left_behind(scene, claim, but)
        left = (*behind, *waiting_in(after))
        waits = tuple(map(ref_of, left[:_NAMED]))
        if claim.spec.pool == name:
            text = f"{_ANEW}: pool {name} has room for it, but re-evaluates a claim only when its spec changes"
            deeds = (again(scene.store.origin, key, name, no_pool(scene)),)
            yield UnblockOption("again", text, deeds, pool=name, replayed=True, waits=waits, waiting=len(left))
            continue
        scopes = "".join(f" and counts {phrase}" for phrase in scope_words(pool.spec.quota))
        yield UnblockOption(
            "pool",
            f"name pool {name}, which has room for it{scopes}",
            (_moving(scene, claim, name),),
            pool=name,
            replayed=True,
            also=tuple(map(ref_of, also[:_NAMED])),
            waits=waits,
            gained=len(also),
            waiting=len(left),
        )


def once_more(scene: PoolIndex, claim: ResourcePoolClaim) -> Iterator[UnblockOption]:
    """For a claim that nobody looks at any more, where its pool has no room, or none that could be seen."""
    name, pool = claim.spec.pool, scene.pools.get(claim.spec.pool)
    if not name or (pool is None and scene.pools_known):
        return
    if pool is not None and claim.metadata.namespace not in scene.spaces(pool):
        return
    seen = pool is not None and scene.claims_known(pool)
    then = "it has no room for it now, so the claim waits" if seen else "whether it has room could not be seen"
    text = f"{_ANEW}: only then does pool {name} look at it; {then}"
    yield UnblockOption(
        "again", text, (again(scene.store.origin, key_of(claim), name, no_pool(scene)),), pool=name, proven=False
    )


def no_pool(scene: PoolIndex) -> str:
    """A name that no pool has, as far as pools were read."""
    name = _NONE
    while name in scene.pools:
        name += f"-{_NONE}"
    return name


def _moving(scene: PoolIndex, claim: ResourcePoolClaim, to: str) -> Deed:
    """The move, and which quotas of other pools go on limiting the same: a pod has to fit all of them."""
    space, asks = claim.metadata.namespace, parsed(claim.spec.claim)
    still = []
    for name, pool in _serving(scene, claim):
        claim_shares = [share for share in shares(pool) if (share.namespace, share.name) != key_of(claim)]
        limits: dict[str, Quantity] = hard_of(
            pool, [claim_share for claim_share in claim_shares if claim_share.namespace == space]
        )
        limited = {name: amount for name, amount in limits.items() if name in asks}
        if name != to and limited and _scopes(pool) == _scopes(scene.pools[to]):
            still.append(f"quota {quota_name(name)} still limits the namespace to {sentence(shown(limited))}")
    follows = f"{listed(still)}: a pod must fit every quota that counts it" if still else ""
    return structs.replace(moving(scene.store.origin, key_of(claim), to), follows=follows)


def _scopes(pool: ResourcePool) -> frozenset[ScopedRequirement]:
    """What a pool's quotas count, comparably."""
    return frozenset(requirements(pool.spec.quota))


def _left_behind(
    scene: PoolIndex, claim: ResourcePoolClaim, name: str
) -> tuple[tuple[ClaimKey, ...], tuple[ClaimKey, ...]]:
    """Who gets in, and who still waits, in the pool that a claim leaves; nobody where it was in none."""
    pool = scene.pools.get(name)
    if pool is None or not scene.claims_known(pool):
        return (), ()
    before = trial_of(scene, pool)
    after, result = before.without((key_of(claim),)), held_by(before)
    return tuple(key for key in held_by(after) if key not in result), waiting_in(after)


def without_foreign(scene: PoolIndex, claim: ResourcePoolClaim) -> Iterator[UnblockOption]:
    """For a claim that names what a pool does not have: ask for the rest only, or let the pool have it, too."""
    key, asks = key_of(claim), parsed(claim.spec.claim)
    for name, pool in _serving(scene, claim):
        missing = {name: asks[name] for name in asks if name not in scene.hard(pool)}
        if not missing or claim.spec.pool not in {"", name}:
            continue
        rest = {name: amount for name, amount in asks.items() if name not in missing}
        trial = trial_of(scene, pool)
        after = trial.joined(ClaimCandidate(claim, rest))
        move = (
            (again(scene.store.origin, key, name, no_pool(scene)),)
            if claim.spec.pool
            else (moving(scene.store.origin, key, name),)
        )
        if rest and after.holds(key):
            waits = tuple(map(ref_of, waiting_in(after)[:_NAMED]))
            text = f"do not ask for {listed(sorted(missing))}, which pool {name} does not have"
            deeds = (asking(scene.store.origin, key, {}, shown(missing)), *(() if claim.spec.pool else move))
            yield UnblockOption(
                "less", text, deeds, shown(rest), name, replayed=True, waits=waits, waiting=len(after.queue)
            )
        raised = trial.raised(missing).joined(ClaimCandidate(claim, asks))
        if raised.holds(key):
            waits = tuple(map(ref_of, waiting_in(raised)[:_NAMED]))
            text = (
                f"let pool {name} have {sentence(shown(missing))}, too; then {_ANEW}: that its pool changed does not "
                "make it be looked at again"
            )
            deeds = (raising(scene.store.origin, name, shown(missing)), *move)
            yield UnblockOption(
                "raise", text, deeds, shown(missing), name, replayed=True, waits=waits, waiting=len(raised.queue)
            )


def _serving(scene: PoolIndex, claim: ResourcePoolClaim) -> Iterator[tuple[str, ResourcePool]]:
    """The pools whose status lists the claim's namespace and whose claims are known, by name; no claim gets into a pool
    that no status of a claim can name.
    """
    space = claim.metadata.namespace
    for name, pool in sorted(scene.pools.items()):
        open_ = is_writable(name) and not pool.metadata.deletion_timestamp
        if open_ and space in scene.spaces(pool) and scene.claims_known(pool):
            yield name, pool
