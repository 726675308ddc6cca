"""All lists by name, with the columns that the user's settings give them; a new one is an entry here or a system's."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.tui.lists import (
    findings,
    limitranges,
    namespaces,
    nodes,
    pods,
    quotas,
    refused_workloads,
    timeline,
    waiting,
    workloads,
)
from kubectl_kres.tui.lists.list_spec import Listing
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.system import systems
from kubectl_kres.tui.table.columns import Column

LISTINGS: Mapping[str, Listing] = {
    listing.id: listing
    for listing in (
        *(
            module.LISTING
            for module in (
                namespaces,
                workloads,
                pods,
                quotas,
                limitranges,
                nodes,
                waiting,
                refused_workloads,
                findings,
                timeline,
            )
        ),
        *(listing for system in systems() for listing in system.listings()),
    )
}


def find(word: str) -> Listing | None:
    """Return the list that a word names, as kubectl would take it."""
    lowered = word.lower()
    return next((listing for listing in LISTINGS.values() if lowered in listing.names), None)


def find_by_start(text: str) -> Listing | None:
    """Return the list whose first name begins so; None where none or several do."""
    listings = [listing for listing in LISTINGS.values() if listing.id.startswith(text.lower())]
    return listings[0] if len(listings) == 1 else None


def find_row(session: Session, ref: ObjectRef) -> tuple[Listing, Any] | None:
    """Return the row of an object with the list that has it; None where no list makes single rows of its kind, or the
    object is not there.
    """
    for listing in LISTINGS.values():
        if listing.source.kinds[0] == ref.kind and listing.source.row is not None:
            made = listing.source.row(session, ref)
            return (listing, made[1]) if made is not None else None
    return None


def list_names() -> list[str]:
    """Return every name of every list, the first ones first."""
    firsts = [listing.id for listing in LISTINGS.values()]
    return [*firsts, *(name for listing in LISTINGS.values() for name in listing.names[1:])]


def select_columns(listing: Listing, namespace: str, names: Sequence[str]) -> tuple[Column, ...]:
    """The columns in the order of their names; all of the list's own where none of these is there for the namespace."""
    columns = listing.columns(namespace)
    known = _column_indices(columns)
    result = dict.fromkeys(known[name.lower()] for name in names if name.lower() in known)
    return tuple(replace(columns[index], wide=False) for index in result) or columns


def fault(name: str, heads: Sequence[str]) -> str:
    """Return what is wrong with columns for a list: there is no such list, or it has no such column. Empty: nothing."""
    if name not in LISTINGS:
        return f'no list "{name}"{_suggest_name(name, tuple(LISTINGS))}'
    known = _column_indices(LISTINGS[name].columns(""))
    wrong = next((head for head in heads if head.lower() not in known), None)
    return "" if wrong is None else f'{name} has no column "{wrong}"{_suggest_name(wrong.lower(), tuple(known))}'


def _column_indices(columns: Sequence[Column]) -> Mapping[str, int]:
    """Return which column a name means, in small letters: its short name, or its heading before that."""
    short = {column.id: index for index, column in enumerate(columns)}
    return short | {column.head.lower(): index for index, column in enumerate(columns) if column.head}


def _suggest_name(name: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, names, 1)
    return f", the nearest is {near[0]}" if near else f", known are {', '.join(names)}"
