"""Whoever waits for room: in a quota, in a pool, in a queue, on a node; in the order in which it is given."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice

from msgspec.structs import replace

from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload_kinds import POD_MAKERS
from kubectl_kres.render.overview import brief_name, scheduler_reasons, short_ref
from kubectl_kres.render.quota.fit import refusal_detail
from kubectl_kres.render.scheduling import short_report_lines
from kubectl_kres.render.text.line import Line, Tone, age_text, labelled_lines
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.nodes import waits_for_node
from kubectl_kres.reports.common.system import kinds_of
from kubectl_kres.reports.pod.scheduling_needs import list_node_needs
from kubectl_kres.reports.quota.denied import Denied, denied_needs, needs_of_systems
from kubectl_kres.reports.waiting import WaitingObject, waits_for_nodes, waits_for_quotas
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.list_spec import FirstOrder, Listing, ListRows, RowSource, RowSubject, Wording
from kubectl_kres.tui.lists.quotas import holders_of
from kubectl_kres.tui.lists.refusals import Refusals
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.system import WaitingRow, systems
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_order import RowKey

#: Pods that are looked at before others have their turn.
_PAGE = 500
#: Pods up to which the nodes are read for those that wait: all that are on nodes are read for that.
_FEW = 5_000
#: What is waited for, in this order; what systems share out comes between.
_QUOTA, _OTHER, _NODE = range(3)


def _reads(namespace: str) -> tuple[ReadRequest, ...]:
    of_systems = (read for system in systems() for read in system.waiting_needs(namespace))
    return tuple(dict.fromkeys((*denied_needs(namespace), ReadRequest("Pod", namespace), *of_systems)))


def _more(session: Session, namespace: str) -> Iterator[ReadRequest]:
    store = session.store
    yield from needs_of_systems(store, namespace)
    for system in systems():
        yield from system.more_waiting_needs(session, namespace)
    # How many there are is known only at the end: what was asked for once is read, however much it is.
    is_known = store.covered(ReadRequest("Pod", namespace)).is_known
    if is_known and sum(1 for _ in islice(store.keys("Pod"), _FEW + 1)) <= _FEW:
        yield from list_node_needs(store, filter(waits_for_node, store.all("Pod", namespace or None)))


def _rows(session: Session, namespace: str) -> ListRows:
    refusals = Refusals(session, namespace, LISTING.source.deciding_reads(namespace))
    for refusal in refusals.found():
        # A place to stop at: most workloads are no row, and each takes its time.
        yield (), None
        if refusal is not None:
            yield from _quota_rows(session, refusal)
    waiting: list[Pod] = []
    for count, pod in enumerate(list(session.store.all("Pod", namespace or None))):
        if waits_for_node(pod):
            waiting.append(pod)
        if count % _PAGE == 0:
            yield (), None
    for waits in waits_for_nodes(waiting):
        yield _keyed(session, WaitingRow(waits, partial(_node_detail, session, waits)))
    for system in systems():
        yield from (_keyed(session, row) for row in system.waiting(session, namespace))
    for refusal in refusals.mended():
        yield (), None
        yield from _quota_rows(session, refusal)


def _quota_rows(session: Session, refusal: Denied) -> ListRows:
    fix = sentence_text(refusal.fixes[0].text) if refusal.fixes else ""
    for waits in waits_for_quotas(refusal):
        yield _keyed(session, WaitingRow(waits, partial(_quota_detail, session, refusal, waits), fix))


def _keyed(session: Session, row: WaitingRow) -> tuple[RowKey, WaitingRow]:
    subject, waits_for = row.waits.subject, row.waits.waits_for
    aged = replace(row, age=age_text(row.waits.since, session.setting.now()))
    return (subject.namespace, waits_for.kind, waits_for.name, subject.kind, subject.name), aged


def _quota_detail(session: Session, denied: Denied, waits: WaitingObject, width: int) -> Iterator[Line]:
    """Yield what mends it and why, then who holds the quota."""
    yield from refusal_detail(denied, width)
    yield []
    yield from holders_of(session, waits.waits_for, width)


def _node_detail(session: Session, waits: WaitingObject, width: int) -> Iterator[Line]:
    """Yield what the nodes lack, with who holds the nearest; the scheduler's own words where they are not read."""
    from kubectl_kres.reports.scheduling.report import nodes_in_list  # noqa: PLC0415 - only where a pod waits

    pod = session.get(waits.subject)
    minor, now = session.evaluation_options.server.version[1], session.setting.now()
    report = nodes_in_list(session.store, pod, minor) if pod is not None else None
    yield from labelled_lines("because", waits.says, width)
    yield from short_report_lines(report, width, now)
    if waits.priority:
        yield from labelled_lines("prio", str(waits.priority), width)


def _group(waits: WaitingObject) -> int:
    return {"ResourceQuota": _QUOTA, "Node": _NODE}.get(waits.waits_for.kind, _OTHER)


def _rank(row: WaitingRow) -> tuple[int, str, int, str]:
    """Return the order in which room is given: what is waited for, then the place, else the longest wait first."""
    waits = row.waits
    return _group(waits), waits.waits_for.key, waits.place, waits.since


def _target(row: WaitingRow) -> str:
    return short_ref(row.waits.waits_for) if row.waits.waits_for.name else "a node"


def _place(row: WaitingRow) -> str:
    return f"{row.waits.place} of {row.waits.length}" if row.waits.place else "-"


def _short(row: WaitingRow) -> str:
    """Return what is missing; where that is not one number, the cluster's own words."""
    waits = row.waits
    amounts = ", ".join(f"{brief_name(name)} {amount}" for name, amount in waits.short_by.items())
    if not amounts and waits.behind_for:
        return f"behind {waits.place - 1 or 'others'}: {', '.join(map(brief_name, waits.behind_for))}"
    return amounts or (scheduler_reasons(waits.says) if _group(waits) == _NODE else waits.says)


def _place_of_target(row: WaitingRow) -> Location | None:
    """Return the screen of what is waited for; the nodes, where that is any."""
    target = row.waits.waits_for
    return Location("object", ref=target) if target.name else Location("nodes")


def row_sign(row: WaitingRow) -> tuple[str, Tone]:
    """``x``: it lacks something; ``!``: it is behind others."""
    return ("!", "warn") if _group(row.waits) == _OTHER and not row.waits.short_by else ("x", "bad")


def _columns(namespace: str) -> tuple[Column, ...]:
    namespace_column = Column("namespace", "NAMESPACE", lambda row: row.waits.subject.namespace)
    return (
        Column("for", "WAITS FOR", _target, _rank, most=32, vital=True),
        Column("place", "PLACE", _place, lambda row: row.waits.place or None, right=True, most=9),
        *(() if namespace else (namespace_column,)),
        Column("name", "WHO", lambda row: short_ref(row.waits.subject), most=48, vital=True),
        Column("short", "SHORT BY", _short, tone=lambda row: row_sign(row)[1], most=44, vital=True, leads=True),
        Column("age", "WAITS", lambda row: row.age, lambda row: row.waits.since, right=True, width=5, searched=False),
        Column("fix", "FIX", lambda row: row.fix, wide=True, most=60, gives_way=True),
    )


LISTING = Listing(
    names=("waiting", "waits"),
    about="whoever waits for a quota, a pool, a queue or a node, in order, with who must go",
    source=RowSource(
        kinds=tuple(
            dict.fromkeys(
                (
                    *("LimitRange", "ResourceQuota", *POD_MAKERS, *kinds_of("waits"), "Event", "Pod"),
                    *(kind for system in systems() for kind in system.waiting_kinds),
                )
            )
        ),
        reads=_reads,
        rows=_rows,
        more_reads=_more,
    ),
    columns=_columns,
    row_mark=row_sign,
    detail=lambda _, row, width: row.detail(width),
    subject=RowSubject(
        ref=lambda row: row.waits.subject,
        opens=lambda row: Location("object", ref=row.waits.subject),
        owner=_place_of_target,
        tabs=("diff", "yaml", "computed"),
    ),
    command=lambda session, namespace: session.command("tui waiting", namespace),
    wording=Wording(
        several="waiting", none="nobody waits for a quota, a pool, a queue or a node", runbook="quota-refuses"
    ),
    order=FirstOrder("for"),
    hints=("owner", "timeline", "explain", "faults"),
)
