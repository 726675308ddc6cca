"""The body of an answer: whole and decompressed, or a watch line by line as it comes; or an error."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Iterator
from http.client import HTTPException
from itertools import chain
from threading import Lock
from time import monotonic
from typing import Any, Self

from urllib3 import exceptions

from kubectl_kres.cluster.transport import response as errors
from kubectl_kres.cluster.transport.response import one_line
from kubectl_kres.errors import ClusterError, Unreachable

_PIECE = 1 << 16
#: The largest body in bytes, packed and unpacked: a page of 500 objects, each of the size at which etcd ends, 1.5 MiB.
#: No more is held of all bodies that are on their way at a time either.
LARGEST = 768 << 20
#: Seconds after which a body that still comes is left, whatever is allowed for the request.
LONGEST = 300.0
#: A body beyond ``SMALL`` bytes that unpacks to so many times what came is a bomb: lists of objects that are alike but
#: for their names pack 40 times, gzip at its best 1,030 times.
SMALL, DENSEST = 64 << 20, 256
#: Beyond so many packed bytes a body is unpacked while it comes, so that one without an end is noticed.
_AS_IT_COMES = 4 << 20
#: Deflate packs no tighter than this.
_DENSEST_OF_ALL = 1100
#: How zlib begins its complaint about a stream without an end.
_INCOMPLETE = "Error -5 "


class Ceiling:
    """Bytes that are held of all bodies of a connection that are on their way. Threads may share it."""

    def __init__(self) -> None:
        self._buffered, self._lock = 0, Lock()

    def take(self, size: int) -> None:
        """Raises ClusterError where that is more than the ceiling."""
        with self._lock:
            self._buffered += size
            if self._buffered > LARGEST:
                raise _too_large()

    def give_back(self, size: int) -> None:
        with self._lock:
            self._buffered -= size


class _Share:
    """What one body holds of a ceiling."""

    def __init__(self, ceiling: Ceiling) -> None:
        self._ceiling, self._size = ceiling, 0

    def take(self, size: int) -> None:
        """Raises ClusterError."""
        self._size += size
        self._ceiling.take(size)

    def give_back(self) -> None:
        self._ceiling.give_back(self._size)
        self._size = 0


def read(response: Any, ceiling: Ceiling | None = None) -> bytes:
    """Return the body, decompressed. Raises Unreachable if it ends too early or its framing is none, TimedOut if it
    takes too long, ClusterError for more than anybody has to send. ``ceiling``: what it shares with others that are
    read beside it; without one it is alone.
    """
    share = _Share(ceiling or Ceiling())
    try:
        if response.headers.get("Content-Encoding", "identity").lower() == "gzip":
            return _unpacked_body(response, share)
        return _read_plain_body(response, share)
    except exceptions.ReadTimeoutError as error:
        raise errors.timed_out(reading=True) from error
    except (exceptions.HTTPError, OSError) as error:
        raise errors.incomplete_body_error(response.tell()) from error
    except ValueError as error:  # http.client, for a chunk of negative size
        raise Unreachable(f"{errors.UNABLE}malformed HTTP response: {one_line(str(error))}") from error
    finally:
        share.give_back()
        response.close()


def _read_pieces(response: Any) -> Iterator[bytes]:
    """Yield what comes, as it comes. Raises TimedOut, and ClusterError beyond the size of the largest body."""
    until, size = monotonic() + LONGEST, 0
    for piece in iter(lambda: response.read(_PIECE, decode_content=False), b""):
        size += len(piece)
        if size > LARGEST:
            raise _too_large()
        yield piece
        if monotonic() > until:
            raise errors.timed_out(reading=True)


def _read_plain_body(response: Any, share: _Share) -> bytes:
    pieces = []
    for piece in _read_pieces(response):
        share.take(len(piece))
        pieces.append(piece)
    content = b"".join(pieces)
    _check_end(response, content)
    return content


def _unpacked_body(response: Any, share: _Share) -> bytes:
    """Return the content of a body in gzip: at once if it is short, as it comes if not."""
    coming, first, size = _read_pieces(response), [], 0
    for piece in coming:
        first.append(piece)
        size += len(piece)
        if size > _AS_IT_COMES:
            return _unpacked_as_it_comes(chain(first, coming), share)
    return _unpack_gzip(b"".join(first), share)


def _unpacked_as_it_comes(pieces: Iterator[bytes], share: _Share) -> bytes:
    member, content, packed = zlib.decompressobj(zlib.MAX_WBITS | 16), io.BytesIO(), 0
    for piece in pieces:
        packed += len(piece)
        if member.eof:
            raise _not_gzip()
        try:
            more = member.decompress(piece)
        except zlib.error as error:
            raise _not_gzip() from error
        share.take(len(more))
        content.write(more)
        if content.tell() > SMALL and content.tell() > DENSEST * packed:
            raise _too_dense(packed, content.tell())
    if not member.eof:
        raise errors.incomplete_body_error(packed)
    if member.unused_data:
        raise _not_gzip()
    return content.getvalue()


def _unpack_gzip(packed: bytes, share: _Share) -> bytes:
    """Return the content of one gzip member. Its last four bytes tell the size, which saves growing a buffer to it.

    What cannot unpack to more than the largest body is unpacked at once; of more no byte beyond the size that is
    reported.
    """
    size = int.from_bytes(packed[-4:], "little")
    try:
        if size > LARGEST or (size > SMALL and size > DENSEST * len(packed)):
            raise _bomb(packed, size)
        share.take(size)
        if len(packed) <= LARGEST // _DENSEST_OF_ALL:
            return zlib.decompress(packed, zlib.MAX_WBITS | 16, max(min(size, _DENSEST_OF_ALL * len(packed)), 1))
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        content = member.decompress(packed, size + 1)
    except zlib.error as error:
        if _INCOMPLETE in str(error):
            raise errors.incomplete_body_error(len(packed)) from error
        raise _not_gzip() from error
    if len(content) > size:
        raise _not_gzip()
    if not member.eof:
        raise errors.incomplete_body_error(len(packed))
    return content


def _bomb(packed: bytes, size: int) -> ClusterError:
    """Return the error for a size that is too large, or for an answer that was cut off, whose last bytes are no
    size.
    """
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    if len(member.decompress(packed, SMALL)) < SMALL and not member.eof:
        return errors.incomplete_body_error(len(packed))
    return _too_large() if size > LARGEST else _too_dense(len(packed), size)


def _too_dense(packed: int, size: int) -> ClusterError:
    return ClusterError(f"the server's answer is left: {packed} bytes unpack to {size >> 20} MiB")


def _not_gzip() -> Unreachable:
    return Unreachable(f"{errors.UNABLE}the answer is not valid gzip")


def _too_large() -> ClusterError:
    return ClusterError(
        f"the server's answer is left: it is larger than {LARGEST >> 20} MiB",
        hint="a smaller --chunk-size asks for less",
    )


def _check_end(response: Any, content: bytes) -> None:
    """Refuse JSON without an end where no header says how long it is, as after a cut within the headers."""
    headers = response.headers
    if "Content-Encoding" in headers and headers["Content-Encoding"].lower() != "identity":
        raise ClusterError(f"the server answered with the unknown encoding {one_line(headers['Content-Encoding'])}")
    framed = "Content-Length" in headers or "Transfer-Encoding" in headers
    expected = "json" in headers.get("Content-Type", "json" if response.status == 200 else "")
    if not framed and expected and not content.rstrip().endswith(b"}"):
        raise errors.incomplete_body_error(len(content))


#: The largest event in bytes, packed or not: etcd ends at objects of 1.5 MiB, of which JSON is a few times the size.
STREAM_LONGEST = 16 << 20


class Stream:
    """The body of an answer without an end. One thread reads it; any other may close it."""

    def __init__(self, response: Any, silence: float) -> None:
        """``silence``: so many seconds without a byte are taken for a broken connection."""
        self._response, self._silence = response, silence
        #: What urllib3 reads from, which is ours; see ``deadline``.
        self._timed = response._fp  # noqa: SLF001, urllib3 has no public name for it
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._response.close()

    def close(self) -> None:
        """End it, also for a thread that waits for its next byte."""
        self._closed = True
        self._timed.hang_up()

    def lines(self) -> Iterator[list[bytes]]:
        """Whole lines, as many as came at once. A line without an end is not given out.

        They end where the server ends them, or where it is silent. Raises Unreachable if the connection breaks.
        """
        return split(self._read_pieces())

    def _read_pieces(self) -> Iterator[list[bytes]]:
        response = self._response
        packed = response.headers.get("Content-Encoding", "identity").lower() == "gzip"
        unpacked = _Unpacking() if packed else None
        try:
            for pieces in self._timed.read_chunks(self._silence):
                yield pieces if unpacked is None else [unpacked.unpack(piece) for piece in pieces]
                if self._closed:
                    return
        except zlib.error as error:
            raise Unreachable(f"{errors.UNABLE}the answer is not valid gzip") from error
        except (HTTPException, OSError, ValueError) as error:
            raise Unreachable(f"{errors.UNABLE}unexpected EOF: the watch was cut off") from error


class _Unpacking:
    """One gzip member that comes in pieces."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def unpack(self, piece: bytes) -> bytes:
        """Return what a piece unpacks to. Raises ClusterError for more than any event is."""
        result = self._member.decompress(piece, STREAM_LONGEST)
        if self._member.unconsumed_tail:
            raise _line_too_large()
        return result


def _line_too_large() -> ClusterError:
    return ClusterError(f"the server's event is left: it is larger than {STREAM_LONGEST >> 20} MiB")


def split(groups: Iterable[list[bytes]]) -> Iterator[list[bytes]]:
    """Yield the lines of a text that comes in pieces: those that each group of pieces completes.

    Raises ClusterError for a line that is longer than any object is.
    """
    result: list[bytes] = []
    waiting = 0
    for pieces in groups:
        lines: list[bytes] = []
        for piece in pieces:
            if not result and piece.find(b"\n") == len(piece) - 1:
                # The server sends an event as one piece: it need not be copied, and JSON may end with its newline.
                lines.append(piece)
                continue
            first, *more = piece.split(b"\n")
            result.append(first)
            waiting += len(first)
            if waiting > STREAM_LONGEST:
                raise _line_too_large()
            if more:
                lines += (b"".join(result), *more[:-1])
                result = [more[-1]] if more[-1] else []
                waiting = len(more[-1])
        if lines:
            yield lines
