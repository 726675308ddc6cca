"""A timeline as lines: when, what, to which object, and in the cluster's words why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kubectl_kres.render.overview import COUNTED, SIGNS, SIGNS_SAID, unseen_words
from kubectl_kres.render.text.line import Line, age_text, clip_text, draw, labelled_lines, size, tone_lines, wrap_text
from kubectl_kres.render.text.line import row as row_of
from kubectl_kres.render.text.unread import unseen_texts
from kubectl_kres.reports.common.explanation import FailedRead, strip_controller_prefix
from kubectl_kres.reports.common.shown import NEWEST
from kubectl_kres.reports.timeline import CHANGED, CREATED, NEW_TEMPLATE, Timeline, TimelineEntry

#: Fields that are named; of more it is said how many.
_NAMED = 3
#: Cells that the last column needs to stand beside the others.
_ROOM = 36
_HEADS, _LAST = ("AGE", "REASON", "OBJECT"), "WHAT HAPPENED"
_INDENT = " " * 6
#: Lines that a text takes where not all is shown.
_LINES = 2
#: What is left out, and where it would be.
EXPIRED = "a cluster keeps events for an hour by default: what was refused before is not listed"


def describe_entry(entry: TimelineEntry) -> str:
    """Return what happened, in a sentence; of what the cluster says its own words. Empty: created, nobody knows by
    whom.
    """
    return _describe_entry(entry, _NAMED)


def every_field(entry: TimelineEntry) -> str:
    """Return the same with all fields that were edited."""
    return _describe_entry(entry, len(entry.fields))


def _describe_entry(entry: TimelineEntry, maximum: int) -> str:
    times = f"{entry.count}x: " if entry.count > 1 else ""
    by = f"by {entry.manager}{f' ({entry.operation})' if entry.operation else ''}" if entry.manager else ""
    if entry.reason == CREATED:
        return by
    if entry.reason == NEW_TEMPLATE:
        return f"pods of a new template: {entry.text}"
    if entry.reason != CHANGED:
        return f"{times}{strip_controller_prefix(entry.text)}"
    named, more = entry.fields[:maximum], len(entry.fields) - maximum
    fields = ", ".join(named) + (f" and {more} more" if more > 0 else "")
    return f"{fields} {by}".strip()


def lines(timeline: Timeline, now: str, *, color: bool = False, width: int = 80, whole: bool = True) -> Iterator[str]:
    """Yield the timeline; ``now`` as RFC 3339. ``whole``: all of it, not only what happened last, in few lines."""
    for line in _timeline_lines(timeline, now, width, whole=whole):
        yield draw(line, color=color)


def _timeline_lines(timeline: Timeline, now: str, width: int, *, whole: bool) -> Iterator[Line]:
    shown = timeline.entries if whole else timeline.entries[:NEWEST]
    rows = [(_row(entry, now, timeline.namespace), entry) for entry in shown]
    if not rows:
        yield [("", f"no change and no event found in {timeline.namespace or 'any namespace'}")]
    else:
        yield [("strong", _format_count(timeline, now))]
        yield [("", "")]
        sizes = [max(map(size, column)) for column in zip(_HEADS, *(row for row, _ in rows), strict=True)]
        yield [("strong", f"  {row_of(_HEADS, sizes)}  {_LAST}")]
        for row, entry in rows:
            yield from _entry(row, sizes, entry, width, whole=whole)
        if left := len(timeline.entries) - len(shown):
            yield [("quiet", f"{left} more: --all")]
        if any(entry.severity for entry in shown):
            yield [("quiet", SIGNS_SAID)]
    yield from tone_lines("quiet", wrap_text(EXPIRED, width))
    if not whole:
        for text in unseen_texts(timeline.unread):
            yield from labelled_lines("unread", text, width, tone="warn")
        return
    for failed_read in timeline.unread:
        yield from _unseen_lines(failed_read, width)


def _format_count(timeline: Timeline, now: str) -> str:
    """Return how many entries there are, how far back, and how many of them are no good news."""
    entries = timeline.entries
    counts = Counter(entry.severity for entry in entries)
    parts = [f"{counts[severity]} {word}" for severity, word in COUNTED.items() if counts[severity]]
    start = age_text(entries[-1].time, now)
    where = f"namespace {timeline.namespace}" if timeline.namespace else "all namespaces"
    what = f"{len(entries)} {'entry' if len(entries) == 1 else 'entries'}"
    back = f" in the last {start}" if start else ""
    return f"timeline of {where}: {what}{back}{', ' if parts else ''}{', '.join(parts)}"


def _entry(
    row: Sequence[str], sizes: Sequence[int], entry: TimelineEntry, width: int, *, whole: bool
) -> Iterator[Line]:
    """Yield what happened stands beside the rest where there is room for it, and else below."""
    text, column = describe_entry(entry), 2 + sum(sizes) + 2 * len(sizes)
    beside = size(text) <= width - column or width - column >= _ROOM
    mark, tone = SIGNS[entry.severity]
    head: Line = [(tone, f"{mark:2}"), ("", row_of(row, sizes))]
    indent = " " * column if beside else _INDENT
    texts = [*wrap_text(text, width, first=indent, rest=indent)] if text else []
    if not whole and len(texts) > _LINES:
        texts = [*texts[: _LINES - 1], clip_text(f"{texts[_LINES - 1]} …", width)]
    if beside and texts:
        head, texts = [*head, ("", f"  {texts[0].strip()}")], texts[1:]
    yield head
    yield from tone_lines("", texts)


def _row(entry: TimelineEntry, now: str, namespace: str) -> tuple[str, str, str]:
    return age_text(entry.time, now), entry.reason, str(entry.object) if namespace else entry.object.full_name


def _unseen_lines(failed_read: FailedRead, width: int) -> Iterator[Line]:
    text = f"not visible: {unseen_words(failed_read)}"
    yield from tone_lines("warn" if failed_read.required else "quiet", wrap_text(text, width, rest="  "))
