"""The queue of messages from the readers to the owner of the store."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Event, Lock
from typing import Any, Literal, NamedTuple

#: So many objects wait at most; whoever reads more waits instead, and in the end the server does.
FULL = 2_000
#: Seconds after which whoever takes words lets the rest wait for the next time.
LONGEST = 0.02
#: Seconds between two looks whether there is room.
_LOOK = 0.02

What = Literal["begin", "items", "listed", "events", "cover", "fault"]


class ReaderMessage(NamedTuple):
    """What a reader tells the owner of the store.

    begin: a list begins. items: some of its objects. listed: it is complete but for the objects that the lines name.
    events: of a watch. cover: how reading went, where there is no list. fault: a bug.
    """

    reader: Any
    kind: What
    load: Any = None

    @property
    def object_count(self) -> int:
        """Return how many objects it holds."""
        return len(self.load) if self.kind in {"items", "events"} else 0


def tell_nobody() -> None:
    """What is called for each word where nobody waits for one."""


class Inbox:
    """Words in the order of their telling. Many threads may put them, one takes them.

    ``on_word``: called by who puts one, when it is there, and by a reader whose state is another one.
    """

    def __init__(self) -> None:
        self.on_word: Callable[[], None] = tell_nobody
        self._words: deque[ReaderMessage] = deque()
        self._lock = Lock()
        self._weight = 0

    def put(self, word: ReaderMessage, over: Event) -> None:
        """Wait until there is room, then add it; nothing is added once ``over`` is set."""
        while self._weight >= FULL:
            if over.wait(_LOOK):
                return
        if over.is_set():
            return
        with self._lock:
            self._weight += word.object_count
            self._words.append(word)
        self.on_word()

    def take(self) -> ReaderMessage | None:
        """Return the next one; None if there is none."""
        if not self._words:
            return None
        with self._lock:
            word = self._words.popleft()
            self._weight -= word.object_count
        return word
