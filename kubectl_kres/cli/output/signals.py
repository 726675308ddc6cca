"""What a signal that ends programs does here: first what is half done is cleaned up, then it ends the program."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType

#: What a time limit of a CI sends, and what goes out when a terminal is closed.
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class SignalReceived(BaseException):
    """A signal came; ``number`` is its own."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


#: Seconds after which the signal is raised once more: what is raised while a module is loaded may be lost there.
AGAIN = 5.0


@contextmanager
def handle_signals() -> Iterator[None]:
    """Within, the signals raise Ended once. Who started us ignoring one, as nohup does, is obeyed."""
    before = {}
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            try:
                before[number] = signal.signal(number, _raise_ended)
            except ValueError:  # not the main thread: the program is part of another one
                break
    try:
        yield
    finally:
        _set_signal_timer(0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise_ended(number: int, _frame: FrameType | None) -> None:
    # The next one ends the program at once.
    signal.signal(number, signal.SIG_DFL)
    _set_signal_timer(number)
    raise SignalReceived(number)


def _set_signal_timer(number: int) -> None:
    """Raise Ended again and again until it has come through; 0: it has. Windows has no such timer."""
    if not hasattr(signal, "setitimer"):
        return
    if number:
        signal.signal(signal.SIGALRM, partial(_raise_again, number))
        signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
    elif isinstance(signal.getsignal(signal.SIGALRM), partial):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _raise_again(number: int, _alarm: int, _frame: FrameType | None) -> None:
    raise SignalReceived(number)


def end_by_signal(number: int) -> None:
    """End by the signal, as whoever sent it expects."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
