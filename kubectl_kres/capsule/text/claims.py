"""Claims as text: a row each with what is short below it, those that a refusing quota adds up, and how many there are
of each state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from kubectl_kres.capsule.reports.claim.claims import Amount, ClaimReport
from kubectl_kres.capsule.reports.common.claim_state import STUCK, ClaimState
from kubectl_kres.capsule.reports.common.part import PoolTrail
from kubectl_kres.capsule.reports.pool.refusing_pools import waiting_words
from kubectl_kres.render.text.line import Line, Tone, clip_text, draw, pad_text, size, tone_lines, wrap_text
from kubectl_kres.render.text.sentences import sentence_text

_CLAIM, _POOL = 40, 24
_HEADS = ("STATE", "CLAIM", "POOL", "PLACE", "ASKS FOR")
#: Fewest cells for what is asked for beside the other columns.
_ASKS = 24

TONES: Mapping[ClaimState, Tone] = {
    "allocated": "good",
    "in use": "good",
    "exhausted": "bad",
    "queued": "warn",
    "unassigned": "warn",
    "failed": "bad",
    "lost": "bad",
    "released": "warn",
    "pending": "warn",
}


def table(reports: Sequence[ClaimReport], *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield every line of a list. Lines keep to ``width`` but for a single word that is longer."""
    for line in _table(reports, width):
        yield draw(line, color=color)


def count_line(states: Sequence[ClaimState], width: int = 80) -> str:
    """``9 claims: 3 in use, 2 allocated, 4 queued``."""
    counter = Counter(states)
    shown = ", ".join(f"{counter[state]} {state}" for state in TONES if counter[state])
    text = f"{len(states)} claim{'s' * (len(states) != 1)}{f': {shown}' if shown else ''}"
    return "\n".join(wrap_text(text, width, rest="  "))


def amounts_words(requested: Mapping[str, str]) -> str:
    """``requests.cpu 2, requests.memory 4Gi``."""
    return ", ".join(f"{name} {value}" for name, value in requested.items()) or "nothing"


def _table(reports: Sequence[ClaimReport], width: int) -> Iterator[Line]:
    if not reports:
        return
    several = len({report.subject.namespace for report in reports}) > 1
    rows = [_cells(report, several=several) for report in reports]
    widths = [max(size(_HEADS[index]), *(size(row[index]) for row in rows)) for index in range(4)]
    yield [("quiet", "  ".join((*map(pad_text, _HEADS[:4], widths), _HEADS[4])))]
    column = sum(widths) + 2 * len(widths)
    for report, row in zip(reports, rows, strict=True):
        state, *others = map(_pad_text, row, widths)
        yield from _row(report, state, f"  {'  '.join(others)}", column, width)
        for tone, text in reason_lines(report):
            yield from tone_lines(tone, _break_lines(text, width, "    ", "      "))


def _row(report: ClaimReport, state: str, tail: str, column: int, width: int) -> Iterator[Line]:
    """Yield what is asked for stands in the last column, or below if there is too little room for it."""
    requested_text, tone = amounts_words(report.requested), TONES[report.state]
    if column + _ASKS > width and size(requested_text) + column > width:
        yield [(tone, state), ("", tail.rstrip())]
        yield from tone_lines("", wrap_text(requested_text, width, first="    asks for ", rest="      "))
        return
    indent = " " * column
    first, *rest = _break_lines(requested_text, width, indent, indent)
    yield [(tone, state), ("", f"{tail}  {first[column:]}")]
    yield from tone_lines("", rest)


def _pad_text(text: str, width: int) -> str:
    """As ``pad_text``, which is slow for many."""
    return text.ljust(width) if text.isascii() else pad_text(text, width)


def _break_lines(text: str, width: int, first: str, rest: str) -> Iterator[str]:
    """As ``wrap_text``, which is slow for many."""
    if text.isascii() and text.isprintable() and len(first) + len(text) <= width and "  " not in text:
        yield f"{first}{text}"
    else:
        yield from wrap_text(text, width, first=first, rest=rest)


def _cells(report: ClaimReport, *, several: bool) -> tuple[str, str, str, str]:
    ref, queue_place = report.subject, report.queue
    name = ref.key if several else ref.name
    pool = report.pool or report.wanted_pool or "-"
    return (
        f"{report.state}{' *' if report.predicted else ''}",
        clip_text(name, _CLAIM),
        clip_text(pool, _POOL),
        f"{queue_place.position} of {queue_place.length}" if queue_place is not None else "-",
    )


def reason_lines(report: ClaimReport) -> Iterator[tuple[Tone, str]]:
    """Yield what is short, or the controller's own words, and what does not fit together."""
    short = list(filter(None, map(short_words, report.amounts)))
    if short:
        yield "", "; ".join(short)
    elif report.state in STUCK or report.state == "released":
        message = report.message if report.message not in {"", "reconciled"} else ""
        yield "", f"{report.reason}{f': {message}' if message and message not in report.reason else ''}"
    if report.fixes:
        yield "strong", f"fix: {report.fixes[0].text}"
    for note in report.notes:
        yield "warn", f"note: {sentence_text(note)}"


def short_words(amount: Amount) -> str:
    """``requests.cpu: asks for 4, 1 is free, short by 3``; empty if it is not short."""
    if not amount.offered:
        return f"{amount.name}: the pool has none of it at all"
    parts = []
    if amount.closed_by_amount is not None:
        parts.append(f"blocked by earlier claims in the queue, which ask for {amount.closed_by_amount}")
    if amount.short_by is not None:
        left = "nothing" if amount.available == "0" else amount.available
        parts.append(f"asks for {amount.requested}, {left} is free, short by {amount.short_by}")
    return f"{amount.name}: {'; '.join(parts)}" if parts else ""


#: Claims that are listed.
_SHOWN = 10
_UNKNOWN = "whether the pool has that much free is not known: it could not be read"


def refusing_pool_lines(refusing_pool: PoolTrail, width: int) -> Iterator[Line]:
    """Yield the pool, what to claim, and the namespace's claims on it."""
    yield [("", "")]
    lacks = ", ".join(f"{name} {amount}" for name, amount in refusing_pool.to_claim.items())
    kept = f"quota {refusing_pool.quota} is kept by Capsule for pool {refusing_pool.pool}"
    text = f"{kept}: it is what claims add up to; it is short by {lacks}"
    yield from tone_lines("", wrap_text(text, width, rest="  "))
    if refusing_pool.grow is not None:
        amounts = amounts_words(refusing_pool.grow.amounts)
        text = f"claim {refusing_pool.grow.subject.name} is unused: if it asks for {amounts}, it gets that at once"
        yield from tone_lines("", wrap_text(text, width, first="  ", rest="    "))
        # Something to type is not broken.
        yield [("strong", f"    {refusing_pool.grow.command}")]
    words = waiting_words(refusing_pool)
    if words:
        yield from tone_lines("warn", wrap_text(words, width, first="  ", rest="    "))
    if not refusing_pool.known:
        yield from tone_lines("quiet", wrap_text(_UNKNOWN, width, first="  ", rest="    "))
    later = (
        "once that is claimed, the workload's controller tries again by itself, with growing pauses of up to minutes"
    )
    yield from tone_lines("quiet", wrap_text(later, width, first="  ", rest="    "))
    if refusing_pool.claims is None:
        yield [("quiet", "  the claims of the namespace could not be read")]
        return
    if not refusing_pool.claims:
        yield [("warn", "  the namespace has no claim on it yet")]
        return
    names = [clip_text(claim.subject.name, 40) for claim in refusing_pool.claims[:_SHOWN]]
    label = max(map(size, names))
    for claim, name in zip(refusing_pool.claims, names, strict=False):
        head = f"  {pad_text(claim.state, 10)}  {pad_text(name, label)}  "
        first, *rest = wrap_text(amounts_words(claim.requested), width, first=head, rest=" " * size(head))
        yield [("", "  "), (TONES[claim.state], pad_text(claim.state, 10)), ("", first[12:])]
        yield from tone_lines("", rest)
    if len(refusing_pool.claims) > _SHOWN:
        space = refusing_pool.claims[0].subject.namespace
        command = f"kubectl kres claims --pool {refusing_pool.pool} -n {space}"
        yield [("quiet", f"  and {len(refusing_pool.claims) - _SHOWN} more: {command}")]
