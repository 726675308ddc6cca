"""The status of one cluster: its row of the table, and the line of JSON as which it is kept and passed on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeVar, get_args

import msgspec
from msgspec import Struct

from kubectl_kres import errors
from kubectl_kres.quantity import parse
from kubectl_kres.record import Record

FleetState = Literal[
    "lost",
    "timed-out",
    "unreachable",
    "denied",
    "damaged",
    "newer",
    "other-version",
    "failed",
    "stopped",
    "partial",
    "answered",
]

#: The worst first. ``lost``: its worker ended. ``newer``: a snapshot of a later version. ``other-version``: its worker
#: is one. ``stopped``: the run was interrupted before its answer. ``partial``: something that the answer needs could
#: not be read.
STATES: Final[tuple[FleetState, ...]] = get_args(FleetState)
#: States with an answer.
ANSWERED: Final = ("partial", "answered")

#: Errors with a state of their own, the particular before the general.
_STATE_OF: Final[tuple[tuple[type[errors.KresError], FleetState], ...]] = (
    (errors.TimedOut, "timed-out"),
    (errors.Unreachable, "unreachable"),
    (errors.Unauthenticated, "denied"),
    (errors.Forbidden, "denied"),
    (errors.NewerSnapshot, "newer"),
    (errors.SnapshotError, "damaged"),
)


class ClusterStatus(Record, frozen=True):
    """One cluster and what the report says of it as a whole; ``file`` holds its ``rows``, if files are asked for.

    ``source``: the snapshot's file or the kubeconfig's context. ``aliases``: other contexts of the same cluster, which
    are not counted again. ``message``: the error's own words. ``ended``: how its worker ended: an exit code, or
    negative the number of a signal. ``seconds``: the time that it was given.

    ``figures``: counts and names by column, in their order. ``rank``: the larger, the worse. ``negative``: the answer
    is one that ``--exit-code`` tells. ``notes``: what else there is to know.
    """

    TRANSIENT = frozenset({"time"})

    cluster: str
    state: FleetState
    source: str = ""
    server: str = ""
    server_version: str = ""
    time: str = ""
    aliases: tuple[str, ...] = ()
    message: str = ""
    hint: str = ""
    ended: int | None = None
    seconds: float = 0.0
    figures: Mapping[str, int | str] = {}
    rank: tuple[int, ...] = ()
    negative: bool = False
    rows: int = 0
    file: str = ""
    notes: tuple[str, ...] = ()

    @property
    def has_answered(self) -> bool:
        """Return whether there are figures."""
        return self.state in ANSWERED


def state_of(error: errors.KresError) -> FleetState:
    """Return the state of a cluster whose answer ended with this error."""
    return next((state for kind, state in _STATE_OF if isinstance(error, kind)), "failed")


def worst_first(cluster_statuses: Iterable[ClusterStatus]) -> list[ClusterStatus]:
    """Return those without an answer by what happened, then the answers by rank, then by name."""
    return sorted(
        cluster_statuses,
        key=lambda cluster_status: (
            STATES.index(cluster_status.state),
            tuple(-number for number in cluster_status.rank),
            cluster_status.cluster,
        ),
    )


def total(cluster_statuses: Iterable[ClusterStatus], summed: Sequence[str]) -> Mapping[str, int | str]:
    """Return the sums of these figures over all clusters with an answer; amounts are added exactly."""
    sums: dict[str, int | str] = {}
    for cluster_status in cluster_statuses:
        for name in summed:
            value = cluster_status.figures.get(name)
            if isinstance(value, int):
                sums[name] = int(sums.get(name, 0)) + value
            elif value is not None:
                sums[name] = str(parse(str(sums.get(name, "0"))) + parse(value))
    return sums


def exit_code(cluster_statuses: Sequence[ClusterStatus], *, allow_partial: bool, negative: bool) -> int:
    """3 if no cluster has an answer, 4 if one lacks some of it or all, 1 if one is negative and that is asked for."""
    if cluster_statuses and not any(cluster_status.has_answered for cluster_status in cluster_statuses):
        return errors.Exit.UNREAD
    if not allow_partial and any(cluster_status.state != "answered" for cluster_status in cluster_statuses):
        return errors.Exit.PARTIAL
    return (
        errors.Exit.NEGATIVE
        if negative and any(cluster_status.negative for cluster_status in cluster_statuses)
        else errors.Exit.ANSWERED
    )


T = TypeVar("T")

_ENCODER: Final = msgspec.json.Encoder()
#: How a byte of a path that is no UTF-8 is written: half a surrogate pair, which msgspec neither writes nor reads.
_HALF: Final = b"\\ud"


def encode(value: Struct) -> bytes:
    """Return one line, with its line feed. A path may hold any bytes."""
    try:
        return _ENCODER.encode(value) + b"\n"
    except (UnicodeEncodeError, OverflowError):
        return json.dumps(msgspec.to_builtins(value)).encode() + b"\n"


def decode(line: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Return what ``encode`` wrote. Raises msgspec.MsgspecError."""
    if _HALF not in line:
        return decoder.decode(line)
    try:
        return msgspec.convert(json.loads(line), decoder.type)
    except (ValueError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from error
