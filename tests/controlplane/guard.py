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
    with Path(log).open("ab") as output:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def stop_when_closed() -> None:
        while os.read(sys.stdin.fileno(), 4096):
            pass
        child.kill()

    signal.signal(signal.SIGTERM, lambda *_: child.kill())
    threading.Thread(target=stop_when_closed, daemon=True).start()
    return child.wait() & 0xFF


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
