"""The time that a feed waits by."""

from __future__ import annotations

import time
from random import random
from threading import Event


class Clock:
    """Seconds of a clock that is never set back. Tests give a faster one."""

    def now(self) -> float:
        return time.monotonic()

    def wait(self, over: Event, seconds: float) -> bool:
        """Wait so long, or until ``over`` is set; whether it is."""
        return over.wait(seconds)

    def spread(self) -> float:
        """A random number from 0 to 1."""
        return random()  # noqa: S311, nothing secret depends on it
