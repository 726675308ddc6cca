"""The specification of a list. One screen shows all lists, each by its entry in the registry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.line import Line, Tone
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.store.store import Changes, ReadRequest
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_texts import RowText
from kubectl_kres.tui.table.view import RowKey

#: What a missing extension takes nothing from.
_STILL = "Namespaces, pods, quotas, LimitRanges and what is refused are shown without it."

#: Rows of which it is counted in which namespaces they are, and namespaces that are named.
_SPREAD, _SPACES = 20_000, 3

ListRows = Iterator[tuple[RowKey, Any]]


def no_labels(_row: Any) -> Mapping[str, str]:
    return {}


def no_remedies(_row: Any) -> Sequence[Remedy]:
    return ()


class Listing(Struct, frozen=True):
    """A kind of list.

    names: what it is called in commands, the first one in crumbs. kinds: a change of their objects changes rows.
    needs: what is read, for a namespace (empty: all). columns: may depend on the namespace. rows: all of them, made one
    after the other, as many as there is time for. row: that of one object of ``kinds[0]``, None if it has none; absent:
    every change makes all rows anew. prepare: computes what a costly column shows of a row, by the column's id, or
    whether the row has a fault (``fault``); ``ready``: whether it did. Absent: nothing is costly.
    sign: mark and tone before a row. detail: what is known about a row. opens: where Enter goes.
    command: what prints the list. hints: keys in the footer beside the usual.
    scoped: it is of one namespace, if one was chosen. sums: it shows pods added up.
    also: what is read, too, as far as that is known by now. absent: what it means that the server has no such kind.
    owner: what a row belongs to. several: what rows are called; empty: as the list is.
    fault: whether a row has one, as far as it was computed; absent: by its sign. late: what a row says depends on
    others, and this is whether they tell of a moment ago.
    worst_first: rows stand by the column ``state`` until another order is chosen; of more rows than ``worst_most`` (0:
    of however many) by their names.
    first_by: the column by which rows stand then, where that is another one.
    fields: what a filter like ``limits=none`` looks at besides the columns, by name.
    none: that there are no rows, in words; empty: what else is said then, and what to do next.
    tabs: those of a row's screen that keys of the same name open.
    remedies: what mends a row, the first of which can be tried.
    has_history: where there is room, the screen says what happened to a row's object.
    runbook: the page on what to do about what the list shows; empty: there is none.
    part: what a row is where it is no object but a part of several. words: what filters look at; absent: all columns.
    """

    names: tuple[str, ...]
    about: str
    kinds: tuple[str, ...]
    reads: Callable[[str], tuple[ReadRequest, ...]]
    columns: Callable[[str], tuple[Column, ...]]
    rows: Callable[[Session, str], ListRows]
    row_mark: Callable[[Any], tuple[str, Tone]]
    detail: Callable[[Session, Any, int], Iterable[Line]]
    opens: Callable[[Any], Location | None]
    ref: Callable[[Any], ObjectRef]
    command: Callable[[Session, str], str]
    row: Callable[[Session, ObjectRef], tuple[RowKey, Any] | None] | None = None
    prepare: Callable[[Any, str], None] | None = None
    ready: Callable[[Any, str], bool] | None = None
    labels: Callable[[Any], Mapping[str, str]] = no_labels
    words: Callable[[Any], RowText] | None = None
    fault: Callable[[Any], bool] | None = None
    late: Callable[[Session], bool] | None = None
    hints: tuple[str, ...] = ()
    more_reads: Callable[[Session, str], Iterable[ReadRequest]] | None = None
    absent: str = ""
    owner: Callable[[Any], Location | None] | None = None
    scoped: bool = True
    sums: bool = False
    worst_first: bool = False
    worst_most: int = 0
    first_by: str = ""
    fields: Mapping[str, Callable[[Any], str]] = {}
    none: str = ""
    empty: Callable[[Session, str, int], Iterable[Line]] | None = None
    several: str = ""
    part: str = ""
    tabs: tuple[str, ...] = ()
    remedies: Callable[[Any], Sequence[Remedy]] = no_remedies
    has_history: bool = True
    runbook: str = ""

    @property
    def id(self) -> str:
        return self.names[0]


def changed_rows(
    listing: Listing, session: Session, changes: Changes, namespace: str
) -> tuple[dict[RowKey, Any], list[RowKey]]:
    """Return the rows that came or changed, and the keys of those that went; of a namespace, or of all if it is
    empty.
    """
    assert listing.row is not None

    def concerns(ref: ObjectRef) -> bool:
        return ref.kind == listing.kinds[0] and namespace in {"", ref.namespace}

    result = (listing.row(session, ref) for ref in (*changes.added, *changes.changed) if concerns(ref))
    gone: list[RowKey] = [(ref.namespace, ref.name) for ref in changes.removed if concerns(ref)]
    return dict(row for row in result if row is not None), gone


def nothing_there(session: Session, listing: Listing, read: ReadRequest, namespace: str) -> str:
    """Return that a list has no rows, as ``read`` was read without finding any; empty where it could not be read."""
    coverage = session.store.covered(read)
    if coverage.state == "absent":
        kind = BY_KIND[read.kind]
        return f"{listing.absent}: the server has no {kind.plural}.{kind.group}/{kind.version}. {_STILL}"
    if not coverage.is_known:
        return ""
    nothing = listing.none or f"no {listing.several or listing.id}"
    if not namespace:
        return nothing
    count = sum(1 for _ in session.store.all("Namespace"))
    return f"{nothing} in {namespace}; 0 shows {f'all {count} namespaces' if count > 1 else 'all namespaces'}"


def name_count(session: Session, listing: Listing, namespace: str, count: str) -> str:
    """Return how many rows of what there are, and whether more are to come. ``count``: that number, in words."""
    number, blank, rest = count.partition(" so far")
    what, part = listing.several or listing.id, listing.part
    if part:
        objects = sum(1 for _ in session.store.all(listing.kinds[0], namespace or None))
        part_of = f" of {objects} {what.removesuffix('s') if objects == 1 else what}"
        return f"{number} {part if number == '1' else f'{part}s'}{part_of}{blank}{rest}"
    single = what.removesuffix("ies") + "y" if what.endswith("ies") else what.removesuffix("s")
    return f"{number} {single if number == '1' else what}{blank}{rest}"


def format_namespaces(keys: Sequence[RowKey]) -> str:
    """Return in which namespaces rows are, those with most of them first; empty where there are too many rows."""
    if not 0 < len(keys) <= _SPREAD:
        return ""
    counts = Counter(key[0] for key in keys)
    spaces = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[: _SPACES + 1]
    more = ", ..." if len(spaces) > _SPACES else ""
    return f"  in {', '.join(f'{space} {count}' for space, count in spaces[:_SPACES])}{more}"
