"""The lines of a snapshot: a header, pages of objects, an end with a checksum over all before it.

    {"kres":"snapshot","format":1,"version":"…","origin":"…","time":"…","server":"…","context":"…","coverage":[…],…}
    {"kind":"Pod","items":[…at most PAGE objects…]}
    {"end":true,"objects":2,"coverage":null,"crc32":123}

The file may be gzipped. Coverage that is only known after the last page was written stands in the end, not the header.
"""

import functools
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from kubectl_kres import __version__
from kubectl_kres.model import kinds
from kubectl_kres.model.objects import BOUND_PODS
from kubectl_kres.model.pod import ManagedPod
from kubectl_kres.store.store import Coverage, ReadRequest, Store

#: 2: with what the scheduler looks at.
FORMAT = 2
PAGE = 100

#: How each snapshot begins, so that any other file is reported apart by its first bytes.
MAGIC = b'{"kres":"snapshot",'
END = b'{"end":'
CRC = b',"crc32":'

T = TypeVar("T")


class CoveredRead(Struct, frozen=True):
    """A need and how reading it went."""

    need: ReadRequest
    coverage: Coverage


class Header(Struct, frozen=True, forbid_unknown_fields=True):
    """What a snapshot is of. ``counts``: objects by kind, empty if they were not known when writing began.

    version: of kres. origin: the server's address or the file. server: the API server's gitVersion. time: RFC 3339.
    """

    kres: str = "snapshot"
    format: int = FORMAT
    version: str = __version__
    origin: str = ""
    time: str = ""
    server: str = ""
    context: str = ""
    coverage: tuple[CoveredRead, ...] = ()
    counts: Mapping[str, int] = {}


class HeaderMark(Struct, frozen=True):
    """The part of a header that says whether the rest can be read."""

    kres: str
    format: int


class SnapshotTrailer(Struct, frozen=True, forbid_unknown_fields=True):
    """The last line. ``coverage`` replaces the header's unless it is None; ``crc32`` is over all bytes before it."""

    end: bool
    objects: int
    coverage: tuple[CoveredRead, ...] | None
    crc32: int


class SnapshotPage(Struct, Generic[T], frozen=True, forbid_unknown_fields=True):
    """Objects of one kind; ``managed``: of pods, that they come with their field managers."""

    kind: str
    items: list[T]
    managed: bool = False


def coverage_entries(coverage: Mapping[ReadRequest, Coverage]) -> tuple[CoveredRead, ...]:
    """Coverage as it is written, in an order that does not depend on how it was gathered."""
    return tuple(
        CoveredRead(*pair) for pair in sorted(coverage.items(), key=lambda pair: msgspec.structs.astuple(pair[0]))
    )


def header(store: Store) -> Header:
    """Return what a store's snapshot begins with."""
    origin = store.origin
    return Header(
        origin=origin.name,
        time=origin.time,
        server=origin.version,
        context=origin.context,
        coverage=coverage_entries(store.coverages()),
        counts={kind: sum(1 for _ in store.all(kind)) for kind in store.kinds()},
    )


@functools.cache
def page_decoder(kind: str, *, managed: bool) -> msgspec.json.Decoder[SnapshotPage[Any]] | None:
    """Decodes a page of a kind; None for a kind that this version does not know."""
    try:
        known_kind = kinds.BY_KIND[kind]
    except KeyError:
        return None
    if known_kind.kind == BOUND_PODS:
        from kubectl_kres.scheduling.node_info import PlacedPod  # noqa: PLC0415 - only a pod that waits for a node needs it

        return msgspec.json.Decoder(SnapshotPage[PlacedPod])
    page: Any = SnapshotPage
    return msgspec.json.Decoder(page[ManagedPod if managed else known_kind.struct])


def is_managed(item: Any) -> bool:
    """Return whether an object is a pod that came with its field managers."""
    return isinstance(item, ManagedPod)
