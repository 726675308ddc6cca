"""A small document as YAML lines that know their path, so that a reason can stand beside each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: Texts that every YAML reader takes as the same string without quotes.
_BARE = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*|[0-9]+([munk]|[KMGTPE]i?)")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
#: What Kubernetes addresses by key rather than by field.
_KEYED = ("limits", "requests", "overhead", "annotations")


def yaml_lines(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each line with the path of what it holds, as the server writes paths. Keys are sorted, as kubectl prints them."""
    yield from _mapping(document, "", "")


def _mapping(node: Mapping[str, Any], indent: str, path: str) -> Iterator[tuple[str, str]]:
    for key in sorted(node):
        value = node[key]
        at = f"{path}[{key}]" if path.endswith(_KEYED) else f"{path}.{key}".lstrip(".")
        head = f"{indent}{scalar(key)}:"
        if isinstance(value, Mapping):
            yield f"{head} {{}}" if not value else head, at
            yield from _mapping(value, f"{indent}  ", at)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield f"{head} []" if not value else head, at
            yield from _sequence(value, indent, at)
        else:
            yield f"{head} {scalar(value)}", at


def _sequence(items: Sequence[Any], indent: str, path: str) -> Iterator[tuple[str, str]]:
    for index, item in enumerate(items):
        at = f"{path}[{index}]"
        if not isinstance(item, Mapping):
            yield f"{indent}- {scalar(item)}", at
            continue
        for number, (line, place) in enumerate(_mapping(item, f"{indent}  ", at)):
            yield (f"{indent}- {line[len(indent) + 2 :]}" if number == 0 else line), place


def scalar(value: Any) -> str:
    """A value on one line; quoted where a reader could take it for something other than that string."""
    if not isinstance(value, str):
        return json.dumps(value)
    if _BARE.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)
