"""Text from a cluster or a file made safe for a terminal, and how wide it is there."""

from __future__ import annotations

import re
import unicodedata

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


def plain(text: str, *, keep_newlines: bool = False) -> str:
    """``text`` with each character that could move the cursor, turn the reading direction or hide replaced by U+FFFD.

    ``keep_newlines`` lets newlines and tabs through.
    """
    if text.isprintable():
        return text
    return re.sub(_UNSAFE_IN_LINES if keep_newlines else _UNSAFE, _REPLACED, text)


def capped(text: str, limit: int = LONGEST) -> str:
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
