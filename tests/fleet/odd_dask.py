"""What Dask workers are asked here: clusters whose worker is killed or stopped, the first time that they are asked."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from kubectl_kres.cli.fleet import answer_line
from kubectl_kres.fleet.dask_engine import on_dask
from kubectl_kres.fleet.status import encode
from kubectl_kres.fleet.task import task_of


def odd(line: bytes) -> bytes:
    """Does what the cluster is called before it answers; ``.once`` files say what was done."""
    task = task_of(line)
    once = Path(f"{task.cluster}.once")
    what = task.cluster.partition("-")[0]
    if what in {"killed", "stopped"} and not once.exists():
        once.touch()
        os.kill(os.getpid(), signal.SIGKILL if what == "killed" else signal.SIGSTOP)
    if what == "always":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "slow":
        time.sleep(1)
    return answer_line(line)


if __name__ == "__main__":
    from fleet.odd_dask import odd as ask  # as workers import it

    asked = [task_of(line) for line in sys.stdin.buffer]
    for status in on_dask(asked, sys.argv[1], ask):
        sys.stdout.buffer.write(encode(status))
