"""The time that new objects may take to start, and the order of states from worst to best."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from kubectl_kres.reports.common.explanation import RunState, RunWord

#: The worst first.
WORDS: Final[tuple[RunWord, ...]] = ("fails", "waits", "starting", "off", "runs", "ended")

#: Seconds in which what is new is starting, and nobody has to look: for a scheduler to answer, for containers to become
#: ready, for a controller to create pods.
GRACE: Final = 30
#: Seconds for a node to pull images and to start containers of which nothing bad is said.
START_GRACE: Final = 300
#: Seconds for which the end of a container still counts: as long as the kubelet remembers its back-off.
RECENT: Final = 600


def rank(state: RunState) -> int:
    """Return the sort key of a state, the worst first."""
    return WORDS.index(state.state)


def worst_state(states: Iterable[RunState]) -> RunState | None:
    """Return the first of the worst states; None if there is none."""
    return min(states, key=rank, default=None)


def seconds_since(time: str | None, now: str) -> float | None:
    """Return the seconds from a moment to now, both RFC 3339; None where one of them is not known."""
    try:
        return (datetime.fromisoformat(now) - datetime.fromisoformat(time or "")).total_seconds()
    except (ValueError, TypeError):
        return None


def is_new(time: str | None, now: str, grace: int = GRACE) -> bool:
    """Return whether a moment is at most ``grace`` seconds ago; False where that is not known."""
    seconds = seconds_since(time, now)
    return seconds is not None and seconds < grace
