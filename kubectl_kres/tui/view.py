"""Which rows of a table are seen and in which order: rows by key, a filter, a sort."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

from kubectl_kres.tui.matching import EVERYTHING, Labels, Matcher

Row = TypeVar("Row")
#: Namespace and name, or whatever else sorts.
Key = tuple[str, ...]
#: What a row sorts by; None comes last, whichever way the sort goes.
Rank = Callable[[Any], Any]


class Faces(NamedTuple):
    """How a view looks at a row: its text to search, its labels, and whether it has a fault."""

    text: Callable[[Any], str]
    labels: Callable[[Any], Labels]
    fault: Callable[[Any], bool]


class View(Generic[Row]):
    """Rows by key. ``keys``: those that are seen, in order, as of the last ``settle``.

    Without a sort rows stand in the order of their keys; a sort is stable over that.
    """

    def __init__(self, faces: Faces) -> None:
        self.rows: dict[Key, Row] = {}
        self.keys: list[Key] = []
        self._faces = faces
        self._order: list[Key] = []
        self._texts: dict[Key, str] = {}
        self._places: dict[Key, int] | None = None
        self._matcher, self._faults = EVERYTHING, False
        self._rank: Rank | None = None
        self._reverse = False
        self._reordered = self._stale = True
        self._fresh: list[Key] | None = None

    def replace(self, rows: Mapping[Key, Row]) -> None:
        """All rows anew."""
        self.rows = dict(rows)
        self._texts.clear()
        self._reordered = self._stale = True

    def update(self, changed: Mapping[Key, Row], gone: Iterable[Key] = ()) -> None:
        """Rows that came or changed, and rows that went; what is in both is gone."""
        for key, row in changed.items():
            self._reordered |= key not in self.rows
            self.rows[key] = row
            if key in self._texts:
                self._texts[key] = self._faces.text(row).lower()
        for key in gone:
            self._reordered |= self.rows.pop(key, None) is not None
            self._texts.pop(key, None)
        # What a row holds matters to order and filter only where there is a sort or a filter.
        plain = self._rank is None and self._matcher is EVERYTHING and not self._faults
        self._stale = self._stale or self._reordered or not plain

    def filter(self, matcher: Matcher, *, faults: bool = False) -> None:
        """See only what matches; ``faults``: and has a fault."""
        narrower = matcher.narrows(self._matcher) and faults == self._faults
        if narrower and not self._stale:
            # What the wider filter hid, the narrower one hides too.
            self._fresh = self.keys
        self._matcher, self._faults = matcher, faults
        self._stale = True

    def sort(self, rank: Rank | None, *, reverse: bool = False) -> None:
        """Order by a rank of rows; None: by key."""
        self._rank, self._reverse, self._stale, self._fresh = rank, reverse, True, None

    def settle(self) -> bool:
        """Brings ``keys`` up to date; whether there was anything to do."""
        if not self._stale:
            return False
        if self._reordered:
            self._order = sorted(self.rows)
            self._fresh = None
        narrowed, self._fresh = self._fresh, None
        seen = self._matching(narrowed if narrowed is not None else self._order)
        self.keys = self._sorted(seen) if narrowed is None else seen
        self._places = None
        self._stale = self._reordered = False
        return True

    def place(self, key: Key) -> int | None:
        """The line of a key in what is seen."""
        if self._places is None:
            self._places = {key: line for line, key in enumerate(self.keys)}
        return self._places.get(key)

    @property
    def whole(self) -> bool:
        """Whether the texts of all rows are ready to be searched."""
        return len(self._texts) >= len(self.rows)

    def read(self, most: int) -> None:
        """Makes the texts of some more rows ready."""
        missing = (key for key in self.rows if key not in self._texts)
        self._read(list(islice(missing, most)))

    def _matching(self, keys: list[Key]) -> list[Key]:
        rows, faces = self.rows, self._faces
        if self._matcher.on == "labels" and self._matcher.labels is not None:
            fits = self._matcher.labels
            keys = [key for key in keys if fits(faces.labels(rows[key]))]
        elif self._matcher.test is not None:
            self._read(keys)
            texts, word, test = self._texts, self._matcher.substring, self._matcher.test
            keys = [key for key in keys if word in texts[key]] if word else [key for key in keys if test(texts[key])]
        return [key for key in keys if faces.fault(rows[key])] if self._faults else list(keys)

    def _read(self, keys: list[Key]) -> None:
        texts, rows, text = self._texts, self.rows, self._faces.text
        if len(texts) < len(rows):
            for key in keys:
                if key not in texts:
                    texts[key] = text(rows[key]).lower()

    def _sorted(self, keys: list[Key]) -> list[Key]:
        if self._rank is None:
            return keys[::-1] if self._reverse else keys
        rank, rows = self._rank, self.rows
        ranks = {key: rank(rows[key]) for key in keys}
        known = [key for key in keys if ranks[key] is not None]
        known.sort(key=ranks.__getitem__, reverse=self._reverse)
        return known if len(known) == len(keys) else [*known, *(key for key in keys if ranks[key] is None)]
