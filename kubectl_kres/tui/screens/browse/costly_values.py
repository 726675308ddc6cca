"""What costs much to compute about rows, computed while the user looks on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import Any

from kubectl_kres.tui.lists.list_spec import Costly

#: Seconds for which rows that changed wait while others are computed.
_PATIENCE = 0.5


class CostlyValues:
    """``wanted``: the columns that rows are sorted or chosen by, and ``fault``. Without ``costly`` nothing is."""

    def __init__(self, costly: Costly | None) -> None:
        self._costly = costly
        self.wanted: set[str] = set()
        self._rows: Iterator[Any] | None = None
        self._later: list[Any] = []
        #: When rows last were sorted by what was computed.
        self.sorted_at = 0.0

    @property
    def are_under_way(self) -> bool:
        return self._rows is not None

    @property
    def are_left(self) -> bool:
        """Return whether there are rows that wait to be computed."""
        return self._rows is not None or bool(self._later)

    def want(self, *names: str) -> None:
        """What is sorted or chosen by from now on; rows are given by ``begin``."""
        self.wanted = set(names) if self._costly is not None else set()

    def begin(self, rows: Iterable[Any]) -> None:
        """Compute it of all these rows."""
        self._rows, self._later = (iter(rows) if self._costly is not None else None), []

    def drop(self) -> None:
        self._rows = None

    def follow(self, rows: Iterable[Any], end: float) -> None:
        """Compute it of rows that came or changed, as many as there is time for; of the rest in a moment."""
        if self.wanted and not self._compute(coming := iter(rows), end):
            self._later += coming

    def step(self, end: float) -> bool:
        """Compute until then; whether rows are to be sorted by what is known now."""
        if self._later and self._rows is None and end - self.sorted_at > _PATIENCE:
            self._rows, self._later = iter(self._later), []
        if self._rows is None:
            return False
        if self._compute(self._rows, end):
            self._rows = None
        return self._rows is None or perf_counter() - self.sorted_at > _PATIENCE

    def prepare(self, row: Any, what: str) -> None:
        """Compute it of one row, at once."""
        if self._costly is not None and not self._costly.ready(row, what):
            self._costly.prepare(row, what)

    def is_ready(self, row: Any, what: str) -> bool:
        return self._costly is None or self._costly.ready(row, what)

    def _compute(self, rows: Iterator[Any], end: float) -> bool:
        """Compute until then; whether that was all of them."""
        for row in rows:
            for what in self.wanted:
                self.prepare(row, what)
            if perf_counter() > end:
                return False
        return True
