"""The body of an answer: whole, decompressed, or an error."""

from __future__ import annotations

import zlib
from typing import Any

from urllib3 import exceptions

from kubectl_kres.cluster import failure
from kubectl_kres.cluster.answer import one_line
from kubectl_kres.errors import ClusterError, Unreachable

_PIECE = 1 << 16
#: Deflate packs no tighter than this; a larger size in a trailer is none.
_DENSEST = 1100
#: How zlib begins its complaint about a stream without an end.
_INCOMPLETE = "Error -5 "


def read(response: Any) -> bytes:
    """The body, decompressed. Raises Unreachable if it ends too early and TimedOut if it takes too long."""
    try:
        packed = b"".join(iter(lambda: response.read(_PIECE, decode_content=False), b""))
    except exceptions.ReadTimeoutError as error:
        raise failure.timed_out(reading=True) from error
    except (exceptions.HTTPError, OSError) as error:
        raise failure.cut_off(response.tell()) from error
    finally:
        response.close()
    if response.headers.get("Content-Encoding", "identity").lower() == "gzip":
        return _unpacked(packed)
    _check_end(response, packed)
    return packed


def _unpacked(packed: bytes) -> bytes:
    """The content of one gzip member. Its last four bytes tell the size, which saves growing a buffer to it."""
    size = min(int.from_bytes(packed[-4:], "little"), _DENSEST * len(packed))
    try:
        return zlib.decompress(packed, zlib.MAX_WBITS | 16, max(size, 1))
    except zlib.error as error:
        if _INCOMPLETE in str(error):
            raise failure.cut_off(len(packed)) from error
        raise Unreachable(f"{failure.UNABLE}the answer is not valid gzip") from error


def _check_end(response: Any, content: bytes) -> None:
    """Refuse JSON without an end where no header says how long it is, as after a cut within the headers."""
    headers = response.headers
    if "Content-Encoding" in headers and headers["Content-Encoding"].lower() != "identity":
        raise ClusterError(f"the server answered with the unknown encoding {one_line(headers['Content-Encoding'])}")
    framed = "Content-Length" in headers or "Transfer-Encoding" in headers
    expected = "json" in headers.get("Content-Type", "json" if response.status == 200 else "")
    if not framed and expected and not content.rstrip().endswith(b"}"):
        raise failure.cut_off(len(content))
