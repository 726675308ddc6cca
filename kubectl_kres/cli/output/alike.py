"""Answers in JSON about objects that are alike, written after one pattern instead of being made for each."""

from __future__ import annotations

import re
from itertools import permutations
from typing import Generic, NamedTuple, TypeVar

from kubectl_kres.render.text.data import Item
from kubectl_kres.reports.common.system import Likeness

Report = TypeVar("Report")

#: So many patterns are kept: objects that are alike come one after the other.
_KEPT = 1000
#: What JSON writes as it stands: names and times.
_PLAIN = re.compile(r"[A-Za-z0-9:.-]+")


class _Pattern(NamedTuple, Generic[Report]):
    """The first answer of its kind. ``proven``: another one was equal to it but for its texts."""

    texts: tuple[str, ...]
    report: Report
    item: Item
    proven: bool = False


class Alike(Generic[Report]):
    """The second answer of those that are alike proves that they differ in their texts alone, which no later one is
    asked for; where it shows that they do not, each is made for itself.
    """

    def __init__(self) -> None:
        self._patterns: dict[bytes, _Pattern[Report] | None] = {}

    def known(self, like: Likeness) -> tuple[Report, Item] | None:
        """The first report of those that are alike, and the item of this one; None: it has to be made."""
        pattern = self._patterns.get(like.key)
        if pattern is None or not pattern.proven or not _fits(like.texts):
            return None
        return pattern.report, _written(pattern, like.texts)

    def learn(self, like: Likeness, report: Report, item: Item) -> None:
        """An answer that was made."""
        if len(self._patterns) >= _KEPT:
            self._patterns.clear()
        if like.key not in self._patterns:
            self._patterns[like.key] = _Pattern(like.texts, report, item) if _fits(like.texts) else None
            return
        pattern = self._patterns[like.key]
        if pattern is not None and not pattern.proven:
            same = _fits(like.texts) and _written(pattern, like.texts) == item
            self._patterns[like.key] = pattern._replace(proven=True) if same else None


def _fits(texts: tuple[str, ...]) -> bool:
    """Whether each can be told from the others wherever it stands."""
    apart = not any(name in other for name, other in permutations(texts, 2))
    return apart and all(_PLAIN.fullmatch(text) for text in texts)


def _written(pattern: _Pattern[Report], texts: tuple[str, ...]) -> Item:
    """The pattern with other texts in place of its own."""
    text = pattern.item.text
    for old, new in zip(pattern.texts, texts, strict=True):
        text = text.replace(old, new)
    return Item(text)
