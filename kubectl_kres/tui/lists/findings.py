"""The list of findings of ``kubectl kres check``, one namespace after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec.structs import replace

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.render.check import finding_lines
from kubectl_kres.render.text.line import Line, Tone
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.check.check import BY_CODE, check
from kubectl_kres.reports.check.finding import ALL_OBJECTS, SEVERITIES, CheckFinding
from kubectl_kres.reports.check.store_contexts import check_needs, cluster_needs, contexts_of
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.reports.quota import denied
from kubectl_kres.reports.quota.usage_tree import counting_needs
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.list_spec import Listing, ListRows, RowSource, RowSubject, Wording
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column

#: Runs whose needs are looked at: those of others are the same lists.
_FEW = 20
_SIGNS: dict[str, tuple[str, Tone]] = {"error": ("x", "bad"), "warning": ("!", "warn"), "note": ("", "quiet")}


def _rows(session: Session, namespace: str) -> ListRows:
    for context in contexts_of(session.store, session.evaluation_options, namespace):
        for _ in context.iter_evaluated():
            # A place to stop at: to judge a workload takes its time.
            yield (), None
        for check_finding in check(context, BY_CODE):
            if check_finding.counts:
                # The worst first, as the command prints them.
                yield (
                    (
                        f"{SEVERITIES.index(check_finding.severity)}",
                        check_finding.code,
                        check_finding.object.full_name,
                        check_finding.field,
                    ),
                    check_finding,
                )


def _columns(namespace: str) -> tuple[Column, ...]:
    namespace_column = Column("namespace", "NAMESPACE", lambda row: row.object.namespace)
    return (
        Column("code", "CODE", lambda row: row.code, tone=lambda row: _SIGNS[row.severity][1]),
        *(() if namespace else (namespace_column,)),
        Column("name", "NAME", lambda row: f"{row.object.kind}/{row.object.name}", most=48),
        Column("message", "FOUND", lambda row: sentence_text(row.message), most=120),
    )


def _detail(session: Session, row: CheckFinding, width: int) -> Iterator[Line]:
    yield [("quiet", BY_CODE[row.code].title)]
    flags = f" {session.setting.flags}" if session.setting.flags else ""
    commands = tuple(
        f"{command}{flags}" if command.startswith("kubectl kres ") else command for command in row.commands
    )
    yield from finding_lines(replace(row, commands=commands), width)


def _list_read_requests(namespace: str) -> tuple[ReadRequest, ...]:
    return (*check_needs(namespace), ReadRequest("Pod", namespace))


def _further_read_requests(session: Session, namespace: str) -> Iterable[ReadRequest]:
    """Return what runs and quotas are evaluated by, once it is known which there are: whole lists, since rows
    are many.
    """
    if any(session.unread_requests(_list_read_requests(namespace))):
        return
    store, quotas = session.store, session.store.all("ResourceQuota", namespace or None)
    yield from denied.needs_of_systems(store, namespace)
    yield from counting_needs(quotas, session.evaluation_options.server, namespace)
    yield from cluster_needs(store)
    for ref, _ in islice(denied.waiting_objects(store, namespace), _FEW):
        for read in list_read_requests(store, session.subject(ref)):
            whole = BY_KIND[read.kind].listed and read.kind != "Namespace"
            yield ReadRequest(read.kind, namespace if read.namespace else "", required=read.required) if whole else read


LISTING = Listing(
    names=("check", "findings"),
    about="what is wrong or about to be, the worst first, as the command check finds it",
    source=RowSource(
        kinds=tuple(dict.fromkeys(check_need.kind for check_need in check_needs(""))),
        reads=_list_read_requests,
        rows=_rows,
        more_reads=_further_read_requests,
    ),
    columns=_columns,
    row_mark=lambda row: _SIGNS[row.severity],
    detail=_detail,
    subject=RowSubject(
        ref=lambda row: row.object,
        opens=lambda row: Location("object", ref=row.object) if row.object.name != ALL_OBJECTS else None,
    ),
    command=lambda session, namespace: session.command("check", namespace),
    wording=Wording(several="findings"),
    hints=("explain", "faults"),
)
