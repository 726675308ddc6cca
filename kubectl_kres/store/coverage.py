"""What an answer needs, and whether it could be read."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

State = Literal["read", "denied", "absent", "failed", "unread"]


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
    """

    state: State
    message: str = ""

    @property
    def known(self) -> bool:
        """Whether what is not in the store is known not to exist."""
        return self.state in {"read", "absent"}


UNREAD = Coverage("unread")
READ = Coverage("read")
