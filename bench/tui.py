#!/usr/bin/env python3
"""Drive the terminal interface as a user does, in a pseudo-terminal, while the cluster changes: keys, stalls, memory.

    python bench/tui.py                            10,000 pods, 1,000 events a second, 20 seconds
    python bench/tui.py --seconds 1800             the soak
    python bench/tui.py --kind resourcequotas -- tui quota -A

A key counts as painted once what was typed so far is on its way to the terminal: capitals typed into the prompt and
into the filter, which no name in the synthetic cluster has.  Memory is that of the process, first a tenth into the
time, then half-way, then at the end; it must not grow.  stalls.py watches the event loop from inside: of what stands
still for longer than a quarter of a second it says where.  CPU without keys is taken after everything was read, for a
tenth of the time.  Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from measure import WrongError, table
from served import cluster, served

ROWS, COLUMNS = 40, 140
LETTERS = "ZQXJ"
#: What opens a prompt, and a word of the footer that is painted with it.
PROMPTS = {"prompt": (":", b"complete"), "filter": ("/", b"fuzzy")}
#: Painted once nothing is typed any more, and once everything was read.
CLOSED, WHOLE = b"ctrl-y", rb"(?s)\d (?:pod|\w*quota|\w*claim|\w*pool|\w*run|namespace|node|waiting)s?\b(?!.* so far)"
STALL = 0.1
#: Seconds from which a stall is said to be one, and how many of them are told.
LONG, TOLD = 0.25, 8
STALLS = Path(__file__).with_name("stalls.py")
#: A key that is not painted after so many seconds is lost.
LOST = 10.0
READY = 120.0
#: Seconds at most without keys.
CALM = 20.0
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

    def cpu(self) -> float:
        """Seconds of CPU that the process has taken so far; 0 where the system does not tell."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

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
    sign, opened = PROMPTS[prompt]
    terminal.type(sign)
    terminal.wait_for(opened, LOST)
    for end in range(1, len(LETTERS) + 1):
        terminal.type(LETTERS[end - 1])
        seconds = terminal.wait_for(LETTERS[:end].encode(), LOST)
        if seconds is None:
            lost += 1
            break
        taken.append(seconds)
        terminal.idle(0.15)
    # Once: a second one would leave the screen that is measured. A key right behind it would be another key with alt.
    terminal.type("\x1b")
    terminal.wait_for(CLOSED, LOST)
    terminal.idle(0.3)
    return Keys(taken, lost)


def main() -> int:
    options = arguments().parse_args()
    flags = ("--pace", f"{options.kind}={options.rate}") if options.rate else ()
    try:
        with served(cluster(options.pods), *flags) as environment, tempfile.TemporaryDirectory() as own:
            report = Path(own) / "report"
            words = options.command or ["tui", "pods", "-A"]
            command = [sys.executable, str(STALLS), str(report), *words]
            print(soak(command, environment, options, report), end="")
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


def soak(command: Sequence[str], environment: Mapping[str, str], options: argparse.Namespace, report: Path) -> str:
    """Run the program under events; the table. Raises WrongError if keys are not painted."""
    words = " ".join(command[3:])
    terminal = Terminal(command, environment)
    first = terminal.wait_for(rb"[A-Za-z]{3}", READY)
    row = terminal.wait_for(rb"-\d{5}-|\d%", READY) if first is not None else None
    if first is None or row is None:
        said = CONTROLS.sub(b"", terminal.text).decode(errors="replace").strip()
        took = terminal.close()
        return f"{words}: not measured, no row was painted ({took:.1f} s CPU); it said {said[-200:]!r}\n"
    until = terminal.cpu()
    whole = terminal.wait_for(WHOLE, READY)
    read = time.monotonic() - terminal.began
    all_read = terminal.cpu()
    calm = min(CALM, options.seconds / 10)
    calmed = shared(terminal, calm)
    keys: dict[str, list[Keys]] = {name: [] for name in PROMPTS}
    began, before, held = time.monotonic(), terminal.cpu(), list[float]()
    while (passed := time.monotonic() - began) < options.seconds - calm and terminal.open:
        for name in PROMPTS:
            keys[name].append(typed(terminal, name))
        if passed > options.seconds / 10:
            held.append(terminal.memory())
    alive, passed, painted = terminal.open, time.monotonic() - began, terminal.painted
    cpu = (terminal.cpu() - before) / passed
    terminal.close()
    if not alive:
        said = CONTROLS.sub(b"", terminal.text).decode(errors="replace").strip()
        raise WrongError(f"the program ended by itself; it said {said[-800:]!r}")
    head = [f"{words}, {options.pods:,} pods, {options.rate:,} events/s of {options.kind}", "value"]
    rows = [
        ["first paint, s", f"{first:.2f}"],
        ["first row, s: wall / CPU", f"{first + row:.2f} / {until:.2f}"],
        ["everything read, s: wall / CPU", f"{read:.2f} / {all_read:.2f}" if whole is not None else "-"],
        *(row for name, found in keys.items() for row in latencies(name, found)),
        *spent(json.loads(report.read_text())["keys"]),
        ["memory first, MiB", f"{held[0]:.0f}" if held else "-"],
        ["memory half-way, MiB", f"{held[len(held) // 2]:.0f}" if held else "-"],
        ["memory last, MiB", f"{held[-1]:.0f}" if held else "-"],
        ["most memory seen, MiB", f"{max(held):.0f}" if held else "-"],
        ["CPU without keys, % of a core", f"{100 * calmed:.1f}"],
        ["CPU with keys, % of a core", f"{100 * cpu:.1f}"],
        ["painted, kB/s", f"{painted / passed / 1000:.0f}"],
        *stalled(json.loads(report.read_text()), read),
    ]
    return table(head, rows)


def shared(terminal: Terminal, seconds: float) -> float:
    """The part of a core that the program takes while nobody types."""
    before, began = terminal.cpu(), time.monotonic()
    terminal.idle(seconds)
    return (terminal.cpu() - before) / (time.monotonic() - began)


def stalled(found: Mapping[str, Any], read: float) -> list[list[str]]:
    """Rows about where the loop stood still; ``read``: seconds until everything was read."""
    stalls = found["stalls"]
    rows = []
    for name, some in (
        ("while reading", [one for one in stalls if one["at"] < read]),
        ("later", [one for one in stalls if one["at"] >= read]),
    ):
        wall, cpu = (max((one[what] for one in some), default=0.0) for what in ("wall", "cpu"))
        rows.append([f"longest stall {name}, ms: wall / CPU", f"{1000 * wall:.0f} / {1000 * cpu:.0f}"])
    over = " / ".join(str(found["over"].get(f"250 ms{of}", 0)) for of in ("", " of CPU"))
    rows.append(["stalls over 250 ms: wall / CPU", over])
    longest = [max((one[at] for one in found["gc"]), default=0.0) for at in (2, 3)]
    rows.append(["longest garbage collection, ms: wall / CPU", " / ".join(f"{1000 * one:.0f}" for one in longest)])
    rows.append(["all garbage collections, s: wall / CPU", " / ".join(f"{one:.1f}" for one in found["gc_all"])])
    for one in [one for one in stalls if one["wall"] > LONG][:TOLD]:
        wall, cpu, collected = (f"{1000 * one[what]:.0f}" for what in ("wall", "cpu", "gc"))
        where = "; ".join(one["where"]) or "not seen"
        rows.append([f"stall at {one['at']:.1f} s: {where}", f"{wall} ms, CPU {cpu}, gc {collected}"])
    return rows


def spent(keys: Sequence[float]) -> list[list[str]]:
    """A row about the CPU that the main thread took from a letter's arrival until it was written."""
    if len(keys) < 2:
        return []
    cuts = statistics.quantiles(keys, n=20, method="inclusive")
    shown = " / ".join(f"{value * 1000:.0f}" for value in (cuts[9], cuts[18], max(keys)))
    return [["CPU from key to paint, both, ms: p50 / p95 / most", shown]]


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
