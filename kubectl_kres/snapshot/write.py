"""A store, or pages as they are read, to a snapshot: a file that appears whole under its name, or not at all."""

from __future__ import annotations

import contextlib
import errno
import gzip
import itertools
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from kubectl_kres.errors import SnapshotError
from kubectl_kres.model import kinds
from kubectl_kres.model.admission_objects import is_parameter
from kubectl_kres.model.objects import BOUND_PODS
from kubectl_kres.snapshot.format import CRC, PAGE, Header, SnapshotTrailer, coverage_entries, header, is_managed
from kubectl_kres.snapshot.redact import redact
from kubectl_kres.store.store import Coverage, ReadRequest, Store
from kubectl_kres.systems import modules


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A stream to write to; what was written becomes the file ``path``, readable by its owner only, on a clean exit.

    On an error, a full disk too, the old file stays and nothing else is left behind. ``-`` is standard output; devices
    and pipes are written to directly. Raises OSError.
    """
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path).resolve()
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        with target.open("wb") as stream:
            yield stream
        return
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync(target.parent)


def _sync(directory: Path) -> None:
    """Make a new name in a directory last, on systems where a directory can be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


Pages = Iterable[tuple[str, Sequence[Any]]]
#: Of gzip: half the time of its default, and still a fortieth of the JSON that the cluster has.
_LEVEL = 3
_ENCODER = msgspec.json.Encoder(order="deterministic")


def write(store: Store, path: str) -> int:
    """Write a store; returns the number of objects, views for the scheduler apart. Equal stores make equal bytes.

    ``-`` is standard output; a name that ends in ``.gz`` is gzipped. The file appears whole or not at all, readable by
    its owner only. Raises SnapshotError if it cannot be written.
    """
    store.open_deferred()
    pages = ((kind, page) for kind in store.kinds() for page in _batches(_objects(store, kind)))
    return write_stream(header(store), pages, path)


def write_stream(
    header: Header,
    pages: Pages,
    path: str,
    *,
    coverage: Callable[[], Mapping[ReadRequest, Coverage]] | None = None,
) -> int:
    """Write pages (a kind and its objects) as they come, so that one is in memory; returns the number of objects.

    coverage: asked after the last page, for reading that goes on while writing; it replaces the header's. As ``write``
    otherwise; what ``pages`` raises is raised, and then nothing is written.
    """
    try:
        with replacing(path) as raw, _open_compressed(raw, path) as stream:
            return _write(stream, header, pages, coverage)
    except BrokenPipeError:
        raise
    except OSError as error:
        if path == "-":
            raise
        message = f"{path}: the snapshot cannot be written: {error.strerror or error}"
        raise SnapshotError(message, hint="no file was changed; choose another place with --out") from error


def _write(
    stream: BinaryIO | gzip.GzipFile,
    header: Header,
    pages: Pages,
    coverage: Callable[[], Mapping[ReadRequest, Coverage]] | None,
) -> int:
    crc = objects = 0
    for count, line in itertools.chain([(0, _ENCODER.encode(header) + b"\n")], _lines(pages)):
        stream.write(line)
        crc = zlib.crc32(line, crc)
        objects += count
    known = None if coverage is None else coverage_entries(coverage())
    end = _ENCODER.encode(SnapshotTrailer(True, objects, known, 0)).rpartition(CRC)[0] + CRC
    stream.write(end + b"%d}\n" % zlib.crc32(end, crc))
    return objects


def _lines(pages: Pages) -> Iterator[tuple[int, bytes]]:
    for kind, items in pages:
        if kind not in kinds.BY_KIND and not is_parameter(kind):
            raise SnapshotError(f"a snapshot holds no {kind}", hint="known are " + " ".join(kinds.BY_KIND))
        kept = _redact_view if kinds.is_view(kind) else _redact
        for managed, group in itertools.groupby(items, key=is_managed):
            for page in _batches(group):
                head = b'{"kind":"%s",' % kind.encode() + (b'"managed":true,"items":' if managed else b'"items":')
                yield 0 if kinds.is_view(kind) else len(page), head + _ENCODER.encode(list(map(kept, page))) + b"}\n"


def _redact(item: Any) -> Any:
    item = redact(item)
    for system in modules("snapshot"):
        item = system.redact(item)
    return item


def _redact_view(item: Any) -> Any:
    from kubectl_kres.snapshot.scheduling import redact_view  # noqa: PLC0415 - only what is read for the scheduler

    return redact_view(item)


def _objects(store: Store, kind: str) -> Iterator[Any]:
    """Yield those of a kind; the store has pods on nodes as one object."""
    if kind != BOUND_PODS:
        return store.all(kind)
    from kubectl_kres.snapshot.scheduling import write_placed  # noqa: PLC0415 - only what is read for the scheduler

    return itertools.chain.from_iterable(map(write_placed, store.all(kind)))


def _batches(items: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(items)
    while page := list(itertools.islice(rest, PAGE)):
        yield page


@contextlib.contextmanager
def _open_compressed(raw: BinaryIO, path: str) -> Iterator[BinaryIO | gzip.GzipFile]:
    """The stream, through gzip if the name asks for it; no name and time in it, so that equal stores stay equal."""
    if not path.endswith(".gz"):
        yield raw
        return
    with gzip.GzipFile("", "wb", _LEVEL, raw, 0) as packed:
        yield packed
