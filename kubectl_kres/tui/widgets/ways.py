"""What would let a claim in, as lines of an outline: a way each, with the commands to copy."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kubectl_kres.render.claim import nothing_helps, way_lines
from kubectl_kres.render.line import Line, toned, wrapped
from kubectl_kres.reports.claim import ClaimReport
from kubectl_kres.reports.letting import Way
from kubectl_kres.tui.widgets.items import Item


def way_items(report: ClaimReport) -> Iterator[Item]:
    """The smallest change first; where there is none, why."""
    for number, way in enumerate(report.ways, 1):
        commands = "\n".join(deed.command for deed in way.deeds if deed.command)
        yield Item(
            (), f"{number}. {way.text}", said=_then(way), about=partial(_lines, report, way, number),
            name="command", text=commands,
        )  # fmt: skip
    if not report.ways and report.waits:
        text = nothing_helps(report)
        yield Item((), text, tone="warn", about=lambda width: toned("warn", wrapped(text, width)))


def _lines(report: ClaimReport, way: Way, number: int, width: int) -> Iterator[Line]:
    if any(deed.command for deed in way.deeds):
        yield [("quiet", "enter copies what is to be typed")]
    yield from way_lines(report, way, number, width)


def _then(way: Way) -> str:
    """What becomes of the others, in a few words."""
    if not way.replayed:
        return ""
    parts = [f"+{way.gained} in" if way.gained else "", f"{len(way.out)} out" if way.out else ""]
    parts.append(f"{way.waiting} still wait" if way.waiting else "")
    return f"then {', '.join(filter(None, parts))}" if any(parts) else ""
