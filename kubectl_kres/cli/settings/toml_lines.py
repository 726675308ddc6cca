"""On which line of a TOML document a key stands; tomllib does not say."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def line_of(text: str, path: Sequence[str]) -> int:
    """The line (from 1) where the statement begins that first names ``path``, or something below it; 0: none does.

    ``text`` is a valid document.
    """
    table: tuple[str, ...] = ()
    for line, statement, parsed in _statements(text):
        header = statement.startswith("[")
        if header:
            table = tuple(_keys(parsed))
        # A header's last table is empty, a key's path ends in its value.
        if _names(parsed, path, () if header else table):
            return line
    return 0


def _statements(text: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Line, text and what it parses to, of each statement.

    The lines of a valid document are taken together until they parse alone: a statement ends with its line, and a part
    of one is none.
    """
    begun, statement = 1, ""
    for number, line in enumerate(text.split("\n"), start=1):
        statement += line + "\n"
        try:
            parsed = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue
        if parsed:
            yield begun, statement.lstrip(), parsed
        begun, statement = number + 1, ""


def _keys(parsed: Any) -> Iterator[str]:
    """The names of a header that was parsed alone, ``[[a.b]]`` included."""
    while isinstance(parsed, dict) and parsed:
        name, parsed = next(iter(parsed.items()))
        yield name
        if isinstance(parsed, list):
            parsed = parsed[0]


def _names(parsed: Mapping[str, Any], path: Sequence[str], table: Sequence[str]) -> bool:
    """Whether a statement below ``table`` names the path."""
    if table[: len(path)] == tuple(path):
        return True
    if tuple(path[: len(table)]) != tuple(table):
        return False
    result: Any = parsed
    for key in path[len(table) :]:
        if isinstance(result, list) and result:
            result = result[0]
        if not isinstance(result, Mapping) or key not in result:
            return False
        result = result[key]
    return True
