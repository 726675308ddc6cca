"""One connection to an API server: GETs with their time limit, retries and warnings. No other method exists here."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from time import monotonic, sleep
from typing import Any, Self
from urllib.parse import urlencode

import urllib3
from urllib3 import exceptions

from kubectl_kres.cluster import failure
from kubectl_kres.cluster.answer import Answer, body, one_line
from kubectl_kres.errors import ClusterError, Unreachable

#: Seconds to wait for a connection, whatever the time limit of the request.
CONNECT_TIMEOUT = 10.0
#: How often one request is sent at most.
TRIES = 3
#: A server that asks for a longer pause than this many seconds is not waited for.
LONGEST_PAUSE = 30.0

_PIECE = 1 << 16
#: Deflate packs no tighter than this; a larger size in a trailer is none.
_DENSEST = 1100
#: How zlib begins its complaint about a stream without an end.
_INCOMPLETE = "Error -5 "
#: ``Warning`` headers; Kubernetes uses code 299 only. Source: apimachinery net.ParseWarningHeaders.
_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')

Log = Callable[[str], None]
Query = Iterable[tuple[str, str]]


class Connection:
    """Sends GETs to ``server``. Threads may share it. ``request_timeout`` in seconds, retries included; 0: none."""

    def __init__(
        self,
        pool: Any,
        server: str,
        headers: Mapping[str, str],
        *,
        request_timeout: float = 0.0,
        log: Log | None = None,
    ) -> None:
        self.server = server
        self._pool = pool
        self._headers = dict(headers)
        self._timeout = request_timeout
        self._log = log
        self._warnings: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the server's ``Warning`` headers said so far, each once."""
        return tuple(self._warnings)

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, path: str, query: Query = (), accept: str = "application/json") -> bytes:
        """The JSON at ``path``. Raises a StatusError if the server refuses, else as ``ask`` does."""
        return body(self.ask(path, query, accept))

    def ask(self, path: str, query: Query = (), accept: str = "application/json") -> Answer:
        """The server's answer, whatever its code, its body decompressed.

        429 and 503 are tried again where the server says when, a connection that broke before any answer at once, at
        most three times in all and never beyond the time limit.
        Raises Unreachable, also for an answer that was cut off, and TimedOut.
        """
        text = urlencode(tuple(query))
        url = f"{self.server}{path}?{text}" if text else f"{self.server}{path}"
        deadline = monotonic() + self._timeout if self._timeout else float("inf")
        for tries_left in reversed(range(TRIES)):
            try:
                answer = self._once(url, accept, deadline)
            except (exceptions.HTTPError, OSError) as error:
                if tries_left and failure.before_answer(error):
                    continue
                raise failure.failed(error, self.server) from error
            pause = answer.retry_after if answer.code in {429, 503} else -1.0
            if not tries_left or not 0 <= pause <= LONGEST_PAUSE or monotonic() + pause >= deadline:
                return answer
            sleep(pause)
        raise AssertionError(TRIES)

    def _once(self, url: str, accept: str, deadline: float) -> Answer:
        started = monotonic()
        left = deadline - started
        if left <= 0:
            raise failure.timed_out(reading=False)
        response = self._pool.request(
            "GET",
            url,
            headers={**self._headers, "Accept": accept},
            timeout=urllib3.Timeout(connect=min(CONNECT_TIMEOUT, left), read=None if left == float("inf") else left),
            retries=False,
            preload_content=False,
            decode_content=False,
        )
        self._note(response.headers.getlist("Warning"))
        content = _content(response, deadline)
        if self._log:
            passed = (monotonic() - started) * 1000
            self._log(f"GET {url} {response.status} {response.reason} in {passed:.0f} milliseconds")
        kind = response.headers.get("Content-Type", "")
        return Answer(response.status, content, kind, _pause(response.headers.get("Retry-After", "")))

    def _note(self, headers: Iterable[str]) -> None:
        for header in headers:
            for text in _WARNING.findall(header):
                self._warnings.setdefault(one_line(re.sub(r"\\(.)", r"\1", text)))


def _pause(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() else -1.0


def _content(response: Any, deadline: float) -> bytes:
    """The body, decompressed. Raises Unreachable if it ends too early and TimedOut if it takes too long."""
    try:
        packed = _packed(response, deadline)
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


def _packed(response: Any, deadline: float) -> bytes:
    """The bytes of the body. With a time limit each piece is taken as it comes, so that dripping cannot outlast it."""
    if deadline == float("inf"):
        return b"".join(iter(lambda: response.read(_PIECE, decode_content=False), b""))
    pieces: list[bytes] = []
    while (left := deadline - monotonic()) > 0:
        # Asked for anew each time: after the last byte the socket is another request's.
        socket = getattr(response.connection, "sock", None)
        if socket is not None:
            socket.settimeout(left)
        piece = response.read1(_PIECE, decode_content=False)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
    raise failure.timed_out(reading=True)


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
