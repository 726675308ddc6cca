"""What of a list is not as it was in the list before: with thousands of lines nobody finds the one that changed."""

from __future__ import annotations

import re
from collections.abc import Iterator

_COLOR = re.compile(r"\x1b\[[0-9;]*m")


def anew(before: str, now: str) -> str:
    """The entries of a list that the list before does not have, a heading in capitals above them; empty: none.

    An entry is a line and what is indented below it. How wide columns are makes no difference.
    """
    held = {_words(one) for one in _entries(before)}
    found = list(_entries(now))
    new = [one for one in found if _words(one) not in held]
    heading = found[:1] if new and _words(found[0]).isupper() and new[0] != found[0] else []
    return "".join((*heading, *new)).rstrip("\n") + "\n" * bool(new)


def _entries(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        if lines and _COLOR.sub("", line)[:1] not in {" ", "\n"}:
            yield "".join(lines)
            lines = []
        lines.append(line)
    if lines:
        yield "".join(lines)


def _words(entry: str) -> str:
    return " ".join(_COLOR.sub("", entry).split())
