"""Snapshots as stores: a file, page by page where it is large, the example of the program, or a folder in the order of
time.
"""

from __future__ import annotations

import contextlib
import gzip
import re
import shlex
import zlib
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from kubectl_kres.errors import NewerSnapshot, SnapshotError, UsageError
from kubectl_kres.model.kinds import BY_KIND, is_view, write_kind
from kubectl_kres.model.objects import BOUND_PODS, ObjectRef, is_checked, unreadable
from kubectl_kres.snapshot import format
from kubectl_kres.store.store import READ, Kept, LeftOut, Origin, ReadRequest, Store, partly_read


def demo_path() -> Path:
    """Return the bundled snapshot of a made-up shop."""
    return Path(__file__).parents[1] / "demo" / "shop.kres"


_AGAIN = "take it again with: kubectl kres snapshot --out FILE"
_UPGRADE = "upgrade kubectl-kres, or take it again with this version"
_PAGE = re.compile(rb'\{"kind":"([A-Za-z0-9./-]+)",("managed":true,)?"items":')

#: msgspec raises the second for text that is no UTF-8.
_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError)
#: Nothing is left out of what is read.
_WHOLE: Kept = MappingProxyType({})
_ANYWHERE: Mapping[str, Collection[str]] = MappingProxyType({})
_MARK = msgspec.json.Decoder(format.HeaderMark)
_HEADER = msgspec.json.Decoder(format.Header)
_END = msgspec.json.Decoder(format.SnapshotTrailer)


class _Line(Struct, frozen=True, gc=False):
    """A page that is not decoded yet; ``data`` is valid until the next line is read."""

    kind: str
    managed: bool
    data: Any


#: The most bytes of pages that are held.
_HELD = 1 << 24


class HeldPages:
    """Pages as they stand in a snapshot that is looked through, for whoever looks at them again: unpacking the whole
    file for some of its kinds takes longer than decoding them. ``kinds``: of these and of what the scheduler looks at.

    Where there are too many, none is held.
    """

    def __init__(self, kinds: Collection[str]) -> None:
        self._kinds = frozenset(kinds)
        self._lines: list[_Line] | None = []
        self._size = 0

    def add(self, line: _Line) -> None:
        """Hold a page, if it is of one of the kinds."""
        if self._lines is None or not self._holds(line.kind):
            return
        self._size += len(line.data)
        if self._size > _HELD:
            self._lines = None
        else:
            self._lines.append(_Line(line.kind, line.managed, bytes(line.data)))

    def of(self, *kinds: str) -> list[_Line] | None:
        """Return the pages of these kinds; None where they are not held."""
        if self._lines is None or not all(map(self._holds, kinds)):
            return None
        return [line for line in self._lines if line.kind in kinds]

    def _holds(self, kind: str) -> bool:
        return kind in self._kinds or is_view(kind)


def read(path: str, *, without: Collection[str] = (), lean: Kept = _WHOLE, held: HeldPages | None = None) -> Store:
    """Return the store in a snapshot; its origin is the file, with the server's version, time and context of the
    header.

    Objects of the kinds ``without`` are left out; what was known of them is still covered. So are objects with a
    quantity that is none: lists that should hold them are covered as failed. What the scheduler looks at is read when
    it is first asked for. ``lean``: see ``Store.lean``. ``held``: takes pages for later. Raises SnapshotError for a
    file that is no snapshot, is not whole or comes from a newer version.
    """
    pairs: list[tuple[str, list[Any]]] = []
    left_out: dict[str, list[LeftOut]] = {}
    objects = 0
    header = format.Header()
    covered: tuple[format.CoveredRead, ...] = ()
    views: set[str] = set()
    for line in _walk_lines(path):
        match line:
            case format.Header():
                header, covered = line, line.coverage
            case _Line():
                if held is not None:
                    held.add(line)
                if is_view(line.kind):
                    views.add(line.kind)
                elif line.kind not in without:
                    items, kept = _items(path, line), lean.get(line.kind)
                    objects += len(items)
                    items = readable(line.kind, items, left_out.setdefault(line.kind, []))
                    pairs.append((line.kind, items if kept is None else list(map(kept, items))))
            case format.SnapshotTrailer():
                covered = covered if line.coverage is None else line.coverage
                if not without and line.objects != objects:
                    raise _damage_error(path, "the number of objects is wrong")
    store = _store(path, header, covered, pairs)
    _cover_left_out(store, left_out)
    store.lean.update(lean)
    if views:
        load = cache(partial(_views, path, frozenset(views), held))
        store.deferred.update({kind: partial(_view, load, kind) for kind in views})
    return store


def _view(load: Callable[[], dict[str, list[Any]]], kind: str) -> list[Any]:
    return load().get(kind, [])


def _views(path: str, kinds: Collection[str], held: HeldPages | None) -> dict[str, list[Any]]:
    """Return what the scheduler looks at, by kind. Raises SnapshotError."""
    from kubectl_kres.snapshot.scheduling import read_placed  # noqa: PLC0415 - only a pod that waits for a node needs it

    result: dict[str, list[Any]] = {}
    for line in _lines_of(path, kinds, held):
        if isinstance(line, _Line) and line.kind in kinds:
            result.setdefault(line.kind, []).extend(readable(line.kind, _items(path, line), []))
    if BOUND_PODS in result:
        result[BOUND_PODS] = [read_placed(result[BOUND_PODS])]
    return result


def _lines_of(path: str, kinds: Collection[str], held: HeldPages | None) -> Iterable[Any]:
    found = held.of(*kinds) if held is not None else None
    return _walk_lines(path) if found is None else found


def pages(
    path: str, *kinds: str, spaces: Mapping[str, Collection[str]] = _ANYWHERE, held: HeldPages | None = None
) -> Iterator[list[Any]]:
    """Yield the objects of some kinds, a page at a time, in the order of the file; one page is in memory.

    ``spaces``: by kind the namespaces that are asked about; a page may be left out that holds nothing of them.

    Some may not be ``readable``. Raises SnapshotError as ``read`` does, but where the file is not whole possibly after
    some pages: what was made of them must not be shown.
    """
    marks = {kind: [b'"namespace":"%s"' % space.encode() for space in names] for kind, names in spaces.items()}
    for line in _lines_of(path, kinds, held):
        if isinstance(line, _Line) and line.kind in kinds and _may_hold(line, marks.get(line.kind)):
            yield _items(path, line)


def _may_hold(line: _Line, marks: Sequence[bytes] | None) -> bool:
    """Return whether one of the marks stands anywhere in a page, which takes a tenth of decoding it."""
    if marks is None:
        return True
    data = bytes(line.data)
    return any(mark in data for mark in marks)


def header(path: str) -> format.Header:
    """Return what a snapshot says of itself; the coverage that was known when writing began. Raises SnapshotError."""
    with contextlib.closing(_walk_lines(path)) as walk:
        first = next(walk)
    assert isinstance(first, format.Header)
    return first


def _store(
    path: str, header: format.Header, covered: tuple[format.CoveredRead, ...], pairs: list[tuple[str, list[Any]]]
) -> Store:
    store = Store(Origin("snapshot", path, header.server, header.time, header.context, reading=_flags(path)))
    for kind, items in pairs:
        for item in items:
            store.add(kind, item)
    for each in covered:
        store.cover(each.need, each.coverage)
    return store


def readable(kind: str, items: list[Any], left_out: list[LeftOut]) -> list[Any]:
    """Return the objects whose quantities can be read; ``left_out`` takes the others."""
    if not items or not is_checked(type(items[0])):
        return items
    faults = {index: fault for index, item in enumerate(items) if (fault := unreadable(item))}
    for index, fault in faults.items():
        ref = ObjectRef(kind, items[index].metadata.name, items[index].metadata.namespace)
        left_out.append(LeftOut(f"{BY_KIND[kind].qualified_name} {ref.key}: {fault}", ref.namespace, ref.name))
    return [item for index, item in enumerate(items) if index not in faults] if faults else items


def _cover_left_out(store: Store, left_out: dict[str, list[LeftOut]]) -> None:
    """Record which lists could not be read whole, also as the scheduler sees their objects."""
    if not any(left_out.values()):
        return
    from kubectl_kres.snapshot.scheduling import BESIDE  # noqa: PLC0415 - no server stores what is left out

    for kind, missing in left_out.items():
        recorded = {
            read: coverage for read, coverage in store.coverages().items() if read.kind in {kind, BESIDE.get(kind)}
        }
        # Where it tells of no reads, it holds such objects.
        for read_request, coverage in (recorded or {ReadRequest(kind): READ}).items():
            if coverage.has_all_objects and missing:
                lists = partly_read((*coverage.left_out, *missing))
                store.cover(read_request, lists.narrowed(read_request.namespace, read_request.name))


def _flags(path: str) -> str:
    """Return those with which a command reads the file."""
    return "--demo" if path == str(demo_path()) else f"--snapshot {shlex.quote(path)}"


def _walk_lines(path: str) -> Generator[format.Header | _Line | format.SnapshotTrailer]:
    """Yield the header, the pages and, after the checksum agreed, the end."""
    with _open_snapshot(path) as stream:
        crc, header = 0, None
        result = lines(stream)
        for line in result:
            if line[-1] != 0x0A:
                raise _build_cut_error(path)
            if header is None:
                header = _header(path, line)
                yield header
            elif line[: len(format.END)] == format.END:
                yield _decode_end(path, line, crc)
                if next(result, None) is not None:
                    raise _damage_error(path, "something follows its end")
                return
            else:
                yield _line(path, line)
            crc = zlib.crc32(line, crc)
        raise _build_cut_error(path)


def _header(path: str, line: memoryview) -> format.Header:
    try:
        mark = _MARK.decode(line)
        if mark.kres == "snapshot" and mark.format > format.FORMAT:
            expected = f"expected {format.FORMAT} or older"
            raise NewerSnapshot(f"{path}: the snapshot has format {mark.format}, {expected}", hint=_UPGRADE)
        return _HEADER.decode(line)
    except _UNREADABLE as error:
        raise _damage_error(path, "its header cannot be read") from error


def _line(path: str, line: memoryview) -> _Line:
    match = _PAGE.match(line)
    if match is None:
        raise _damage_error(path, "a line is no page of objects")
    return _Line(match[1].decode(), match[2] is not None, line)


def _items(path: str, line: _Line) -> list[Any]:
    decoder = format.page_decoder(line.kind, managed=line.managed)
    if decoder is None:
        raise NewerSnapshot(f"{path}: the snapshot holds {line.kind} objects, which are unknown here", hint=_UPGRADE)
    try:
        items = decoder.decode(line.data).items
    except _UNREADABLE as error:
        raise _damage_error(path, f"a page of {line.kind} objects cannot be read") from error
    if not is_view(line.kind) and (known_kind := BY_KIND.get(line.kind)) is not None:
        for item in items:
            write_kind(item, known_kind)
    return items


def _decode_end(path: str, line: memoryview, crc: int) -> format.SnapshotTrailer:
    try:
        end = _END.decode(line)
    except _UNREADABLE as error:
        raise _damage_error(path, "its end cannot be read") from error
    before = bytes(line).rpartition(format.CRC)[0] + format.CRC
    if end.crc32 != zlib.crc32(before, crc) or bytes(line) != before + b"%d}\n" % end.crc32:
        raise _damage_error(path, "the checksum differs")
    return end


@contextlib.contextmanager
def _open_snapshot(path: str) -> Iterator[BufferedReader | gzip.GzipFile]:
    """The bytes of a snapshot, unpacked if they are gzipped; what goes wrong below comes out as SnapshotError."""
    try:
        if Path(path).is_fifo():
            raise SnapshotError(f"{path}: it is a pipe; a snapshot is read from a file")
        with Path(path).open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            stream = gzip.GzipFile(fileobj=raw) if packed else raw
            start = stream.read(len(format.MAGIC))
            if not start:
                raise SnapshotError(f"{path}: the file is empty, expected a snapshot", hint=_AGAIN)
            if start != format.MAGIC:
                if format.MAGIC.startswith(start):
                    raise _build_cut_error(path)
                hint = "a snapshot is written by: kubectl kres snapshot --out FILE"
                raise SnapshotError(f"{path}: this is no kres snapshot", hint=hint)
            stream.seek(0)
            yield stream
    except EOFError as error:
        raise _build_cut_error(path) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise _damage_error(path, "the compressed data is broken") from error
    except OSError as error:
        raise SnapshotError(f"{path}: the snapshot cannot be read: {error.strerror or error}") from error


def _build_cut_error(path: str) -> SnapshotError:
    return SnapshotError(f"{path}: the snapshot is cut off, expected an end with a checksum", hint=_AGAIN)


def _damage_error(path: str, reason: str) -> SnapshotError:
    return SnapshotError(f"{path}: the snapshot is damaged: {reason}", hint=_AGAIN)


_BUFFER = 1 << 18

#: A page of objects is at most this long: etcd takes 1.5 MiB of each.
LONGEST = 1 << 28


class ByteReader(Protocol):
    """A binary stream, gzipped or not."""

    def readinto(self, buffer: Any, /) -> int | None: ...


def lines(stream: ByteReader, *, size: int = _BUFFER) -> Iterator[memoryview]:
    """Yield each line with its line feed, which a last line may lack. A line is valid until the next one is asked for.

    Raises EOFError if none ends within LONGEST bytes.
    """
    buffer = bytearray(size)
    start = seen = end = 0
    while True:
        number = buffer.find(b"\n", seen, end)
        if number >= 0:
            line = memoryview(buffer)[start : number + 1]
            yield line
            start = seen = number + 1
            continue
        if start:
            buffer[: end - start] = buffer[start:end]
            start, end = 0, end - start
        seen = end
        if end == len(buffer):
            if end >= LONGEST:
                raise EOFError
            buffer = buffer + bytearray(len(buffer))
        with memoryview(buffer) as view:
            read = stream.readinto(view[end:]) or 0
        if not read:
            break
        end += read
    if end:
        yield memoryview(buffer)[:end]


#: What snapshots in a folder are known by.
ENDINGS = (".kres", ".kres.gz")
WRITTEN = f"snapshots end in {' or '.join(ENDINGS)}; kubectl kres snapshot --out FILE writes one"


class SnapshotFolder(Struct, frozen=True):
    """The snapshots of a folder, the oldest first. ``broken``: names of files that cannot be read as one."""

    paths: tuple[str, ...]
    broken: tuple[str, ...] = ()


def files(folder: str) -> list[str]:
    """Return the paths of its snapshots, by name; what they hold was not looked at."""
    return sorted(str(path) for path in Path(folder).iterdir() if path.name.endswith(ENDINGS) and path.is_file())


def list_snapshots(folder: str) -> SnapshotFolder:
    """Look at headers only. Raises UsageError where there is none, or where they are of several clusters."""
    headers, broken = {}, []
    for path in files(folder):
        try:
            headers[path] = header(path)
        except SnapshotError:
            broken.append(Path(path).name)
    if not headers:
        unreadable = f": none of {', '.join(broken)} can be read" if broken else ""
        raise UsageError(f"--snapshot {folder}: there is no snapshot in it{unreadable}", hint=WRITTEN)
    clusters = sorted({each.context or each.origin for each in headers.values()})
    if len(clusters) > 1:
        hint = "go through time in a folder of one cluster; kubectl kres fleet compares several"
        raise UsageError(
            f"--snapshot {folder}: its snapshots are of several clusters: {', '.join(clusters)}", hint=hint
        )
    return SnapshotFolder(tuple(sorted(headers, key=lambda path: (headers[path].time, path))), tuple(broken))
