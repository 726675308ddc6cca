"""Lines that the outlines of a claim and of its pool share: options to copy, turns, conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from kubectl_kres.capsule.reports.claim.claims import ClaimReport
from kubectl_kres.capsule.reports.explain_claim_or_pool import QueueTurn, StoredCondition
from kubectl_kres.capsule.reports.pool.pool_report import PoolReport
from kubectl_kres.capsule.reports.unblock.actions import UnblockOption
from kubectl_kres.capsule.text.claim import no_option_reason, option_lines
from kubectl_kres.capsule.text.claim_or_pool import RESULTS, compared_text
from kubectl_kres.capsule.text.pool_queue import pool_rooms, queue_lines
from kubectl_kres.render.pictures.holders import holders_lines
from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.widgets.items import OutlineItem
from kubectl_kres.tui.widgets.lines import Make


def pool_pictures(report: PoolReport, options: Sequence[UnblockOption], *, ascii_only: bool) -> Iterator[Make]:
    """Yield who waits for a pool, with what remedies change, and who holds it."""
    yield partial(queue_lines, report, options, ascii_only=ascii_only)
    yield partial(holders_lines, pool_rooms(report), ascii_only=ascii_only)


def option_items(report: ClaimReport) -> Iterator[OutlineItem]:
    """Yield the smallest change first; where there is none, why."""
    for number, option in enumerate(report.fixes):
        commands = "\n".join(deed.command for deed in option.actions if deed.command)
        yield OutlineItem(
            (), f"{'or ' if number else 'fix'} {option.text}{_format_option_effects(option)}",
            about=partial(_lines, report, option, number),
            name="command", text=commands, remedy=True,
        )  # fmt: skip
    if not report.fixes and report.is_waiting:
        text = no_option_reason(report)
        yield OutlineItem(
            (), text, tone="warn", about=lambda width: tone_lines("warn", wrap_text(text, width)), remedy=True
        )


def _lines(report: ClaimReport, option: UnblockOption, number: int, width: int) -> Iterator[Line]:
    if any(deed.command for deed in option.actions):
        yield [("quiet", "enter copies what is to be typed")]
    yield from option_lines(report, option, "or   " if number else "fix  ", width)


def _format_option_effects(option: UnblockOption) -> str:
    """Return what becomes of the others, in a few words."""
    if not option.replayed:
        return ""
    parts = [f"+{option.gained} in" if option.gained else "", f"{len(option.losing)} out" if option.losing else ""]
    parts.append(f"{option.waiting} still wait" if option.waiting else "")
    return f"; then {', '.join(filter(None, parts))}" if any(parts) else ""


def turn_item(queue_turn: QueueTurn, index: int) -> OutlineItem:
    """Return a claim's turn in a pass over a queue. ``index``: among those that do not have their share; 0: it has."""
    ref, is_own = queue_turn.subject, queue_turn.is_subject
    tone: Tone = "strong" if is_own else ""
    text = f"{RESULTS[queue_turn.result]}{' (this one)' * is_own}"
    return OutlineItem(
        (),
        f"{f'{index}. ' if index else ''}{ref.key}",
        note=text,
        tone=tone,
        about=partial(_turn_lines, queue_turn),
        location=None if is_own else Location("object", ref=ref),
        ref=ref,
    )


def _turn_lines(queue_turn: QueueTurn, width: int) -> Iterator[Line]:
    yield [("strong", queue_turn.subject.key), ("", f" {RESULTS[queue_turn.result]}")]
    for part in queue_turn.compared:
        yield from tone_lines("warn", wrap_text(compared_text(part), width, first="  ", rest="    "))
    if queue_turn.created:
        yield [("quiet", f"  created {queue_turn.created}")]


def condition_item(condition: StoredCondition) -> OutlineItem:
    """Return a condition in the controller's words."""
    return OutlineItem(
        (),
        condition.type,
        (condition.status,),
        f"{condition.reason}: {condition.message}",
        mark="!" if condition.computed else "",
        tone="warn" if condition.computed else "",
        about=partial(_condition, condition),
    )


def _condition(condition: StoredCondition, width: int) -> Iterator[Line]:
    yield [
        ("strong", condition.type),
        ("", f" {condition.status}"),
        ("quiet", f"  since {condition.since}" if condition.since else ""),
    ]
    yield from tone_lines("", wrap_text(f"{condition.reason}: {condition.message}", width, first="  ", rest="    "))
    if condition.computed:
        yield from tone_lines("warn", wrap_text(f"would now say: {condition.computed}", width, first="  ", rest="    "))
