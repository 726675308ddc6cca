"""Workloads of Kueue as a list: how each stands, why it waits, and at which place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from msgspec.structs import replace

from kubectl_kres.kueue import model
from kubectl_kres.kueue.reports.needs import queue_needs
from kubectl_kres.kueue.reports.workload import WorkloadExplanation, waits_in_queue, workload_explanation
from kubectl_kres.kueue.rules.world import is_pending
from kubectl_kres.kueue.text import NO_KUEUE
from kubectl_kres.kueue.text.causes import short_cause
from kubectl_kres.kueue.text.workload import workload_lines
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.list_spec import WORST_FIRST, Listing, ListRows, RowSource, RowSubject, Wording
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.system import WaitingRow
from kubectl_kres.tui.table.columns import Column


def _rows(session: Session, namespace: str) -> ListRows:
    for item in session.store.all(model.WORKLOAD, namespace or None):
        ref = ObjectRef(model.WORKLOAD, item.metadata.name, item.metadata.namespace)
        subject = Subject(ref, BY_KIND[model.WORKLOAD])
        yield (ref.namespace, ref.name), workload_explanation(session.store, subject, remedies=False)


def workload_mark(row: WorkloadExplanation) -> tuple[str, Tone]:
    """``x``: it never gets its turn as things are; ``!``: it waits."""
    if not row.negative:
        return "", ""
    waits = row.account.cause in {"WaitingForQuota", "behind", "fits", "checks", "backoff", "unknown"}
    return ("!", "warn") if waits else ("x", "bad")


def _state(row: WorkloadExplanation) -> str:
    account = row.account
    return short_cause(account.cause) or account.standing if row.negative else account.standing


def _columns(namespace: str) -> tuple[Column, ...]:
    namespace_column = Column("namespace", "NAMESPACE", lambda row: row.object.namespace)
    return (
        *(() if namespace else (namespace_column,)),
        Column("of", "OF", lambda row: row.of, most=40),
        Column("name", "NAME", lambda row: row.object.name, most=40, wide=True),
        Column("queue", "QUEUE", lambda row: row.account.local_queue or "-", most=30),
        Column("cluster", "CLUSTERQUEUE", lambda row: row.account.cluster_queue or "-", most=30, wide=True),
        Column("place", "PLACE", lambda row: str(row.account.place or "-"), lambda row: row.account.place, right=True),
        Column("state", "STATE", _state, tone=lambda row: workload_mark(row)[1]),
    )


def _detail(session: Session, row: WorkloadExplanation, width: int) -> Iterator[Line]:
    subject = Subject(row.object, BY_KIND[model.WORKLOAD])
    yield from workload_lines(workload_explanation(session.store, subject), width)


def more_needs(session: Session, namespace: str) -> Iterable[ReadRequest]:
    pending = (each for each in session.store.all(model.WORKLOAD, namespace or None) if is_pending(each))
    queues = dict.fromkeys((each.metadata.namespace, each.spec.queue_name) for each in pending)
    for space, queue in queues:
        yield from queue_needs(session.store, space, queue, listed=True)


def waiting_rows(session: Session, namespace: str) -> Iterator[WaitingRow]:
    """Yield the Workloads that wait for quota in a queue, each with its place there."""
    for _, row in _rows(session, namespace):
        if row.negative:
            yield WaitingRow(replace(waits_in_queue(row), says=_state(row)), partial(_detail, session, row))


def _empty(_session: Session, _namespace: str, width: int) -> Iterator[Line]:
    """Yield what there would be."""
    text = "Kueue makes a Workload of each Job, pod and run that names one of its queues."
    yield from tone_lines("quiet", wrap_text(text, width))


LISTING = Listing(
    names=("queued", "kueue"),
    about="what stands in queues of Kueue: why each waits, and at which place",
    source=RowSource(
        kinds=(model.WORKLOAD, model.LOCAL_QUEUE, model.CLUSTER_QUEUE, model.FLAVOR, model.COHORT, "LimitRange"),
        reads=lambda namespace: (ReadRequest(model.WORKLOAD, namespace),),
        rows=_rows,
        more_reads=more_needs,
    ),
    columns=_columns,
    row_mark=workload_mark,
    detail=_detail,
    subject=RowSubject(ref=lambda row: row.object, opens=lambda row: Location("object", ref=row.object)),
    command=lambda session, namespace: session.command("explain workloads", namespace),
    wording=Wording(several="workloads in queues", empty=_empty, absent=NO_KUEUE, runbook="queue-waits"),
    order=WORST_FIRST,
    hints=("timeline", "sort-state", "explain", "faults"),
)
