"""The answer of ``explain`` for claims and pools: structs that text and JSON are made from."""

from __future__ import annotations

from kubectl_kres.capsule.reports.claim.claim_report import ClaimReport
from kubectl_kres.capsule.reports.pool.pool_report import PoolReport
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.provenance.journal import Check, Derive
from kubectl_kres.reports.common.record import Record


class PoolOption(Record, frozen=True):
    """A pool that serves the claim's namespace, as the choice sees it: by its status, and by names before amounts.

    verdict: room, full, lacking or either (see ``capsule.rules.choice``), by ``rule``. named: the claim names it now.
    scopes:
    what its quotas count, in words; empty: everything.
    """

    pool: str
    verdict: str
    missing: tuple[str, ...] = ()
    short: tuple[str, ...] = ()
    named: bool = False
    scopes: tuple[str, ...] = ()
    rule: str = ""


class Compared(Record, frozen=True):
    """One resource at a claim's turn: asked for against what is left, or blocked by an earlier claim."""

    resource: str
    asked: str
    left: str
    missing: bool = False
    closed_by: ObjectRef | None = None


class QueueTurn(Record, frozen=True):
    """How a pass goes for one claim: kept, taken, changed, pool (too little) or queue (behind another).

    ``rule``: which rule says so. ``own``: it is the one that was asked about.
    """

    place: int
    subject: ObjectRef
    result: str
    created: str = ""
    compared: tuple[Compared, ...] = ()
    own: bool = False
    rule: str = ""


class Says(Record, frozen=True):
    """A condition in the controller's words. computed: what it would say now, where that is something else."""

    type: str
    status: str
    reason: str
    message: str
    since: str = ""
    computed: str = ""


class ClaimExplanation(Record, frozen=True):
    """Why a claim is where it is. chosen: how it came to its pool, or why to none. checks: of the claim controller.

    turns: the pass over the pool's claims as it would go now, up to this one. sums: how the managed quota adds up.
    """

    claim: ClaimReport
    chosen: str = ""
    options: tuple[PoolOption, ...] = ()
    checks: tuple[Check, ...] = ()
    turns: tuple[QueueTurn, ...] = ()
    conditions: tuple[Says, ...] = ()
    sums: tuple[Derive, ...] = ()


class QuotaSums(Record, frozen=True):
    """How one managed quota adds up."""

    subject: ObjectRef
    sums: tuple[Derive, ...] = ()


class PoolExplanation(Record, frozen=True):
    """Why a pool is as it is. turns: the pass over all of its claims. bounds: what its hard may not go below, and why.

    follows: what becomes of its claims if it is deleted.
    """

    pool: PoolReport
    turns: tuple[QueueTurn, ...] = ()
    conditions: tuple[Says, ...] = ()
    quotas: tuple[QuotaSums, ...] = ()
    bounds: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
