"""All lists by name: a new one is an entry here, or of a system that registers it."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.tui.lists import findings, limitranges, namespaces, pods, quotas, refused, timeline
from kubectl_kres.tui.lists.list_spec import Listing
from kubectl_kres.tui.system import systems

LISTINGS: Mapping[str, Listing] = {
    listing.id: listing
    for listing in (
        *(module.LISTING for module in (namespaces, pods, quotas, limitranges, refused, findings, timeline)),
        *(listing for system in systems() for listing in system.listings()),
    )
}


def find(word: str) -> Listing | None:
    """The list that a word names, as kubectl would take it."""
    lowered = word.lower()
    return next((listing for listing in LISTINGS.values() if lowered in listing.names), None)


def words() -> list[str]:
    """Every name of every list, the first ones first."""
    firsts = [listing.id for listing in LISTINGS.values()]
    return [*firsts, *(name for listing in LISTINGS.values() for name in listing.names[1:])]
