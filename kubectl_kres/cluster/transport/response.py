"""The end of a request: the server's answer, its error, or what went wrong on the way, in kubectl's words."""

from __future__ import annotations

import errno
import http.client
import os
import socket
import ssl
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct, field
from urllib3 import exceptions

from kubectl_kres import errors
from kubectl_kres.errors import ClusterError, TimedOut, Unreachable

#: Longer sentences of a server are cut: they end up on one line of a terminal.
LONGEST = 1000

#: What the server itself answers, as text, where it serves no such group or path.
_NO_SUCH_PATH = "404 page not found"

_KINDS: dict[int, type[errors.StatusError]] = {
    401: errors.Unauthenticated,
    403: errors.Forbidden,
    404: errors.NotFound,
    410: errors.Expired,
}


class Response(Struct, frozen=True):
    """``retry_after`` in seconds, negative if the server did not say when to ask again."""

    code: int
    body: bytes = b""
    content_type: str = ""
    retry_after: float = -1.0

    @property
    def ok(self) -> bool:
        return 200 <= self.code < 300


class _Details(Struct, frozen=True):
    name: str | None = None


class _Metadata(Struct, frozen=True):
    continue_: str | None = field(default=None, name="continue")


class Status(Struct, frozen=True):
    """The body of a refusal. A Status without a kind is none."""

    kind: str = ""
    message: str | None = None
    reason: str | None = None
    details: _Details | None = None
    metadata: _Metadata | None = None

    @property
    def token(self) -> str:
        """Return where a list whose token has expired may go on, seeing newer objects; empty: nowhere."""
        return (self.metadata and self.metadata.continue_) or ""

    @property
    def names_object(self) -> bool:
        """Return whether a 404 is about one object, and not about its whole type."""
        return bool(self.details and self.details.name)


_STATUS = msgspec.json.Decoder(Status)


def status(answer: Response) -> Status | None:
    """Return the Status in the body; None if there is none, as from a proxy."""
    try:
        status = _STATUS.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return status if status.kind == "Status" else None


def body(answer: Response) -> bytes:
    """Return the JSON of a success. Raises the StatusError that anything else is, ClusterError for a page of HTML."""
    if not answer.ok:
        raise error(answer)
    if answer.content_type and "json" not in answer.content_type:
        raise errors.ClusterError(f"the server answered {answer.code} with {_media(answer)}, not JSON")
    return answer.body


def error(answer: Response) -> errors.StatusError:
    """Return the error that an answer is: the server's own sentence where it sent a Status, else what came instead."""
    result, reason = status(answer), ""
    kind = _KINDS.get(answer.code, errors.StatusError)
    if result is not None:
        message, reason = result.message or result.reason or f"the server answered {answer.code}", result.reason or ""
    elif answer.code == 404 and _text(answer) == _NO_SUCH_PATH:
        message, reason, kind = "the server could not find the requested resource", "NotFound", errors.NoSuchPath
    else:
        # Whatever a gateway cannot find is no object that does not exist.
        kind = errors.StatusError if answer.code == 404 else kind
        message = f"the server answered {answer.code} with {_media(answer)}, not a Kubernetes Status"
        if answer.content_type.partition(";")[0] in {"text/plain", ""} and _text(answer):
            message = f"{message}: {_text(answer)}"
    hint = f"the server asks to wait {answer.retry_after:.0f} seconds" if answer.retry_after > 0 else ""
    wait = max(0.0, answer.retry_after)
    return kind(one_line(message), code=answer.code, reason=reason, hint=hint, retry_after=wait)


def one_line(text: str) -> str:
    """Return the text on one line and not longer than a terminal can bear."""
    wrapped = " ".join(text[: 8 * LONGEST].split())
    return wrapped if len(wrapped) <= LONGEST else wrapped[: LONGEST - 1] + "…"


def _media(answer: Response) -> str:
    return one_line(answer.content_type.partition(";")[0]) or "no content type"


def _text(answer: Response) -> str:
    return one_line(answer.body[: 8 * LONGEST].decode(errors="replace"))


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
    position = (
        "Client.Timeout or context cancellation while reading body"
        if reading
        else "Client.Timeout exceeded while awaiting headers"
    )
    return TimedOut(f"{UNABLE}context deadline exceeded ({position})")


def incomplete_body_error(size: int) -> Unreachable:
    """Return the connection ended before the answer did; ``size`` bytes of its body had come."""
    return Unreachable(f"{UNABLE}unexpected EOF: the answer was cut off after {size} bytes")


def before_answer(error: Exception) -> bool:
    """Return whether the connection broke before the server said anything, so that the same request may be sent
    again.
    """
    return isinstance(error, exceptions.ProtocolError) and isinstance(_cause(error), ConnectionError)


def connection_error(error: Exception, server: str) -> ClusterError:
    """Return the error to show for one of urllib3's, ``server`` being the address that was asked."""
    host = urlsplit(server).netloc
    if isinstance(error, exceptions.ProxyError):
        reason = _format_transport_error(error.original_error, _proxy_of(error) or "the proxy")
        return Unreachable(f"{UNABLE}proxyconnect tcp: {reason}")
    if isinstance(error, exceptions.TimeoutError | TimeoutError) and not isinstance(
        error, exceptions.NewConnectionError
    ):
        return _build_timeout(error, host)
    cause = _cause(error)
    if isinstance(cause, OSError) and cause.errno == errno.ECONNREFUSED:
        sentence = f"The connection to the server {host} was refused - did you specify the right host or port?"
        return Unreachable(sentence, refused=True)
    return Unreachable(UNABLE + _format_transport_error(error, host))


def _proxy_of(error: exceptions.ProxyError) -> str:
    """Return the address that was dialled, which is the proxy's and not the server's; empty if it is not known."""
    dialled = getattr(error.original_error, "conn", None)
    host, port = getattr(dialled, "host", ""), getattr(dialled, "port", "")
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}" if host else ""


def _build_timeout(error: Exception, host: str) -> TimedOut:
    if isinstance(error, exceptions.ConnectTimeoutError):
        return TimedOut(f"{UNABLE}dial tcp {host}: i/o timeout")
    if "handshake" in str(_cause(error)):
        return TimedOut(f"{UNABLE}net/http: TLS handshake timeout")
    return timed_out(reading=False)


def _cause(error: BaseException) -> BaseException:
    """Return what lies under urllib3's wrapping."""
    inner = error.__cause__ or next((part for part in error.args if isinstance(part, BaseException)), None)
    return error if inner is None else _cause(inner)


def _format_transport_error(error: BaseException, host: str) -> str:
    """Return one line about an error, as Go would say it where that is known."""
    cause = _cause(error)
    match cause:
        case ssl.SSLEOFError() | ssl.SSLZeroReturnError():
            return "EOF"
        case ssl.SSLError():
            return _tls(cause)
        case socket.gaierror():
            unknown = cause.errno in {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}
            reason = "no such host" if unknown else (cause.strerror or "failed").lower()
            return f"dial tcp: lookup {urlsplit(f'//{host}').hostname}: {reason}"
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
        reason_text = _UNTRUSTED.get(error.verify_code) or error.verify_message
        return one_line(f"tls: failed to verify certificate: {reason_text}")
    reason = (error.reason or str(error)).upper()
    if reason in _PLAIN:
        return "http: server gave HTTP response to HTTPS client"
    words = one_line(reason.replace("_", " ").lower())
    if " alert " in words:
        return f"remote error: tls: {words.partition(' alert ')[2]}"
    return f"tls: {words}"
