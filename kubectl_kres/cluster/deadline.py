"""Answers that must be complete by a time: a server that drips, be it its headers, cannot outlast the limit."""

from __future__ import annotations

import io
import socket
from contextlib import suppress
from http.client import HTTPResponse
from time import monotonic
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection

#: Bytes received at once.
_BUFFER = 1 << 16


class _Timed(io.RawIOBase):
    """What a socket receives, each piece within what is left of the time."""

    def __init__(self, inner: io.RawIOBase, socket: Any, limit: float) -> None:
        super().__init__()
        self._inner, self._socket, self._deadline = inner, socket, monotonic() + limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        """As of the socket. Raises TimeoutError once the time is over."""
        left = self._deadline - monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._socket.settimeout(left)
        return self._inner.readinto(buffer)

    def renew(self, limit: float) -> None:
        """Allow ``limit`` seconds from now on."""
        self._deadline = monotonic() + limit

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()


class _Response(HTTPResponse):
    """Its time is the read timeout that the socket has when the request was sent."""

    def __init__(self, sock: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self._socket = sock
        limit = sock.gettimeout()
        if limit is not None:
            self.fp = io.BufferedReader(_Timed(self.fp.detach(), sock, limit), _BUFFER)

    def hang_up(self) -> None:
        """End the connection, also for a thread that waits for its next byte."""
        with suppress(OSError):
            # SSLSocket.shutdown would take the encryption away under that thread.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def renew(self, limit: float) -> None:
        """Allow ``limit`` seconds from now on for what is still to come. No limit: nothing."""
        timed = getattr(self.fp, "raw", None)
        if isinstance(timed, _Timed):
            timed.renew(limit)


class TimedConnection(HTTPConnection):
    """A connection without TLS."""

    response_class = _Response


class TimedTlsConnection(HTTPSConnection):
    """A connection with TLS."""

    response_class = _Response
