"""The answer of ``claims``: each claim's state, its place in the queue, and what is short."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.reports.claim.claim_notes import notes_of
from kubectl_kres.capsule.reports.claim.claim_report import Amount, ClaimReport, QueuePlace
from kubectl_kres.capsule.reports.common.amount_lists import amount, parsed, shown, texts
from kubectl_kres.capsule.reports.common.claim_state import WAITING, Standing, standing
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex, Standings
from kubectl_kres.capsule.reports.common.pool_room import short
from kubectl_kres.capsule.rules.amounts import Amounts
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.quantity import Quantity

#: Claims ahead that are named.
_NAMED = 10
_NO_SUCH_POOL = "the pool that it names does not exist"
_SHORT = frozenset({*WAITING, "failed"})


class Claims:
    """Makes the reports of many claims of one scene."""

    def __init__(self, scene: PoolIndex) -> None:
        self.scene = scene

    def report(self, claim: ResourcePoolClaim) -> ClaimReport:
        """One row: without ways, verbs and quota, which ``capsule.reports.claim.claim_detail`` adds."""
        scene, meta = self.scene, claim.metadata
        pool = scene.pool_of(claim)
        result = scene.states().get((meta.namespace, meta.name)) or standing(claim, pool)
        wanted = claim.spec.pool
        if result.state == "pending" and wanted and scene.pools_known and wanted not in scene.pools:
            result = result._replace(state="failed", because=f"{_NO_SUCH_POOL}, which its controller has not said yet")
        ref = ObjectRef("ResourcePoolClaim", meta.name, meta.namespace)
        asked = parsed(claim.spec.claim)
        amounts = tuple(self._amounts(asked, pool, result)) if result.state in _SHORT else ()
        if result.state == "failed" and all(amount.offered for amount in amounts):
            amounts = ()
        return ClaimReport(
            ref,
            result.state,
            result.because,
            pool=claim.status.pool.name if claim.status.pool is not None else "",
            wanted_pool=claim.spec.pool,
            asks=shown(asked) if len(asked) == len(claim.spec.claim or ()) else texts(claim.spec.claim),
            amounts=amounts,
            place=self._place(claim, pool) if result.state in WAITING else None,
            message=result.message,
            created=meta.creation_timestamp or "",
            notes=notes_of(scene, claim, asked, pool, result),
            old=result.old,
        )

    def _place(self, claim: ResourcePoolClaim, pool: ResourcePool | None) -> QueuePlace | None:
        """None where others may wait that were not read."""
        place = self.scene.place_of(claim)
        if pool is None or not place or not self.scene.claims_known(pool):
            return None
        queue = self.scene.waiting(pool.metadata.name)
        return QueuePlace(place, len(queue), pool.spec.config.ordered_queue)

    def ahead(self, report: ClaimReport) -> tuple[ObjectRef, ...]:
        """The claims before one that has a place, as many as are named."""
        if report.place is None:
            return ()
        queue = self.scene.waiting(report.pool)
        return tuple(_ref(standings) for standings in queue[: min(report.place.place - 1, _NAMED)])

    def _amounts(self, asked: Amounts, pool: ResourcePool | None, standing: Standing) -> Iterator[Amount]:
        room = self.scene.room(pool) if pool is not None else None
        for name in sorted(asked):
            yield _amount(name, asked[name], room, standing)


def _amount(name: str, asked: Quantity, room: Mapping[str, Quantity] | None, standing: Standing) -> Amount:
    """From the pool, else from the controller's message."""
    behind = standing.queued.get(name)
    if room is not None:
        left = room.get(name)
        if left is None:
            return Amount(name, str(asked), offered=False)
        return Amount(name, str(asked), str(left), _lack(asked, left), behind)
    text = standing.available.get(name)
    left = amount(text) if text is not None else None
    if left is None:
        return Amount(name, str(asked), behind=behind)
    return Amount(name, str(asked), str(left), _lack(asked, left), behind)


def _lack(asked: Quantity, left: Quantity) -> str | None:
    """What is missing. Of a resource that is used up even a request of 0 is not served, so that anything is missing."""
    if not short(asked, left):
        return None
    return str(asked - left) if asked > left else "more than 0"


def _ref(standings: Standings) -> ObjectRef:
    meta = standings.claim.metadata
    return ObjectRef("ResourcePoolClaim", meta.name, meta.namespace)
