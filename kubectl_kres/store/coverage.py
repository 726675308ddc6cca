"""What an answer needs, and whether it could be read."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from kubectl_kres.errors import ClusterError, Forbidden, StatusError

ReadState = Literal["read", "denied", "absent", "failed", "unread"]


class Need(Struct, frozen=True, omit_defaults=True):
    """One GET: a kind in a namespace (empty: all, or cluster-scoped), one object if ``name`` is given.

    ``required``: without it the answer is partial; otherwise it only adds to the explanation.
    """

    kind: str
    namespace: str = ""
    name: str = ""
    label_selector: str = ""
    field_selector: str = ""
    required: bool = True


class Coverage(Struct, frozen=True, omit_defaults=True):
    """How reading went.

    read: the objects are in the store, none is missing. denied: 403; ``message`` holds the server's words.
    absent: the server has no such kind, which is a complete answer. failed: any other error.
    unread: nobody asked for it, or the snapshot or the files hold none of this kind.
    ``code``, ``reason`` and ``hint`` are those of a refusal.
    """

    state: ReadState
    message: str = ""
    code: int = 0
    reason: str = ""
    hint: str = ""

    @property
    def known(self) -> bool:
        """Whether what is not in the store is known not to exist."""
        return self.state in {"read", "absent"}

    def error(self, otherwise: str = "") -> ClusterError:
        """What it is to those who cannot do without it. ``otherwise``: the message where nothing else is known."""
        message = self.message or otherwise
        if self.state == "denied":
            return Forbidden(message, code=403, reason=self.reason or "Forbidden", hint=self.hint)
        if self.code:
            return StatusError(message, code=self.code, reason=self.reason, hint=self.hint)
        return ClusterError(message, hint=self.hint)


def fallen_short(state: ReadState, error: ClusterError) -> Coverage:
    """The coverage of a read that ended with an error."""
    if isinstance(error, StatusError):
        return Coverage(state, error.message, error.code, error.reason, error.hint)
    return Coverage(state, error.message, hint=error.hint)


UNREAD = Coverage("unread")
READ = Coverage("read")
