"""Regular expressions as Go has them: matched by RE2, which both descend from, with errors in Go's words.

What Go takes and RE2 does not, or the other way round, is looked for beforehand. Source: Go src/regexp/syntax/parse.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from kubectl_kres.policies.cel.base.values import NotComputed

#: RE2's words for what is wrong, and Go's.
_WORDS = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "invalid UTF-8": "invalid escape sequence",  # of ``\x{`` without an end
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "trailing \\": "trailing backslash at end of expression",
}
_UNCLOSED, _UNEXPECTED, _TOO_LARGE = "missing )", "unexpected )", "pattern too large - compile failed"
#: What RE2 says of ``\\x{`` at the end.
_UNENDED = "invalid UTF-8"
#: Bytes that RE2 may need for one pattern; its own default does not hold all that Go takes.
_MEMORY = 64 * 2**20
#: Go refuses what nests 1000 deep, where each group counts up to four times.
_DEEP = 240
_MOST_REPEATS, _DIGITS = 1000, 4

_NAMED_CLASS = r"\\[pP](?:\{\^?(?P<name>[^}]*)(?:\}|\Z)|(?P<letter>[^{]))"
#: What stands for itself, a class, an escape, the beginning of a named group, a repetition, a bracket.
_TOKEN = re.compile(
    r"\\Q.*?(?:\\E|\Z)|(?P<set>\[\^?\]?(?:\[:\^?[a-z]*:\]|\\.|[^\]\\])*\]?)"
    rf"|{_NAMED_CLASS}|(?P<escape>\\x(?:\{{[^}}]*\}}?|.{{0,2}})|\\.)|(?P<group>\(\?P?<)(?P<called>[^>]*)(?P<closed>>?)"
    r"|(?P<repeat>\{(?P<least>0|[1-9][0-9]*)(?:,(?P<most>0|[1-9][0-9]*)?)?\})"
    r"|(?P<open>\(\?[imsU-]*:|\((?!\?))|\(\?[imsU-]*.?|(?P<close>\))",
    re.DOTALL,
)
_IN_SET = re.compile(rf"{_NAMED_CLASS}|\\.", re.DOTALL)
#: Classes of one letter, and those of which the Go of older servers does not know the name.
_LETTERS = frozenset("CLMNPSZ")
_NEWER = frozenset({
    *("Assigned", "Cn", "Control", "Format", "Letter", "Mark", "Number", "Other", "Punctuation", "Separator"),
    *("Surrogate", "Symbol", "Unassigned", "Cntrl", "Digit", "Punct"),
})  # fmt: skip


_SURROGATES = re.compile("[\ud800-\udfff]")


class BadPattern(ValueError):
    """The pattern does not compile; the text is Go's."""

    def __init__(self, fault: str, part: str) -> None:
        super().__init__(f"error parsing regexp: {fault}: `{part}`")


class Pattern:
    """A compiled pattern."""

    def __init__(self, compiled: Any, *, ascii_only: bool) -> None:
        self._compiled, self._ascii_only = compiled, ascii_only

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where each match stands, from left to right: of several that begin there the one that Perl would
        prefer, and no empty one at the end of another. Raises NotComputed.
        """
        if self._ascii_only and not text.isascii():
            # RE2 takes the inside of a character for what is no end of a word, too.
            raise NotComputed("a pattern with \\B and a text that is not ASCII")
        last = -1
        for match in self._compiled.finditer(_as_read(text)):
            start, end = match.span()
            if start != end or start != last:
                yield start, end
            last = end


@lru_cache(maxsize=64)
def compile_pattern(pattern: str) -> Pattern:
    """Raises BadPattern, and NotComputed where it depends on the server's Go whether the pattern is one."""
    pattern, ascii_only = _as_read(pattern), False
    for position, text, refusal in _tokens(pattern):
        if refusal is not None:
            # What is wrong before it is said first.
            raise _fault(pattern, position) or refusal
        ascii_only |= text == "\\B"
    fault = _fault(pattern)
    if fault is not None:
        raise fault
    return Pattern(_compile(pattern), ascii_only=ascii_only)


def _tokens(pattern: str) -> Iterator[tuple[int, str, BadPattern | None]]:
    """Yield each token with its position, and for one that Go alone refuses its error. Raises NotComputed for a class
    that not every Go knows, and for what nests very deeply.
    """
    depth = 0
    for match in _TOKEN.finditer(pattern):
        depth += bool(match["open"] or match["group"]) - bool(match["close"])
        if depth > _DEEP:
            raise NotComputed("a pattern that nests too deeply")
        for named in (match, *_IN_SET.finditer(match["set"] or "")):
            _check_class(named["name"] or named["letter"] or "")
        yield match.start(), match[0], _refusal_of(match)


def _refusal_of(match: re.Match[str]) -> BadPattern | None:
    if match["escape"] == "\\C":
        return BadPattern("invalid escape sequence", "\\C")
    if match["group"] and not (match["closed"] and re.fullmatch("[A-Za-z0-9_]+", match["called"])):
        return BadPattern("invalid named capture", match[0])
    least, most = match["least"], match["most"] or match["least"]
    if least and (len(max(least, most, key=len)) > _DIGITS or not int(least) <= int(most) <= _MOST_REPEATS):
        return BadPattern("invalid repeat count", match["repeat"])
    return None


def _check_class(name: str) -> None:
    """Raise NotComputed where it depends on the version of Go whether a class is called so.

    Since Go 1.25 the letters of a name may be large or small, with the first for a large one and without underscores,
    and there are longer names. Source: canonicalName, unicode.CategoryAliases.
    """
    canonical = re.sub("[-_ ]", "", name).capitalize()
    is_name = len(name) > 1 or canonical in _LETTERS
    if name in _NEWER or (is_name and name != canonical and re.fullmatch("[A-Za-z_ -]+", name)):
        raise NotComputed(f"a pattern with the class {name}, which not every server's Go knows")


def _fault(pattern: str, end: int | None = None) -> BadPattern | None:
    """Return what is wrong with a pattern, or with its beginning: that nothing closes a group there is no fault yet.

    Raises NotComputed.
    """
    try:
        _compile(pattern[:end])
    except _re2().error as error:
        text = error.args[0].decode()
    else:
        return None
    fault, _, part = text.partition(": ")
    if fault == _TOO_LARGE:
        raise NotComputed("a pattern that is too large")
    if fault == _UNCLOSED and end is not None:
        return None
    if part in {"\\p", "\\P"}:
        fault = "invalid character class range"
    elif fault == _UNEXPECTED:
        part = pattern
    elif fault == _UNENDED:
        part = pattern[pattern.rfind("\\x{") :]
    return BadPattern(_WORDS.get(fault, fault), part)


def _compile(pattern: str) -> Any:
    """Raises re2.error."""
    options = _re2().Options()
    options.max_mem, options.log_errors, options.never_capture = _MEMORY, False, True
    return _re2().compile(pattern, options)


@cache
def _re2() -> Any:
    try:
        import re2  # noqa: PLC0415 - a policy with a pattern alone needs it
    except ImportError:
        raise NotComputed("a pattern: that needs google-re2 (pip install google-re2)") from None
    return re2


def _as_read(text: str) -> str:
    """Return the text without what is no character, for which Go reads a character that stands for all such."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)
