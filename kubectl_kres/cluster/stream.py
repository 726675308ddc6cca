"""An answer that is read as it comes: the lines of a watch."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

from urllib3 import exceptions

from kubectl_kres.cluster import failure
from kubectl_kres.errors import Unreachable

_PIECE = 1 << 16


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

    def _pieces(self) -> Iterator[bytes]:
        response = self._response
        unpacked: Callable[[bytes], bytes] = _plain
        if response.headers.get("Content-Encoding", "identity").lower() == "gzip":
            unpacked = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress
        try:
            while not self._closed:
                self._timed.renew(self._silence)
                piece = response.read1(_PIECE, decode_content=False)
                if not piece:
                    return
                yield unpacked(piece)
        except exceptions.ReadTimeoutError:
            return
        except (exceptions.HTTPError, OSError, ValueError) as error:
            raise failure.cut_off(response.tell()) from error
        except zlib.error as error:
            raise Unreachable(f"{failure.UNABLE}the answer is not valid gzip") from error


def split(pieces: Iterable[bytes]) -> Iterator[list[bytes]]:
    """The lines of a text that comes in pieces: those that each piece completes."""
    held: list[bytes] = []
    for piece in pieces:
        first, *more = piece.split(b"\n")
        held.append(first)
        if not more:
            continue
        lines = [b"".join(held), *more]
        held = [lines.pop()]
        yield lines


def _plain(piece: bytes) -> bytes:
    return piece
