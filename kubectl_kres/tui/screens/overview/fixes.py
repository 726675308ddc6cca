"""What mends the problem under the cursor, whose it is, and the whole of what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.overview import describe_problem
from kubectl_kres.render.text.line import Line, labelled_lines, tone_lines, wrap_text
from kubectl_kres.render.verdict.remedy import first_fix_lines
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.overview import Problem
from kubectl_kres.reports.pod.verdict import list_refusers
from kubectl_kres.tui.lists.list_registry import find_row
from kubectl_kres.tui.lists.timeline import history_lines
from kubectl_kres.tui.screens.overview.notice import Notice
from kubectl_kres.tui.session import Session


def remedies_of(row: Notice | None) -> Sequence[Remedy]:
    """Return what mends the problem of a line; of none, nothing."""
    return row.problem.fixes if row is not None and row.problem is not None else ()


def fix_lines(session: Session, row: Notice | None, width: int, *, details: bool) -> Iterator[Line]:
    """``details``: there is room for what the lists say, too."""
    if row is None:
        return
    if row.problem is None:
        yield from tone_lines(row.mark[1], wrap_text(row.text, width))
        return
    yield from first_fix_lines(row.problem.fixes, width)
    cause = describe_problem(row.problem, session.setting.now())
    (label, (_, text)), *rest = labelled_lines("because", cause, width)
    word, colon, more = text.partition(":")
    yield [label, (row.mark[1], word), ("", f"{colon}{more}")]
    yield from rest
    if not row.problem.fixes and row.problem.area != "refused":
        yield [("strong", f"{'next':<8}"), ("command", session.command(row.command))]
    if details:
        yield from _detail_lines(session, row.problem, width)


def past_lines(session: Session, row: Notice | None, width: int, room: int) -> Iterator[Line]:
    """Yield what happened, on the lines that are left."""
    if row is not None and row.problem is not None:
        yield from history_lines(session, _refs_of_problem(row.problem), width, room)


def _detail_lines(session: Session, problem: Problem, width: int) -> Iterator[Line]:
    """Yield what the lists say of the object that is wrong, and of the quotas that refuse it."""
    for ref in _refs_of_problem(problem):
        if (row_of_list := find_row(session, ref)) is not None:
            listing, row = row_of_list
            yield []
            yield from listing.detail(session, row, width)


def _refs_of_problem(problem: Problem) -> tuple[ObjectRef, ...]:
    """Return the object that is wrong, and those that refuse its pods."""
    refusers = list_refusers(problem.verdict) if problem.verdict is not None else ()
    return tuple(dict.fromkeys((problem.subject, *refusers)))
