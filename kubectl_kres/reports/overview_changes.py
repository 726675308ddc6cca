"""What changed between two overviews of the same namespaces: what came to be refused, to wait, to fail, to be full or
over, and what is none of that any more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Record
from kubectl_kres.reports.common.explanation import FailedRead
from kubectl_kres.reports.overview import SEVERITIES, Overview, Problem

#: What became of an object's problem, those first that are to be looked at. ``changed``: as bad, but another state or
#: cause.
ChangeWord = Literal["new", "worse", "changed", "better", "gone"]
CHANGE_WORDS: tuple[ChangeWord, ...] = get_args(ChangeWord)


class ProblemChange(Record, frozen=True):
    """What became of one object. ``before``, ``after``: its problem at that time, absent: it had none.

    ``existed``, ``exists``: whether the object itself was there; absent: that is not known.
    """

    change: ChangeWord
    subject: ObjectRef
    before: Problem | None = None
    after: Problem | None = None
    existed: bool | None = None
    exists: bool | None = None

    @property
    def got_worse(self) -> bool:
        """Whether it is bad, and was not before."""
        return self.change in {"new", "worse"} and self.after is not None and self.after.severity == "bad"


class OverviewChanges(Record, frozen=True):
    """The changes of a namespace between two moments; ``namespace`` empty: of all.

    ``start``, ``end``: both moments, as RFC 3339. ``unchanged``: how many objects have the problem that they had.
    ``not_compared``: kinds that could not be read at one of the moments; what came or went of them is not listed.
    ``complete`` False: some of what is unread would have to be counted.
    """

    namespace: str
    start: str
    end: str
    changes: tuple[ProblemChange, ...] = ()
    unchanged: int = 0
    not_compared: tuple[str, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True

    @property
    def got_worse(self) -> bool:
        """Whether something is bad that was not before."""
        return any(change.got_worse for change in self.changes)


#: Whether an object is there; None: not known.
Exists = Callable[[ObjectRef], bool | None]


def compare_overviews(
    before: Overview, after: Overview, start: str, end: str, existed: Exists, exists: Exists
) -> OverviewChanges:
    """Return what changed, the worst first. Both overviews list all their problems."""
    earlier, later = _problems(before), _problems(after)
    blind = _kinds_not_read(before) | _kinds_not_read(after)
    changes, unchanged, not_compared = list[ProblemChange](), 0, set[str]()
    for ref in {**later, **earlier}:
        old, new = earlier.get(ref), later.get(ref)
        if hidden := _needed_kinds(old or new, ref) & blind:
            not_compared |= hidden
        elif word := _change(old, new):
            changes.append(ProblemChange(word, ref, old, new, existed(ref), exists(ref)))
        else:
            unchanged += 1
    # Among alike ones the overview's own order, which is by area.
    changes.sort(key=_urgency)
    failed_reads = tuple(dict.fromkeys((*before.unread, *after.unread)))
    complete = before.complete and after.complete
    return OverviewChanges(
        after.namespace, start, end, tuple(changes), unchanged, tuple(sorted(not_compared)), failed_reads, complete
    )


def _problems(overview: Overview) -> dict[ObjectRef, Problem]:
    return {problem.subject: problem for problem in (*overview.problems, *overview.elsewhere)}


def _kinds_not_read(overview: Overview) -> set[str]:
    kinds = {failed_read.kind for failed_read in overview.unread}
    return kinds | {area.kind for area in overview.areas if area.state not in {"", "absent"}}


def _needed_kinds(problem: Problem | None, ref: ObjectRef) -> set[str]:
    """Return the kinds without which nobody knows whether the object has this problem."""
    of_pods = problem is not None and problem.run_state is not None
    return {ref.kind, "Pod"} if of_pods else {ref.kind}


def _change(before: Problem | None, after: Problem | None) -> ChangeWord | Literal[""]:
    if before is None or after is None:
        return "new" if before is None else "gone"
    severities = SEVERITIES.index(before.severity), SEVERITIES.index(after.severity)
    if severities[0] != severities[1]:
        return "worse" if severities[1] < severities[0] else "better"
    return "changed" if _cause(before) != _cause(after) else ""


def _cause(problem: Problem) -> tuple[object, ...]:
    """Return the state and what led to it, without the figures, which change from hour to hour."""
    state, verdict = problem.run_state, problem.verdict
    rules = frozenset(finding.rule for finding in verdict.findings) if verdict is not None else frozenset[str]()
    return problem.state, rules, (state.reason, state.container) if state is not None else ()


def _urgency(change: ProblemChange) -> tuple[int, int]:
    shown = change.after or change.before
    severity = SEVERITIES.index(shown.severity) if shown is not None else len(SEVERITIES)
    return CHANGE_WORDS.index(change.change), severity
