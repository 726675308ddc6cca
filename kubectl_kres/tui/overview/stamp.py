"""Of which state of the store something was made."""

from __future__ import annotations

from typing import TypeAlias

from kubectl_kres.tui.session import Session

Stamp: TypeAlias = tuple[object, ...]


def stamp_of(session: Session, kinds: tuple[str, ...]) -> Stamp:
    """Return what is another one once the namespace is, or an object of these kinds."""
    return (session.namespace, *session.store.revision(*kinds))
