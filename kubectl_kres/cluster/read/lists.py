"""Decoding of a list's body: all of its objects, or those that can be decoded if some have fields of a wrong type."""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct, field

from kubectl_kres.cluster.transport.response import one_line
from kubectl_kres.errors import ClusterError
from kubectl_kres.model.kinds import BY_KIND, Kind, write_kind
from kubectl_kres.model.objects import is_checked
from kubectl_kres.model.objects import unreadable as unreadable_quantity
from kubectl_kres.model.workload import Workload
from kubectl_kres.store.store import LeftOut

T = TypeVar("T")

#: What msgspec raises for text that is no JSON, or nested too deeply.
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class _Metadata(Struct, frozen=True, gc=False, rename="camel"):
    continue_: str | None = field(default=None, name="continue")
    resource_version: str | None = None
    remaining_item_count: int | None = None


class _List(Struct, Generic[T], frozen=True, rename="camel"):
    api_version: str | None = None
    kind: str | None = None
    metadata: _Metadata | None = None
    items: list[T] | None = None


class ListPage(Struct, frozen=True):
    """Some objects of a list. ``token`` gets the next page; empty: this is the last one.

    ``skipped`` names the objects that could not be decoded, each with the reason. ``version``: the moment of the list,
    from which it can be watched. ``remaining``: how many objects follow, 0 also where the server does not say.
    ``beside``: the same objects once more, with other fields, where those were asked for.
    """

    items: list[Any]
    token: str = ""
    skipped: tuple[LeftOut, ...] = ()
    version: str = ""
    remaining: int = 0
    beside: list[Any] = []


#: Held while a decoder is built. Two threads that build decoders of types with a part in common crash the
#: interpreter: msgspec hands the second one a part that the first one has only half described.
DESCRIBING = Lock()


@cache
def decoder(struct: Any) -> msgspec.json.Decoder[Any]:
    """Return a decoder that keeps the text of fractional numbers, since quantities are exact."""
    with DESCRIBING:
        return msgspec.json.Decoder(struct, float_hook=str)


def decode(content: bytes, kind: Kind, struct: Any = None) -> ListPage:
    """Return the page in ``content``, its items as ``struct`` or else as the kind's. ``null`` items are none.

    Raises ClusterError if it is no list in JSON.
    """
    struct = struct or struct_of(kind)
    skipped: list[LeftOut] = []
    try:
        try:
            result = decoder(_List[struct]).decode(content)
            items = result.items or []
        except msgspec.ValidationError:
            result = decoder(_List[msgspec.Raw]).decode(content)
            items = _one_by_one(result.items or [], kind, struct, skipped)
    except UNREADABLE as error:
        raise unreadable(f"the list of {kind.qualified_name}", error) from error
    confirm(result.api_version, result.kind, kind, f"{kind.kind}List", f"the list of {kind.qualified_name}")
    for item in items:
        write_kind(item, kind)
    if is_checked(struct):
        items = _readable(items, kind, skipped)
    about = result.metadata or _Metadata()
    token, version = about.continue_ or "", about.resource_version or ""
    return ListPage(items, token, tuple(skipped), version, about.remaining_item_count or 0)


def confirm(version: str | None, name: str | None, kind: Kind, expected: str, what: str) -> None:
    """Raise ClusterError unless an answer is of the kind and version that was asked for.

    Lists of kinds that we do not know may have a name of their own. Source: apimachinery runtime.NewMissingKindErr.
    """
    if not name:
        raise ClusterError(f"Object 'Kind' is missing in the server's answer: it is not {what}")
    ours = BY_KIND.get(kind.kind)
    is_own_list = (ours is not None and ours.api_version == kind.api_version) or not expected.endswith("List")
    if (name != expected) if is_own_list else not name.endswith("List"):
        raise ClusterError(f"the server answered with a {one_line(name)} instead of {what}")
    if version and version != kind.api_version:
        raise ClusterError(f"the server answered with {one_line(name)} of {one_line(version)} instead of {what}")


def struct_of(kind: Kind) -> Any:
    """Return what objects of the kind are decoded into; kinds that we do not know may still hold a pod template."""
    return kind.struct or Workload


def unreadable(what: str, error: Exception) -> ClusterError:
    """Return the error for an answer that is no JSON, or not of the form that the API promises."""
    return ClusterError(one_line(f"{what} could not be decoded: {error}"))


def _readable(items: list[Any], kind: Kind, skipped: list[LeftOut]) -> list[Any]:
    """Return the objects whose quantities can be read."""
    kept = []
    for index, item in enumerate(items):
        if fault := unreadable_quantity(item):
            skipped.append(left_out(kind, (item.metadata.namespace, item.metadata.name), index, fault))
        else:
            kept.append(item)
    return kept


def _one_by_one(raw: list[msgspec.Raw], kind: Kind, struct: Any, skipped: list[LeftOut]) -> list[Any]:
    kept = []
    for index, text in enumerate(raw):
        try:
            kept.append(decoder(struct).decode(text))
        except UNREADABLE as error:
            skipped.append(left_out(kind, read_object_name(text), index, error))
    return kept


def left_out(kind: Kind, key: tuple[str, str], index: int, error: object) -> LeftOut:
    """Return an object that could not be decoded. ``key``: its namespace and name, as far as they are known."""
    line = one_line(f"{kind.qualified_name} {'/'.join(filter(None, key)) or f'number {index + 1}'}: {error}")
    return LeftOut(line, *key)


def read_object_name(text: msgspec.Raw) -> tuple[str, str]:
    """Namespace and name of an object whose other fields are wrong; empty where even these are."""
    try:
        metadata = msgspec.json.decode(text)["metadata"]
        parts = (metadata.get("namespace"), metadata.get("name"))
    except (*UNREADABLE, TypeError, KeyError, AttributeError):
        return "", ""
    namespace, name_ = (part if isinstance(part, str) else "" for part in parts)
    return namespace, name_
