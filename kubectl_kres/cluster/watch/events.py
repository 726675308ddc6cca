"""The events of a watch, decoded into the same structs as lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from kubectl_kres.cluster.read import lists
from kubectl_kres.cluster.transport.response import Response, error, one_line
from kubectl_kres.errors import ClusterError, Expired, StatusError
from kubectl_kres.model.kinds import Kind, write_kind
from kubectl_kres.model.objects import is_checked, unreadable
from kubectl_kres.store.store import LeftOut

T = TypeVar("T")

ADDED, MODIFIED, DELETED, BOOKMARK, ERROR = "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"


_USUAL = frozenset((ADDED, MODIFIED, DELETED, BOOKMARK))
#: Bytes; a shorter line is empty, with or without its newline.
_SHORTEST = 3


class _Event(Struct, Generic[T], frozen=True, gc=False):
    type: str
    object: T


class _Meta(Struct, frozen=True, rename="camel", gc=False):
    resource_version: str = ""


class _Versioned(Struct, frozen=True, gc=False):
    metadata: _Meta = _Meta()


class _Code(Struct, frozen=True, gc=False):
    code: int = 0


class WatchEvent(NamedTuple):
    """What became of one object.

    type: ADDED, MODIFIED or DELETED. item: the object; None if it could not be decoded, of which ``fault`` tells.
    version: a number that grows from event to event; 0 if the server's versions are no numbers.
    """

    type: str
    namespace: str
    name: str
    item: Any
    version: int
    fault: LeftOut | None = None


class Batch(NamedTuple):
    """Events that came at once, and the version from which a watch goes on after them; empty: as before."""

    events: list[WatchEvent]
    version: str


def batches(lines: Iterable[list[bytes]], kind: Kind, struct: Any, since: str) -> Iterator[Batch]:
    """Yield the events in the order of the server. ``since``: the version that was watched from.

    What is not newer than what came before is left out: it came twice. Raises Expired if the server has forgotten what
    changed since then, another StatusError for what else it reports, ClusterError for what is no event.
    """
    decode = lists.decoder(_Event[struct]).decode
    last = number(since)
    for group in lines:
        events: list[WatchEvent] = []
        version = ""
        for line in group:
            if len(line) < _SHORTEST:
                continue
            result = _decode_usual_event(decode, line)
            if result is None:
                if events:
                    yield Batch(events, version)
                    events = []
                event, text = _decode_unusual_event(line, kind, struct)
            else:
                event, text = _event(result, kind), result.object.metadata.resource_version
            time = number(text)
            if time and time <= last:
                continue
            last, version = time or last, text or version
            if event is not None:
                events.append(event)
        if events or version:
            yield Batch(events, version)


def number(version: str) -> int:
    """Return a resource version as a number; 0 if it is none."""
    return int(version) if version.isascii() and version.isdigit() else 0


def _decode_usual_event(decode: Callable[[bytes], Any], line: bytes) -> Any:
    """Return the event, if it is about an object of the expected form or a bookmark; else None."""
    try:
        result = decode(line)
    except lists.UNREADABLE:
        return None
    return result if result.type in _USUAL else None


def _event(value: Any, kind: Kind) -> WatchEvent | None:
    """None for a bookmark."""
    if value.type == BOOKMARK:
        return None
    item = value.object
    write_kind(item, kind)
    metadata = item.metadata
    version = number(metadata.resource_version)
    if is_checked(type(item)) and value.type != DELETED and (fault := unreadable(item)):
        left_out = lists.left_out(kind, (metadata.namespace, metadata.name), 0, fault)
        return WatchEvent(value.type, metadata.namespace, metadata.name, None, version, left_out)
    return WatchEvent(value.type, metadata.namespace, metadata.name, item, version)


def _decode_unusual_event(line: bytes, kind: Kind, struct: Any) -> tuple[WatchEvent | None, str]:
    """Return an event whose object is not of the kind's form, with its version. Raises the StatusError of an ERROR
    event.
    """
    what = f"an event about {kind.qualified_name}"
    try:
        result = lists.decoder(_Event[msgspec.Raw]).decode(line)
    except lists.UNREADABLE as fault:
        raise lists.unreadable(what, fault) from fault
    if result.type == ERROR:
        raise event_error(result.object)
    if result.type not in _USUAL:
        raise ClusterError(one_line(f"the server sent {what} of the unknown type {result.type!r}"))
    try:
        text = lists.decoder(_Versioned).decode(result.object).metadata.resource_version
    except lists.UNREADABLE:
        text = ""
    if result.type == BOOKMARK:
        return None, text
    namespace, name = lists.read_object_name(result.object)
    reason = _fault(result.object, struct) if result.type != DELETED or not name else ""
    left_out = lists.left_out(kind, (namespace, name), 0, reason)
    if not name:
        raise ClusterError(f"{what} could not be decoded: {left_out.line}")
    return WatchEvent(result.type, namespace, name, None, number(text), left_out if reason else None), text


def _fault(text: bytes, struct: Any) -> str:
    """Return what is wrong with an object, as a list would say it."""
    try:
        lists.decoder(struct).decode(text)
    except lists.UNREADABLE as fault:
        return str(fault)
    return ""


def event_error(status: bytes) -> StatusError:
    """Return the error that the object of an ERROR event is."""
    try:
        code = lists.decoder(_Code).decode(status).code
    except lists.UNREADABLE:
        code = 0
    status_error = error(Response(code or 500, bytes(status)))
    if status_error.reason == "Expired" and not isinstance(status_error, Expired):
        return Expired(status_error.message, code=status_error.code, reason=status_error.reason)
    return status_error
