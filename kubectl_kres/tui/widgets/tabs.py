"""A line of tabs, one of which is active."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual import events
from textual.message import Message

from kubectl_kres.render.text.line import Tone
from kubectl_kres.tui.table.strips import Bar


class Tabs(Bar):
    """The current tab stands in brackets, so that colour is not needed to see it."""

    class Chosen(Message):
        """Another tab is wanted."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, tabs: Sequence[tuple[str, str]], current: str) -> None:
        super().__init__(id="tabs")
        self._tabs, self.current = tuple(tabs), current
        self._draw()

    def choose(self, tab: str) -> None:
        self.current = tab
        self._draw()

    def neighbour(self, by: int) -> str:
        """Return the tab so many to the right."""
        ids = [name for name, _ in self._tabs]
        return ids[(ids.index(self.current) + by) % len(ids)]

    def tab_ranges(self) -> Iterator[tuple[str, int, int]]:
        """Of each tab the cell that it begins with, and the one behind it."""
        index = 1
        for name, word in self._tabs:
            yield name, index, index + len(word) + 2
            index += len(word) + 2

    def _draw(self) -> None:
        line: list[tuple[Tone, str]] = []
        for name, word in self._tabs:
            line.append(("strong", f"[{word}]") if name == self.current else ("quiet", f" {word} "))
        self.put([("", " "), *line])

    def on_click(self, event: events.Click) -> None:
        for name, start, end in self.tab_ranges():
            if start <= event.x < end:
                self.post_message(self.Chosen(name))
