"""The answer of ``claims``: each claim's state, its place in the queue, and what is short."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.model.capsule import ResourcePool, ResourcePoolClaim
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.quantity import Quantity
from kubectl_kres.reports.amounts import amount, parsed, texts
from kubectl_kres.reports.claim import Amount, ClaimReport, Place
from kubectl_kres.reports.claim_notes import notes_of
from kubectl_kres.reports.claim_state import WAITING, Standing, standing
from kubectl_kres.reports.pool_room import short
from kubectl_kres.reports.scene import Scene, Standings

#: Claims ahead that are named.
_NAMED = 10


class Claims:
    """Makes the reports of many claims of one scene."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    def report(self, claim: ResourcePoolClaim) -> ClaimReport:
        """One row: without ways, verbs and quota, which ``reports.claim_detail`` adds."""
        scene, meta = self.scene, claim.metadata
        pool = scene.pool_of(claim)
        found = scene.states().get((meta.namespace, meta.name)) or standing(claim, pool)
        ref = ObjectRef("ResourcePoolClaim", meta.name, meta.namespace)
        amounts = tuple(self._amounts(claim, pool, found)) if found.state in {*WAITING, "failed"} else ()
        if found.state == "failed" and all(one.offered for one in amounts):
            amounts = ()
        return ClaimReport(
            ref,
            found.state,
            found.because,
            pool=claim.status.pool.name if claim.status.pool is not None else "",
            wanted_pool=claim.spec.pool,
            asks=texts(claim.spec.claim),
            amounts=amounts,
            place=self._place(claim, pool) if found.state in WAITING else None,
            message=found.message,
            created=meta.creation_timestamp or "",
            notes=notes_of(scene, claim, pool, found),
            old=found.old,
        )

    def _place(self, claim: ResourcePoolClaim, pool: ResourcePool | None) -> Place | None:
        """None where others may wait that were not read."""
        place = self.scene.place_of(claim)
        if pool is None or not place or not self.scene.claims_known(pool):
            return None
        queue = self.scene.waiting(pool.metadata.name)
        ahead = tuple(_ref(one) for one in queue[: min(place - 1, _NAMED)])
        return Place(place, len(queue), pool.spec.config.ordered_queue, ahead)

    def _amounts(self, claim: ResourcePoolClaim, pool: ResourcePool | None, found: Standing) -> Iterator[Amount]:
        asked = parsed(claim.spec.claim)
        room = self.scene.room(pool) if pool is not None else None
        for name in sorted(asked):
            yield _amount(name, asked[name], room, found)


def _amount(name: str, asked: Quantity, room: Mapping[str, Quantity] | None, found: Standing) -> Amount:
    """From the pool, else from the controller's message."""
    behind = found.queued.get(name)
    if room is not None:
        left = room.get(name)
        if left is None:
            return Amount(name, str(asked), offered=False)
        return Amount(name, str(asked), str(left), _lack(asked, left), behind)
    said = found.available.get(name)
    left = amount(said) if said is not None else None
    if left is None:
        return Amount(name, str(asked), behind=behind)
    return Amount(name, str(asked), str(left), _lack(asked, left), behind)


def _lack(asked: Quantity, left: Quantity) -> str | None:
    """What is missing. Of a resource that is used up even a request of 0 is not served, so that anything is missing."""
    if not short(asked, left):
        return None
    return str(asked - left) if asked > left else "more than 0"


def _ref(one: Standings) -> ObjectRef:
    meta = one.claim.metadata
    return ObjectRef("ResourcePoolClaim", meta.name, meta.namespace)
