"""How the use of quotas went within the last hour, as far as this program has seen it: a sparkline a quota."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from msgspec import Struct

from kubectl_kres.model.meta import ObjectRef

#: Seconds that are kept, and changes of one quota at most.
KEPT = 3600.0
_MOST = 720
_LEVELS, _ASCII = "▁▂▃▄▅▆▇█", "_.-=+*%#"
#: What a figure beyond its hard is drawn as, and a time before anything was seen.
_OVER, _UNSEEN = "!", " "


class Sample(Struct, frozen=True):
    """What was seen at ``at`` seconds: the percentage of the tightest name, absent where its hard is zero."""

    at: float
    percent: int | None
    over: bool
    hard: tuple[tuple[str, str], ...]


class Trends:
    """The samples of every quota that was looked at; older ones than an hour go, but for the one that still holds."""

    def __init__(self) -> None:
        self._samples: dict[ObjectRef, deque[Sample]] = {}

    def note(self, ref: ObjectRef, sample: Sample) -> None:
        """Keeps what is seen now."""
        samples = self._samples.setdefault(ref, deque(maxlen=_MOST))
        samples.append(sample)
        while len(samples) > 1 and samples[1].at < sample.at - KEPT:
            samples.popleft()

    def forget(self, ref: ObjectRef) -> None:
        """The quota is gone."""
        self._samples.pop(ref, None)

    def spark(self, ref: ObjectRef, now: float, cells: int, *, ascii_only: bool) -> str:
        """``cells`` characters of an hour, the last one now; empty where nothing has changed yet."""
        samples = self._samples.get(ref)
        if samples is None or len(samples) < 2:
            return ""
        step = KEPT / cells
        return "".join(
            _drawn(self._at(samples, now - step * back), ascii_only=ascii_only) for back in reversed(range(cells))
        )

    def hard_changes(self, ref: ObjectRef, now: float) -> Iterator[tuple[float, str, str, str]]:
        """Seconds ago, name, hard before and after; the latest first. A name that came or went has an empty text."""
        samples = list(self._samples.get(ref, ()))
        for before, after in zip(reversed(samples[:-1]), reversed(samples[1:]), strict=True):
            old, new = dict(before.hard), dict(after.hard)
            for name in sorted(old.keys() | new.keys()):
                if old.get(name) != new.get(name):
                    yield now - after.at, name, old.get(name, ""), new.get(name, "")

    @staticmethod
    def _at(samples: deque[Sample], moment: float) -> Sample | None:
        """The last sample up to a moment; None: nothing had been seen yet."""
        return next((sample for sample in reversed(samples) if sample.at <= moment), None)


def _drawn(sample: Sample | None, *, ascii_only: bool) -> str:
    if sample is None:
        return _UNSEEN
    if sample.over:
        return _OVER
    levels = _ASCII if ascii_only else _LEVELS
    return levels[min(len(levels) - 1, (sample.percent or 0) * len(levels) // 101)]
