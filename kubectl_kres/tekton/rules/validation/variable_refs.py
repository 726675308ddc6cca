"""Variables that a text mentions, as the webhook finds them, and what is wrong with a mention."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import NamedTuple

from kubectl_kres.tekton.rules.validation.webhook_error import quote

#: How much of a text is shown when it is at fault: ``dimmed``, or all of it (``str``).
Shown = Callable[[str], str]

_CLOSING = {".": ")", '["': '"])', "['": "'])"}
_INDEX = re.compile(r"\[[0-9]*\*?\]")
_WHOLE = "[*]"
#: What is shown of a text that is at fault.
_SHOWN = re.compile(r"(\$\([^()\s]{1,200}\))")
_PARTS = 2
#: No name of anything is as long.
_LONGEST = 4096
_SHORT = 3


class Mention(NamedTuple):
    """One variable in a text: how it is written, what stands behind the prefix, whether a dot stands before it."""

    written: str
    name: str
    dotted: bool


def mentions(text: str, prefix: str) -> Iterator[Mention]:
    """The variables below the prefix, a regular expression, in their order; none where it is no such expression.

    What closes one stands on its line. The text is gone through once, since scripts are long.
    Source: pkg/substitution/substitution.go braceMatchingRegex.
    """
    opening = _opening(prefix) if "$(" in text else None
    match = opening.search(text) if opening is not None else None
    ends: dict[str, int] = {}
    while opening is not None and match is not None:
        closing, start = _CLOSING[match[1]], match.end()
        if ends.get(closing, -1) < start:
            number = text.find(closing, start)
            ends[closing] = len(text) if number < 0 else number
        end = ends[closing]
        closed = end < len(text) and "\n" not in text[start : min(end, start + _LONGEST)] and end - start <= _LONGEST
        if closed:
            yield Mention(text[match.start() : end + len(closing)], text[start:end], match[1] == ".")
        match = opening.search(text, end + len(closing) if closed else match.start() + 2)


def unknown(text: str, prefix: str, known: Collection[str], shown: Shown, *, named: bool = False) -> str:
    """What is said of the first variable that is not known; empty: all are. ``named``: it says which."""
    names, fault = _names(text, prefix, shown)
    if fault:
        return fault
    for name in names:
        if name not in known and (bare := _INDEX.sub("", name)) not in known:
            return f"non-existent variable{f' `{bare}`' if named else ''} in {quote(shown(text))}"
    return ""


def prohibited(text: str, prefix: str, lists: Collection[str], shown: Shown) -> str:
    """What is said of a list that is not named by index where one text is wanted; empty: nothing."""
    names, fault = _names(text, prefix, shown)
    if fault:
        return fault
    return _wrong_type(text, shown) if any(name.removesuffix(_WHOLE) in lists for name in names) else ""


def entire(text: str, prefix: str, objects: Collection[str], shown: Shown) -> str:
    """What is said of an object that is named without a key; empty: nothing."""
    result = (mention.name.removesuffix(_WHOLE) for mention in mentions(text, prefix))
    return _wrong_type(text, shown) if any(name in objects for name in result) else ""


def not_isolated(text: str, prefix: str, lists: Collection[str], shown: Shown) -> str:
    """What is said of a list that stands beside other text, where it could be no list; empty: nothing."""
    names, fault = _names(text, prefix, shown)
    if fault:
        return fault
    if any(name.removesuffix(_WHOLE) in lists for name in names) and next(mentions(text, prefix)).written != text:
        return f"variable is not properly isolated in {quote(shown(text))}"
    return ""


def dimmed(text: str) -> str:
    """The text with dots for all but what it refers to and what is too short to tell anything.

    Scripts and arguments are shown to nobody.
    """
    parts = enumerate(_SHOWN.split(text))
    return "".join(part if place % 2 or _is_short(part) else "..." for place, part in parts)


def _names(text: str, prefix: str, shown: Shown) -> tuple[list[str], str]:
    """The variables' names, without the key of an object, and what is said of names with too many parts."""
    names: list[str] = []
    for name, dotted in dict.fromkeys((mention.name, mention.dotted) for mention in mentions(text, prefix)):
        parts = name.split(".") if dotted else [name]
        if len(parts) > _PARTS:
            words = f'Only two dot-separated components after the prefix "{prefix}" are allowed.'
            return names, f'Invalid referencing of parameters in "{shown(text)}"! {words}'
        names.append(parts[0])
    return names, ""


def _wrong_type(text: str, shown: Shown) -> str:
    return f"variable type invalid in {quote(shown(text))}"


def _is_short(part: str) -> bool:
    return len(part) <= _SHORT and part.isascii() and part.isprintable()


@lru_cache(maxsize=4096)
def _opening(prefix: str) -> re.Pattern[str] | None:
    try:
        return re.compile(rf"\$\({prefix}(\.|\[\"|\[')")
    except re.error:
        return None
