"""What is said of a list as a whole: how many rows there are, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kubectl_kres.render.text.line import Line, tone_lines, wrap_text
from kubectl_kres.tui.lists.list_spec import Listing, format_namespaces, name_count, nothing_there
from kubectl_kres.tui.rbac_hints import gap_lines
from kubectl_kres.tui.screens.browse.reads import ListReads
from kubectl_kres.tui.screens.pane import sort_line
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.table.strips import safe_text
from kubectl_kres.tui.widgets.header_footer import count_text, gap_count


class ListState(NamedTuple):
    """A list as it stands. ``filter``: as typed; ``faults``: only rows with a fault are seen; ``are_coming``: there may
    be rows in a moment; ``so_far``: what is shown of those that were read is not all that there is to see.
    """

    session: Session
    listing: Listing
    table: Table
    reads: ListReads
    namespace: str
    filter: str
    faults: bool
    are_coming: bool
    so_far: bool


def status_line(state: ListState) -> Line:
    """Return how many rows there are and in which order."""
    session, listing, table = state.session, state.listing, state.table
    shown, rows = len(table.view.keys), len(table.view.rows)
    requests = state.reads.requests(state.namespace)
    is_empty = not rows and not state.are_coming
    if is_empty and state.reads.coverage(state.namespace).is_known:
        # What is not there has no order.
        return [("", f"no {listing.rows_are}"), *gap_count(session, requests)]
    count = count_text(session, requests, shown, rows, so_far=state.so_far)
    faults = "  faults only" if state.faults else ""
    marked = f"  {len(table.marked)} marked" if table.marked else ""
    order = "" if is_empty else sort_line(table, worst_first=listing.order.is_worst_first)
    # Rows of several namespaces that are chosen by a field.
    chosen = "=" in state.filter and not state.namespace and listing.scoped
    spread = format_namespaces(table.view.keys) if chosen else ""
    text = f"{name_count(session, listing, state.namespace, count)}{order}{faults}{marked}{spread}"
    return [("", text), *gap_count(session, requests)]


def why_empty(state: ListState) -> str:
    """Return why no row is seen, in a sentence; empty where that is not known."""
    hidden = len(state.table.view.rows)
    if hidden and state.filter:
        hide = "hides" if not state.faults else "and ctrl-z (faults only) hide"
        return f'filter "{safe_text(state.filter)}" {hide} {hidden} rows (esc)'
    if hidden and state.faults:
        return f"none of {hidden} rows has a fault (ctrl-z shows all)"
    if state.are_coming:
        return f"reading {state.listing.id}{f' in {state.namespace}' if state.namespace else ''}"
    request = next(iter(state.reads.requests(state.namespace)))
    return nothing_there(state.session, state.listing, request, state.namespace)


def reason_lines(state: ListState, width: int) -> Iterator[Line]:
    """Yield why there is nothing to see, and what could not be read."""
    if reason := why_empty(state):
        yield from tone_lines("quiet", wrap_text(reason, width, rest="  "))
    empty = state.listing.wording.empty
    if empty is not None and not state.are_coming:
        yield from empty(state.session, state.namespace, width)
    yield from unread_lines(state, width)


def unread_lines(state: ListState, width: int) -> Iterator[Line]:
    """Yield what could not be read."""
    yield from gap_lines(state.session, state.reads.requests(state.namespace), width)
