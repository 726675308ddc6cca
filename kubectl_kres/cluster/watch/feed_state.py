"""The state of reading one need (connecting, listing, watching, retrying, stopped), and the time that it waits by."""

from __future__ import annotations

import time
from random import random
from threading import Event
from typing import Literal

from msgspec import Struct

Phase = Literal["connecting", "listing", "watching", "polling", "retrying", "denied", "absent", "failed"]


class FeedState(Struct, frozen=True, omit_defaults=True):
    """Moments are those of the feed's clock, in seconds.

    connecting: nothing came yet. listing: ``read`` objects of about ``estimate`` (0: unknown) have come. watching: the
    server spoke last at ``answered_at``. polling: it refuses to be watched (``reason``), and is listed again at
    ``next_try``. retrying: ``reason`` it failed ``attempts`` times in a row, and when (``next_try``) it is tried again.
    ``retry_after``: the seconds that the server asked to wait. denied, absent: the server's words are ``reason``.
    failed: its answer cannot be used. These are tried again at ``next_try``.

    ``answered_at`` stays when the server is heard no more. ``has_objects``: a whole list was read once; its objects
    stay in the store whatever happens.
    """

    phase: Phase
    has_objects: bool = False
    read: int = 0
    estimate: int = 0
    answered_at: float = 0.0
    attempts: int = 0
    reason: str = ""
    next_try: float = 0.0
    retry_after: float = 0.0

    @property
    def current(self) -> bool:
        """Return whether the store has what the server has, as far as is known."""
        return self.phase == "watching"


class Clock:
    """Seconds of a clock that is never set back. Tests give a faster one."""

    def now(self) -> float:
        return time.monotonic()

    def wait(self, over: Event, seconds: float) -> bool:
        """Wait so long, or until ``over`` is set; whether it is."""
        return over.wait(seconds)

    def random_fraction(self) -> float:
        """Return a random number from 0 to 1."""
        return random()  # noqa: S311, nothing secret depends on it
