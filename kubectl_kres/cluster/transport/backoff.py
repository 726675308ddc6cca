"""How long to wait before something is tried again."""

from __future__ import annotations

#: Seconds after the first failure, and at most. Source: client-go reflector, which backs off from 0.8 to 30 seconds.
FIRST, LONGEST = 0.8, 30.0
#: A server that asks for more is asked after so many seconds all the same: what is shown would be old without end.
LONGEST_ASKED = 60.0


def delay(tries: int, spread: float, asked: float = 0.0) -> float:
    """Seconds to wait after ``tries`` failures in a row: twice as long each time, and never shorter than ``asked``,
    as far as that is obeyed.

    ``spread`` from 0 to 1, a random number, makes it up to twice as long: programs that lost the same server must not
    come back at the same moment.
    """
    wait: float = min(LONGEST, FIRST * 2 ** min(max(tries - 1, 0), 30))
    return max(min(asked, LONGEST_ASKED), wait * (1 + spread))
