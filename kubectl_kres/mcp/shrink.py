"""Answers cut to a size that an agent can afford to read; what was left out is named."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

#: Bytes of an answer on the wire, at most: the whole message, in which the answer is a text of JSON.
LIMIT = 8192
#: Bytes of the message around the text.
_AROUND = 192

#: Left out of every answer: how it came about, step by step.
_ALWAYS = ("journal", "steps", "edits", "locate")
#: Left out where an answer is too long, one after the other.
_LATER = (
    *("totals", "demands", "overhead", "facts", "seen", "assumptions", "warnings", "qosAlternatives", "ways", "shares"),
    *("causes", "others", "findings", "tekton", "pools", "quotas", "containers", "unseen"),
)
#: Longer texts and lists are cut, if that is what it takes.
_TEXT, _ITEMS = 400, 5


def shrunk(answer: dict[str, Any], limit: int = LIMIT) -> dict[str, Any]:
    """The answer in at most ``limit`` bytes, whatever it holds. ``leftOut``: the keys that are not there, and what was
    cut.
    """
    left: dict[str, None] = {}
    result = _without(answer, _ALWAYS, left)
    for key in _LATER:
        if _size(result, left) <= limit:
            break
        result = _without(result, (key,), left)
    for text, items in ((_TEXT, 20), (_TEXT, _ITEMS), (120, _ITEMS), (60, 2)):
        if _size(result, left) <= limit:
            break
        result = _cut(result, text, items, left)
    while result and _size(result, left) > limit:
        longest = max(result, key=lambda key: len(text_of(result[key])))
        left[f"parts of {longest}"] = None
        result = {**result, longest: _halved(result[longest])}
    return {**result, **({"leftOut": list(left)} if left else {})}


def text_of(answer: Any) -> str:
    """The answer as JSON, with all but ASCII escaped, on one line and without a blank that says nothing."""
    return json.dumps(answer, ensure_ascii=True, separators=(",", ":"))


def _size(value: Any, left: dict[str, None]) -> int:
    return _AROUND + len(json.dumps(text_of({"leftOut": list(left), "answer": value})))


def _without(item: Any, keys: Sequence[str], left: dict[str, None]) -> Any:
    if isinstance(item, dict):
        left.update(dict.fromkeys(key for key in keys if key in item))
        return {key: _without(value, keys, left) for key, value in item.items() if key not in keys}
    return [_without(value, keys, left) for value in item] if isinstance(item, list) else item


def _cut(item: Any, text: int, items: int, left: dict[str, None]) -> Any:
    if isinstance(item, dict):
        return {key: _cut(value, text, items, left) for key, value in item.items()}
    if isinstance(item, list):
        if len(item) > items:
            left["items of long lists"] = None
        more = [f"and {len(item) - items} more"] if len(item) > items else []
        return [*(_cut(value, text, items, left) for value in item[:items]), *more]
    if isinstance(item, str) and len(item) > text:
        left["the ends of long texts"] = None
        return item[:text] + "…"
    return item


def _halved(item: Any) -> Any:
    """Return a value without half of its longest part: of a text, of the items of a list, of the fields of a map."""
    if isinstance(item, str):
        return item[: len(item) // 2]
    if not item or not isinstance(item, dict | list):
        return None
    pairs = list(item.items() if isinstance(item, dict) else enumerate(item))
    longest, value = max(pairs, key=lambda pair: len(text_of(pair[1])))
    if 2 * len(text_of(value)) > len(text_of(item)):
        pairs = [(key, _halved(value) if key == longest else part) for key, part in pairs]
    else:
        pairs = pairs[: len(pairs) // 2]
    return dict(pairs) if isinstance(item, dict) else [part for _, part in pairs]
