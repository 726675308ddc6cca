"""The list of workloads whose pods are refused, evaluated one after the other when the list is opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from kubectl_kres.model.workload_kinds import POD_MAKERS
from kubectl_kres.render.overview import refusal_causes, short_ref
from kubectl_kres.render.quota.fit import pods_of_jobs, refusal_detail
from kubectl_kres.render.quota.quota_blocks import quota_lines
from kubectl_kres.render.text.line import Line, Tone
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.headline import verdict_word
from kubectl_kres.reports.common.system import kinds_of
from kubectl_kres.reports.pod.verdict import list_refusers
from kubectl_kres.reports.quota.denied import Denied, denied_needs, needs_of_systems
from kubectl_kres.tui.lists.list_spec import WORST_FIRST, Listing, ListRows, RowSource, RowSubject, Wording
from kubectl_kres.tui.lists.quotas import quota_row, tightest_first
from kubectl_kres.tui.lists.refusals import Refusals
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column


def _rows(session: Session, namespace: str) -> ListRows:
    refusals = Refusals(session, namespace, LISTING.source.deciding_reads(namespace))
    for refusal in chain(refusals.found(), refusals.mended()):
        if refusal is not None:
            ref = refusal.subject
            yield (ref.namespace, ref.kind, ref.name), refusal
        else:
            # A place to stop at: most workloads are no row, and each takes its time.
            yield (), None


def _format_missing_pods(row: Denied) -> str:
    pods = row.replicas
    if pods is None:
        return "its pod" if row.subject.kind in kinds_of("waits") else pods_of_jobs(row)
    return f"{pods.missing_pods} of {pods.wanted}" if pods.missing_pods else "none new"


def _row_rank(row: Denied) -> tuple[bool, int]:
    """Return the sort key: what is wrong comes before what is to be watched, most missing pods first."""
    missing = row.replicas.missing_pods if row.replicas is not None else row.verdict.missing
    return row_sign(row)[1] != "bad", -missing


def _causes(row: Denied) -> Sequence[str]:
    """Return why its pods are refused, then the same in fewer and fewer words; at least that they are."""
    return tuple(refusal_causes(row.verdict)) or ("only some fit",)


def _columns(namespace: str) -> tuple[Column, ...]:
    namespace_column = Column("namespace", "NAMESPACE", lambda row: row.subject.namespace)
    return (
        *(() if namespace else (namespace_column,)),
        Column("name", "NAME", lambda row: short_ref(row.subject), most=48, vital=True),
        Column(
            "state",
            "MISSING",
            _format_missing_pods,
            _row_rank,
            right=True,
            width=9,
            briefer=lambda row: [_format_missing_pods(row).partition(" of ")[0]],
        ),
        Column(
            "by",
            "WHY",
            lambda row: _causes(row)[0],
            tone=lambda _: "bad",
            most=60,
            vital=True,
            briefer=_causes,
            leads=True,
        ),
        Column("remedy", "FIX", lambda row: sentence_text(row.fixes[0].text) if row.fixes else "", wide=True, most=60),
    )


def _detail(session: Session, row: Denied, width: int) -> Iterator[Line]:
    """Yield what mends it and why, then the quotas that refuse it."""
    yield from refusal_detail(row, width)
    for ref in list_refusers(row.verdict):
        quota = session.get(ref) if ref.kind == "ResourceQuota" else None
        if quota is not None and (report := quota_row(session, quota).report) is not None:
            yield []
            yield from quota_lines(tightest_first(report), ascii_only=session.setting.ascii_only, width=width)


def row_sign(row: Denied) -> tuple[str, Tone]:
    return ("x", "bad") if verdict_word(row.verdict)[1] == "bad" else ("!", "warn")


LISTING = Listing(
    names=("refused", "denied"),
    about="workloads whose pods are being refused now, and what would unblock them",
    source=RowSource(
        kinds=("LimitRange", "ResourceQuota", *POD_MAKERS, *kinds_of("waits"), "Event"),
        reads=denied_needs,
        rows=_rows,
        more_reads=lambda session, namespace: needs_of_systems(session.store, namespace),
    ),
    columns=_columns,
    row_mark=row_sign,
    detail=_detail,
    subject=RowSubject(
        ref=lambda row: row.subject,
        opens=lambda row: Location("object", ref=row.subject),
        tabs=("diff", "yaml", "computed"),
        remedies=lambda row: row.fixes,
    ),
    command=lambda session, namespace: session.command("quota --denied", namespace),
    wording=Wording(runbook="quota-refuses"),
    order=WORST_FIRST,
    hints=("suppose", "mark", "timeline", "explain", "faults"),
)
