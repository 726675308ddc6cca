"""Who the server takes us for."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from kubectl_kres.cluster.connection.api_connection import Connection
from kubectl_kres.errors import Unauthenticated


class Person(Struct, frozen=True):
    """A user as the server knows it. Source: authentication.k8s.io/v1 UserInfo."""

    username: str | None = None
    groups: tuple[str, ...] | None = None


class _Status(Struct, frozen=True, rename="camel"):
    user_info: Person | None = None


class _Review(Struct, frozen=True):
    status: _Status | None = None


def whoami(connection: Connection) -> Person | None:
    """The user; None if the server does not say or may not be asked. Raises Unreachable, TimedOut, Unauthenticated."""
    answer = connection.whoami()
    if answer.code == 401:
        raise Unauthenticated("the server has asked for the client to provide credentials", code=401)
    if not answer.ok:
        return None
    try:
        review = msgspec.json.decode(answer.body, type=_Review)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    person = review.status.user_info if review.status else None
    return person if person and person.username else None
