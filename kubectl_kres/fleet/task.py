"""The lines of JSON between a supervisor and its workers: task and answer, and the process at the other end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, Final

import msgspec
from msgspec import Struct

from kubectl_kres import __version__
from kubectl_kres.fleet.status import ClusterStatus, decode, encode


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

_TASKS: Final = msgspec.json.Decoder(FleetTask)
_STATUSES: Final = msgspec.json.Decoder(ClusterStatus)


def task_of(line: bytes) -> FleetTask:
    """Raises msgspec.MsgspecError."""
    return decode(line, _TASKS)


def status_of(line: bytes) -> ClusterStatus:
    """Raises msgspec.MsgspecError."""
    return decode(line, _STATUSES)


def answer_task(task: FleetTask, answer: Answer) -> ClusterStatus:
    """Return the answer; that of another version than ours is none, since what it would count may be something else."""
    if task.version != __version__:
        message = f"the worker is kubectl-kres {__version__}, it was asked by {task.version}"
        return ClusterStatus(task.cluster, "other-version", task.source, message=message)
    return answer(task)


def serve(answer: Answer) -> int:
    """Answers the tasks on standard input. What is started meanwhile, a credential plugin, sees neither end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks, statuses = _duplicate_stream(0, "rb"), _duplicate_stream(1, "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    for line in tasks:
        statuses.write(encode(answer_task(task_of(line), answer)))
        statuses.flush()
    return 0


def _duplicate_stream(number: int, mode: str) -> BinaryIO:
    """Return the stream of a descriptor under another number, which is not inherited."""
    return os.fdopen(os.dup(number), mode)  # type: ignore[return-value]  # binary in both modes
