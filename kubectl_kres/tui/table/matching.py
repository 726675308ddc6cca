"""What a filter's text means: a substring, an inversion, a regex, a fuzzy word or a label selector."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from typing import NamedTuple

from kubectl_kres.errors import KresError

#: Compiles a label selector to a test of labels. Raises KresError.
Selector = Callable[[str], Callable[[Mapping[str, str]], bool]]
RowLabels = Mapping[str, str]

_REGEX = re.compile(r"[\\^$*+?{}\[\]|()]")


class Matcher(NamedTuple):
    """A filter. ``on``: whether it looks at the text of a row (in lower case) or at its labels.

    ``substring``: what is looked for, if it is that simple. ``fault``: why the text means nothing, so hides nothing.
    """

    on: str
    test: Callable[[str], bool] | None = None
    labels: Callable[[RowLabels], bool] | None = None
    substring: str = ""
    fault: str = ""

    def narrows(self, other: Matcher) -> bool:
        """Whether whatever this one lets through, the other does too."""
        return bool(self.substring) and bool(other.substring) and other.substring in self.substring


EVERYTHING = Matcher("text")


def matcher(text: str, selector: Selector | None = None) -> Matcher:
    """``!web``: all but; ``-f wb``: the characters in order; ``-l app=web``: labels; else a substring or a regex."""
    text = text.strip()
    if not text or text in {"!", "-l", "-f"}:
        return EVERYTHING
    if text.startswith("-l ") and selector is not None:
        try:
            return Matcher("labels", labels=selector(text[3:].strip()))
        except KresError as error:
            return Matcher("text", fault=error.message)
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


def _found(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda row: pattern.search(row) is not None


def _not(test: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda row: not test(row)


def _fuzzy(letters: str) -> Callable[[str], bool]:
    def test(row: str) -> bool:
        at = -1
        return all((at := row.find(letter, at + 1)) >= 0 for letter in letters)

    return test
