"""A cache of answers for objects that are alike."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

#: Pods of a workload come one after the other, and memory must not grow with their number.
MOST = 1000


class AnswerCache(dict[K, V]):
    """The latest answers by what they depend on; at most MOST, beyond which all are dropped."""

    def store_answer(self, key: K, answer: V) -> V:
        """Keep the answer and return it."""
        if len(self) >= MOST:
            self.clear()
        self[key] = answer
        return answer
