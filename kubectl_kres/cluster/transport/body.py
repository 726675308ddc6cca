"""The body of an answer: whole, decompressed, or an error."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from urllib3 import exceptions

from kubectl_kres.cluster.transport import errors
from kubectl_kres.cluster.transport.response import one_line
from kubectl_kres.errors import ClusterError, Unreachable

_PIECE = 1 << 16
#: The largest body in bytes, packed and unpacked: a page of 500 objects, each of the size at which etcd ends, 1.5 MiB.
LARGEST = 768 << 20
#: A body beyond ``SMALL`` bytes that unpacks to so many times what came is a bomb: lists of objects that are alike but
#: for their names pack 40 times, gzip at its best 1,030 times.
SMALL, DENSEST = 64 << 20, 256
#: Deflate packs no tighter than this.
_DENSEST_OF_ALL = 1100
#: How zlib begins its complaint about a stream without an end.
_INCOMPLETE = "Error -5 "


def read(response: Any) -> bytes:
    """The body, decompressed. Raises Unreachable if it ends too early or its framing is none, TimedOut if it takes too
    long, ClusterError for more than anybody has to send.
    """
    try:
        if response.headers.get("Content-Encoding", "identity").lower() == "gzip":
            return _unpacked(_come(response))
        return _plain(response)
    except exceptions.ReadTimeoutError as error:
        raise errors.timed_out(reading=True) from error
    except (exceptions.HTTPError, OSError) as error:
        raise errors.cut_off(response.tell()) from error
    except ValueError as error:  # http.client, for a chunk of negative size
        raise Unreachable(f"{errors.UNABLE}malformed HTTP response: {one_line(str(error))}") from error
    finally:
        response.close()


def _pieces(response: Any) -> Iterator[bytes]:
    return iter(lambda: response.read(_PIECE, decode_content=False), b"")


def _plain(response: Any) -> bytes:
    content = _come(response)
    _check_end(response, content)
    return content


def _come(response: Any) -> bytes:
    """All that comes, as it comes."""
    pieces, size = [], 0
    for piece in _pieces(response):
        size += len(piece)
        if size > LARGEST:
            raise _too_large()
        pieces.append(piece)
    return b"".join(pieces)


def _unpacked(packed: bytes) -> bytes:
    """The content of one gzip member. Its last four bytes tell the size, which saves growing a buffer to it.

    What cannot unpack to more than the largest body is unpacked at once; of more no byte beyond the size that is told.
    """
    size = int.from_bytes(packed[-4:], "little")
    try:
        if size > LARGEST or (size > SMALL and size > DENSEST * len(packed)):
            raise _bomb(packed, size)
        if len(packed) <= LARGEST // _DENSEST_OF_ALL:
            return zlib.decompress(packed, zlib.MAX_WBITS | 16, max(min(size, _DENSEST_OF_ALL * len(packed)), 1))
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        content = member.decompress(packed, size + 1)
    except zlib.error as error:
        if _INCOMPLETE in str(error):
            raise errors.cut_off(len(packed)) from error
        raise _not_gzip() from error
    if len(content) > size:
        raise _not_gzip()
    if not member.eof:
        raise errors.cut_off(len(packed))
    return content


def _bomb(packed: bytes, size: int) -> ClusterError:
    """The error for a size that is too large, or for an answer that was cut off, whose last bytes are no size."""
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    if len(member.decompress(packed, SMALL)) < SMALL and not member.eof:
        return errors.cut_off(len(packed))
    if size > LARGEST:
        return _too_large()
    return ClusterError(f"the server's answer is left: {len(packed)} bytes unpack to {size >> 20} MiB")


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
        raise errors.cut_off(len(content))
