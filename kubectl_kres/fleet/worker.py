"""The other end of the supervisor: a process that answers one task after the other until its input ends."""

from __future__ import annotations

import os
import signal
from typing import BinaryIO

from kubectl_kres.fleet.line import encode
from kubectl_kres.fleet.task import Answer, checked, task_of


def serve(answer: Answer) -> int:
    """Answers the tasks on standard input. What is started meanwhile, a credential plugin, sees neither end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks, statuses = _kept(0, "rb"), _kept(1, "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    for line in tasks:
        statuses.write(encode(checked(task_of(line), answer)))
        statuses.flush()
    return 0


def _kept(number: int, mode: str) -> BinaryIO:
    """The stream of a descriptor under another number, which is not inherited."""
    return os.fdopen(os.dup(number), mode)  # type: ignore[return-value]  # binary in both modes
