#!/usr/bin/env python3
"""Drive the terminal interface as a user does, in a pseudo-terminal, while the cluster changes: keys, stalls, memory.

    python bench/tui.py                            10,000 pods, 1,000 events a second, 20 seconds
    python bench/tui.py --seconds 1800             the soak
    python bench/tui.py --kind resourcequotas -- tui quota -A

A key counts as painted once what was typed so far is on its way to the terminal: capitals typed into the prompt and
into the filter, which no name in the synthetic cluster has.  Memory is that of the process, first a tenth into the
time, then half-way, then at the end; it must not grow.  Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from measure import KRES, WrongError, table
from served import cluster, served

ROWS, COLUMNS = 40, 140
LETTERS = "ZQXJ"
PROMPTS = {"prompt": ":", "filter": "/"}
STALL = 0.1
#: A key that is not painted after so many seconds is lost.
LOST = 10.0
READY = 60.0
CONTROLS = re.compile(rb"\x1b\[[0-9;?<>=]*[a-zA-Z@`~]|\x1b[()][A-Z0-9]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[=>78]")


class Keys(NamedTuple):
    """Seconds from a key to its painting, of each letter."""

    taken: list[float]
    lost: int = 0


class Terminal:
    """A command in a pseudo-terminal of 140 by 40."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.began = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], list(command), {**environment, "TERM": "xterm-256color", "COLORTERM": "truecolor"})
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.painted, self.text, self.open = 0, b"", True

    def type(self, text: str) -> None:
        """Send keys; only what is painted from now on is looked at."""
        self.text = b""
        os.write(self.fd, text.encode())

    def read(self, seconds: float) -> bool:
        """Take what is painted within so many seconds; whether anything was."""
        if not self.open or not select.select([self.fd], [], [], max(0.0, seconds))[0]:
            return False
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            data = b""
        self.open = bool(data)
        self.painted += len(data)
        self.text = (self.text + data)[-(1 << 18) :]
        return self.open

    def wait_for(self, pattern: bytes, seconds: float) -> float | None:
        """Seconds until something is painted that has this in it; None if it is not, or the program ends."""
        began = time.monotonic()
        while (left := began + seconds - time.monotonic()) > 0 and self.open:
            if self.read(left) and re.search(pattern, CONTROLS.sub(b"", self.text)):
                return time.monotonic() - began
        return None

    def idle(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self.open:
            self.read(left)
            self.text = b""

    def memory(self) -> float:
        """MiB that the process holds now."""
        told = subprocess.run(["ps", "-o", "rss=", "-p", str(self.pid)], capture_output=True, text=True, check=False)
        return int(told.stdout or 0) / 1024

    def close(self) -> float:
        """Leave as a user does, by force if that does not help; seconds of CPU that the program took."""
        for end in (lambda: os.write(self.fd, b"\x03"), *(lambda s=s: os.kill(self.pid, s) for s in ENDS)):
            if self.open:
                end()
            deadline = time.monotonic() + 5
            while time.monotonic() < deadline:
                self.read(0.05)
                pid, _, usage = os.wait4(self.pid, os.WNOHANG)
                if pid:
                    os.close(self.fd)
                    return usage.ru_utime + usage.ru_stime
        raise WrongError("the program does not end")


ENDS = (signal.SIGTERM, signal.SIGKILL)


def typed(terminal: Terminal, prompt: str) -> Keys:
    """Type capitals into a prompt, one after the other, and leave it again."""
    taken, lost = [], 0
    terminal.type(prompt)
    terminal.idle(0.3)
    for end in range(1, len(LETTERS) + 1):
        terminal.type(LETTERS[end - 1])
        seconds = terminal.wait_for(LETTERS[:end].encode(), LOST)
        if seconds is None:
            lost += 1
            break
        taken.append(seconds)
        terminal.idle(0.15)
    # Once: a second one would leave the screen that is measured.
    terminal.type("\x1b")
    terminal.idle(0.3)
    return Keys(taken, lost)


def main() -> int:
    options = arguments().parse_args()
    command = [str(KRES), *(options.command or ["tui", "pods", "-A"])]
    flags = ("--pace", f"{options.kind}={options.rate}") if options.rate else ()
    try:
        with served(cluster(options.pods), *flags) as environment:
            print(soak(command, environment, options), end="")
    except WrongError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--rate", type=int, default=1000, help="events a second")
    parser.add_argument("--kind", default="pods", help="whose events; default: pods")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("command", nargs="*", help="what kubectl-kres is to do; default: tui pods -A")
    return parser


def soak(command: Sequence[str], environment: Mapping[str, str], options: argparse.Namespace) -> str:
    """Run the program under events; the table. Raises WrongError if keys are not painted."""
    terminal = Terminal(command, environment)
    first = terminal.wait_for(rb"[A-Za-z]{3}", READY)
    row = terminal.wait_for(rb"-\d{5}-|\d%", READY) if first is not None else None
    if first is None or row is None:
        said = CONTROLS.sub(b"", terminal.text).decode(errors="replace").strip()
        took = terminal.close()
        return (
            f"{' '.join(command[1:])}: not measured, no row was painted ({took:.1f} s CPU); it said {said[-200:]!r}\n"
        )
    keys: dict[str, list[Keys]] = {name: [] for name in PROMPTS}
    began, held = time.monotonic(), list[float]()
    while (passed := time.monotonic() - began) < options.seconds and terminal.open:
        for name, prompt in PROMPTS.items():
            keys[name].append(typed(terminal, prompt))
        if passed > options.seconds / 10:
            held.append(terminal.memory())
    alive, passed, painted = terminal.open, time.monotonic() - began, terminal.painted
    cpu = terminal.close()
    if not alive:
        raise WrongError("the program ended by itself")
    head = [f"{' '.join(command[1:])}, {options.pods:,} pods, {options.rate:,} events/s of {options.kind}", "value"]
    rows = [
        ["first paint, s", f"{first:.2f}"],
        ["first row, s", f"{first + row:.2f}"],
        *(row for name, found in keys.items() for row in latencies(name, found)),
        ["memory first, MiB", f"{held[0]:.0f}" if held else "-"],
        ["memory half-way, MiB", f"{held[len(held) // 2]:.0f}" if held else "-"],
        ["memory last, MiB", f"{held[-1]:.0f}" if held else "-"],
        ["most memory seen, MiB", f"{max(held):.0f}" if held else "-"],
        ["CPU, cores", f"{cpu / (passed + first + row):.2f}"],
        ["painted, kB/s", f"{painted / passed / 1000:.0f}"],
    ]
    return table(head, rows)


def latencies(name: str, found: Sequence[Keys]) -> list[list[str]]:
    """Rows about the keys of one prompt. Raises WrongError if none was painted."""
    taken = sorted(seconds for one in found for seconds in one.taken)
    if len(taken) < 2:
        raise WrongError(f"keys in the {name} are not painted")
    cuts = statistics.quantiles(taken, n=20, method="inclusive")
    shown = [f"{value * 1000:.0f}" for value in (cuts[9], cuts[18], taken[-1])]
    stalls = sum(seconds > STALL for seconds in taken)
    return [
        [f"key to paint, {name}, ms: p50 / p95 / most", " / ".join(shown)],
        [f"keys over 100 ms / lost / all, {name}", f"{stalls} / {sum(one.lost for one in found)} / {len(taken)}"],
    ]


if __name__ == "__main__":
    sys.exit(main())
