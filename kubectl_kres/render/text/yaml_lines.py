"""A small document as YAML lines that know their path, so that a reason can stand beside each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

#: Texts that every YAML reader takes as the same string without quotes.
_BARE = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*|[0-9]+([munk]|[KMGTPE]i?)")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
#: What Kubernetes addresses by key rather than by field.
_KEYED = ("limits", "requests", "overhead", "annotations")


def yaml_lines(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Each line with the path of what it holds, as the server writes paths. Keys are sorted, as kubectl prints them."""
    pairs: list[tuple[str, str]] = []
    _mapping(document, "", "", pairs)
    return pairs


def _mapping(node: Mapping[str, Any], indent: str, path: str, pairs: list[tuple[str, str]]) -> None:
    keyed = path.endswith(_KEYED)
    for key in sorted(node):
        value = node[key]
        at = f"{path}[{key}]" if keyed else f"{path}.{key}" if path else key
        head = f"{indent}{scalar(key)}:"
        if isinstance(value, str):
            pairs.append((f"{head} {scalar(value)}", at))
        elif isinstance(value, Mapping):
            pairs.append((f"{head} {{}}" if not value else head, at))
            _mapping(value, f"{indent}  ", at, pairs)
        elif isinstance(value, Sequence):
            pairs.append((f"{head} []" if not value else head, at))
            _sequence(value, indent, at, pairs)
        else:
            pairs.append((f"{head} {scalar(value)}", at))


def _sequence(items: Sequence[Any], indent: str, path: str, pairs: list[tuple[str, str]]) -> None:
    for index, item in enumerate(items):
        at = f"{path}[{index}]"
        if not isinstance(item, Mapping):
            pairs.append((f"{indent}- {scalar(item)}", at))
            continue
        first = len(pairs)
        _mapping(item, f"{indent}  ", at, pairs)
        if len(pairs) > first:
            line, place = pairs[first]
            pairs[first] = f"{indent}- {line[len(indent) + 2 :]}", place


def scalar(value: Any) -> str:
    """A value on one line; quoted where a reader could take it for something other than that string."""
    return _text(value) if isinstance(value, str) else json.dumps(value)


@lru_cache(4096)
def _text(value: str) -> str:
    if _BARE.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)
