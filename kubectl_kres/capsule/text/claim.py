"""One claim in full as text: its state and why, what would unblock it, its quota, what may be done to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.capsule.reports.claim.claims import Amount, ClaimReport, ManagedQuota, VerbEffect
from kubectl_kres.capsule.reports.common.claim_action import ClaimAction
from kubectl_kres.capsule.reports.unblock.actions import UnblockOption
from kubectl_kres.capsule.text.claims import TONES, amounts_words, short_words
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Sentence
from kubectl_kres.render.text.line import Line, Tone, clip_text, draw, led_lines, pad_text, size, tone_lines, wrap_text
from kubectl_kres.render.text.remarks import last_edit_texts, remarks
from kubectl_kres.render.verdict.brief import Brief
from kubectl_kres.render.verdict.remedy import BACK_OFF, undone_text
from kubectl_kres.wording import join_some

#: What one may do to a claim, as people say it.
VERBS = {"change": "edit", "delete": "delete", "release": "release"}
_LABEL, _CELL = 32, 20
#: Claims that are named where many get in or wait.
_NAMED = 5
#: Cells that stand before the commands of a way at least.
_WAY = 7


def lines(report: ClaimReport, *, now: str = "", color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield every line of the answer."""
    for line in claim_lines(report, width, now):
        yield draw(line, color=color)


def claim_brief(report: ClaimReport, more: str) -> Brief:
    """In few words. ``more``: the command that gives the whole answer."""
    state = f"would be {report.state}" if report.predicted else report.state
    pool = f" (pool {report.pool or report.wanted_pool})" if report.pool or report.wanted_pool else ""
    short = [name for name in map(short_words, report.amounts) if name]
    reason = "; ".join(short) if report.is_waiting and short else report.reason
    first, *others = report.fixes or (None,)
    return Brief(
        TONES[report.state],
        state,
        f": {report.subject.full_name}{pool}: {reason}",
        remedy=first.text if first is not None else no_option_reason(report) if report.is_waiting else "",
        run=" && ".join(deed.command for deed in first.actions if deed.command) if first is not None else "",
        other=others[0].text if others else "",
        next=more,
    )


def claim_lines(report: ClaimReport, width: int, now: str = "") -> Iterator[Line]:
    """Yield the same, not drawn yet."""
    yield from head(report, width)
    yield from amounts_table(report.amounts, width)
    yield from unblock_lines(report, width)
    if report.quota is not None:
        yield from quota_lines(report.quota, width)
    yield from permission_lines(report.allowed_actions, width)
    groups: tuple[tuple[Tone, str, Sequence[Sentence | str]], ...] = (
        ("warn", "warning", report.notes),
        ("quiet", "changed", tuple(last_edit_texts(report.edits, now))),
    )
    yield from remarks(groups, (), report.unread, width)


def head(report: ClaimReport, width: int) -> Iterator[Line]:
    """State, name, pool, place and why."""
    yield from state_lines(report, width)
    yield from tone_lines("", wrap_text(f"asks for {amounts_words(report.requested)}", width, first="  ", rest="    "))
    yield from tone_lines("", wrap_text(report.reason, width, first="  ", rest="    "))
    yield from status_lines(report, width)


def state_lines(report: ClaimReport, width: int) -> Iterator[Line]:
    """State, name and pool."""
    ref = report.subject
    pool = f" of pool {report.pool}" if report.pool else f", names pool {report.wanted_pool}" * bool(report.wanted_pool)
    state = f"would be {report.state}" if report.predicted else report.state
    yield from led_lines(TONES[report.state], state, f": {ref.key}{pool}", width)


def status_lines(report: ClaimReport, width: int) -> Iterator[Line]:
    """Yield what the controller says, and the place in the queue."""
    queue_place = report.queue
    if report.message and report.message != "reconciled":
        yield from tone_lines(
            "quiet", wrap_text(f"the controller says: {report.message}", width, first="  ", rest="    ")
        )
    if queue_place is not None:
        kind = "ordered queue" if queue_place.ordered else "queue; any claim that fits is served, whatever the place"
        ahead = (
            f", behind {join_some((object_ref.key for object_ref in queue_place.ahead), _NAMED)}"
            if queue_place.ahead
            else ""
        )
        text = f"place {queue_place.position} of {queue_place.length} in the {kind}{ahead}"
        yield from tone_lines("", wrap_text(text, width, first="  ", rest="    "))
    if report.legacy:
        text = "Capsule before 0.13 wrote this status: whether pods use the claim is not in it"
        yield from tone_lines("quiet", wrap_text(text, width, first="  ", rest="    "))


def amounts_table(amounts: Sequence[Amount], width: int) -> Iterator[Line]:
    """Asked for, left, lacking, by resource."""
    if not amounts:
        return
    heads = ("ASKS FOR", "FREE", "SHORT BY")
    rows = [
        (amount.requested, amount.available or ("-" if amount.offered else "none"), amount.short_by or "-")
        for amount in amounts
    ]
    cells = [[clip_text(cell, _CELL) for cell in row] for row in rows]
    widths = [max(size(head), *(size(row[index]) for row in cells)) for index, head in enumerate(heads)]
    label = min(_LABEL, max(8, *(size(amount.name) for amount in amounts)))
    yield [("", "")]
    yield [("quiet", f"  {pad_text('RESOURCE', label)}  {'  '.join(map(pad_text, heads, widths))}".rstrip())]
    for amount, row in zip(amounts, cells, strict=True):
        bad = amount.short_by is not None or not amount.offered
        tone: Tone = "bad" if bad else "warn" if amount.closed_by_amount is not None else ""
        text = "  ".join(map(pad_text, row, widths)).rstrip()
        closed = (
            f"  blocked by earlier claims for {amount.closed_by_amount}" if amount.closed_by_amount is not None else ""
        )
        if size(amount.name) <= label:
            yield [("", f"  {pad_text(amount.name, label)}  "), (tone, text), ("quiet", closed)]
        else:
            yield from tone_lines("", wrap_text(amount.name, width, first="  ", rest="    "))
            yield [("", " " * (label + 4)), (tone, text), ("quiet", closed)]


def unblock_lines(report: ClaimReport, width: int, *, texts: bool = False) -> Iterator[Line]:
    """Yield what would unblock it, numbered, the smallest change first. ``told``: that nothing does was said before."""
    if not report.fixes:
        if report.is_waiting and not texts:
            yield [("", "")]
            yield from tone_lines("warn", wrap_text(no_option_reason(report), width, rest="  "))
        return
    yield [("", "")]
    yield [("strong", "fixes, the smallest change first")]
    for number, option in enumerate(report.fixes, 1):
        yield from option_lines(report, option, f"  {number}. ", width)
    yield from tone_lines("quiet", wrap_text(BACK_OFF, width, first="  ", rest="    "))


def remedy_lines(report: ClaimReport, width: int) -> Iterator[Line]:
    """Yield what would unblock it, without a heading: first the smallest change, then other ones."""
    if not report.fixes and report.is_waiting:
        yield from tone_lines("warn", wrap_text(no_option_reason(report), width, rest="  "))
    for number, option in enumerate(report.fixes):
        yield from option_lines(report, option, "or   " if number else "fix  ", width)


def option_lines(report: ClaimReport, option: UnblockOption, lead: str, width: int) -> Iterator[Line]:
    """Yield one of the ways: what to do, as something to type, and what becomes of the others."""
    yield from tone_lines("", wrap_text(option.text, width, first=lead, rest=" " * len(lead)))
    indent = " " * max(_WAY, len(lead))
    for deed in option.actions:
        yield from _deed_lines(deed, width, indent, named=len(option.actions) > 1 or bool(deed.holds))
    if undone := undone_text(option.stays, names_keeper=True):
        yield from tone_lines("warn", wrap_text(undone, width, first=indent, rest=f"{indent}  "))
    yield from _after(option, width, indent, others=report.queue is not None and report.queue.length > 1)


def no_option_reason(report: ClaimReport) -> str:
    """Return why there is nothing to propose."""
    if report.state == "pending":
        return "nothing to do but wait for the controller"
    if any(failed_read.kind in {"ResourcePool", "ResourcePoolClaim"} for failed_read in report.unread):
        return "no fix is known without what could not be read (below)"
    if any(not amount.offered for amount in report.amounts):
        names = join_some(amount.name for amount in report.amounts if not amount.offered)
        return f"add {names} to hard of its pool, then change the spec of the claim"
    return "no pool that serves its namespace has all that it asks for, and room for it"


def _deed_lines(deed: ClaimAction, width: int, indent: str, *, named: bool) -> Iterator[Line]:
    if named:
        state = f", {deed.state}" if deed.state else ""
        holds = f": holds {amounts_words(deed.holds) or 'nothing'}" if deed.verb in {"delete", "release"} else ""
        what = "" if holds else "pool " if deed.subject.kind == "ResourcePool" else "claim "
        text = f"{what}{deed.subject.key}{state}{holds}"
        yield from tone_lines("", wrap_text(text, width, first=indent, rest=f"{indent}  "))
    if deed.command:
        yield [("", indent), ("command", deed.command)]
    if deed.effect:
        yield from tone_lines("quiet", wrap_text(deed.effect, width, first=indent, rest=f"{indent}  "))


def _after(option: UnblockOption, width: int, indent: str, *, others: bool) -> Iterator[Line]:
    parts = []
    if option.also_admitted:
        verb = "is" if len(option.also_admitted) == 1 else "are"
        parts.append(f"{_format_refs(option.also_admitted, option.gained)} {verb} then allocated too")
    if option.losing:
        losing = join_some((ref.key for ref in option.losing), _NAMED)
        parts.append(f"{losing} lose{'s' * (len(option.losing) == 1)} what it holds")
    if option.still_waiting:
        parts.append(f"still waiting: {_format_refs(option.still_waiting, option.waiting)}")
    if parts:
        yield from tone_lines("quiet", wrap_text("; ".join(parts), width, first=indent, rest=f"{indent}  "))
    elif option.replayed and others:
        yield [("quiet", f"{indent}then nobody waits any more")]


def _format_refs(refs: Sequence[ObjectRef], count: int) -> str:
    """Return the first of so many claims."""
    if count <= _NAMED + 1:
        return join_some((ref.key for ref in refs), _NAMED)
    return f"{', '.join(ref.key for ref in refs[:_NAMED])} and {count - _NAMED} more"


def quota_lines(quota: ManagedQuota, width: int) -> Iterator[Line]:
    """Yield the managed quota: what it says, how that adds up, what pods use."""
    yield [("", "")]
    name = quota.subject.name
    if quota.missing:
        text = (
            f"quota {name} is not there: the pool's controller has not written it, or the namespace is not the pool's"
        )
        yield from tone_lines("warn", wrap_text(text, width, rest="  "))
        return
    if not quota.lines:
        text = f"quota {name} is empty: it limits nothing in this namespace"
        yield from tone_lines("warn", wrap_text(text, width, rest="  "))
        return
    heads = ("USED", "HARD")
    rows = [(line.used or "-", line.hard) for line in quota.lines]
    cells = [[clip_text(cell, _CELL) for cell in row] for row in rows]
    widths = [max(size(head), *(size(row[index]) for row in cells)) for index, head in enumerate(heads)]
    label = min(_LABEL, max(8, *(size(line.name) for line in quota.lines)))
    yield [("strong", f"quota {name}"), ("", f" in {quota.subject.namespace}")]
    yield [("quiet", f"  {pad_text('NAME', label)}  {'  '.join(map(pad_text, heads, widths))}".rstrip())]
    for line, row in zip(quota.lines, cells, strict=True):
        parts = [f"claims {line.claimed}"] if line.claimed is not None else []
        parts += [f"default {line.default}"] if line.default is not None else []
        name, figures = f"  {pad_text(clip_text(line.name, label), label)}  ", "  ".join(map(pad_text, row, widths))
        over: Tone = "bad" if line.over else ""
        tail = f"  {' + '.join(parts)}" if parts else ""
        yield [("", name), (over, figures), ("quiet", tail), (over, "  over" if line.over else "")]
    if quota.note:
        yield from tone_lines("warn", wrap_text(quota.note, width, first="  ", rest="    "))


def permission_lines(permissions: Sequence[VerbEffect], width: int) -> Iterator[Line]:
    """Yield whether one can edit, delete, release it."""
    if not permissions:
        return
    yield [("", "")]
    for item in permissions:
        word, tone = ("yes", "") if item.allowed else ("no", "warn")
        label = f"can {VERBS[item.verb]}: "
        text = f"{word}{f'; {item.effect}' if item.effect else ''}{f': {item.message}' if item.message else ''}"
        yield from tone_lines("warn" if tone else "", wrap_text(text, width, first=label, rest="  "))
