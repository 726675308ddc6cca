"""All rows of a list made anew, as many at a time as there is time for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import perf_counter
from typing import Any

from kubectl_kres.tui.lists.list_spec import ListRows, RowSource
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.row_order import RowKey


class RowMaking:
    """``is_due``: all rows are to be made anew; at first they are. ``took``: seconds that it took the last time."""

    def __init__(self, session: Session, source: RowSource) -> None:
        self.source, self._session = source, session
        self.is_due, self.took = True, 0.0
        self._rows: ListRows | None = None
        self._made: dict[RowKey, Any] = {}

    @property
    def is_under_way(self) -> bool:
        return self._rows is not None

    def begin(self, namespace: str) -> None:
        self._rows, self._made = self.source.rows(self._session, namespace), {}
        self.is_due, self.took = False, 0.0

    def drop(self) -> None:
        """What is made by now is not of the objects that there are: it will be made anew."""
        self._rows, self._made, self.is_due = None, {}, True

    def make(self, end: float) -> tuple[dict[RowKey, Any], bool]:
        """Make rows until then; those that are new, or all of them and True once all are there."""
        assert self._rows is not None
        fresh: dict[RowKey, Any] = {}
        began = perf_counter()
        for key, row in self._rows:
            if key:
                fresh[key] = row
            if perf_counter() > end:
                break
        else:
            self._rows = None
        self.took += perf_counter() - began
        self._made.update(fresh)
        if self._rows is not None:
            return fresh, False
        made, self._made = self._made, {}
        return made, True

    def follow(self, changed: Mapping[RowKey, Any], gone: Iterable[RowKey]) -> None:
        """Take rows in that changed meanwhile."""
        if self._rows is not None:
            self._made.update(changed)
            for key in gone:
                self._made.pop(key, None)
