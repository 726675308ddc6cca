"""The rows that a filter lets through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kubectl_kres.tui.table.row_order import Slots, pack_slots
from kubectl_kres.tui.table.row_slots import RowSlots
from kubectl_kres.tui.table.row_texts import EVERYTHING, Matcher, RowLabels, RowText


class Faces(NamedTuple):
    """How a view looks at a row: its text to search, its labels, and whether it has a fault."""

    text: Callable[[Any], RowText]
    labels: Callable[[Any], RowLabels]
    fault: Callable[[Any], bool]


class RowFilter:
    """``is_stale``: rows are to be looked at again; ``narrows``: only those that are seen, of which some may go."""

    def __init__(self, faces: Faces) -> None:
        self._faces, self._matcher, self._faults = faces, EVERYTHING, False
        self.is_stale = self.narrows = False

    @property
    def has_text(self) -> bool:
        """Return whether somebody chooses among rows by what they say."""
        return self._matcher is not EVERYTHING

    def choose(self, matcher: Matcher, *, faults: bool) -> None:
        """Let through what matches; ``faults``: and has a fault."""
        # What the wider filter hid, the narrower one hides too; faults come to be known.
        narrower = matcher.is_narrower(self._matcher) and not faults and not self._faults
        self.narrows = narrower and (self.narrows or not self.is_stale)
        self._matcher, self._faults = matcher, faults
        self.is_stale = True

    def look_again(self) -> None:
        """Rows may say something else by now."""
        self.is_stale, self.narrows = True, False

    def settled(self) -> None:
        """All has been looked at."""
        self.is_stale = self.narrows = False

    def let_through(self, slots: Slots, having: RowSlots[Any]) -> Slots:
        """Return those of the slots whose rows it lets through, in the same order."""
        rows, faces = having.rows, self._faces
        if self._matcher.on == "labels" and self._matcher.labels is not None:
            fits = self._matcher.labels
            slots = pack_slots([slot for slot in slots if fits(faces.labels(rows[slot]))])
        elif self._matcher.on == "rows" and self._matcher.rows is not None:
            fits_row = self._matcher.rows
            slots = pack_slots([slot for slot in slots if fits_row(rows[slot])])
        elif self._matcher.test is not None:
            having.texts.read(rows)
            slots = pack_slots(having.texts.matching(slots, self._matcher))
        return pack_slots([slot for slot in slots if faces.fault(rows[slot])]) if self._faults else slots
