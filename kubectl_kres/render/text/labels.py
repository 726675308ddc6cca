"""Lines behind the labels that all commands share: fix, or, run, next, then, server, seen, changed, more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text

#: Cells of a label at the beginning of a line.
LABEL = 8


def labelled_lines(label: str, text: str, width: int, *, tone: Tone = "") -> Iterator[Line]:
    """Yield ``text`` behind its label, in lines of at most ``width`` cells."""
    head = f"{label:<{LABEL}}"
    first, *rest = wrap_text(text, width, first=head, rest=" " * LABEL)
    yield [("strong", head), (tone, first[LABEL:])]
    yield from tone_lines(tone, rest)


def more_line(parts: list[str], width: int) -> Iterator[Line]:
    """Yield the last line of a short page: what ``--all`` shows beside it."""
    yield from labelled_lines("more", f"--all: {', '.join(parts)}", width, tone="quiet")


def command_lines(label: str, question: str, commands: Iterable[str], width: int) -> Iterator[Line]:
    """Yield the question that commands answer, and below it the commands, unbroken and alone on their lines.

    No comment stands behind them: an interactive zsh takes it as arguments.
    """
    yield from labelled_lines(label, f"{question}:", width, tone="quiet")
    for command in commands:
        yield [("", " " * LABEL), ("command", command)]
