"""The list of resource pools: the resource of each that is nearest to its limit, who holds it, who waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from kubectl_kres.capsule.model import ResourcePool
from kubectl_kres.capsule.reports.common.needs import pools_needs
from kubectl_kres.capsule.reports.overview import POOL_STATES, pool_state, tight_use
from kubectl_kres.capsule.reports.pool.pool_report import PoolReport, PoolUse
from kubectl_kres.capsule.reports.pool.pools import pool_report
from kubectl_kres.capsule.screens.pool_data import get_pool_index
from kubectl_kres.capsule.text import NO_CAPSULE
from kubectl_kres.capsule.text.pools import pool_lines
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.overview import SIGNS, shortest_name
from kubectl_kres.render.text.line import Line, Tone, fine_bar
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.list_spec import WORST_FIRST, Listing, ListRows, RowSource, RowSubject, Wording
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column, amount

_BAR = 8


class PoolRow(Struct, frozen=True):
    """A pool. ``tight``: the resource with the least left in proportion."""

    report: PoolReport
    tight: PoolUse | None = None
    ascii_only: bool = False

    @property
    def waiting_count(self) -> int | None:
        """Return how many claims wait; None where claims could not be read."""
        return None if self.report.queue is None else len(self.report.queue)


def pool_row(session: Session, pool: ResourcePool) -> PoolRow:
    """Return the row of one pool."""
    report = pool_report(get_pool_index(session), pool)
    return PoolRow(report, tight_use(report), session.setting.ascii_only)


def row_sign(row: PoolRow) -> tuple[str, Tone]:
    """``x``: claims hold more than there is, or its controller fails; ``!``: claims wait, or little is left."""
    return SIGNS[POOL_STATES[pool_state(row.report)]]


def state(row: PoolRow) -> str:
    """Return what the sign says, in a word."""
    return pool_state(row.report)


def _amount_column(field: str) -> Column:
    def text(row: PoolRow) -> str:
        return str(getattr(row.tight, field)) if row.tight is not None else "-"

    head = {"claimed": "CLAIMED", "hard": "HARD", "available": "FREE"}[field]
    return Column(field, head, text, amount(text), right=True, most=20, down=True, searched=False)


def use_bar(use: PoolUse, *, ascii_only: bool) -> str:
    """Return how much of a resource claims hold, as a bar and in percent."""
    if use.percent is None:
        return f"{fine_bar(None, _BAR, ascii_only=ascii_only)} over" if use.is_exceeded else ""
    shown = f"{use.percent:>3}%" if use.percent < 10_000 else "over"
    return f"{fine_bar(use.percent, _BAR, ascii_only=ascii_only)}{shown:>5}"


def _format_use(row: PoolRow) -> str:
    return use_bar(row.tight, ascii_only=row.ascii_only) if row.tight is not None else ""


def _format_waiting_count(row: PoolRow) -> str:
    return "?" if row.waiting_count is None else str(row.waiting_count or "-")


def _columns(_namespace: str) -> tuple[Column, ...]:
    return (
        Column("name", "POOL", lambda row: row.report.subject.name, most=48),
        Column("state", "STATE", state, tone=lambda row: row_sign(row)[1], width=12, wide=True),
        Column("namespaces", "NS", lambda row: str(len(row.report.namespaces)), lambda row: len(row.report.namespaces),
               right=True, down=True, wide=True),
        Column("claims", "HOLD", lambda row: str(row.report.claims or "-"), lambda row: row.report.claims,
               right=True, down=True, wide=True),
        Column("waits", "WAIT", _format_waiting_count, lambda row: row.waiting_count,
               lambda row: "warn" if row.waiting_count else "", right=True, down=True),
        Column("tight", "TIGHTEST", lambda row: row.tight.name if row.tight is not None else "-", most=32,
               briefer=lambda row: [shortest_name(row.tight.name)] if row.tight is not None else []),
        _amount_column("claimed"),
        _amount_column("hard"),
        _amount_column("available"),
        Column("use", "USE", _format_use, lambda row: row.tight.percent if row.tight else None,
               lambda row: row_sign(row)[1], width=_BAR + 6, down=True, drawn=True),
        Column("warnings", "WARNINGS", lambda row: str(len(row.report.warnings) or "-"), right=True, wide=True),
    )  # fmt: skip


def _rows(session: Session, _namespace: str) -> ListRows:
    for pool in session.store.all("ResourcePool"):
        row = pool_row(session, pool)
        yield (row.report.subject.name,), row


def _detail(session: Session, row: PoolRow, width: int) -> Iterator[Line]:
    setting = session.setting
    yield from pool_lines(row.report, whole=True, ascii_only=setting.ascii_only, width=width, now=setting.now())


def _further_read_requests(session: Session, _namespace: str) -> Iterable[ReadRequest]:
    return pools_needs(session.store)


def place_of(row: PoolRow) -> Location:
    return Location("object", ref=ObjectRef("ResourcePool", row.report.subject.name))


LISTING = Listing(
    names=("pools", "pool", "resourcepools", "resourcepool", "quotapool"),
    about="Capsule's resource pools: what they share out, who holds it, who waits",
    source=RowSource(
        kinds=("ResourcePool", "ResourcePoolClaim", "ResourceQuota", "Namespace"),
        reads=lambda _namespace: (ReadRequest("ResourcePool"),),
        rows=_rows,
        more_reads=_further_read_requests,
    ),
    columns=_columns,
    row_mark=row_sign,
    detail=_detail,
    subject=RowSubject(ref=lambda row: row.report.subject, opens=place_of),
    command=lambda session, _namespace: session.command("pools"),
    wording=Wording(absent=NO_CAPSULE, runbook="claim-waits"),
    order=WORST_FIRST,
    hints=("suppose", "users", "timeline", "sort-state", "explain", "faults"),
    scoped=False,
)
