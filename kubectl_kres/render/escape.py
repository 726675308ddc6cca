"""Text from a cluster or a file made safe for a terminal, and how wide it is there."""

from __future__ import annotations

import re
import unicodedata

#: Controls (C0, DEL, C1), bidirectional marks and overrides, line and paragraph separators, lone surrogates.
_UNSAFE = "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_UNSAFE_IN_LINES = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_REPLACED = "\ufffd"

#: Vowels and final consonants of Hangul that are drawn into the syllable before them.
_JOINED_JAMO = range(0x1160, 0x1200)


def plain(text: str, *, keep_newlines: bool = False) -> str:
    """``text`` with each character that could move the cursor or turn the reading direction replaced by U+FFFD.

    ``keep_newlines`` lets newlines and tabs through.
    """
    if text.isprintable():
        return text
    return re.sub(_UNSAFE_IN_LINES if keep_newlines else _UNSAFE, _REPLACED, text)


def capped(text: str, limit: int = 2000) -> str:
    """At most ``limit`` characters of ``text``, followed by how many were left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit} more characters)"


def cells(text: str) -> int:
    """How many cells of a terminal ``text`` takes: two for wide characters, none for what is drawn over another."""
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"} or ord(character) in _JOINED_JAMO:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
