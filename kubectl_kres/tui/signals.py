"""Signals that end programs end the interface as ``q`` does: the terminal must be given back as it was."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress

#: Seconds in which the terminal is given back after a signal.
_STUCK = 5.0


def end_at_signals(note: Callable[[int], None], end: Callable[[], None]) -> None:
    """Have ``note`` called at once with the number of such a signal, then ``end`` in the loop that runs now."""
    loop = asyncio.get_running_loop()

    def received(number: int, _frame: object) -> None:
        note(number)
        # A terminal that takes no output any more would hold the program.
        signal.signal(signal.SIGALRM, lambda *_: os._exit(128 + number))
        signal.setitimer(signal.ITIMER_REAL, _STUCK)
        with suppress(RuntimeError):  # it has ended already
            loop.call_soon_threadsafe(end)

    with suppress(AttributeError, ValueError):  # not on Windows, and not outside of the main thread
        for number in (signal.SIGTERM, signal.SIGHUP):
            # Who started us ignoring one, as nohup does, is obeyed.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, received)
