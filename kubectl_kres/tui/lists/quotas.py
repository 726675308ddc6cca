"""Quotas: the name of each that is nearest to its limit, and all of them for the one under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from kubectl_kres.model.objects import ObjectRef, ResourceQuota
from kubectl_kres.render.overview import shortest_name
from kubectl_kres.render.pictures.holders import holders_lines, quota_rooms
from kubectl_kres.render.quota.quota_blocks import quota_lines
from kubectl_kres.render.text.line import Line, Tone, fine_bar, tone_lines, wrap_text
from kubectl_kres.reports.common.resource_lists import NEARLY_FULL
from kubectl_kres.reports.overview import read_quota
from kubectl_kres.reports.quota.fullness import quota_state, tightest_use
from kubectl_kres.reports.quota.quota_report import QuotaReport, QuotaUse, quota_reports
from kubectl_kres.reports.quota.usage_tree import counting_needs
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.list_spec import WORST_FIRST, Listing, ListRows, RowSource, RowSubject, Wording
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Sample, Session
from kubectl_kres.tui.table.columns import Column, amount
from kubectl_kres.tui.table.row_order import RowKey

#: Beyond it a percentage says no more than that it is too much.
_MOST_PERCENT = 10_000
_BAR = 8
#: Width from which the detail tells who holds the quota, and the pods that are too many for that.
_ROOMY, _FEW = 72, 500
#: Cells of an hour.
_TREND = 12


class QuotaEntry(Struct, frozen=True):
    """A quota. ``report`` absent: it holds what is no quantity, as ``fault`` says. ``tight``: the name used most.

    ``trend``: the last hour of it, as far as it was seen.
    """

    ref: ObjectRef
    report: QuotaReport | None = None
    tight: QuotaUse | None = None
    fault: str = ""
    ascii_only: bool = False
    trend: Callable[[], str] = str

    @property
    def percent(self) -> int | None:
        return self.tight.percent if self.tight is not None else None


def quota_row(session: Session, quota: ResourceQuota) -> QuotaEntry:
    """Return the row of one quota, which depends on nothing else."""
    ref = ObjectRef("ResourceQuota", quota.metadata.name, quota.metadata.namespace)
    return session.cached(ref, quota, lambda: _build_entry(session, ref, quota))


def _build_entry(session: Session, ref: ObjectRef, quota: ResourceQuota) -> QuotaEntry:
    report = read_quota(session.store, session.evaluation_options, quota)
    if isinstance(report, str):
        return QuotaEntry(ref, fault=report)
    tight, clock = tightest_use(report), session.setting.clock
    hard = tuple((use.name, use.hard) for use in report.uses)
    session.trends.note(
        ref, Sample(clock(), tight.percent if tight else None, tight is not None and tight.is_exceeded, hard)
    )
    ascii_only = session.setting.ascii_only
    spark = partial(session.trends.sparkline, ref, ascii_only=ascii_only)
    return QuotaEntry(ref, report, tight, ascii_only=ascii_only, trend=lambda: spark(clock(), _TREND))


def row_sign(row: QuotaEntry) -> tuple[str, Tone]:
    """``x``: nothing is left; ``!``: nearly nothing; ``?``: it is not known, or enforces nothing yet."""
    if row.report is None or not row.report.enforced:
        return "?", "warn"
    if row.tight is None or row.percent is None:
        return ("x", "bad") if row.tight is not None and row.tight.is_exceeded else ("", "")
    if row.tight.is_exceeded or row.percent >= 100:
        return "x", "bad"
    return ("!", "warn") if row.percent >= NEARLY_FULL else ("", "")


def _tone(row: QuotaEntry) -> Tone:
    return row_sign(row)[1]


def state(row: QuotaEntry) -> str:
    """Return what the sign says, in a word."""
    return quota_state(row.report or row.fault)


def tightest_first(report: QuotaReport) -> QuotaReport:
    """Return the report with the names that are nearest to their limit first."""
    return replace(report, uses=tuple(sorted(report.uses, key=lambda use: (not use.is_exceeded, -(use.percent or 0)))))


def _format_tightest_field(row: QuotaEntry, field: str) -> str:
    return str(getattr(row.tight, field) or "-") if row.tight is not None else "-"


def rank(row: QuotaEntry) -> int | None:
    """Return what quotas are sorted by: those that are over come before those that are full, whatever the
    percentage.
    """
    if row.tight is not None and row.tight.is_exceeded:
        return _MOST_PERCENT * (1 + min(row.percent or _MOST_PERCENT, _MOST_PERCENT))
    return row.percent


def percent_text(row: QuotaEntry) -> str:
    """Return how much of its tightest name is used; ``over`` where a percentage says no more than that."""
    if row.percent is not None and row.percent < _MOST_PERCENT:
        return f"{row.percent}%"
    return "over" if row.tight is not None and row.tight.is_exceeded else "-"


def _bar(row: QuotaEntry) -> str:
    if row.percent is None and (row.tight is None or not row.tight.is_exceeded):
        return ""
    return fine_bar(row.percent if not (row.tight and row.tight.is_exceeded) else None, _BAR, ascii_only=row.ascii_only)


def _columns(namespace: str) -> tuple[Column, ...]:
    namespace_column = Column("namespace", "NAMESPACE", lambda row: row.ref.namespace)
    return (
        *(() if namespace else (namespace_column,)),
        Column("name", "NAME", lambda row: row.ref.name),
        Column("state", "STATE", state, lambda row: -(rank(row) or 0), tone=_tone, most=14, wide=True),
        Column("percent", "USED%", percent_text, rank, _tone, right=True, most=5, down=True),
        Column("bar", "", _bar, rank, _tone, width=_BAR + 1, drawn=True, wide=True, searched=False, down=True),
        Column(
            "tight",
            "TIGHTEST",
            lambda row: row.tight.name if row.tight is not None else "-",
            most=32,
            briefer=lambda row: [shortest_name(row.tight.name)] if row.tight is not None else [],
        ),
        _amount_column("used", "USED"),
        _amount_column("hard", "HARD"),
        _amount_column("free", "FREE", wide=True),
        Column(
            "trend",
            "LAST HOUR",
            lambda row: row.trend(),
            tone=_tone,
            width=_TREND,
            wide=True,
            searched=False,
            live=True,
        ),
        Column("names", "NAMES", lambda row: str(len(row.report.uses)) if row.report else "-", wide=True, right=True),
        Column("scopes", "COUNTS", lambda row: "; ".join(row.report.scopes) if row.report else "", wide=True),
    )


def _amount_column(field: str, head: str, *, wide: bool = False) -> Column:
    def text(row: QuotaEntry) -> str:
        return _format_tightest_field(row, field)

    return Column(field, head, text, amount(text), right=True, most=20, down=True, searched=False, wide=wide)


def _rows(session: Session, namespace: str) -> ListRows:
    for quota in session.store.all("ResourceQuota", namespace or None):
        row = quota_row(session, quota)
        yield (row.ref.namespace, row.ref.name), row


def _row(session: Session, ref: ObjectRef) -> tuple[RowKey, QuotaEntry] | None:
    quota = session.get(ref)
    return None if quota is None else ((ref.namespace, ref.name), quota_row(session, quota))


def holders_of(session: Session, ref: ObjectRef, width: int) -> Iterator[Line]:
    """Yield who holds the quota, where its pods are read and few enough to be counted between two keys."""
    store, quota = session.store, session.get(ref)
    if quota is None:
        return
    is_known = all(store.covered(read).is_known for read in counting_needs([quota], session.server, ref.namespace))
    if is_known and sum(1 for _ in islice(store.all("Pod", ref.namespace), _FEW)) < _FEW:
        [report] = quota_reports(store, [quota], session.evaluation_options, by="workload")
        yield from holders_lines(quota_rooms(report), width, ascii_only=session.setting.ascii_only, figures=False)


def _detail(session: Session, row: QuotaEntry, width: int) -> Iterator[Line]:
    if row.report is None:
        yield [("bad", row.fault)]
        return
    yield from quota_lines(tightest_first(row.report), ascii_only=session.setting.ascii_only, width=width)
    if width >= _ROOMY:
        yield from holders_of(session, row.ref, width)
    for ago, name, before, after in session.trends.hard_changes(row.ref, session.setting.clock()):
        when = f"{int(ago // 60)} min ago" if ago >= 60 else "just now"
        text = f"{when}: hard of {name} from {before or 'none'} to {after or 'none'}"
        yield from tone_lines("quiet", wrap_text(text, width, first="  ", rest="    "))


LISTING = Listing(
    names=("quotas", "quota", "resourcequotas", "resourcequota"),
    about="what quotas limit, what is used and what is left",
    source=RowSource(
        kinds=("ResourceQuota",),
        reads=lambda namespace: (ReadRequest("ResourceQuota", namespace),),
        rows=_rows,
        row=_row,
    ),
    columns=_columns,
    row_mark=row_sign,
    detail=_detail,
    subject=RowSubject(ref=lambda row: row.ref, opens=lambda row: Location("quota", ref=row.ref)),
    command=lambda session, namespace: session.command("quota", namespace),
    wording=Wording(runbook="quota-refuses"),
    order=WORST_FIRST,
    hints=("suppose", "users", "timeline", "sort-state", "explain", "faults"),
)
