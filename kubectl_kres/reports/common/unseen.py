"""What an answer wanted and could not read, with the server's words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.reports.common.explanation import Unseen
from kubectl_kres.store.coverage import Coverage, Need
from kubectl_kres.store.store import Store


def unread(store: Store, needs: Iterable[Need]) -> Iterator[Unseen]:
    """Each need whose objects the store does not have all of; a kind that the server has not is known to be empty."""
    for need in needs:
        coverage = store.covered(need)
        if not coverage.known:
            yield unseen(need, coverage)


def unseen(need: Need, coverage: Coverage) -> Unseen:
    """A need that the store does not have all of."""
    return Unseen(
        need.kind,
        coverage.state,
        need.namespace,
        need.name,
        coverage.message,
        need.required,
        reason=coverage.reason if coverage.state == "failed" else "",
        hint=coverage.hint,
    )
