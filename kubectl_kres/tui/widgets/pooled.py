"""Lines of an outline that a claim and its pool have in common: ways in to copy, turns, conditions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kubectl_kres.render.claim import nothing_helps, way_lines
from kubectl_kres.render.line import Line, Tone, toned, wrapped
from kubectl_kres.render.pooled import RESULTS, compared_text
from kubectl_kres.reports.capsule.claim import ClaimReport
from kubectl_kres.reports.capsule.letting import Way
from kubectl_kres.reports.capsule.pooled import QueueTurn, Says
from kubectl_kres.tui.place import Place
from kubectl_kres.tui.widgets.items import Item


def way_items(report: ClaimReport) -> Iterator[Item]:
    """The smallest change first; where there is none, why."""
    for number, way in enumerate(report.ways, 1):
        commands = "\n".join(deed.command for deed in way.deeds if deed.command)
        yield Item(
            (), f"{number}. {way.text}{_then(way)}", about=partial(_lines, report, way, number),
            name="command", text=commands,
        )  # fmt: skip
    if not report.ways and report.waits:
        text = nothing_helps(report)
        yield Item((), text, tone="warn", about=lambda width: toned("warn", wrapped(text, width)))


def _lines(report: ClaimReport, way: Way, number: int, width: int) -> Iterator[Line]:
    if any(deed.command for deed in way.deeds):
        yield [("quiet", "enter copies what is to be typed")]
    yield from way_lines(report, way, f"{number}. ", width)


def _then(way: Way) -> str:
    """What becomes of the others, in a few words."""
    if not way.replayed:
        return ""
    parts = [f"+{way.gained} in" if way.gained else "", f"{len(way.out)} out" if way.out else ""]
    parts.append(f"{way.waiting} still wait" if way.waiting else "")
    return f"; then {', '.join(filter(None, parts))}" if any(parts) else ""


def turn_item(one: QueueTurn) -> Item:
    """A claim's turn in a pass over a queue."""
    ref, own = one.subject, one.own
    tone: Tone = "strong" if own else ""
    said = f"{RESULTS[one.result]}{' (this one)' * own}"
    return Item((), f"{one.place}. {ref.key}", said=said, tone=tone,
                about=partial(_turn_lines, one), place=None if own else Place("object", ref=ref), ref=ref)  # fmt: skip


def _turn_lines(one: QueueTurn, width: int) -> Iterator[Line]:
    yield [("strong", one.subject.key), ("", f" {RESULTS[one.result]}")]
    for part in one.compared:
        yield from toned("warn", wrapped(compared_text(part), width, first="  ", rest="    "))
    if one.created:
        yield [("quiet", f"  created {one.created}")]


def warning_item(text: str) -> Item:
    """Something that does not fit together."""
    return Item((), text, sign="!", tone="warn", about=lambda width: toned("warn", wrapped(text, width)))


def said_item(text: str) -> Item:
    """A sentence."""
    return Item((), text, tone="quiet", about=lambda width: toned("", wrapped(text, width)))


def condition_item(one: Says) -> Item:
    """A condition in the controller's words."""
    return Item((), one.type, (one.status,), f"{one.reason}: {one.message}", sign="!" if one.computed else "",
                tone="warn" if one.computed else "", about=partial(_condition, one))  # fmt: skip


def _condition(one: Says, width: int) -> Iterator[Line]:
    yield [("strong", one.type), ("", f" {one.status}"), ("quiet", f"  since {one.since}" if one.since else "")]
    yield from toned("", wrapped(f"{one.reason}: {one.message}", width, first="  ", rest="    "))
    if one.computed:
        yield from toned("warn", wrapped(f"would now say: {one.computed}", width, first="  ", rest="    "))
