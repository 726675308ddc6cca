"""Run a command, and write its exit code, seconds of wall clock and CPU, and peak memory into a file.

    python -I -S took.py REPORT COMMAND...

A process of its own, since Linux counts what the process that starts a command holds as the command's own peak.
"""

import os
import sys
import time

report, command = sys.argv[1], sys.argv[2:]
began = time.monotonic()
_, status, usage = os.wait4(os.posix_spawnp(command[0], command, os.environ), 0)
wall = time.monotonic() - began
with open(report, "w") as out:  # noqa: PTH123, importing pathlib would make this process larger
    print(os.waitstatus_to_exitcode(status), wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, file=out)
