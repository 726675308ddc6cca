"""Lines of what changed between two moments: a row for each object that has, had or has another problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from kubectl_kres.render.overview import ask_words, short_problem
from kubectl_kres.render.text.line import Line, Tone, age_text, draw, size, tone_lines, wrap_text
from kubectl_kres.render.text.line import row as row_text
from kubectl_kres.reports.overview_changes import ChangeWord, OverviewChanges, ProblemChange

_TONES: Mapping[ChangeWord, Tone] = {"new": "bad", "worse": "bad", "changed": "warn", "better": "good", "gone": "good"}
_HEADS = ("CHANGE", "OBJECT", "BEFORE", "NOW")
#: The fewest cells of how it is now.
_NOW = 24


def lines(changes: OverviewChanges, *, color: bool = False, width: int = 80, flags: str = "") -> Iterator[str]:
    """Yield the table; ``flags``: with which commands look at the later moment."""
    for line in _lines(changes, width, flags):
        yield draw(line, color=color)


def summary(changes: OverviewChanges) -> str:
    """Return how many changed how, in a line."""
    counts = Counter(change.change for change in changes.changes)
    texts = [f"{counts[word]} {word}" for word in _TONES if counts[word]]
    texts += [f"{changes.unchanged} as before"] * bool(changes.unchanged)
    return ", ".join(texts) or "no problems at either moment"


def _lines(changes: OverviewChanges, width: int, flags: str) -> Iterator[Line]:
    where = f"namespace {changes.namespace}" if changes.namespace else "all namespaces"
    apart = age_text(changes.start, changes.end)
    span = f"from {changes.start} to {changes.end}{f', {apart} later' if apart else ''}"
    yield from tone_lines("strong", wrap_text(f"{where}, {span}", width, rest="  "))
    yield from tone_lines("", wrap_text(summary(changes), width, rest="  "))
    if changes.changes:
        yield [("", "")]
        yield from _table(changes, width)
    if changes.not_compared:
        kinds = ", ".join(changes.not_compared)
        yield [("", "")]
        text = f"not compared, since they could not be read at one of the moments: {kinds}"
        yield from tone_lines("warn", wrap_text(text, width, rest="  "))
    first = next((change.after for change in changes.changes if change.after is not None), None)
    if first is not None:
        yield [("", "")]
        command = " ".join(filter(None, ("kubectl kres", ask_words(first), flags)))
        yield [("quiet", "next "), ("command", command)]


def _table(changes: OverviewChanges, width: int) -> Iterator[Line]:
    rows = [
        (change.change, _name(change, everywhere=not changes.namespace), _before(change)) for change in changes.changes
    ]
    widths = [max(size(row[index]) for row in (_HEADS, *rows)) for index in range(3)]
    indent = " " * (widths[0] + 2)
    yield [("quiet", row_text((*_HEADS[:3], ""), (*widths, 0)) + _HEADS[3])]
    for change, row in zip(changes.changes, rows, strict=True):
        now, why = _now(change, changes.end)
        head = row_text((*row, ""), (*widths, 0))
        first, *rest = wrap_text(now, max(_NOW, width - size(head)))
        yield [(_TONES[change.change], head[: widths[0]]), ("", f"{head[widths[0] :]}{first}")]
        yield from tone_lines("", (" " * size(head) + line for line in rest))
        if why:
            yield from tone_lines("quiet", wrap_text(why, width, first=indent, rest=indent))


def _name(change: ProblemChange, *, everywhere: bool) -> str:
    return change.subject.full_name if everywhere else str(change.subject)


def _before(change: ProblemChange) -> str:
    return change.before.state if change.before is not None else _without_problem(exists=change.existed)


def _now(change: ProblemChange, now: str) -> tuple[str, str]:
    """Return how it is, and why."""
    if change.after is not None:
        return short_problem(change.after, now)
    return _without_problem(exists=change.exists, after=True), ""


def _without_problem(*, exists: bool | None, after: bool = False) -> str:
    """Return what is said of an object without a problem; nothing where nobody knows whether it was there."""
    if exists is None:
        return "no problem" if after else "-"
    if exists:
        return "ok"
    return "deleted" if after else "not there"
