#!/usr/bin/env python3
"""Run kubectl-kres and note where its event loop stands still: for how long, in which line, and the garbage collector.

    python bench/stalls.py REPORT tui pods -A      REPORT is written, as JSON, when the program ends

The loop stands still between two looks at what it waits for.  Of what lasts longer than a tenth of a second a second
thread notes the line of the main thread.  Wall clock and CPU time are told apart: where other programs take the
processor away, a stall has much of the one and little of the other.  Of each capital that is typed it notes how much
CPU the main thread takes from its arrival until the letter is written to the terminal, which load does not change.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import selectors
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

#: Seconds from which a stall is looked at, and between two looks.
LONG, LOOK = 0.1, 0.05
#: Stalls that are kept, the longest ones; lines of each.
KEPT, LINES = 20, 6
#: Seconds of stalls that are counted.
BOUNDS = (0.05, 0.1, 0.25)


class Watch:
    """The main thread's loop: since when it is busy, and what its stalls were."""

    def __init__(self) -> None:
        self.main = threading.main_thread().ident
        self.began = time.monotonic()
        self.since, self.cpu = 0.0, 0.0
        self.seen: Counter[str] = Counter()
        self.stalls: list[dict[str, Any]] = []
        self.over: Counter[str] = Counter()
        #: Of the garbage collector: when, which generation, and for how long, by the clock and of CPU.
        self.pauses: list[tuple[float, int, float, float]] = []
        self.collecting = self.collected = 0.0
        self.all = [0.0, 0.0]
        self.paused = 0.0
        self.busy = 0.0
        #: Capitals that are not painted yet, with the CPU time of the main thread when they came; seconds of others.
        self.typed: dict[str, float] = {}
        self.keys: list[float] = []
        self.clock = time.pthread_getcpuclockid(self.main or 0)

    def key_came(self, key: str) -> None:
        """A key was read, by whichever thread."""
        if len(key) == 1 and key.isupper():
            self.typed[key] = time.clock_gettime(self.clock)

    def written(self, text: str) -> None:
        """Something is on its way to the terminal."""
        for key in [key for key in self.typed if key in text]:
            self.keys.append(time.clock_gettime(self.clock) - self.typed.pop(key))

    def rests(self) -> None:
        """The loop is about to wait."""
        if not self.since:
            return
        took, cpu = time.monotonic() - self.since, time.thread_time() - self.cpu
        self.busy += cpu
        for bound in BOUNDS:
            if took > bound:
                self.over[f"{bound * 1000:.0f} ms"] += 1
            if cpu > bound:
                self.over[f"{bound * 1000:.0f} ms of CPU"] += 1
        if took > LONG:
            at = self.since - self.began
            where = [line for line, _ in self.seen.most_common(2)]
            self.stalls.append({"at": at, "wall": took, "cpu": cpu, "gc": self.paused, "where": where})
            self.stalls = sorted(self.stalls, key=lambda one: -one["wall"])[:KEPT]
        self.since = 0.0

    def goes_on(self) -> None:
        """The loop has something to do."""
        self.paused = 0.0
        self.cpu = time.thread_time()
        if self.seen:
            self.seen = Counter()
        self.since = time.monotonic()

    def collects(self, phase: str, facts: dict[str, int]) -> None:
        """The garbage collector begins or ends."""
        if phase == "start":
            self.collecting, self.collected = time.monotonic(), time.thread_time()
            return
        took, cpu = time.monotonic() - self.collecting, time.thread_time() - self.collected
        self.paused += took
        self.all = [self.all[0] + took, self.all[1] + cpu]
        self.pauses.append((self.collecting - self.began, facts["generation"], took, cpu))
        self.pauses = sorted(self.pauses, key=lambda one: -one[2])[:KEPT]

    def look(self) -> None:
        """Notes where a stall stands, until the program ends."""
        while True:
            time.sleep(LOOK)
            since = self.since
            if since and time.monotonic() - since > LONG:
                self.seen[stands(sys._current_frames().get(self.main))] += 1  # noqa: SLF001, there is no other way

    def report(self) -> dict[str, Any]:
        gc_times = {"gc": self.pauses, "gc_all": self.all}
        return {"stalls": self.stalls, "over": self.over, "busy": self.busy, "keys": self.keys, **gc_times}


def stands(frame: FrameType | None) -> str:
    """The innermost lines, this package's at least one."""
    lines: list[str] = []
    while frame is not None:
        code = frame.f_code
        ours = "kubectl_kres" in code.co_filename
        if ours or not lines:
            lines.append(f"{Path(code.co_filename).stem}.{code.co_name}:{frame.f_lineno}")
        if len(lines) == LINES:
            break
        frame = frame.f_back
    return " < ".join(lines)


def watched(watch: Watch) -> None:
    """Has the main thread's selector tell when it waits."""
    plain = selectors.DefaultSelector.select

    def select(self: Any, timeout: float | None = None) -> Any:
        if threading.get_ident() != watch.main:
            return plain(self, timeout)
        terminal(watch)
        watch.rests()
        try:
            return plain(self, timeout)
        finally:
            watch.goes_on()

    selectors.DefaultSelector.select = select  # type: ignore[method-assign]
    gc.callbacks.append(watch.collects)
    threading.Thread(target=watch.look, daemon=True).start()


def terminal(watch: Watch) -> None:
    """Has the terminal's driver tell of keys and of what is written, once it is loaded."""
    module: Any = sys.modules.get("textual.drivers.linux_driver")
    if module is None or hasattr(module, "_watched"):
        return
    module._watched = True  # noqa: SLF001, ours
    driver = module.LinuxDriver
    came, write = driver.process_message, driver.write

    def process_message(self: Any, message: Any) -> None:
        watch.key_came(getattr(message, "character", None) or "")
        came(self, message)

    def written(self: Any, text: str) -> None:
        watch.written(text)
        write(self, text)

    driver.process_message, driver.write = process_message, written


def main() -> None:
    report, *sys.argv = sys.argv[1], "kubectl-kres", *sys.argv[2:]
    watch = Watch()
    watched(watch)
    atexit.register(lambda: Path(report).write_text(json.dumps(watch.report())))
    from kubectl_kres.cli.main import entry  # noqa: PLC0415, its first frame comes before what takes time

    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(entry())


if __name__ == "__main__":
    main()
