"""The list of events that decided about pods, newest first."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import chain, islice

from msgspec import Struct

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload_kinds import RETRIED
from kubectl_kres.render.overview import SIGNS, short_ref
from kubectl_kres.render.text.line import Line, Tone, age_text, clip_text, size, tone_lines, wrap_text
from kubectl_kres.render.timeline import EXPIRED, describe_entry, every_field
from kubectl_kres.reports.common.system import is_shown
from kubectl_kres.reports.timeline import PodNews, TimelineEntry, timeline, timeline_needs
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.tui.lists.list_spec import Listing, ListRows, RowSource, RowSubject, Wording
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column

#: Digits the other way round: of two times the newer one is then the lesser text.
_NEWEST = str.maketrans("0123456789", "9876543210")
#: What stands in the column before it: which pod was refused.
_WHO_IS_REFUSED = re.compile(r'(?:failed to [\w ]+ "[^"]*": )?pods "[^"]*" is forbidden: |Internal error occurred: ')
#: Lines from which a heading is worth its own, and events and workloads that are too many to go through.
_HEADED, _MANY = 2, 1_000
#: So many pods are looked at before others have their turn.
_PAGE = 500


def _unread_text(store: Store, namespace: str) -> str:
    """Return which lists of a namespace the entries lack."""
    told = {read.kind for read in timeline_needs(namespace)}
    unread = (read for read in store.failures() if read.kind in told and read.namespace in {"", namespace})
    plurals = ", ".join(dict.fromkeys(BY_KIND[read.kind].plural for read in unread))
    return f"what happened, without {plurals}, which could not be read" if plurals else ""


class TimelineRow(Struct, frozen=True):
    """An entry, and how long ago it was."""

    entry: TimelineEntry
    age: str

    @property
    def rank(self) -> str:
        """The newest first. Fractions of a second are left out: only some times have them."""
        return self.entry.time[:19].translate(_NEWEST)


def _rows(session: Session, namespace: str) -> ListRows:
    store, now, pod_news = session.store, session.setting.now(), PodNews()
    for count, pod in enumerate(store.all("Pod", namespace or None)):
        pod_news.add(pod)
        if count % _PAGE == 0:
            yield (), None
    for entry in timeline(store, namespace, pod_news).entries:
        row = TimelineRow(entry, age_text(entry.time, now))
        yield (row.rank, entry.object.full_name, entry.reason, entry.text), row


def history_lines(session: Session, refs: Collection[ObjectRef], width: int, most: int) -> Iterator[Line]:
    """Yield what happened lately to some objects, then to others in their namespace, in so many lines at the most.

    It is made from what has been read: nothing, where that is nothing or too much to go through between two keys.
    """
    store, now = session.store, session.setting.now()
    namespace = next((ref.namespace for ref in refs if ref.namespace), "")
    looked = chain.from_iterable(store.all(kind, namespace or None) for kind in ("Event", *RETRIED))
    if not refs or most < _HEADED or sum(1 for _ in islice(looked, _MANY)) == _MANY:
        return
    entries = timeline(store, namespace, None).entries
    about_refs = [entry for entry in entries if entry.object in refs]
    others = [entry for entry in entries if entry.object not in refs] if namespace else []
    if gap := _unread_text(store, namespace):
        yield [("warn", clip_text(gap, width))]
        most -= 1
    for heading, group in (("what happened to it", about_refs), (f"what else happened in {namespace}", others)):
        if not group or most < _HEADED:
            continue
        yield [("strong", heading)]
        shown = group[: most - 1]
        most -= len(shown) + 2
        for entry in shown:
            name = "" if group is about_refs and len(refs) == 1 else f"{short_ref(entry.object)}: "
            text = f"{name}{_WHO_IS_REFUSED.sub('', describe_entry(entry))}".rstrip(": ")
            age, reason = f"{age_text(entry.time, now):>5}  ", f"{entry.reason} "
            told = clip_text(text, max(0, width - size(age) - size(reason)))
            yield [("", age), (SIGNS[entry.severity][1], reason), ("", told)]
        if most >= _HEADED:
            yield []


def _columns(namespace: str) -> tuple[Column, ...]:
    namespace_column = Column("namespace", "NAMESPACE", lambda row: row.entry.object.namespace)
    return (
        Column("age", "AGE", lambda row: row.age, lambda row: row.rank, right=True, width=5, searched=False),
        *(() if namespace else (namespace_column,)),
        Column("state", "REASON", lambda row: row.entry.reason, tone=_tone, most=24),
        Column("name", "OBJECT", lambda row: short_ref(row.entry.object), most=30, vital=True),
        Column(
            "told",
            "WHAT HAPPENED",
            lambda row: describe_entry(row.entry),
            most=120,
            vital=True,
            least=30,
            briefer=lambda row: [_WHO_IS_REFUSED.sub("", describe_entry(row.entry))],
        ),
    )


def _tone(row: TimelineRow) -> Tone:
    return SIGNS[row.entry.severity][1]


def _detail(session: Session, row: TimelineRow, width: int) -> Iterator[Line]:
    del session
    entry = row.entry
    yield [("strong", f"{entry.reason} {entry.object.full_name}"), ("", f"  {entry.time}")]
    yield from tone_lines("", wrap_text(every_field(entry), width))
    yield [("", "")]
    yield from tone_lines("quiet", wrap_text(EXPIRED, width))


def _object_location(row: TimelineRow) -> Location | None:
    kind = BY_KIND.get(row.entry.object.kind)
    return Location("object", ref=row.entry.object) if kind is not None and is_shown(kind) else None


def _list_read_requests(namespace: str) -> tuple[ReadRequest, ...]:
    return (*timeline_needs(namespace), ReadRequest("Pod", namespace))


LISTING = Listing(
    names=("timeline", "events", "event", "ev"),
    about="what decided about pods, and when: edits, new templates, refusals, kills, claims; the newest first",
    source=RowSource(
        kinds=tuple(dict.fromkeys(read.kind for read in _list_read_requests(""))), reads=_list_read_requests, rows=_rows
    ),
    columns=_columns,
    row_mark=lambda row: SIGNS[row.entry.severity],
    detail=_detail,
    subject=RowSubject(ref=lambda row: row.entry.object, opens=_object_location, has_history=False),
    command=lambda session, namespace: session.command("timeline", namespace),
    wording=Wording(several="entries"),
    hints=("explain", "faults"),
)
