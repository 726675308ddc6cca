"""A queue as lines: whether it admits, its quotas, and who stands in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.kueue.reports.queues import QueuedWork, QueueReport
from kubectl_kres.kueue.text.account import flavor_lines, unread_lines
from kubectl_kres.kueue.text.causes import INACTIVE, short_cause
from kubectl_kres.render.text.line import Line, Tone, clip_text, columns, tone_lines, wrap_text
from kubectl_kres.wording import join_words

_FAULTS = {
    **INACTIVE,
    "LocalQueueStopped": "it is stopped (spec.stopPolicy)",
    "NoClusterQueue": "ClusterQueue {} does not exist",
    "Stopped": "ClusterQueue is stopped (spec.stopPolicy)",
}
#: Who is shown; the rest is counted.
_MOST = 10
#: Cells of Kueue's sentence.
_LONGEST = 100


def fault_text(report: QueueReport) -> str:
    """Return why it admits nobody; empty where it may."""
    texts = [_FAULTS.get(reason, f"its condition Active is {reason}").format(name) for reason, name in report.faults]
    return join_words(texts) or report.says


def summary(report: QueueReport) -> tuple[Tone, str]:
    """Return the first line."""
    fault = fault_text(report)
    if fault:
        return "bad", f"admits nobody: {fault}"
    count = len(report.waiting) if report.waiting is not None else 0
    held = f"{len(report.admitted)} admitted"
    if report.waiting is None:
        return "warn", f"{held}; who waits could not be read"
    return ("warn" if count else "good"), f"{held}, {count} waiting"


def queue_lines(report: QueueReport, width: int, *, whole: bool = False) -> Iterator[Line]:
    """Yield the whole report. ``whole``: all that stand in it."""
    tone, text = summary(report)
    first, *rest = wrap_text(f"{report.object}: {text}", width, rest="  ")
    yield [(tone, first)]
    yield from tone_lines("", rest)
    parts = [f"ClusterQueue {report.cluster_queue}" if report.object.kind == "LocalQueue" else "", report.strategy]
    parts += [f"cohort {report.cohort}" if report.cohort else "", "may preempt" if report.preempts else ""]
    described = ", ".join(filter(None, parts))
    if described:
        yield from tone_lines("quiet", wrap_text(described, width, first="  ", rest="  "))
    if report.rows:
        yield [("", "")]
        yield from flavor_lines(report.rows)
    if report.waiting:
        yield [("", "")]
        yield from _table("waiting", report.waiting, width, whole=whole)
    if report.admitted:
        yield [("", "")]
        yield from _table("admitted", report.admitted, width, whole=whole)
    yield from unread_lines((each for each in report.unread if each.state in {"denied", "failed"}), width)


def _table(title: str, work: Sequence[QueuedWork], width: int, *, whole: bool) -> Iterator[Line]:
    yield [("strong", title)]
    shown = work if whole else work[:_MOST]
    cells = [
        [
            f"  {number}", f"{each.workload.namespace}/{each.of}", str(each.priority),
            clip_text(_why(each), _LONGEST),
        ]
        for number, each in enumerate(shown, 1)
    ]  # fmt: skip
    for line in columns(cells):
        yield [("", clip_text(line.rstrip(), width))]
    if len(work) > len(shown):
        yield [("quiet", f"  and {len(work) - len(shown)} more (--all)")]


def _why(work: QueuedWork) -> str:
    behind = f" ({work.says})" if work.cause == "behind" else ""
    return f"{short_cause(work.cause)}{behind}"
