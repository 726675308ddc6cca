"""An answer that is read as it comes: the lines of a watch."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from http.client import HTTPException
from typing import Any, Self

from kubectl_kres.cluster.transport import errors
from kubectl_kres.errors import ClusterError, Unreachable

#: The largest event in bytes, packed or not: etcd ends at objects of 1.5 MiB, of which JSON is a few times the size.
LONGEST = 16 << 20


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
        return split(self._pieces())

    def _pieces(self) -> Iterator[list[bytes]]:
        response = self._response
        packed = response.headers.get("Content-Encoding", "identity").lower() == "gzip"
        unpacked = _Unpacking() if packed else None
        try:
            for pieces in self._timed.arriving(self._silence):
                yield pieces if unpacked is None else [unpacked.more(piece) for piece in pieces]
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

    def more(self, piece: bytes) -> bytes:
        """What a piece unpacks to. Raises ClusterError for more than any event is."""
        result = self._member.decompress(piece, LONGEST)
        if self._member.unconsumed_tail:
            raise _too_large()
        return result


def _too_large() -> ClusterError:
    return ClusterError(f"the server's event is left: it is larger than {LONGEST >> 20} MiB")


def split(groups: Iterable[list[bytes]]) -> Iterator[list[bytes]]:
    """The lines of a text that comes in pieces: those that each group of pieces completes.

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
            if waiting > LONGEST:
                raise _too_large()
            if more:
                lines += (b"".join(result), *more[:-1])
                result = [more[-1]] if more[-1] else []
                waiting = len(more[-1])
        if lines:
            yield lines
