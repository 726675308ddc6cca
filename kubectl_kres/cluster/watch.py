"""The events of a watch, decoded into the same structs as lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from kubectl_kres.cluster import lists
from kubectl_kres.cluster.answer import Answer, error
from kubectl_kres.errors import ClusterError, Expired, StatusError
from kubectl_kres.model.kinds import Kind

T = TypeVar("T")

ADDED, MODIFIED, DELETED, BOOKMARK, ERROR = "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"


class _Event(Struct, Generic[T], frozen=True, gc=False):
    type: str
    object: T


class _Meta(Struct, frozen=True, rename="camel", gc=False):
    resource_version: str = ""


class _Versioned(Struct, frozen=True, gc=False):
    metadata: _Meta = _Meta()


class _Code(Struct, frozen=True, gc=False):
    code: int = 0


class Event(NamedTuple):
    """What became of one object.

    type: ADDED, MODIFIED or DELETED. item: the object; None if it could not be decoded, of which ``fault`` tells.
    version: a number that grows from event to event; 0 if the server's versions are no numbers.
    """

    type: str
    namespace: str
    name: str
    item: Any
    version: int
    fault: str = ""


class Batch(NamedTuple):
    """Events that came at once, and the version from which a watch goes on after them; empty: as before."""

    events: list[Event]
    version: str


def batches(lines: Iterable[list[bytes]], kind: Kind, struct: Any, since: str) -> Iterator[Batch]:
    """The events in the order of the server. ``since``: the version that was watched from.

    What is not newer than what came before is left out: it came twice. Raises Expired if the server has forgotten what
    changed since then, another StatusError for what else it reports, ClusterError for what is no event.
    """
    decode = lists.decoder(_Event[struct]).decode
    last = number(since)
    for group in lines:
        events: list[Event] = []
        version = ""
        for line in group:
            if not line:
                continue
            try:
                found = decode(line)
            except lists.UNREADABLE as fault:
                if events:
                    yield Batch(events, version)
                    events = []
                event, text = _odd(line, kind, fault)
            else:
                text = found.object.metadata.resource_version
                event = _event(found, kind)
            at = number(text)
            if at and at <= last:
                continue
            last, version = at or last, text or version
            if event is not None:
                events.append(event)
        if events or version:
            yield Batch(events, version)


def number(version: str) -> int:
    """A resource version as a number; 0 if it is none."""
    return int(version) if version.isascii() and version.isdigit() else 0


def _event(found: Any, kind: Kind) -> Event | None:
    """None for a bookmark. Raises the StatusError that an ERROR event is."""
    if found.type in {ADDED, MODIFIED, DELETED}:
        item = found.object
        lists.name(item, kind)
        metadata = item.metadata
        return Event(found.type, metadata.namespace, metadata.name, item, number(metadata.resource_version))
    if found.type == BOOKMARK:
        return None
    raise ClusterError(f"the server sent an event of the unknown type {found.type!r} about {kind.qualified}")


def _odd(line: bytes, kind: Kind, fault: Exception) -> tuple[Event | None, str]:
    """An event whose object is a Status or is not of the kind's form, with its version."""
    try:
        found = lists.decoder(_Event[msgspec.Raw]).decode(line)
    except lists.UNREADABLE:
        raise lists.unreadable(f"an event about {kind.qualified}", fault) from fault
    if found.type == ERROR:
        raise reported(found.object)
    try:
        text = lists.decoder(_Versioned).decode(found.object).metadata.resource_version
    except lists.UNREADABLE:
        text = ""
    if found.type == BOOKMARK:
        return None, text
    namespace, name = lists.called(found.object)
    if found.type not in {ADDED, MODIFIED, DELETED} or not name:
        raise lists.unreadable(f"an event about {kind.qualified}", fault) from fault
    why = "" if found.type == DELETED else lists.left_out(kind, (namespace, name), 0, _of_object(fault))
    return Event(found.type, namespace, name, None, number(text), why), text


def _of_object(fault: Exception) -> str:
    """What is wrong with the object, as a list would say it."""
    return str(fault).replace("`$.object", "`$", 1)


def reported(status: bytes) -> StatusError:
    """The error that the object of an ERROR event is."""
    try:
        code = lists.decoder(_Code).decode(status).code
    except lists.UNREADABLE:
        code = 0
    found = error(Answer(code or 500, bytes(status)))
    if found.reason == "Expired" and not isinstance(found, Expired):
        return Expired(found.message, code=found.code, reason=found.reason)
    return found
