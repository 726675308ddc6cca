"""What went wrong on the way to the server or back, in kubectl's words."""

from __future__ import annotations

import errno
import http.client
import os
import socket
import ssl
from urllib.parse import urlsplit

from urllib3 import exceptions

from kubectl_kres.cluster.transport.response import one_line
from kubectl_kres.errors import ClusterError, TimedOut, Unreachable

UNABLE = "Unable to connect to the server: "

#: OpenSSL's reasons for not trusting a certificate, as Go words them. Other reasons keep OpenSSL's words.
_UNTRUSTED = {
    **dict.fromkeys((18, 19, 20, 21), "x509: certificate signed by unknown authority"),
    **dict.fromkeys((9, 10), "x509: certificate has expired or is not yet valid"),
}

#: What OpenSSL says of a server that does not speak TLS.
_PLAIN = {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE"}


def timed_out(*, reading: bool) -> TimedOut:
    """The time allowed was over: before the answer came, or while its body was read."""
    where = (
        "Client.Timeout or context cancellation while reading body"
        if reading
        else "Client.Timeout exceeded while awaiting headers"
    )
    return TimedOut(f"{UNABLE}context deadline exceeded ({where})")


def cut_off(size: int) -> Unreachable:
    """The connection ended before the answer did; ``size`` bytes of its body had come."""
    return Unreachable(f"{UNABLE}unexpected EOF: the answer was cut off after {size} bytes")


def before_answer(error: Exception) -> bool:
    """Whether the connection broke before the server said anything, so that the same request may be sent again."""
    return isinstance(error, exceptions.ProtocolError) and isinstance(_cause(error), ConnectionError)


def failed(error: Exception, server: str) -> ClusterError:
    """The error to show for one of urllib3's, ``server`` being the address that was asked."""
    host = urlsplit(server).netloc
    if isinstance(error, exceptions.ProxyError):
        return Unreachable(f"{UNABLE}proxyconnect tcp: {_plain(error.original_error, _proxy_of(error) or 'the proxy')}")
    if isinstance(error, exceptions.TimeoutError | TimeoutError) and not isinstance(
        error, exceptions.NewConnectionError
    ):
        return _late(error, host)
    cause = _cause(error)
    if isinstance(cause, OSError) and cause.errno == errno.ECONNREFUSED:
        sentence = f"The connection to the server {host} was refused - did you specify the right host or port?"
        return Unreachable(sentence, refused=True)
    return Unreachable(UNABLE + _plain(error, host))


def _proxy_of(error: exceptions.ProxyError) -> str:
    """The address that was dialled, which is the proxy's and not the server's; empty if it is not known."""
    dialled = getattr(error.original_error, "conn", None)
    host, port = getattr(dialled, "host", ""), getattr(dialled, "port", "")
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}" if host else ""


def _late(error: Exception, host: str) -> TimedOut:
    if isinstance(error, exceptions.ConnectTimeoutError):
        return TimedOut(f"{UNABLE}dial tcp {host}: i/o timeout")
    if "handshake" in str(_cause(error)):
        return TimedOut(f"{UNABLE}net/http: TLS handshake timeout")
    return timed_out(reading=False)


def _cause(error: BaseException) -> BaseException:
    """What lies under urllib3's wrapping."""
    inner = error.__cause__ or next((part for part in error.args if isinstance(part, BaseException)), None)
    return error if inner is None else _cause(inner)


def _plain(error: BaseException, host: str) -> str:
    """One line about an error, as Go would say it where that is known."""
    cause = _cause(error)
    match cause:
        case ssl.SSLEOFError() | ssl.SSLZeroReturnError():
            return "EOF"
        case ssl.SSLError():
            return _tls(cause)
        case socket.gaierror():
            unknown = cause.errno in {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}
            why = "no such host" if unknown else (cause.strerror or "failed").lower()
            return f"dial tcp: lookup {urlsplit(f'//{host}').hostname}: {why}"
        case http.client.RemoteDisconnected():
            return "EOF"
        case ConnectionResetError():
            return f"read tcp {host}: connection reset by peer"
        case http.client.HTTPException():
            return one_line(f"malformed HTTP response: {cause}")
        case OSError() if cause.errno:
            return f"dial tcp {host}: connect: {os.strerror(cause.errno).lower()}"
        case _:
            return one_line(str(cause) or type(cause).__name__)


def _tls(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        why = _UNTRUSTED.get(error.verify_code) or error.verify_message
        return one_line(f"tls: failed to verify certificate: {why}")
    reason = (error.reason or str(error)).upper()
    if reason in _PLAIN:
        return "http: server gave HTTP response to HTTPS client"
    words = one_line(reason.replace("_", " ").lower())
    if " alert " in words:
        return f"remote error: tls: {words.partition(' alert ')[2]}"
    return f"tls: {words}"
