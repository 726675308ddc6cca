"""What a list needs to be read, as far as that is known by now."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_kres.store.store import Coverage, ReadRequest
from kubectl_kres.tui.lists.list_spec import RowSource
from kubectl_kres.tui.session import Session


class ListReads:
    """By namespace (empty: all). What was needed once stays needed, else it would be dropped and be needed again."""

    def __init__(self, session: Session, source: RowSource) -> None:
        self._session, self._source = session, source
        self._needed: dict[str, dict[ReadRequest, None]] = {}
        #: Namespace and change of the store for which that is known.
        self._known_at: tuple[str, int] | None = None

    def requests(self, namespace: str) -> Iterable[ReadRequest]:
        """Return all of it, what rows are made of first."""
        needed = self._needed.setdefault(namespace, dict.fromkeys(self._source.reads(namespace)))
        asked = namespace, self._session.store.changes
        if self._source.more_reads is not None and asked != self._known_at:
            self._known_at = asked
            needed.update(dict.fromkeys(self._source.more_reads(self._session, namespace)))
        return needed

    def coverage(self, namespace: str) -> Coverage:
        """Return what is known of what rows are made of."""
        return self._session.store.covered(self._main(namespace))

    def are_unread(self, namespace: str) -> bool:
        """Return whether some of it is not there yet."""
        return any(self._session.unread_requests(self.requests(namespace)))

    def are_under_way(self, namespace: str) -> bool:
        """The same, but for what failed and is tried again."""
        return self._session.is_reading(self.requests(namespace))

    def is_undecided(self, namespace: str) -> bool:
        """Return whether nothing is known of the rows yet: a screen is entered before it asks for its needs."""
        return self._session.is_undecided(self._main(namespace))

    def _main(self, namespace: str) -> ReadRequest:
        return next(iter(self.requests(namespace)))
