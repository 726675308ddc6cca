"""Remedies as lines: the ways one after the other, each with the commands that make it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.render.text.line import Line, toned, wrapped
from kubectl_kres.reports.common.remedy import Remedy

#: Where a controller was refused before, its next pods take a while.
BACK_OFF = "controllers retry with back-off; new pods can take minutes"
_INDENT = " " * 8


def remedy_lines(remedies: Sequence[Remedy], note: str, width: int, *, commands: bool = True) -> Iterator[Line]:
    """Every way; without one the note, if there is any. Commands are not broken."""
    if not remedies:
        if note:
            yield from _labelled("remedy: ", note, width)
        return
    if note:
        yield from _labelled("  note: ", note, width)
    for at, remedy in enumerate(remedies):
        yield from _labelled("    or: " if at else "remedy: ", remedy.text, width)
        if remedy.stays:
            what = remedy.stays if remedy.contested else f"then still refused: {remedy.stays}"
            yield from toned("warn", wrapped(what, width, first=_INDENT, rest=_INDENT))
        if commands:
            for command in remedy.commands:
                yield [("", _INDENT), ("command", command)]
        if remedy.why:
            yield from toned("quiet", wrapped(remedy.why, width, first=_INDENT, rest=_INDENT))
    asks = dict.fromkeys(remedy.ask for remedy in remedies if remedy.ask)
    for ask in asks if commands else ():
        yield [("quiet", "who uses it: "), ("strong", ask)]


def do_lines(remedies: Sequence[Remedy], note: str, width: int) -> Iterator[Line]:
    """The same at the head of a screen: DO the first way, OR another one."""
    for at, remedy in enumerate(remedies):
        first, *rest = wrapped(remedy.text, width, first="OR " if at else "DO ", rest="   ")
        yield [("strong", first[:3]), ("", first[3:])]
        yield from toned("", rest)
        for command in remedy.commands:
            yield [("", "   "), ("command", command)]
    if not remedies:
        yield from remedy_lines((), note, width)


def _labelled(label: str, text: str, width: int) -> Iterator[Line]:
    first, *rest = wrapped(text, width, first=label, rest=_INDENT)
    yield [("strong", label), ("", first[len(label) :])]
    yield from toned("", rest)
