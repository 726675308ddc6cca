"""The keys to search in: what ctrl-p offers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider

from kubectl_kres.tui.keys import KEYS, Key


class Keys(Provider):
    """Each key of the table by its words; to choose it is to press it."""

    async def discover(self) -> Hits:
        for key, run in self._all():
            yield DiscoveryHit(f"{key.word}  ({key.shown})", run, help=key.text)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for key, run in self._all():
            text = f"{key.word}  ({key.shown})"
            score = max(matcher.match(text), matcher.match(key.text))
            if score > 0:
                yield Hit(score, matcher.highlight(text), run, help=key.text)

    def _all(self) -> Iterator[tuple[Key, Any]]:
        app: Any = self.app
        for key in KEYS:
            if key.palette:
                yield key, partial(app.action_act, key.id)
