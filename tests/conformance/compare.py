"""Comparing what was recorded with the outcomes that the engine holds possible."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

#: Path of a value below an answer: keys and positions.
Path = tuple[str | int, ...]
Loose = Callable[[Path], bool]
Answer = Mapping[str, Any]

ABSENT = type("Absent", (), {"__repr__": lambda _: "absent"})()

_AMOUNT = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+)|([KMGTPE]i|[numkMGTPE])?)")
_SCALE = {
    **{suffix: Fraction(10) ** (3 * power) for power, suffix in enumerate("num kMGTPE", -3)},
    **{f"{suffix}i": Fraction(1024) ** power for power, suffix in enumerate("KMGTPE", 1)},
}


def exactly(_path: Path) -> bool:
    """No value is compared by its amount only."""
    return False


def amount(text: object) -> Fraction | None:
    """The number that a quantity stands for; None if it is none. Written apart from the engine's, to judge it."""
    match = _AMOUNT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    number, exponent, suffix = match.groups()
    return Fraction(number) * (Fraction(10) ** int(exponent) if exponent else _SCALE[suffix or " "])


def differences(
    expect: Answer,
    outcomes: Sequence[Answer],
    compared_keys: Collection[str],
    *,
    optional: Collection[str] = (),
    loose: Loose = exactly,
) -> list[str]:
    """How the nearest outcome differs from a recorded answer; empty if one of the outcomes is that answer.

    A compared key that the answer lacks must be lacking in the outcome, except ``optional`` ones, which are not
    recorded everywhere. Values whose path is ``loose`` are compared by amount, all others exactly and with their type.
    """
    if not outcomes:
        return ["the engine holds nothing possible"]
    keys = [key for key in compared_keys if key in expect or key not in optional]
    return min(([*_answer(expect, outcome, keys, loose)] for outcome in outcomes), key=len)


def faults(
    answers: Sequence[Answer],
    outcomes: Sequence[Answer],
    compared_keys: Collection[str],
    *,
    complete: bool,
    optional: Collection[str] = (),
    loose: Loose = exactly,
) -> list[str]:
    """Recorded answers that are no outcome; with ``complete`` recordings also outcomes that were never an answer."""
    compare = {"compared_keys": compared_keys, "optional": optional, "loose": loose}
    found = [
        f"answer {number} of {len(answers)}: {difference}"
        for number, answer in enumerate(answers, 1)
        for difference in differences(answer, outcomes, **compare)
    ]
    if complete:
        found += [
            f"outcome {number} of {len(outcomes)} cannot happen: {differences(answers[0], [outcome], **compare)}"
            for number, outcome in enumerate(outcomes, 1)
            if all(differences(answer, [outcome], **compare) for answer in answers)
        ]
    return found


def _answer(expect: Answer, outcome: Answer, keys: Collection[str], loose: Loose) -> Iterator[str]:
    for key in keys:
        found = outcome.get(key, ABSENT)
        if key == "message" and expect.get("firstLine") and isinstance(found, str):
            found = found.partition("\n")[0]
        yield from _unlike(expect.get(key, ABSENT), found, (key,), loose)


def _unlike(expected: Any, found: Any, path: Path, loose: Loose) -> Iterator[str]:
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for key in {**expected, **found}:
            yield from _unlike(expected.get(key, ABSENT), found.get(key, ABSENT), (*path, key), loose)
    elif isinstance(expected, list | tuple) and isinstance(found, list | tuple):
        for place in range(max(len(expected), len(found))):
            pair = (items[place] if place < len(items) else ABSENT for items in (expected, found))
            yield from _unlike(*pair, (*path, place), loose)
    elif not _same(expected, found, path, loose):
        yield f"{'.'.join(map(str, path))}: recorded {expected!r}, computed {found!r}"


def _same(expected: Any, found: Any, path: Path, loose: Loose) -> bool:
    if loose(path) and amount(expected) is not None:
        return amount(expected) == amount(found)
    return type(expected) is type(found) and expected == found
