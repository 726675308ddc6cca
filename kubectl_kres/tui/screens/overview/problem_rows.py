"""What is worst as lines, then what could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.render.overview import SIGNS, ask_words, pods_of, short_causes, short_ref
from kubectl_kres.render.text.line import Tone, age_text
from kubectl_kres.reports.overview import Problem
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.overview.areas import Areas, unread_reason
from kubectl_kres.tui.screens.overview.notice import Notice
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_order import RowKey


def _row_tone(row: Notice) -> Tone:
    return "" if row.location is not None else "quiet"


_NAMESPACE = Column("where", "NAMESPACE", lambda row: row.scope, tone=_row_tone, most=18)
_COLUMNS = (
    Column("what", "WORST FIRST", lambda row: row.what, tone=_row_tone, most=22),
    Column("said", "", lambda row: row.text, tone=lambda row: row.mark[1], most=200, briefer=lambda row: row.briefer,
           spills=lambda row: row.problem is None, leads=True),
    Column("pods", "PODS", lambda row: row.pods, tone=lambda row: row.mark[1], right=True),
    Column("age", "AGE", lambda row: row.age, right=True),
)  # fmt: skip


def problem_columns(namespace: str) -> tuple[Column, ...]:
    """``namespace`` empty: all."""
    return _COLUMNS if namespace else (_NAMESPACE, *_COLUMNS)


def nothing_wrong(session: Session) -> str:
    """Return the sentence that nothing is wrong, and where else to look."""
    space, count = session.namespace, sum(1 for _ in session.store.all("Namespace"))
    elsewhere = f" in {space}; 0 shows all {f'{count} ' if count > 1 else ''}namespaces" if space else ""
    return f"nothing is wrong{elsewhere}"


def problem_rows(session: Session, areas: Areas, reads: Iterable[ReadRequest]) -> Iterator[tuple[RowKey, Notice]]:
    """Yield a line a problem, then one for each of the reads that came to nothing."""
    now = session.setting.now()
    for index, problem in enumerate(areas.problems()):
        key = f"{index:04}", str(problem.subject), problem.subject.namespace
        yield key, _row(problem, now)
    # What nodes say is more than was asked for: without them the scheduler's own words stand there.
    more = set(areas.node_reads())
    for index, gap in enumerate(_gaps(session, [read for read in reads if read not in more])):
        yield ("gap", f"{index:04}"), gap


def _row(problem: Problem, now: str) -> Notice:
    ref = problem.subject
    sign: tuple[str, Tone] = ("", "quiet") if problem.elsewhere else SIGNS[problem.severity]
    location = Location("quota" if ref.kind == "ResourceQuota" else "object", ref=ref)
    before = "other namespaces: " if problem.elsewhere else ""
    text, *briefer = (f"{before}{form}" for form in short_causes(problem))
    return Notice(
        sign, short_ref(ref), ref.namespace, text, location, command=ask_words(problem),
        pods=pods_of(problem), age=age_text(problem.since, now), problem=problem, briefer=tuple(briefer),
    )  # fmt: skip


def _gaps(session: Session, reads: Iterable[ReadRequest]) -> Iterator[Notice]:
    result = []
    for read in reads:
        coverage = session.store.covered(read)
        if coverage.state in {"denied", "failed"}:
            word = "forbidden" if coverage.state == "denied" else "failed"
            text = f"{word}: {coverage.message}" if coverage.message else word
            result.append(Notice(("?", "bad"), BY_KIND[read.kind].plural, read.namespace, text, Location("kinds")))
    if result:
        pod = not session.namespace and unread_reason(session, ReadRequest("Pod"))
        yield Notice(("", "quiet"), "NOT VISIBLE", "", "one namespace may be: :pods NAME" if pod else "", None)
    yield from result
