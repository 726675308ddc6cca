"""Moves that repeat themselves, taken together: a rollout of a million pods is one round, a million times.

A controller's choices depend on sums and comparisons of counts alone. Where a round of moves changes each count by the
same amount as the one before, and a round far on changes them so, too, all rounds between do: a comparison that comes
out alike at both ends of a row does so everywhere between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

#: The longest round that is recognised, and how many moves are made before one is looked for.
_LONGEST = 12
LEAST_MOVES = 2 * _LONGEST + 1
#: Fewer rounds are gone through one by one.
_LEAST_ROUNDS = 4

T = TypeVar("T")


class Point(NamedTuple):
    """A state as its counts, and ``form``: all else of it. Behind the counts of the state may stand sums of them: what
    is left of something, where its end ends the rounds.
    """

    counts: tuple[int, ...]
    form: Any


def leap(
    states: Sequence[T],
    point_of: Callable[[T], Point],
    with_counts: Callable[[T, Sequence[int]], T],
    move: Callable[[T], T | None],
) -> T | None:
    """Return a state many rounds behind the last of some that follow each other; None: they are no rounds.

    ``with_counts`` returns a state with other counts in its form, ``move`` the one state that follows; None: there is
    none, or more than one.
    """
    points = [point_of(state) for state in states]
    for length in range(1, min(_LONGEST, (len(points) - 1) // 2) + 1):
        changes = _changes_of_rounds(points[-2 * length - 1 :], length)
        if changes is None:
            continue
        # Rounds mostly end shortly before what ends them: the nearest numbers are tried first.
        least, most, furthest = _LEAST_ROUNDS, _most_rounds(points[-1], changes[0]), None
        rounds, fewer = most, 1
        while least <= most:
            state = with_counts(states[-1], _add(points[-1].counts, changes[0], rounds))
            for phase in range(1, length + 1):
                after = move(state)
                expected = points[phase - length - 1]
                counts = _add(expected.counts, changes[phase % length], rounds + 1)
                if after is None or point_of(after) != (counts, expected.form):
                    most = rounds - 1
                    break
                state = after
            else:
                furthest, least = state, rounds + 1
            rounds = max((least + most) // 2, most + 1 - fewer) if furthest is None else (least + most + 1) // 2
            fewer *= 2
        return furthest
    return None


def _changes_of_rounds(points: Sequence[Point], length: int) -> list[tuple[int, ...]] | None:
    """Return what a round changes of each of its states; None where the two are no rounds."""
    result = []
    for before, after in zip(points, points[length:], strict=False):
        if before.form != after.form or len(before.counts) != len(after.counts):
            return None
        result.append(_add(after.counts, before.counts, -1))
    return result[:-1] if result[0] == result[-1] else None


def _add(counts: Sequence[int], change: Sequence[int], times: int) -> tuple[int, ...]:
    return tuple(have + times * more for have, more in zip(counts, change, strict=True))


def _most_rounds(point: Point, change: Sequence[int]) -> int:
    """Return how many rounds leave no count below zero that is not; 0: nothing ends them."""
    rounds = [have // -more for have, more in zip(point.counts, change, strict=True) if more < 0 <= have]
    return min(rounds, default=0) - 1


def split(value: Any) -> Point:
    """Return the numbers in nested tuples, and the tuples without them."""
    counts: list[int] = []
    form: list[Any] = []
    _split(value, counts, form)
    return Point(tuple(counts), tuple(form))


def _split(value: tuple[Any, ...], counts: list[int], form: list[Any]) -> None:
    form += (type(value), len(value))
    for item in value:
        kind = type(item)
        if kind is int:
            counts.append(item)
            form.append(int)
        elif isinstance(item, tuple):
            _split(item, counts, form)
        else:
            form.append(item)


def with_counts(value: Any, counts: Iterator[int]) -> Any:
    """Return nested tuples with other numbers."""
    items = [
        with_counts(item, counts) if isinstance(item, tuple) else next(counts) if type(item) is int else item
        for item in value
    ]
    return tuple(items) if type(value) is tuple else type(value)(*items)
