"""A worker that does what its cluster is called: it is killed, stopped, or ends; else it answers as others do."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from kubectl_kres.cli.fleet import answer
from kubectl_kres.fleet.status import ClusterStatus
from kubectl_kres.fleet.task import FleetTask, serve


def _answer(task: FleetTask) -> ClusterStatus:
    match task.cluster.partition("-")[0]:
        case "killed":
            if task.part:
                Path(task.part).write_bytes(b"half a file")
            os.kill(os.getpid(), signal.SIGKILL)
        case "stopped":
            os.kill(os.getpid(), signal.SIGSTOP)
        case "exits":
            os._exit(7)
        case "babbles":
            print("this is no status")
            sys.stdout.flush()
            os.write(1, b"nor is this\n")
            assert sys.stdin.read() == ""
    return answer(task)


sys.exit(serve(_answer))
