"""What filters look at: the texts of rows in lower case, of which no second one is kept where one is there already."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kubectl_kres.tui.table.matching import Matcher

#: A row's text; or in three parts that follow each other, of which many rows have the first and the last in common.
RowText = str | tuple[str, str, str]
#: Common parts that are remembered before those that no row has any more are forgotten.
_MOST = 20_000


class RowTexts:
    """By slot, as a view numbers its rows; made by ``read``, some at a time."""

    def __init__(self, text: Callable[[Any], RowText]) -> None:
        self._text = text
        self._before: list[str] = []
        #: None: it is not made yet.
        self._own: list[str | None] = []
        self._after: list[str] = []
        self._unread = array("I")
        #: Slots whose texts may be others by now; until they are made anew they are as they were.
        self._aged = array("I")
        #: Common parts in lower case, by what rows say; among them all that stand before or after.
        self._lowered: dict[str, str] = {}
        self._most = _MOST

    @property
    def made(self) -> bool:
        """Whether all rows have one."""
        return not self._unread

    @property
    def whole(self) -> bool:
        """Whether all are made, as they are now."""
        return not self._unread and not self._aged

    def renew(self, count: int) -> None:
        """Other rows at all slots, so many of them."""
        self._before, self._own, self._after = [""] * count, [None] * count, [""] * count
        self._unread, self._aged = array("I", range(count - 1, -1, -1)), array("I")

    def age(self) -> None:
        """Has all that are made made anew, while the older ones serve."""
        self._aged = array("I", [slot for slot, own in enumerate(self._own) if own is not None])

    def add(self) -> None:
        """One more slot."""
        self._unread.append(len(self._own))
        self._before.append("")
        self._own.append(None)
        self._after.append("")

    def drop(self, slot: int) -> None:
        """Another row stands there."""
        if self._own[slot] is not None:
            self._own[slot] = None
            self._unread.append(slot)

    def read(self, rows: Sequence[Any], most: int | None = None) -> None:
        """Makes those of so many slots more; if ``most`` is None, of all that have none. ``rows``: by slot."""
        waiting = self._unread if self._unread or most is None else self._aged
        some = waiting[-most:] if most is not None else waiting[:]
        del waiting[len(waiting) - len(some) :]
        for slot in some:
            self._make(slot, rows[slot])

    def _make(self, slot: int, row: Any) -> None:
        parts = self._text(row)
        if isinstance(parts, str):
            self._own[slot] = parts.lower()
            return
        first, name, last = parts
        lowered = name.lower()
        # Most names are of lower case: then the row's own text is kept, and not a second one.
        self._own[slot] = name if lowered == name else lowered
        self._before[slot], self._after[slot] = self._shared(first), self._shared(last)

    def _shared(self, part: str) -> str:
        lowered = self._lowered.get(part)
        if lowered is None:
            if len(self._lowered) >= self._most:
                self._lowered = {text: text for text in {*self._before, *self._after}}
                self._most = max(_MOST, 2 * len(self._lowered))
            lowered = self._lowered[part] = part.lower()
        return lowered

    def matching(self, slots: Iterable[int], matcher: Matcher) -> list[int]:
        """Those of the slots whose texts, which must be made, the filter lets through."""
        before, own, after = self._before, self._own, self._after
        word, test = matcher.substring, matcher.test
        assert test is not None
        if word and " " not in word:
            # Blanks stand between the parts: what has none stands in one of them.
            texts: list[Any] = own
            having = {part for part in self._lowered.values() if word in part}
            if not having:
                return [slot for slot in slots if word in texts[slot]]
            return [slot for slot in slots if word in texts[slot] or before[slot] in having or after[slot] in having]
        return [slot for slot in slots if test(self._joined(slot))]

    def _joined(self, slot: int) -> str:
        before, own, after = self._before[slot], self._own[slot], self._after[slot]
        return f"{before} {own} {after}" if before or after else own or ""
