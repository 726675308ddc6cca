"""A change as before and after: a bar a quota, with what its workloads have of the pods that they want."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.errors import QuantityError
from kubectl_kres.quantity import parse
from kubectl_kres.render.text.line import Line, Tone, clip_text, fine_bar, tone_lines, wrap_text
from kubectl_kres.reports.changes.report import ChangeReport, Count, QuotaChange

_CELLS = 20
#: Workloads that are named beside the bars.
_NAMED = 3
#: What stands between the ends of a range.
_RANGE = " to "


def before_after(report: ChangeReport, width: int, *, ascii_only: bool) -> Iterator[Line]:
    """Yield the bars of every quota that changes, then the pods of the workloads that do."""
    for change in report.quotas:
        moves = f": {change.hard_before or 'none'} -> {change.hard_after or 'none'}"
        what = f"~ {change.quota} {change.resource}{moves if change.hard_before != change.hard_after else ''}"
        yield from tone_lines("strong", wrap_text(what, width, rest="  "))
        most = max(change.hard_before, change.hard_after, key=_nano)
        for label, used, hard in (
            ("before", change.used_before, change.hard_before),
            ("after", change.used_after, change.hard_after),
        ):
            percent = _percent(used, hard)
            tone: Tone = "bad" if percent is None or percent >= 100 else "warn" if percent >= 90 else "good"
            # On one scale, so that what grows is drawn longer: the end of the bar moves with its hard.
            cells = max(1, _CELLS * _nano(hard) // _nano(most)) if _nano(hard) else 0
            drawn = fine_bar(percent, cells or _CELLS, ascii_only=ascii_only) if hard else ""
            drawn = f"{drawn:<{_CELLS + 1}}"
            text = f"{used or '?'} of {hard}{_format_spare(change)}" if hard else "no limit"
            yield [
                ("", f"{label:<8}"),
                (tone, drawn),
                ("", f"  {text if label == 'after' else text.partition(';')[0]}"),
            ]
    moved = [item for item in report.workloads if item.before != item.after and item.before and item.after]
    for item in moved[:_NAMED]:
        assert item.before is not None
        assert item.after is not None
        name = clip_text(f"{item.subject.kind.lower()}/{item.subject.name}", max(10, width - 40))
        tone = "good" if item.effect == "better" else "bad" if item.effect == "worse" else "warn"
        yield [("", f"{name}  {_pods(item.before)} -> "), (tone, f"{_pods(item.after)} pods")]
    if len(moved) > _NAMED:
        yield [("quiet", f"and {len(moved) - _NAMED} more, below")]


def _pods(count: Count) -> str:
    return f"{count.pods} of {count.wanted}"


def _nano(amount: str) -> int:
    """Return the amount; 0: there is none, or nobody knows."""
    try:
        return parse(amount or "0").nano
    except QuantityError:
        return 0


def _percent(used: str | None, hard: str | None) -> int | None:
    """Return how much of it is used; None: more than there is, or nobody knows."""
    try:
        amount, limit = parse(_most(used)).nano, parse(hard or "0").nano
    except QuantityError:
        return None
    if not limit:
        return 0 if not amount else None
    percent = amount * 100 // limit
    return percent if amount <= limit else None


def _format_spare(change: QuotaChange) -> str:
    """Return what is to spare after it, at the least where controllers race for it."""
    try:
        left = parse(change.hard_after or "0") - parse(_most(change.used_after))
    except QuantityError:
        return ""
    at_least = " at least" if _RANGE in (change.used_after or "") else ""
    return f"; {left} to spare{at_least}" if left.nano > 0 else ""


def _most(used: str | None) -> str:
    """Return the amount that is used, of a range the largest."""
    return (used or "0").rpartition(_RANGE)[2]
