"""Time on the way to a server: a deadline for a whole answer, and how long to wait before the next try."""

from __future__ import annotations

import io
import socket
from collections.abc import Iterator
from contextlib import suppress
from http.client import SWITCHING_PROTOCOLS, BadStatusLine, HTTPResponse, IncompleteRead, parse_headers
from time import monotonic
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection

#: Bytes received at once.
_BUFFER = 1 << 16
#: Answers such as 103 Early Hints that may come before the one that counts. Source: Go's net/http transport.go.
_MOST_HINTS = 5
#: Bytes of one chunk of a watch, which holds an event.
LARGEST_CHUNK = 16 << 20


class _Timed(io.RawIOBase):
    """What a socket receives, each piece within what is left of the time."""

    def __init__(self, inner: io.RawIOBase, socket: Any, limit: float) -> None:
        super().__init__()
        self._wrapped, self._socket, self._deadline = inner, socket, monotonic() + limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        """As of the socket. Raises TimeoutError once the time is over."""
        left = self._deadline - monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._socket.settimeout(left)
        return self._wrapped.readinto(buffer)

    def renew(self, limit: float) -> None:
        """Allow ``limit`` seconds from now on."""
        self._deadline = monotonic() + limit

    def close(self) -> None:
        if not self.closed:
            self._wrapped.close()
        super().close()


class _Response(HTTPResponse):
    """Its time is the read timeout that the socket has when the request was sent."""

    def __init__(self, sock: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self._socket = sock
        limit = sock.gettimeout()
        if limit is not None:
            self.fp = io.BufferedReader(_Timed(self.fp.detach(), sock, limit), _BUFFER)

    def _read_status(self) -> tuple[str, int, str]:
        """Return the status line, past those that only say that it is to come. ``http.client`` passes over 100
        alone.
        """
        for _ in range(_MOST_HINTS + 1):
            texts: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
            if not 100 <= texts[1] < 200 or texts[1] == SWITCHING_PROTOCOLS:
                return texts
            parse_headers(self.fp)
        raise BadStatusLine("too many 1xx informational responses")

    def hang_up(self) -> None:
        """End the connection, also for a thread that waits for its next byte."""
        with suppress(OSError):
            # SSLSocket.shutdown would take the encryption away under that thread.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def read_chunks(self, silence: float) -> Iterator[list[bytes]]:
        """Yield the body as it comes: the pieces that were there at once, without their framing.

        It ends with the body, or where nothing came for ``silence`` seconds. Raises OSError, HTTPException for a body
        that breaks off, and ValueError for one that is framed wrongly. Must be read to its end, or closed.
        """
        result = b""
        while self.fp is not None:
            timed = self.fp.raw
            if isinstance(timed, _Timed):
                timed.renew(silence)
            try:
                more = self.fp.read1(_BUFFER) if self.chunked else self.read1(_BUFFER)
            except TimeoutError:
                return
            if not self.chunked:
                if not more:
                    return
                yield [more]
                continue
            if not more:
                raise IncompleteRead(result)
            pieces, result, has_ended = split_chunks(result + more)
            if pieces:
                yield pieces
            if has_ended:
                return


def split_chunks(text: bytes) -> tuple[list[bytes], bytes, bool]:
    """Return the whole chunks that a text begins with, what follows them, and whether the last chunk was among them.

    Raises ValueError for a size that is none. ``http.client`` takes three times as long.
    """
    pieces: list[bytes] = []
    offset = 0
    while (line := text.find(b"\r\n", offset)) >= 0:
        size = int(text[offset:line].partition(b";")[0], 16)
        start, end = line + 2, line + 2 + size
        if size <= 0:
            if size < 0:
                raise ValueError("a chunk of negative size")
            return pieces, b"", True
        if size > LARGEST_CHUNK:
            raise ValueError("a chunk that is larger than any event")
        if len(text) < end + 2:
            break
        pieces.append(text[start:end])
        offset = end + 2
    if line < 0 and len(text) - offset > _BUFFER:
        raise ValueError("a chunk without a size")
    return pieces, text[offset:], False


class TimedConnection(HTTPConnection):
    """A connection without TLS."""

    response_class = _Response


class TimedTlsConnection(HTTPSConnection):
    """A connection with TLS."""

    response_class = _Response


#: Seconds after the first failure, and at most. Source: client-go reflector, which backs off from 0.8 to 30 seconds.
FIRST, LONGEST = 0.8, 30.0
#: A server that asks for more is asked after so many seconds all the same: what is shown would be old without end.
LONGEST_ASKED = 60.0


def delay(attempts: int, spread: float, asked: float = 0.0) -> float:
    """Seconds to wait after ``attempts`` failures in a row: twice as long each time, and never shorter than ``asked``,
    as far as that is obeyed.

    ``spread`` from 0 to 1, a random number, makes it up to twice as long: programs that lost the same server must not
    come back at the same moment.
    """
    wait: float = min(LONGEST, FIRST * 2 ** min(max(attempts - 1, 0), 30))
    return max(min(asked, LONGEST_ASKED), wait * (1 + spread))
