"""The log of requests at the levels of ``-v``, in kubectl's form and without secrets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Lock

from urllib3.util import SKIP_HEADER

from kubectl_kres.cluster.transport.response import one_line

Log = Callable[[str], None]

#: From these levels on: the line with the time, the headers of the request, those of the answer.
TIMES, REQUESTS, ANSWERS = 6, 7, 8

_SCHEMES = {"bearer", "basic", "negotiate"}
#: Headers whose value is never shown.
_SECRET = {"authorization", "proxy-authorization", "cookie", "set-cookie"}
_MASK = "<masked>"


class Trace:
    """Logs requests at a level; at 0 nothing. Bodies are never logged: pods have secrets in their environment."""

    def __init__(self, log: Log | None = None, level: int = TIMES) -> None:
        self._log = log if level >= TIMES else None
        self._level = level
        self._lock = Lock()

    def request(self, method: str, url: str, headers: Mapping[str, str]) -> None:
        """Before a request is sent. Source: client-go transport debuggingRoundTripper."""
        if self._log is None or self._level < REQUESTS:
            return
        self._log_lines(self._log, f"{method} {url}", *_headers("Request Headers:", headers))

    def answer(
        self, method: str, url: str, status: str, seconds: float, headers: Mapping[str, str], secrets: Iterable[str]
    ) -> None:
        """After its answer has come whole. ``secrets`` are masked wherever the server repeats them."""
        if self._log is None:
            return
        status = mask_secrets(status, secrets)
        passed = f"{one_line(status)} in {seconds * 1000:.0f} milliseconds"
        shown = _headers("Response Headers:", headers, secrets) if self._level >= ANSWERS else ()
        self._log_lines(self._log, f"{method} {url} {passed}", *shown)

    def _log_lines(self, log: Log, *lines: str) -> None:
        """Lines that stay together while other requests are reported of."""
        with self._lock:
            for line in lines:
                log(line)


def _headers(title: str, headers: Mapping[str, str], secrets: Iterable[str] = ()) -> Iterator[str]:
    yield title
    for name, value in sorted(pair for pair in _pairs(headers) if pair[1] != SKIP_HEADER):
        yield f"    {one_line(name)}: {one_line(mask_secrets(_mask_header_value(name, value), secrets))}"


def mask_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return the text without the secrets that stand in it."""
    for secret in secrets:
        text = text.replace(secret, _MASK)
    return text


def _mask_header_value(name: str, value: str) -> str:
    """Return a header's value, of credentials only their kind. Source: client-go transport maskValue."""
    if name.lower() not in _SECRET:
        return value
    scheme, blank, _ = value.partition(" ")
    return f"{scheme} {_MASK}" if blank and scheme.lower() in _SCHEMES else _MASK


def _pairs(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return each line of the headers; urllib3 keeps lines of the same name apart."""
    lines = getattr(headers, "iteritems", None)
    return list(lines() if lines else headers.items())
