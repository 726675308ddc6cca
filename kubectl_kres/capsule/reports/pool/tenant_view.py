"""A pool for those who may not read pools: what its quotas and the claims of their own namespaces say of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

from kubectl_kres.capsule.model import pool_of
from kubectl_kres.capsule.reports.common.amount_lists import parsed, sentence, shown, texts
from kubectl_kres.capsule.reports.common.claim_state import HELD, WAITING
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex, Standings
from kubectl_kres.capsule.reports.common.pool_room import STAYS, beyond_quota
from kubectl_kres.capsule.reports.pool.pool_report import Holder, PoolNamespace, PoolReport, Queued
from kubectl_kres.capsule.reports.unblock.actions import ref_of
from kubectl_kres.capsule.rules.allocation import place
from kubectl_kres.capsule.rules.amounts import added
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.policy import ResourceQuota
from kubectl_kres.reports.common.explanation import Unseen
from kubectl_kres.reports.common.resource_lists import listed
from kubectl_kres.store.coverage import Need


def glimpsed(scene: PoolIndex) -> tuple[str, ...]:
    """Pools that are not read, and that show in quotas or claims that are, by name."""
    quotas: Iterator[ResourceQuota] = scene.store.all("ResourceQuota")
    texts = {pool for quota in quotas if (pool := pool_of(quota))}
    for claim in scene.claims:
        status = claim.claim.status.pool
        if status is not None and status.name:
            texts.add(status.name)
    return tuple(sorted(texts - scene.pools.keys()))


def pool_glimpse(scene: PoolIndex, name: str) -> PoolReport:
    """Nothing of the pool's own amounts; places in its queue are those among the claims that were read, and so 0."""
    claims = scene.of_pool(name)
    pairs = [claim for claim in claims if claim.standing.state in HELD]
    queue = sorted(
        (claim for claim in claims if claim.standing.state in WAITING), key=lambda standings: place(standings.claim)
    )
    quotas = {
        resource_quota.metadata.namespace: resource_quota
        for resource_quota in scene.store.all("ResourceQuota")
        if pool_of(resource_quota) == name
    }
    shown_in = sorted({*quotas, *(claim.claim.metadata.namespace for claim in claims)})
    coverage = scene.store.covered(Need("ResourcePool", name=name))
    return PoolReport(
        ObjectRef("ResourcePool", name),
        namespaces=tuple(_namespace(scene, name, space, pairs, quotas.get(space)) for space in shown_in),
        claims=len(pairs),
        holders=tuple(
            Holder(_ref(standings), texts(standings.claim.spec.claim), standings.standing.state) for standings in pairs
        ),
        queue=tuple(map(_queued, queue)),
        warnings=tuple(_warnings(sorted(quotas.values(), key=attrgetter("metadata.namespace")))),
        unseen=(Unseen("ResourcePool", coverage.state, "", name, coverage.message, required=False),),
        glimpse=True,
    )


def _ref(standings: Standings) -> ObjectRef:
    return ref_of((standings.claim.metadata.namespace, standings.claim.metadata.name))


def _namespace(
    scene: PoolIndex, pool: str, space: str, pairs: Sequence[Standings], quota: ResourceQuota | None
) -> PoolNamespace:
    mine = [standings for standings in pairs if standings.claim.metadata.namespace == space]
    gone = "there is no quota of the pool there" if scene.quotas_known(pool, space) else "its quota there is not known"
    return PoolNamespace(
        space,
        claims=len(mine),
        claimed=shown(added(parsed(standings.claim.spec.claim) for standings in mine)),
        used=shown(parsed(quota.status.used)) if quota is not None else None,
        note="" if quota is not None else gone,
        quota=shown(parsed(quota.spec.hard)) if quota is not None else None,
    )


def _queued(standings: Standings) -> Queued:
    """What is short only its own condition says."""
    claim, standing = standings
    left, asked = parsed(standing.available), parsed(claim.spec.claim)
    lacks = {name: str(asked[name] - left[name]) for name in sorted(left) if name in asked and asked[name] > left[name]}
    behind = tuple(sorted(standing.queued))
    created = claim.metadata.creation_timestamp or ""
    return Queued(0, _ref(standings), standing.state, texts(claim.spec.claim), lacks, behind, created)


def _warnings(quotas: Sequence[ResourceQuota]) -> Iterator[str]:
    for quota in quotas:
        over = beyond_quota(quota)
        if over:
            stays = STAYS.format(listed(sorted(over)))
            space = quota.metadata.namespace
            yield f"namespace {space} uses {sentence(shown(over))}, more than its quota allows now: {stays}"
