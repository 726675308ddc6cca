"""Run a command, its output in a file, until standard input closes: so it never outlives the process that began it.

    python guard.py LOG COMMAND...

Closing the pipe is also how it is stopped on purpose.  Nothing of a test's control plane is kept, so it is killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path


def main(log: str, *command: str) -> int:
    children: list[subprocess.Popen[bytes]] = []
    stopping = threading.Event()

    def stop(*_: object) -> None:
        stopping.set()
        for child in children:
            child.kill()

    def stop_when_closed() -> None:
        while os.read(sys.stdin.fileno(), 4096):
            pass
        stop()

    signal.signal(signal.SIGTERM, stop)  # before the child: whoever sees it run may already send the signal
    with Path(log).open("ab") as output:
        children.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output))
    if stopping.is_set():
        stop()
    threading.Thread(target=stop_when_closed, daemon=True).start()
    return children[0].wait() & 0xFF


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
