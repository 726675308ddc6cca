"""What was asked for and could not be read: of every answer the same, whatever its report says of it.

A report asks for reads, and the store knows what became of each. No report has to remember what it lacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from msgspec import Struct

from kubectl_kres.model.kinds import named_kind
from kubectl_kres.record import Record
from kubectl_kres.reports.common.system import ReadRight
from kubectl_kres.store.store import ReadRequest, Store


class UnreadKind(Record, frozen=True):
    """Objects of a kind that could not be read. ``state``: denied or failed, ``message``: the server's words.

    ``required``: without them the answer is partial. What failed always is; of what is denied, what the role of
    ``version --rbac`` does not mark as optional.
    """

    kind: str
    state: str
    message: str = ""
    required: bool = True


class Frame(Struct, frozen=True):
    """What stands around the items of a document. ``complete``: all that the answers need was read."""

    complete: bool
    unread: tuple[UnreadKind, ...] = ()


def unread_kinds(store: Store, command: str) -> tuple[UnreadKind, ...]:
    """Return the kinds that a command asked for and could not read, each once, in the order of asking.

    An object that cannot be decoded is named by the report that needs it, and here where it only adds to it.
    """
    gaps = {read: coverage for read, coverage in store.failures().items() if not (coverage.left_out and read.required)}
    if not gaps:
        return ()
    rights = _rights_by_kind(command)
    result: dict[str, UnreadKind] = {}
    for read, coverage in gaps.items():
        # What only the scheduler's reports look at is a view of its kind.
        kind = named_kind(read.kind)
        asked = rights.get(kind, ())
        if _is_read_otherwise(store, read) or (asked and not any(_is_for(right, read) for right in asked)):
            continue
        if store.origin.kind != "cluster" and read.kind not in store.asked:
            continue
        optional = all(right.adds for right in asked) if asked else not read.required
        item = UnreadKind(kind, coverage.state, coverage.message, coverage.state == "failed" or not optional)
        known = result.get(kind)
        if known is None or (item.required and not known.required):
            result[kind] = item
    return tuple(result.values())


@cache
def _rights_by_kind(command: str) -> Mapping[str, Sequence[ReadRight]]:
    """Return what a command reads, by kind; of a command that is not known, what any command does."""
    from kubectl_kres.reports.common.rbac import COMMANDS  # noqa: PLC0415 - all kinds of all systems: rarely needed

    result: dict[str, list[ReadRight]] = {}
    for right in COMMANDS.get(command) or [right for every in COMMANDS.values() for right in every]:
        result.setdefault(named_kind(right.kind), []).append(right)
    return result


def _is_for(right: ReadRight, read: ReadRequest) -> bool:
    """Return whether a right is about a read: some are about objects of one namespace and of some names."""
    return (not right.names or read.name in right.names) and right.namespace in {"", read.namespace}


def _is_read_otherwise(store: Store, read: ReadRequest) -> bool:
    """Return whether the same was read from elsewhere: each namespace for all, or an object of this name in another
    namespace.
    """
    return any(
        store.covered(other).is_known
        for other in store.reads_of_kind(read.kind)
        if other != read and other.name == read.name and (not read.namespace or read.name)
    )
