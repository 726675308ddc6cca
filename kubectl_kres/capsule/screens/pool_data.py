"""Cache of the pools and claims as they are now, for all screens about them."""

from __future__ import annotations

from time import perf_counter, thread_time

from kubectl_kres.capsule.model import ResourcePoolClaim
from kubectl_kres.capsule.reports.claim.claim_detail import claim_detail
from kubectl_kres.capsule.reports.claim.claims import ClaimReport, Claims
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.overview import FEW
from kubectl_kres.store.store import Store
from kubectl_kres.tui.session import Session

KINDS = ("ResourcePool", "ResourcePoolClaim")
#: Seconds from which a look at all claims takes long, and how many times as long the next one waits.
_LONG, _TIMES = 0.05, 5
#: Reports that are kept: those of the rows that are seen, and some more.
_KEPT = 500


def get_pool_index(session: Session) -> PoolIndex:
    return session.cache_by_kinds(KINDS, PoolIndex)


class ClaimRowData:
    """What the rows of a list of claims look at: pools and claims as they are, where it takes long to look at all of
    them as they were a little ago. ``number`` rises whenever they were looked at anew.
    """

    def __init__(self, _store: Store) -> None:
        self.number = 0
        self._claims: Claims | None = None
        self._stamp: tuple[int, ...] = ()
        self._made_at = self._cost = 0.0
        self._reports: dict[tuple[str, str], tuple[ResourcePoolClaim, ClaimReport]] = {}
        self._full_report: tuple[ResourcePoolClaim, ClaimReport | None] | None = None

    def is_late(self, session: Session) -> bool:
        """Return whether something has changed since they were looked at, and it is not time yet for another look."""
        self.look(session)
        return self._is_outdated(session)

    def _is_outdated(self, session: Session) -> bool:
        return self._stamp != session.store.revision(*KINDS)

    def look(self, session: Session) -> Claims:
        """Return all of them, looked at anew if it is time."""
        rested = perf_counter() - self._made_at >= _TIMES * self._cost
        if self._claims is None or (rested and self._is_outdated(session)):
            began = thread_time()
            context = get_pool_index(session)
            # What any row asks for.
            context.states()
            context.waiting_claims("")
            self._claims, self._stamp, self.number = Claims(context), session.store.revision(*KINDS), self.number + 1
            cost = thread_time() - began
            self._made_at, self._cost = perf_counter(), cost if cost > _LONG else 0.0
            self._reports, self._full_report = {}, None
        return self._claims

    def report(self, session: Session, claim: ResourcePoolClaim) -> ClaimReport:
        """Return what a row tells of a claim."""
        claims, key = self.look(session), (claim.metadata.namespace, claim.metadata.name)
        known = self._reports.get(key)
        if known is not None and known[0] is claim:
            return known[1]
        if len(self._reports) >= _KEPT:
            self._reports.clear()
        report = claims.report(claim)
        self._reports[key] = claim, report
        return report

    def computed_report(self, session: Session, claim: ResourcePoolClaim) -> ClaimReport | None:
        """Return the claim in full; None where its pool has so many claims that this takes its time."""
        claims = self.look(session)
        if self._full_report is None or self._full_report[0] is not claim:
            few = len(claims.index.claims_of_pool(self.report(session, claim).pool)) <= FEW
            self._full_report = claim, claim_detail(claims, claim) if few else None
        return self._full_report[1]


def rows_of(session: Session) -> ClaimRowData:
    return session.cache_by_kinds((), ClaimRowData)
