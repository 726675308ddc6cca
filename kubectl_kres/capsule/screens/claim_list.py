"""The list of claims on resource pools: the state of each, what it lacks, since when it waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from operator import attrgetter

from msgspec import Struct

from kubectl_kres.capsule.model import ResourcePoolClaim
from kubectl_kres.capsule.reports.claim.claims import ClaimReport
from kubectl_kres.capsule.reports.common.claim_state import WAITING
from kubectl_kres.capsule.reports.common.needs import claims_needs
from kubectl_kres.capsule.reports.overview import CLAIM_STATES, claim_severity, waits_for_pool
from kubectl_kres.capsule.reports.overview import state_since as waits_since
from kubectl_kres.capsule.screens.pool_data import rows_of
from kubectl_kres.capsule.text import NO_CAPSULE
from kubectl_kres.capsule.text.claim import amounts_table, remedy_lines, state_lines, status_lines
from kubectl_kres.capsule.text.claims import TONES
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.overview import SIGNS, brief_reasons
from kubectl_kres.render.text.line import Line, Tone, age_text, tone_lines, wrap_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.list_spec import (
    WORST_FIRST,
    Costly,
    Listing,
    ListRows,
    RowSearch,
    RowSource,
    RowSubject,
    Wording,
)
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.system import WaitingRow
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_order import RowKey

_STATES = tuple(CLAIM_STATES)
#: Columns that the claim alone tells.
_CHEAP = frozenset({"namespace", "name", "pool"})


class ClaimEntry(Struct, eq=False, gc=False):
    """A claim. What is reported of it depends on all others that wait, and is made when it is looked at.

    ``known``: what was reported when the list was sorted, or its faults looked for; ``number``: that of the context
    then.
    """

    _session: Session
    claim: ResourcePoolClaim
    known: ClaimReport | None = None
    number: int = 0

    @property
    def ref(self) -> ObjectRef:
        return ObjectRef("ResourcePoolClaim", self.claim.metadata.name, self.claim.metadata.namespace)

    @property
    def ready(self) -> bool:
        """Return whether what is known is what would be reported now."""
        context = rows_of(self._session)
        context.look(self._session)
        return self.known is not None and self.number == context.number

    @property
    def report(self) -> ClaimReport:
        if self.known is not None and self.ready:
            return self.known
        return rows_of(self._session).report(self._session, self.claim)

    def prepare(self) -> None:
        """Have it known."""
        self.known = self.report
        self.number = rows_of(self._session).number

    @property
    def computed_report(self) -> ClaimReport | None:
        """The claim in full; None where its pool has so many claims that this takes its time."""
        return rows_of(self._session).computed_report(self._session, self.claim)

    @property
    def waiting_text(self) -> str:
        """For how long it has been without what it asks for."""
        report = self.report
        if not report.is_waiting:
            return ""
        return age_text(waits_since(self.claim, report), self._session.setting.now())


def row_sign(row: ClaimEntry) -> tuple[str, Tone]:
    """``x``: it does not get what it asks for; ``!``: it waits behind another, or holds nothing."""
    return SIGNS[claim_severity(row.report)]


def short(report: ClaimReport) -> str:
    """Return what is missing, in a few words."""
    if report.missing_amounts:
        return brief_words(report.missing_amounts)
    if report.state == "queued":
        names = [_brief(amount.name) for amount in report.amounts if amount.closed_by_amount is not None]
        ahead = f"behind {report.queue.position - 1}" if report.queue is not None else "behind others"
        return f"{ahead}: {', '.join(names)}" if names else ahead
    return report.reason if report.is_waiting or report.state == "released" else ""


def _briefer(row: ClaimEntry) -> tuple[str, ...]:
    """Return the same in fewer and fewer words."""
    clause, words = brief_reasons(short(row.report))
    return clause, words, words.removesuffix(" to another pool")


def brief_words(amounts: Mapping[str, str]) -> str:
    """``cpu 4, memory 2Gi``."""
    return ", ".join(f"{_brief(name)} {value}" for name, value in amounts.items())


def _brief(name: str) -> str:
    """``cpu`` for requests, which are the rule; limits are named."""
    return name.removeprefix("requests.")


def _format_queue_position(report: ClaimReport) -> str:
    if report.state not in WAITING:
        return ""
    return f"{report.queue.position} of {report.queue.length}" if report.queue is not None else "not visible"


def _columns(namespace: str) -> tuple[Column, ...]:
    # Names are lower case by rule.
    namespace_of, name = map(attrgetter, ("claim.metadata.namespace", "claim.metadata.name"))
    return (
        *(() if namespace else (Column("namespace", "NAMESPACE", namespace_of, namespace_of),)),
        Column("name", "NAME", name, name, most=48, vital=True),
        Column("pool", "POOL", lambda row: _pool(row) or "-", most=30),
        Column("state", "STATE", lambda row: row.report.state, _state_rank, _state_tone, most=10, vital=True),
        Column("short", "SHORT BY", lambda row: short(row.report), _short_rank, tone=lambda row: row_sign(row)[1],
               most=44, vital=True, briefer=_briefer, leads=True),
        Column("place", "PLACE", lambda row: _format_queue_position(row.report), _place_rank, wide=True, most=11),
        Column("waits", "WAITS", lambda row: row.waiting_text, _waits_rank, right=True, width=5, searched=False),
        Column("asks", "ASKS FOR", lambda row: brief_words(row.report.requested), _asks_rank, wide=True),
    )  # fmt: skip


def _state_tone(row: ClaimEntry) -> Tone:
    return TONES[row.report.state]


def _pool(row: ClaimEntry) -> str:
    """Return the pool that it is in, else the one that it names; empty: none."""
    status = row.claim.status.pool
    return (status.name if status is not None else "") or row.claim.spec.pool


def _short_rank(row: ClaimEntry) -> str | None:
    return short(row.known).lower() if row.known is not None else None


def _asks_rank(row: ClaimEntry) -> str | None:
    return brief_words(row.known.requested).lower() if row.known is not None else None


def _place_rank(row: ClaimEntry) -> int | None:
    return row.known.queue.position if row.known is not None and row.known.queue is not None else None


def _state_rank(row: ClaimEntry) -> int | None:
    return _STATES.index(row.known.state) if row.known is not None else None


def _waits_rank(row: ClaimEntry) -> str | None:
    return waits_since(row.claim, row.known) if row.known is not None and row.known.is_waiting else None


def _fault(row: ClaimEntry) -> bool:
    return row.known is not None and bool(SIGNS[claim_severity(row.known)][0])


def _entry(session: Session, claim: ResourcePoolClaim) -> tuple[RowKey, ClaimEntry]:
    return (claim.metadata.namespace, claim.metadata.name), ClaimEntry(session, claim)


def _rows(session: Session, namespace: str) -> ListRows:
    for claim in session.store.all("ResourcePoolClaim", namespace or None):
        yield _entry(session, claim)


def _row(session: Session, ref: ObjectRef) -> tuple[RowKey, ClaimEntry] | None:
    claim = session.get(ref)
    return _entry(session, claim) if claim is not None else None


def _detail(session: Session, row: ClaimEntry, width: int) -> Iterator[Line]:
    del session
    report = row.computed_report or row.report
    yield from state_lines(report, width)
    if lacks := short(report):
        yield from tone_lines(
            "", wrap_text(f"short by {lacks}" if report.missing_amounts else lacks, width, first="  ", rest="    ")
        )
    if report.is_waiting and row.computed_report is None:
        yield [("quiet", "enter: what would unblock it")]
    else:
        yield from remedy_lines(report, width)
    yield from amounts_table(report.amounts, width)
    yield from status_lines(report, width)
    for note in report.notes:
        yield from tone_lines("warn", wrap_text(sentence_text(note), width, rest="  "))


def waiting_rows(session: Session, namespace: str) -> Iterator[WaitingRow]:
    """Yield the claims that wait for a pool, each with its place there."""
    for key, row in _rows(session, namespace):
        report = row.report if key else None
        if report is not None and report.state in WAITING:
            fixes = (row.computed_report or report).fixes
            fix = fixes[0].text if fixes else ""
            yield WaitingRow(waits_for_pool(row.claim, report), partial(_detail, session, row), fix)


def list_read_requests(namespace: str) -> tuple[ReadRequest, ...]:
    return ReadRequest("ResourcePoolClaim", namespace), ReadRequest("ResourcePool", required=False)


def further_read_requests(session: Session, namespace: str) -> Iterable[ReadRequest]:
    """Return who else waits for the pools."""
    return claims_needs(session.store, (namespace,) if namespace else ())


LISTING = Listing(
    names=("claims", "claim", "resourcepoolclaims", "resourcepoolclaim"),
    about="claims on Capsule's resource pools: which have what they ask for, why the others wait",
    source=RowSource(
        kinds=("ResourcePoolClaim", "ResourcePool"),
        reads=list_read_requests,
        rows=_rows,
        row=_row,
        more_reads=further_read_requests,
        late=lambda session: rows_of(session).is_late(session),
    ),
    columns=_columns,
    row_mark=row_sign,
    detail=_detail,
    subject=RowSubject(
        ref=lambda row: row.ref,
        opens=lambda row: Location("object", ref=row.ref),
        owner=lambda row: pool_place(_pool(row)),
    ),
    command=lambda session, namespace: session.command("claims", namespace),
    wording=Wording(absent=NO_CAPSULE, runbook="claim-waits"),
    order=WORST_FIRST,
    search=RowSearch(labels=lambda row: row.claim.metadata.labels or {}),
    costly=Costly(
        prepare=lambda row, _: row.prepare(), ready=lambda row, what: what in _CHEAP or row.ready, fault=_fault
    ),
    hints=("suppose", "users", "timeline", "owner", "sort-state", "faults"),
)


def pool_place(name: str) -> Location | None:
    """Return the screen of a pool; None without one."""
    return Location("object", ref=ObjectRef("ResourcePool", name)) if name else None
