"""What a worker is told about one cluster, and its answer; both are lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from kubectl_kres import __version__
from kubectl_kres.fleet.status import ClusterStatus


class FleetTask(Struct, frozen=True):
    """One cluster for one report. ``options``: those flags of the command line that are not as usual.

    ``file``: where the rows go, empty for no rows; they are written to ``part``, which then becomes ``file``.
    ``format``: of the rows, ``jsonl`` or ``parquet``. ``seconds``: what it may take, 0: any time. ``version``: of
    whoever asks.
    """

    cluster: str
    report: str
    source: str
    options: Mapping[str, Any] = {}
    file: str = ""
    part: str = ""
    format: str = "jsonl"
    seconds: float = 0.0
    version: str = __version__


#: Answers a task; raises nothing that is foreseen.
Answer = Callable[[FleetTask], ClusterStatus]

T = TypeVar("T")

_TASKS: Final = msgspec.json.Decoder(FleetTask)
_STATUSES: Final = msgspec.json.Decoder(ClusterStatus)
_ENCODER: Final = msgspec.json.Encoder()
#: How a byte of a path that is no UTF-8 is written: half a surrogate pair, which msgspec neither writes nor reads.
_HALF: Final = b"\\ud"


def encode(value: Struct) -> bytes:
    """One line, with its line feed. A path may hold any bytes."""
    try:
        return _ENCODER.encode(value) + b"\n"
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode() + b"\n"


def decode(line: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Return what ``encode`` wrote. Raises msgspec.MsgspecError."""
    if _HALF not in line:
        return decoder.decode(line)
    try:
        return msgspec.convert(json.loads(line), decoder.type)
    except (ValueError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from error


def task_of(line: bytes) -> FleetTask:
    """Raises msgspec.MsgspecError."""
    return decode(line, _TASKS)


def status_of(line: bytes) -> ClusterStatus:
    """Raises msgspec.MsgspecError."""
    return decode(line, _STATUSES)


def checked(task: FleetTask, answer: Answer) -> ClusterStatus:
    """The answer; that of another version than ours is none, since what it would count may be something else."""
    if task.version != __version__:
        message = f"the worker is kubectl-kres {__version__}, it was asked by {task.version}"
        return ClusterStatus(task.cluster, "other-version", task.source, message=message)
    return answer(task)
