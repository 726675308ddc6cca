"""A line of output, safe for a terminal: toned pieces of text, columns, bars, ages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Literal

#: Bidirectional marks and overrides, line and paragraph separators, lone surrogates; and what takes no room and means
#: nothing, with which two names could look the same. Joiners are part of scripts and of emoji.
_HIDDEN = "\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f"
#: Controls (C0, DEL, C1) beside them.
_UNSAFE = f"[\x00-\x1f\x7f-\x9f{_HIDDEN}]"
_UNSAFE_IN_LINES = f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_HIDDEN}]"
_REPLACED = "\ufffd"

#: Characters of a text beyond which it is cut off.
LONGEST = 2000

#: Vowels and final consonants of Hangul that are drawn into the syllable before them.
_JOINED_JAMO = range(0x1160, 0x1200)


def sanitize_text(text: str, *, keep_newlines: bool = False) -> str:
    """``text`` with each character that could move the cursor, turn the reading direction or hide replaced by U+FFFD.

    ``keep_newlines`` lets newlines and tabs through.
    """
    if text.isprintable():
        return text
    return re.sub(_UNSAFE_IN_LINES if keep_newlines else _UNSAFE, _REPLACED, text)


def truncate_text(text: str, limit: int = LONGEST) -> str:
    """At most ``limit`` characters of ``text``, followed by how many were left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit} more characters)"


def cells(text: str) -> int:
    """Return how many cells of a terminal ``text`` takes: two for wide characters, none for what is drawn over
    another.
    """
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"} or ord(character) in _JOINED_JAMO:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


#: ``command``: something to type, which is never broken into lines.
Tone = Literal["", "good", "bad", "warn", "strong", "quiet", "command"]
Line = Sequence[tuple[Tone, str]]

_SGR = {"good": "32", "bad": "31", "warn": "33", "strong": "1", "quiet": "2", "command": "1"}


def draw(line: Line, *, color: bool) -> str:
    """Return the line as printed: text from a cluster loses its control characters, blanks at the end go."""
    drawn = [
        f"\x1b[{_SGR[tone]}m{printable_text(text)}\x1b[0m" if color and tone and text else printable_text(text)
        for tone, text in line
    ]
    return "".join(drawn).rstrip()


def printable_text(text: str) -> str:
    """``text`` as it is drawn: safe for a terminal, and not too long."""
    if len(text) <= LONGEST and text.isprintable():
        return text
    return sanitize_text(truncate_text(text))


def size(text: str) -> int:
    """Cells that ``text`` takes once it is drawn."""
    return cells(printable_text(text))


def pad_text(text: str, width: int) -> str:
    """``text`` filled with blanks to ``width`` cells."""
    return text + " " * max(0, width - size(text))


def row(texts: Sequence[str], widths: Sequence[int]) -> str:
    """Texts side by side in columns of these widths, two blanks apart."""
    return "  ".join(pad_text(text, width) for text, width in zip(texts, widths, strict=True))


def clip_text(text: str, width: int) -> str:
    """``text``, or as much of its beginning as leaves room for an ellipsis in ``width`` cells."""
    if size(text) <= width:
        return text
    kept, room = "", width - 1
    for character in truncate_text(text):
        room -= size(character)
        if room < 0:
            break
        kept += character
    return f"{kept}…"


def wrap_text(text: str, width: int, *, first: str = "", rest: str = "") -> Iterator[str]:
    """``text`` in lines of at most ``width`` cells, broken at blanks; a longer word stands alone on its line."""
    line, empty = first, True
    for word in truncate_text(text).split():
        over = size(line) + (not empty) + size(word) > width
        if over and (not empty or size(rest) + size(word) <= width < size(first) + size(word)):
            yield line
            line, empty = rest, True
        line += word if empty else f" {word}"
        empty = False
    yield line


def aligned_lines(tone: Tone, head: str, column: int, tail: Line, width: int) -> Iterator[Line]:
    """``head`` with the tail in its column; on lines of its own if it is too long for that."""
    if size(head) <= column:
        yield [(tone, pad_text(head, column)), *tail]
        return
    indent = head[: len(head) - len(head.lstrip(" "))]
    yield from tone_lines(tone, wrap_text(head, width, first=indent, rest=f"{indent}  "))
    yield [("", " " * column), *tail]


def tone_lines(tone: Tone, lines: Iterable[str]) -> Iterator[Line]:
    for line in lines:
        yield [(tone, line)]


def led_lines(tone: Tone, lead: str, text: str, width: int) -> Iterator[Line]:
    """Yield a sentence whose beginning alone, ``lead``, carries the tone; ``text`` goes on behind it."""
    first, *rest = wrap_text(f"{lead}{text}", width, rest="  ")
    yield [(tone, first[: len(lead)]), ("", first[len(lead) :])]
    yield from tone_lines("", rest)


def age_text(time: str, now: str) -> str:
    """Return how long ago, in the largest unit; empty if that is not known. Both as RFC 3339."""
    try:
        seconds = int((datetime.fromisoformat(now) - datetime.fromisoformat(time)).total_seconds())
    except (ValueError, TypeError):
        return ""
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return f"{max(0, seconds)}s"


#: A moment (RFC 3339) in a sentence of ours, as in ``by flux at 2026-11-20T03:00:00Z``.
_MOMENT = r"\b(at )?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"


def with_ages(text: str, now: str) -> str:
    """Return the sentence with ages in place of moments, as far as ``now`` (RFC 3339) is known."""

    def age(match: re.Match[str]) -> str:
        ago = age_text(match[2], now)
        return f"{ago} ago" if ago else match[0]

    return re.sub(_MOMENT, age, text) if now else text


def ago_or_at(time: str, now: str) -> str:
    """Return `` 2m ago``; the moment itself where no age is known; empty where no moment is."""
    ago = age_text(time, now)
    return f" {ago} ago" if ago else f" at {time}" if time else ""


def duration_text(start: str, now: str) -> str:
    """Return ``for 2m``; ``since`` the moment itself where no age is known. ``start``: RFC 3339, not empty."""
    ago = age_text(start, now)
    return f"for {ago}" if ago else f"since {start}"


_GAP = 2


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return one line for each row of cells, two blanks between columns; the last cell of a row widens none.

    Source: Go's text/tabwriter with padding 2, as kubectl describe uses it.
    """
    return [*_block([[*map(sanitize_text, row)] for row in rows], [])]


def _block(rows: Sequence[Sequence[str]], widths: list[int]) -> Iterator[str]:
    """Lines of rows that all have the columns of ``widths``; the next column is found run by run."""
    column, index = len(widths), 0
    while index < len(rows):
        if len(rows[index]) <= column + 1:
            cells = rows[index]
            yield "".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)) + "".join(
                cells[column:]
            )
            index += 1
            continue
        end = next((other for other in range(index, len(rows)) if len(rows[other]) <= column + 1), len(rows))
        run = rows[index:end]
        yield from _block(run, [*widths, max(len(row[column]) for row in run) + _GAP])
        index = end


FULL, EMPTY = "█", "░"
ASCII_FULL, ASCII_EMPTY = "#", "."
#: Cells of a bar beside figures, where there is room.
_CELLS = 12
#: From here on the figure says nothing any more.
_ABSURD = 10_000


def gauge(percent: int | None, room: int, *, over: bool, ascii_only: bool) -> str:
    """Return the end of a row: a bar where at least a third of it has room in ``room`` cells, the figure, and ``over``.

    percent None: there is nothing to be a part of, and so no figure.
    """
    text = " over" if over else ""
    if percent is None:
        return f" {text}" if text else ""
    figures = f" {percent:>3}%{text}" if percent < _ABSURD else " over"
    cells = min(_CELLS, room - 2 - len(figures))
    drawn = bar(percent, cells, ascii_only=ascii_only) if cells >= _CELLS // 3 else ""
    return f"  {drawn}{figures}" if drawn else f" {figures}"


#: A cell that is filled by eighths, from one to seven.
_EIGHTHS = "▏▎▍▌▋▊▉"
#: From here on nearly nothing is left, which a bar marks.
_NEAR = 90
#: What ends a bar, and what ends one of which more is used than there is.
_END, _OVER = "|", ("▶", ">")


def fine_bar(percent: int | None, width: int, *, ascii_only: bool) -> str:
    """Return ``width`` cells and the end behind them, filled to an eighth of a cell, with a mark at 90 percent.

    ``percent`` None: more is used than there is, of which there is nothing.
    """
    if percent is None or percent > 100:
        return (ASCII_FULL if ascii_only else FULL) * width + _OVER[ascii_only]
    if ascii_only:
        drawn = bar(percent, width, ascii_only=True).replace(ASCII_EMPTY, " ")
    else:
        whole, part = divmod(max(percent, 0) * width * 8 // 100, 8)
        if percent > 0 and not (whole or part):
            part = 1
        drawn = FULL * whole + _EIGHTHS[part - 1 : part]
    mark = _NEAR * width // 100
    cells = f"{drawn.rstrip():<{width}}"
    if cells[mark] == " ":
        cells = f"{cells[:mark]}{'.' if ascii_only else '·'}{cells[mark + 1 :]}"
    return f"{cells}{_END}"


def bar(percent: int, width: int, *, ascii_only: bool) -> str:
    """``width`` cells, filled in proportion; no bar is full below 100 percent, none empty above zero."""
    full, empty = (ASCII_FULL, ASCII_EMPTY) if ascii_only else (FULL, EMPTY)
    filled = min(width, max(0, percent) * width // 100)
    if percent > 0 and not filled:
        filled = 1
    return full * filled + empty * (width - filled)


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
