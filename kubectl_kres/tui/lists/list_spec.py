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
from kubectl_kres.tui.table.row_order import RowKey
from kubectl_kres.tui.table.row_texts import RowText

#: What a missing extension takes nothing from.
_STILL = "Namespaces, pods, quotas, LimitRanges and what is refused are shown without it."

#: Rows of which it is counted in which namespaces they are, and namespaces that are named.
_SPREAD, _SPACES = 20_000, 3

ListRows = Iterator[tuple[RowKey, Any]]


def no_labels(_row: Any) -> Mapping[str, str]:
    return {}


def no_owner(_row: Any) -> None:
    return None


def no_remedies(_row: Any) -> Sequence[Remedy]:
    return ()


class RowSource(Struct, frozen=True):
    """What rows are made of.

    kinds: a change of their objects changes rows. reads: what is read, for a namespace (empty: all). rows: all of them,
    made one after the other, as many as there is time for; an empty key is a place to stop at. row: that of one object
    of ``kinds[0]``, None if it has none; absent: every change makes all rows anew. more_reads: what is read, too, as
    far as that is known by now. late: what a row says depends on others, and this is whether they tell of a moment ago.
    """

    kinds: tuple[str, ...]
    reads: Callable[[str], tuple[ReadRequest, ...]]
    rows: Callable[[Session, str], ListRows]
    row: Callable[[Session, ObjectRef], tuple[RowKey, Any] | None] | None = None
    more_reads: Callable[[Session, str], Iterable[ReadRequest]] | None = None
    late: Callable[[Session], bool] | None = None

    def deciding_reads(self, namespace: str) -> Iterator[ReadRequest]:
        """Yield the reads whose objects change rows."""
        return (read for read in self.reads(namespace) if read.kind in self.kinds)


class RowSubject(Struct, frozen=True):
    """What a row is about.

    ref: its object. opens: where Enter goes. owner: what it belongs to. tabs: those of its screen that keys of the same
    name open. remedies: what mends it, the first of which can be tried. has_history: where there is room, the screen
    says what happened to the object.
    """

    ref: Callable[[Any], ObjectRef]
    opens: Callable[[Any], Location | None]
    owner: Callable[[Any], Location | None] = no_owner
    tabs: tuple[str, ...] = ()
    remedies: Callable[[Any], Sequence[Remedy]] = no_remedies
    has_history: bool = True


class Costly(Struct, frozen=True):
    """What of a row is computed only where somebody sorts or chooses by it.

    prepare: computes what a column shows, by its id, or whether the row has a fault (``fault``). ready: whether that is
    done. fault: whether a row has one, as far as it was computed; absent: by its sign.
    """

    prepare: Callable[[Any, str], None]
    ready: Callable[[Any, str], bool]
    fault: Callable[[Any], bool] | None = None


class RowSearch(Struct, frozen=True):
    """What filters look at.

    labels: of a row. words: its text; absent: all columns. fields: what a filter like ``limits=none`` looks at besides
    the columns, by name.
    """

    labels: Callable[[Any], Mapping[str, str]] = no_labels
    words: Callable[[Any], RowText] | None = None
    fields: Mapping[str, Callable[[Any], str]] = {}


class FirstOrder(Struct, frozen=True):
    """How rows stand until another order is chosen: by the column of an id (empty: by name), of more rows than ``most``
    (0: of however many) by their names.
    """

    column: str = ""
    most: int = 0

    @property
    def is_worst_first(self) -> bool:
        return self.column == "state"


#: By the column that says how a row fares.
WORST_FIRST = FirstOrder("state")


class Wording(Struct, frozen=True):
    """What is said of a list as a whole.

    several: what rows are called; empty: as the list is. part: what a row is where it is no object but a part of
    several. none: that there are no rows; empty: what else is said then, and what to do next. absent: what it means
    that the server has no such kind. runbook: the page on what to do about what the list shows; empty: there is none.
    """

    several: str = ""
    part: str = ""
    none: str = ""
    empty: Callable[[Session, str, int], Iterable[Line]] | None = None
    absent: str = ""
    runbook: str = ""


class Listing(Struct, frozen=True):
    """A kind of list.

    names: what it is called in commands, the first one in crumbs. columns: may depend on the namespace.
    row_mark: mark and tone before a row. detail: what is known about a row, in lines of a width. command: what prints
    the list. hints: keys in the footer beside the usual. costly: absent: nothing is. scoped: it is of one namespace, if
    one was chosen. sums: it shows pods added up.
    """

    names: tuple[str, ...]
    about: str
    source: RowSource
    columns: Callable[[str], tuple[Column, ...]]
    row_mark: Callable[[Any], tuple[str, Tone]]
    detail: Callable[[Session, Any, int], Iterable[Line]]
    subject: RowSubject
    command: Callable[[Session, str], str]
    wording: Wording = Wording()
    order: FirstOrder = FirstOrder()
    search: RowSearch = RowSearch()
    costly: Costly | None = None
    hints: tuple[str, ...] = ()
    scoped: bool = True
    sums: bool = False

    @property
    def id(self) -> str:
        return self.names[0]

    @property
    def rows_are(self) -> str:
        """Return what rows are called."""
        return self.wording.several or self.id


def changed_rows(
    source: RowSource, session: Session, changes: Changes, namespace: str
) -> tuple[dict[RowKey, Any], list[RowKey]]:
    """Return the rows that came or changed, and the keys of those that went; of a namespace, or of all if it is
    empty.
    """
    assert source.row is not None

    def concerns(ref: ObjectRef) -> bool:
        return ref.kind == source.kinds[0] and namespace in {"", ref.namespace}

    result = (source.row(session, ref) for ref in (*changes.added, *changes.changed) if concerns(ref))
    gone: list[RowKey] = [(ref.namespace, ref.name) for ref in changes.removed if concerns(ref)]
    return dict(row for row in result if row is not None), gone


def nothing_there(session: Session, listing: Listing, read: ReadRequest, namespace: str) -> str:
    """Return that a list has no rows, as ``read`` was read without finding any; empty where it could not be read."""
    coverage = session.store.covered(read)
    if coverage.state == "absent":
        kind = BY_KIND[read.kind]
        return f"{listing.wording.absent}: the server has no {kind.plural}.{kind.group}/{kind.version}. {_STILL}"
    if not coverage.is_known:
        return ""
    nothing = listing.wording.none or f"no {listing.rows_are}"
    if not namespace:
        return nothing
    count = sum(1 for _ in session.store.all("Namespace"))
    return f"{nothing} in {namespace}; 0 shows {f'all {count} namespaces' if count > 1 else 'all namespaces'}"


def name_count(session: Session, listing: Listing, namespace: str, count: str) -> str:
    """Return how many rows of what there are, and whether more are to come. ``count``: that number, in words."""
    number, blank, rest = count.partition(" so far")
    what, part = listing.rows_are, listing.wording.part
    if part:
        objects = sum(1 for _ in session.store.all(listing.source.kinds[0], namespace or None))
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
