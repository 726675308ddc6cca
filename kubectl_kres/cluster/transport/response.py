"""An answer of the server, and the error that it is if it is no success."""

from __future__ import annotations

import msgspec
from msgspec import Struct, field

from kubectl_kres import errors

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
        """Where a list whose token has expired may go on, seeing newer objects; empty: nowhere."""
        return (self.metadata and self.metadata.continue_) or ""

    @property
    def names_object(self) -> bool:
        """Whether a 404 is about one object, and not about its whole type."""
        return bool(self.details and self.details.name)


_STATUS = msgspec.json.Decoder(Status)


def status(answer: Response) -> Status | None:
    """The Status in the body; None if there is none, as from a proxy."""
    try:
        status = _STATUS.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return status if status.kind == "Status" else None


def body(answer: Response) -> bytes:
    """The JSON of a success. Raises the StatusError that anything else is, ClusterError for a page of HTML."""
    if not answer.ok:
        raise error(answer)
    if answer.content_type and "json" not in answer.content_type:
        raise errors.ClusterError(f"the server answered {answer.code} with {_media(answer)}, not JSON")
    return answer.body


def error(answer: Response) -> errors.StatusError:
    """The error that an answer is: the server's own sentence where it sent a Status, else what came instead."""
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
    """The text on one line and not longer than a terminal can bear."""
    folded = " ".join(text[: 8 * LONGEST].split())
    return folded if len(folded) <= LONGEST else folded[: LONGEST - 1] + "…"


def _media(answer: Response) -> str:
    return one_line(answer.content_type.partition(";")[0]) or "no content type"


def _text(answer: Response) -> str:
    return one_line(answer.body[: 8 * LONGEST].decode(errors="replace"))
