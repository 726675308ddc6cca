"""Findings as text: the worst first, each with what to do, and how many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_kres.render.text.line import Line, Tone, draw, toned, wrapped
from kubectl_kres.render.verdict.brief import Brief
from kubectl_kres.reports.check.finding import SEVERITIES, CheckFinding

_TONES: Final[dict[str, Tone]] = {"error": "bad", "warning": "warn", "note": "quiet"}
_INDENT = "  "


def lines(found: Sequence[CheckFinding], looked_at: str, beyond: int, *, color: bool, width: int) -> Iterator[str]:
    """``looked_at``: what was checked, in words; ``beyond``: how many findings are left out."""
    for one in found:
        if one.counts:
            yield from block(one, color=color, width=width)
    for one in found:
        if one.ignored:
            text = f"ignored: {one.code} {one.object.full}: {one.ignored}"
            yield from (draw([("quiet", line)], color=color) for line in wrapped(text, width, rest=_INDENT))
    for line in wrapped(counted(found, looked_at, beyond), width, rest=_INDENT):
        yield draw([("strong", line)], color=color)


def block(one: CheckFinding, *, color: bool, width: int) -> Iterator[str]:
    """A finding by itself, with an empty line behind it."""
    return (draw(line, color=color) for line in finding_lines(one, width))


def brief(one: CheckFinding) -> Brief:
    """A finding in few words."""
    place = f"{one.file}:{one.line}: " if one.line else f"{one.file}: " if one.file else ""
    ours = [command for command in one.commands if command.startswith("kubectl kres")]
    theirs = [command for command in one.commands if command not in ours]
    return Brief(
        _TONES[one.severity],
        f"{one.severity} {one.code}",
        f": {place}{one.object.full}: {one.message}",
        remedy=_remedy(one),
        run=" && ".join(theirs),
        next=ours[0] if ours else "",
    )


def _remedy(one: CheckFinding) -> str:
    return f"{one.remedy[:1].lower()}{one.remedy[1:].removesuffix('.')}"


def finding_lines(one: CheckFinding, width: int) -> Iterator[Line]:
    """The same, as lines of toned parts."""
    place = f"{one.file}:{one.line}:{one.column}: " if one.line else f"{one.file}: " if one.file else ""
    yield [("", place), (_TONES[one.severity], f"{one.severity} {one.code}"), ("strong", f" {one.object.full}")]
    yield from toned("", wrapped(one.message, width, first=_INDENT, rest=_INDENT))
    yield from toned("", wrapped(f"do: {_remedy(one)}", width, first=_INDENT, rest=f"{_INDENT}    "))
    for command in one.commands:
        yield [("", f"{_INDENT}    "), ("command", command)]
    yield [("", "")]


def counted(found: Sequence[CheckFinding], looked_at: str, beyond: int) -> str:
    """The last line: how many there are of each severity."""
    counts = Counter(one.severity for one in found if one.counts)
    parts = [f"{counts[name]} {name}{'s' * (counts[name] != 1)}" for name in SEVERITIES if counts[name]]
    ignored, known = sum(bool(one.ignored) for one in found), sum(one.known for one in found)
    parts += [f"{ignored} ignored"] * bool(ignored)
    parts += [f"{known} in the baseline"] * bool(known)
    parts += [f"{beyond} more that are not listed"] * bool(beyond)
    return f"{', '.join(parts) or 'nothing found'} in {looked_at}"
