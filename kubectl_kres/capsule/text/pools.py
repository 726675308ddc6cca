"""Pools as text: a block each with a bar for every resource; of one pool also its namespaces, holders and queue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.capsule.reports.pool.pool_report import PoolNamespace, PoolReport, PoolUse, Queued
from kubectl_kres.capsule.text.claims import TONES, amounts_words
from kubectl_kres.capsule.text.pool_queue import pool_rooms
from kubectl_kres.render.pictures.holders import holders_lines
from kubectl_kres.render.quota.quota_blocks import tree_lines
from kubectl_kres.render.text.line import Line, Tone, clip_text, draw, gauge, pad_text, size, tone_lines, wrap_text
from kubectl_kres.render.text.remarks import last_edit_texts, remarks
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.brief import Brief
from kubectl_kres.reports.common.resource_lists import NEARLY_FULL

_LABEL, _CELL = 32, 20
_HEADS = ("CLAIMED", "HARD", "FREE", "IN USE")
#: Holders that are listed; the largest part of the rest is in the sums of namespaces.
_HOLDERS = 20
#: Resources that are reported in few words.
_BRIEFLY = 3


def lines(
    report: PoolReport, *, whole: bool, now: str = "", ascii_only: bool = False, color: bool = False, width: int = 80
) -> Iterator[str]:
    """Yield every line of one pool. ``whole``: with namespaces, holders, queue and options."""
    for line in pool_lines(report, whole=whole, ascii_only=ascii_only, width=width, now=now):
        yield draw(line, color=color)


def pool_lines(report: PoolReport, *, whole: bool, ascii_only: bool, width: int, now: str = "") -> Iterator[Line]:
    """Yield the same, not drawn yet."""
    yield from head_lines(report, width)
    if report.glimpse:
        yield from _partial_report_lines(report, width)
        return
    yield from uses_lines(report.uses, ascii_only=ascii_only, width=width)
    if whole:
        yield from _holder_bar_lines(report, ascii_only=ascii_only, width=width)
        if report.tree:
            yield from tree_lines(report.tree, [use.name for use in report.uses], width)
        else:
            yield from _namespaces(report, width)
            yield from _holders(report, width)
        yield from _queue(report, width)
    edits = tuple(last_edit_texts(report.edits, now)) if whole else ()
    failed_reads = report.unread if whole else ()
    if whole:
        yield from remarks((("warn", "warning", report.warnings), ("quiet", "changed", edits)), (), failed_reads, width)
    else:
        for text in report.warnings:
            yield from tone_lines("warn", wrap_text(sentence_text(text), width, first="  warning  ", rest="    "))


def pool_word(report: PoolReport) -> tuple[str, Tone]:
    """Return how a pool fares, in a word."""
    if report.glimpse:
        return "not seen", "warn"
    if report.ready is False:
        return "failing", "bad"
    return ("exhausted", "warn") if report.exhausted else ("sound", "good")


def pool_brief(report: PoolReport, more: str) -> Brief:
    """In few words: what is fullest and who waits first. ``more``: the command that gives the whole answer."""
    word, tone = pool_word(report)
    texts = [f"{use.name} {use.claimed} of {use.hard} claimed" for use in report.uses if use.wanted is not None]
    if not texts:
        fullest = sorted(report.uses, key=lambda pool_use: -(pool_use.percent or 0))[:_BRIEFLY]
        texts = [f"{pool_use.name} {pool_use.claimed} of {pool_use.hard} claimed" for pool_use in fullest]
    if report.queue and report.queue[0].position:
        texts.append(f"first in the queue is {report.queue[0].subject.key}")
    warned = [f"and {len(report.warnings)} warning{'s' * (len(report.warnings) != 1)}"] * bool(report.warnings)
    failing = [report.message] * (report.ready is False and bool(report.message))
    text = f": {report.subject}: {_format_counts(report)}; {', '.join([*failing, *texts, *warned])}".removesuffix("; ")
    return Brief(tone, word, text, next=more)


def _format_counts(report: PoolReport) -> str:
    """Return how many namespaces and claims it has."""
    count, spaces = report.claims, len(report.namespaces)
    parts = [
        f"{spaces} namespace{'s' * (spaces != 1)}",
        f"{count} claim{'s' * (count != 1)} allocated" if count else "no claim allocated",
    ]
    if report.queue is not None:
        waits = len(report.queue)
        ordered = " in order" if report.ordered else ""
        parts.append(f"{waits} wait{'s' * (waits == 1)}{ordered}" if waits else "none waits")
    elif report.exhausted:
        parts.append("some wait")
    return ", ".join(parts)


def head_lines(report: PoolReport, width: int) -> Iterator[Line]:
    """Yield how many namespaces and claims it has, its options and what it counts."""
    tone: Tone = "bad" if report.ready is False else "strong"
    would = " would have" if report.predicted else ", as your namespaces show it:" if report.glimpse else ":"
    yield [(tone, f"pool {report.subject.name}"), ("", f"{would} {_format_counts(report)}")]
    for option in report.options:
        yield from tone_lines("quiet", wrap_text(option, width, first="  ", rest="    "))
    for phrase in report.scopes:
        yield from tone_lines("quiet", wrap_text(f"counts {phrase}", width, first="  ", rest="    "))


def _holder_bar_lines(report: PoolReport, *, ascii_only: bool, width: int) -> Iterator[Line]:
    """Return who holds how much of what."""
    drawn = list(holders_lines(pool_rooms(report), width, ascii_only=ascii_only, figures=False))
    if drawn:
        yield [("", "")]
        yield from drawn


def _partial_report_lines(report: PoolReport, width: int) -> Iterator[Line]:
    """Yield what its quotas and the claims of some namespaces say, and that this is not all."""
    for namespace in report.namespaces:
        yield from _quota(namespace, width)
    yield from _holders(report, width)
    if report.queue:
        yield from _queue(report, width)
    yield from remarks((("warn", "warning", report.warnings),), (), report.unread, width)


def _quota(pool_namespace: PoolNamespace, width: int) -> Iterator[Line]:
    if pool_namespace.quota is None:
        note = sentence_text(pool_namespace.note) if pool_namespace.note is not None else ""
        yield from tone_lines("quiet", wrap_text(f"{pool_namespace.name}: {note}", width, first="  ", rest="    "))
        return
    used = pool_namespace.used or {}
    parts = [f"{name} {used.get(name, '0')} of {hard}" for name, hard in pool_namespace.quota.items()]
    text = (
        f"{pool_namespace.name} uses {', '.join(parts)}"
        if parts
        else f"{pool_namespace.name}: its quota there is empty and limits nothing"
    )
    yield from tone_lines("", wrap_text(text, width, first="  ", rest="    "))


def uses_lines(uses: Sequence[PoolUse], *, ascii_only: bool, width: int) -> Iterator[Line]:
    """Yield a table with a bar for each resource."""
    if not uses:
        yield [("quiet", "  shares out nothing")]
        return
    rows = [
        [clip_text(cell, _CELL) for cell in (use.claimed, use.hard, use.available, use.used or "-")] for use in uses
    ]
    widths = [max(size(head), *(size(row[index]) for row in rows)) for index, head in enumerate(_HEADS)]
    label = min(_LABEL, max(12, *(size(use.name) for use in uses)))
    yield [("quiet", f"  {pad_text('RESOURCE', label)}  {'  '.join(map(pad_text, _HEADS, widths))}".rstrip())]
    for use, row in zip(uses, rows, strict=True):
        text = f"  {'  '.join(map(pad_text, row, widths))}"
        tone: Tone = "bad" if use.is_exceeded else "warn" if (use.percent or 0) >= NEARLY_FULL else ""
        drawn = (tone, gauge(use.percent, width - label - 2 - size(text), over=use.is_exceeded, ascii_only=ascii_only))
        if size(use.name) <= label:
            yield [("", f"  {pad_text(use.name, label)}{text}"), drawn]
        else:
            yield [("", f"  {use.name}")]
            yield [("", f"{' ' * (label + 2)}{text}"), drawn]
        if use.wanted is not None:
            words = f"waiting claims ask for {use.wanted} in total"
            yield from tone_lines("warn", wrap_text(words, width, first="      ", rest="        "))


def _namespaces(report: PoolReport, width: int) -> Iterator[Line]:
    yield [("", "")]
    if not report.namespaces:
        yield [("warn", "no namespaces")]
        for text in report.selectors:
            yield from tone_lines("quiet", wrap_text(f"selector {text}", width, first="  ", rest="    "))
        return
    yield [("strong", "namespaces")]
    label = min(_LABEL, max(size(namespace.name) for namespace in report.namespaces))
    for namespace in report.namespaces:
        head = f"  {pad_text(clip_text(namespace.name, label), label)}  "
        yield from tone_lines("", wrap_text(_share(namespace), width, first=head, rest=" " * size(head)))
        chosen = " and by ".join(namespace.matched_selectors)
        if chosen:
            yield from tone_lines("quiet", wrap_text(f"chosen by {chosen}", width, first="      ", rest="        "))
        if namespace.note:
            yield from tone_lines(
                "warn", wrap_text(sentence_text(namespace.note), width, first="      ", rest="        ")
            )


def _share(pool_namespace: PoolNamespace) -> str:
    if not pool_namespace.claims:
        return "no claim allocated"
    names = [
        f"{name} {value}{f' ({pool_namespace.percents[name]}%)' if name in pool_namespace.percents else ''}"
        for name, value in pool_namespace.claimed.items()
    ]
    return f"{pool_namespace.claims} claim{'s' * (pool_namespace.claims != 1)}: {', '.join(names) or 'nothing'}"


def _holders(report: PoolReport, width: int) -> Iterator[Line]:
    if not report.holders:
        return
    yield [("", "")]
    yield [("strong", "claims that hold something")]
    shown = report.holders[:_HOLDERS]
    names = [clip_text(holder.subject.key, 40) for holder in shown]
    label = max(map(size, names))
    for holder, name in zip(shown, names, strict=True):
        state = pad_text(holder.state or "?", 9)
        head = f"  {state}  {pad_text(name, label)}  "
        first, *rest = wrap_text(amounts_words(holder.holds), width, first=head, rest=" " * size(head))
        tone: Tone = TONES[holder.state] if holder.state is not None else "quiet"
        yield [("", "  "), (tone, state), ("", first[2 + len(state) :])]
        yield from tone_lines("", rest)
    if len(report.holders) > _HOLDERS:
        yield [("quiet", f"  and {len(report.holders) - _HOLDERS} more; -o json has all")]


def _queue(report: PoolReport, width: int) -> Iterator[Line]:
    yield [("", "")]
    if report.queue is None:
        yield [("warn", "queue: not known, since claims could not be read")]
        return
    if not report.queue:
        yield [("quiet", "queue: nobody waits")]
        return
    kind = (
        "in order: later claims cannot take what an earlier claim is waiting for"
        if report.ordered
        else "any claim that fits is served"
    )
    kind = "those that could be seen; their places are not known" if report.glimpse else kind
    yield [("strong", "queue"), ("quiet", f", {kind}")]
    names = [clip_text(queued.subject.key, 40) for queued in report.queue[:_HOLDERS]]
    label = max(map(size, names))
    digits = len(str(len(report.queue)))
    for queued, name in zip(report.queue, names, strict=False):
        state = pad_text(queued.state, 9)
        number = f"{queued.position:>{digits}}." if queued.position else " -"
        head = f"  {number} {state}  {pad_text(name, label)}  "
        first, *rest = wrap_text(amounts_words(queued.requested), width, first=head, rest=" " * size(head))
        lead = 3 + len(number)
        yield [("", first[:lead]), (TONES[queued.state], state), ("", first[lead + len(state) :])]
        yield from tone_lines("", rest)
        text = lacks_text(queued)
        if text:
            indent = " " * lead
            yield from tone_lines("quiet", wrap_text(text, width, first=indent, rest=f"{indent}  "))
    if len(report.queue) > _HOLDERS:
        command = f"kubectl kres claims --pool {report.subject.name} -A"
        yield [("quiet", f"  and {len(report.queue) - _HOLDERS} more: {command}")]


def lacks_text(queued: Queued) -> str:
    """Return what a claim in the queue waits for; empty for nothing."""
    parts = [f"short by {amounts_words(queued.short_by)}"] if queued.short_by else []
    if queued.closed_resources:
        parts.append(f"blocked by earlier claims for {', '.join(queued.closed_resources)}")
    return "; ".join(parts)
