"""Filters of rows: the texts that they look in, and what a filter's text means."""

from __future__ import annotations

import re
import warnings
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from kubectl_kres.errors import KresError

#: Compiles a label selector to a test of labels. Raises KresError.
Selector = Callable[[str], Callable[[Mapping[str, str]], bool]]
RowLabels = Mapping[str, str]
#: What makes a text of a row, by the name that a filter calls it.
Fields = Mapping[str, Callable[[Any], str]]

_REGEX = re.compile(r"[\\^$*+?{}\[\]|()]")


class Matcher(NamedTuple):
    """A filter. ``on``: whether it looks at the text of a row (in lower case), at its labels, or at the row itself.

    ``substring``: what is looked for, if it is that simple. ``fault``: why the text means nothing, so hides nothing.
    """

    on: str
    test: Callable[[str], bool] | None = None
    labels: Callable[[RowLabels], bool] | None = None
    substring: str = ""
    fault: str = ""
    rows: Callable[[Any], bool] | None = None

    def is_narrower(self, other: Matcher) -> bool:
        """Return whether whatever this one lets through, the other does too."""
        return bool(self.substring) and bool(other.substring) and other.substring in self.substring


EVERYTHING = Matcher("text")


def matcher(text: str, selector: Selector | None = None, fields: Fields | None = None) -> Matcher:
    """``qos=BestEffort``: what a field says, ``none`` where it says nothing.

    ``!web``: all but; ``-f wb``: the characters in order; ``-l app=web``: labels; else a substring or a regex.
    """
    text = text.strip()
    if not text or text in {"!", "-l", "-f"}:
        return EVERYTHING
    if text.startswith("-l ") and selector is not None:
        try:
            return Matcher("labels", labels=selector(text[3:].strip()))
        except KresError as error:
            return Matcher("text", fault=error.message)
    name, equals, value = text.partition("=")
    if equals and (field := (fields or {}).get(name.strip().lower())) is not None:
        return Matcher("rows", rows=_build_field_test(field, value.strip().lower()))
    if text.startswith("-f "):
        return Matcher("text", _fuzzy(text[3:].strip().lower()))
    if text.startswith("!"):
        inner = matcher(text[1:], selector)
        return inner._replace(test=_negate_test(inner.test), substring="") if inner.test is not None else inner
    if _REGEX.search(text):
        try:
            with warnings.catch_warnings():
                # A doubtful pattern is a pattern; a warning would be written over the screen.
                warnings.simplefilter("ignore")
                return Matcher("text", _compile_search(re.compile(text, re.IGNORECASE)))
        except re.error:
            pass
    lowered = text.lower()
    return Matcher("text", lambda row: lowered in row, substring=lowered)


def _build_field_test(field: Callable[[Any], str], value: str) -> Callable[[Any], bool]:
    if not value:
        return lambda _row: True
    if value == "none":
        return lambda row: field(row).lower() in {"", "-", "none"}
    return lambda row: field(row).lower() == value


def _compile_search(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda row: pattern.search(row) is not None


def _negate_test(test: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda row: not test(row)


def _fuzzy(letters: str) -> Callable[[str], bool]:
    def test(row: str) -> bool:
        index = -1
        return all((index := row.find(letter, index + 1)) >= 0 for letter in letters)

    return test


#: A row's text; or in three parts that follow each other, of which many rows have the first and the last in common.
RowText = str | tuple[str, str, str]
#: Common parts that are remembered before those that no row has any more are forgotten.
_MOST = 20_000


class RowTexts:
    """By slot, as a view numbers its rows; made by ``read``, some at a time."""

    def __init__(self, text: Callable[[Any], RowText]) -> None:
        self._text = text
        self._prefixes: list[str] = []
        #: None: it is not made yet.
        self._texts: list[str | None] = []
        self._after: list[str] = []
        self._unread_slots = array("I")
        #: Slots whose texts may be others by now; until they are made anew they are as they were.
        self._aged = array("I")
        #: Common parts in lower case, by what rows say; among them all that stand before or after.
        self._lowercase_parts: dict[str, str] = {}
        self._maximum = _MOST

    @property
    def all_made(self) -> bool:
        """Return whether all rows have one."""
        return not self._unread_slots

    @property
    def all_current(self) -> bool:
        """Return whether all are made, as they are now."""
        return not self._unread_slots and not self._aged

    def renew(self, count: int) -> None:
        """Other rows at all slots, so many of them."""
        self._prefixes, self._texts, self._after = [""] * count, [None] * count, [""] * count
        self._unread_slots, self._aged = array("I", range(count - 1, -1, -1)), array("I")

    def age(self) -> None:
        """Has all that are made made anew, while the older ones serve."""
        self._aged = array("I", [slot for slot, own_text in enumerate(self._texts) if own_text is not None])

    def add(self) -> None:
        """One more slot."""
        self._unread_slots.append(len(self._texts))
        self._prefixes.append("")
        self._texts.append(None)
        self._after.append("")

    def drop(self, slot: int) -> None:
        """Another row stands there."""
        if self._texts[slot] is not None:
            self._texts[slot] = None
            self._unread_slots.append(slot)

    def read(self, rows: Sequence[Any], maximum: int | None = None) -> None:
        """Make those of so many slots more; if ``maximum`` is None, of all that have none. ``rows``: by slot."""
        waiting = self._unread_slots if self._unread_slots or maximum is None else self._aged
        some = waiting[-maximum:] if maximum is not None else waiting[:]
        del waiting[len(waiting) - len(some) :]
        for slot in some:
            self._store_texts(slot, rows[slot])

    def _store_texts(self, slot: int, row: Any) -> None:
        parts = self._text(row)
        if isinstance(parts, str):
            self._texts[slot] = parts.lower()
            return
        first, name, last = parts
        lowered = name.lower()
        # Most names are of lower case: then the row's own text is kept, and not a second one.
        self._texts[slot] = name if lowered == name else lowered
        self._prefixes[slot], self._after[slot] = self._intern_text(first), self._intern_text(last)

    def _intern_text(self, part: str) -> str:
        lowered = self._lowercase_parts.get(part)
        if lowered is None:
            if len(self._lowercase_parts) >= self._maximum:
                self._lowercase_parts = {text: text for text in {*self._prefixes, *self._after}}
                self._maximum = max(_MOST, 2 * len(self._lowercase_parts))
            lowered = self._lowercase_parts[part] = part.lower()
        return lowered

    def matching(self, slots: Iterable[int], matcher: Matcher) -> list[int]:
        """Return those of the slots whose texts, which must be made, the filter lets through."""
        before, own_text, after = self._prefixes, self._texts, self._after
        word, test = matcher.substring, matcher.test
        assert test is not None
        if word and " " not in word:
            # Blanks stand between the parts: what has none stands in one of them.
            texts: list[Any] = own_text
            having = {part for part in self._lowercase_parts.values() if word in part}
            if not having:
                return [slot for slot in slots if word in texts[slot]]
            return [slot for slot in slots if word in texts[slot] or before[slot] in having or after[slot] in having]
        return [slot for slot in slots if test(self._join_texts(slot))]

    def _join_texts(self, slot: int) -> str:
        before, own_text, after = self._prefixes[slot], self._texts[slot], self._after[slot]
        return f"{before} {own_text} {after}" if before or after else own_text or ""
