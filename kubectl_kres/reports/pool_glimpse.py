"""A pool for those who may not read pools: what its quotas and the claims of their own namespaces say of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

from kubectl_kres.capsule.allocation import place
from kubectl_kres.capsule.amounts import added
from kubectl_kres.capsule.managed import pool_of
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.policy import ResourceQuota
from kubectl_kres.reports.amounts import listed, parsed, sentence, shown, texts
from kubectl_kres.reports.claim_state import HELD, WAITING
from kubectl_kres.reports.deeds import ref_of
from kubectl_kres.reports.explanation import Unseen
from kubectl_kres.reports.pool import Holder, PoolNamespace, PoolReport, Queued
from kubectl_kres.reports.pool_room import STAYS, beyond_quota
from kubectl_kres.reports.scene import Scene, Standings
from kubectl_kres.store.coverage import Need


def glimpsed(scene: Scene, spaces: Sequence[str]) -> tuple[str, ...]:
    """Pools that are not read, and that show in quotas or claims of some namespaces (none: all), by name."""
    found = {pool for quota in _quotas(scene, spaces) if (pool := pool_of(quota))}
    for one in scene.claims:
        status, space = one.claim.status.pool, one.claim.metadata.namespace
        if status is not None and status.name and (not spaces or space in spaces):
            found.add(status.name)
    return tuple(sorted(found - scene.pools.keys()))


def pool_glimpse(scene: Scene, name: str, spaces: Sequence[str]) -> PoolReport:
    """Nothing of the pool's own amounts; places in its queue are those among the claims that were read, and so 0."""
    claims = [one for one in scene.of_pool(name) if not spaces or one.claim.metadata.namespace in spaces]
    held = [one for one in claims if one.standing.state in HELD]
    queue = sorted((one for one in claims if one.standing.state in WAITING), key=lambda one: place(one.claim))
    quotas = {one.metadata.namespace: one for one in _quotas(scene, spaces) if pool_of(one) == name}
    shown_in = sorted({*quotas, *(one.claim.metadata.namespace for one in claims)})
    coverage = scene.store.covered(Need("ResourcePool", name=name))
    return PoolReport(
        ObjectRef("ResourcePool", name),
        namespaces=tuple(_namespace(space, held, quotas.get(space)) for space in shown_in),
        claims=len(held),
        holders=tuple(Holder(_ref(one), texts(one.claim.spec.claim), one.standing.state) for one in held),
        queue=tuple(map(_queued, queue)),
        warnings=tuple(_warnings(sorted(quotas.values(), key=attrgetter("metadata.namespace")))),
        unseen=(Unseen("ResourcePool", coverage.state, "", name, coverage.message, required=False),),
        glimpse=True,
    )


def _quotas(scene: Scene, spaces: Sequence[str]) -> Iterator[ResourceQuota]:
    for space in spaces or (None,):
        yield from scene.store.all("ResourceQuota", space)


def _ref(one: Standings) -> ObjectRef:
    return ref_of((one.claim.metadata.namespace, one.claim.metadata.name))


def _namespace(space: str, held: Sequence[Standings], quota: ResourceQuota | None) -> PoolNamespace:
    mine = [one for one in held if one.claim.metadata.namespace == space]
    return PoolNamespace(
        space,
        claims=len(mine),
        claimed=shown(added(parsed(one.claim.spec.claim) for one in mine)),
        used=shown(parsed(quota.status.used)) if quota is not None else None,
        quota=shown(parsed(quota.spec.hard)) if quota is not None else None,
    )


def _queued(one: Standings) -> Queued:
    """What is short only its own condition says."""
    claim, found = one
    left, asked = parsed(found.available), parsed(claim.spec.claim)
    lacks = {name: str(asked[name] - left[name]) for name in sorted(left) if name in asked and asked[name] > left[name]}
    behind = tuple(sorted(found.queued))
    created = claim.metadata.creation_timestamp or ""
    return Queued(0, _ref(one), found.state, texts(claim.spec.claim), lacks, behind, created)


def _warnings(quotas: Sequence[ResourceQuota]) -> Iterator[str]:
    for quota in quotas:
        over = beyond_quota(quota)
        if over:
            stays = STAYS.format(listed(sorted(over)))
            space = quota.metadata.namespace
            yield f"namespace {space} uses {sentence(shown(over))}, more than its quota allows now: {stays}"
