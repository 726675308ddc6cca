"""What a filter's text means: a substring, an inversion, a regex, a fuzzy word or a label selector."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
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

    def narrows(self, other: Matcher) -> bool:
        """Whether whatever this one lets through, the other does too."""
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
        return Matcher("rows", rows=_says(field, value.strip().lower()))
    if text.startswith("-f "):
        return Matcher("text", _fuzzy(text[3:].strip().lower()))
    if text.startswith("!"):
        inner = matcher(text[1:], selector)
        return inner._replace(test=_not(inner.test), substring="") if inner.test is not None else inner
    if _REGEX.search(text):
        try:
            with warnings.catch_warnings():
                # A doubtful pattern is a pattern; a warning would be written over the screen.
                warnings.simplefilter("ignore")
                return Matcher("text", _found(re.compile(text, re.IGNORECASE)))
        except re.error:
            pass
    lowered = text.lower()
    return Matcher("text", lambda row: lowered in row, substring=lowered)


def _says(field: Callable[[Any], str], value: str) -> Callable[[Any], bool]:
    if not value:
        return lambda _row: True
    if value == "none":
        return lambda row: field(row).lower() in {"", "-", "none"}
    return lambda row: field(row).lower() == value


def _found(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda row: pattern.search(row) is not None


def _not(test: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda row: not test(row)


def _fuzzy(letters: str) -> Callable[[str], bool]:
    def test(row: str) -> bool:
        at = -1
        return all((at := row.find(letter, at + 1)) >= 0 for letter in letters)

    return test
