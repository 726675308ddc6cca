"""Which claims of a namespace are in use: those that cover what its managed quota counts."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence

from kubectl_kres.capsule.rules.allocation import ClaimCandidate
from kubectl_kres.capsule.rules.amounts import Amounts, Nanos


def in_use(used: Amounts, hard: Collection[str], candidates: Sequence[ClaimCandidate]) -> list[ClaimCandidate]:
    """The claims that are marked as used, in the order in which they are chosen; ``candidates`` in queue order.

    used: of the managed quota; only resources of the pool's ``hard`` count. The claim that covers most comes first,
    cores and bytes added as plain numbers; of equal ones the earlier. Nothing else is chosen once no claim covers any.
    Source: capsule internal/controllers/resourcepools, selectClaimsCoveringUsageGreedy.
    """
    left = {name: used[name].nano for name in hard if name in used and used[name].nano > 0}
    asks = [{name: candidate.asks[name].nano for name in left if name in candidate.asks} for candidate in candidates]
    if any(nano < 0 for mapping in asks for nano in mapping.values()):
        return [candidates[index] for index in _scanned(left, asks)]
    return [candidates[index] for index in _heaped(left, asks)]


def _heaped(left: Nanos, asks: Sequence[Nanos]) -> list[int]:
    """Scores never grow while amounts are taken off, so that an old score bounds the new one."""
    heap = [(-score, index) for index, mapping in enumerate(asks) if (score := _score(left, mapping)) > 0]
    heapq.heapify(heap)
    chosen: list[int] = []
    while heap and any(left.values()):
        _, index = heapq.heappop(heap)
        score = _score(left, asks[index])
        if score <= 0:
            continue
        if heap and (-score, index) > heap[0]:
            heapq.heappush(heap, (-score, index))
            continue
        chosen.append(index)
        _take(left, asks[index])
    return chosen


def _scanned(left: Nanos, asks: Sequence[Nanos]) -> list[int]:
    """With a claim of a negative amount every score has to be looked at each time."""
    open_, chosen = list(range(len(asks))), list[int]()
    while open_ and any(left.values()):
        score, negated = max((_score(left, asks[index]), -index) for index in open_)
        if score <= 0:
            break
        chosen.append(-negated)
        open_.remove(-negated)
        _take(left, asks[-negated])
    return chosen


def _score(left: Nanos, asks: Nanos) -> int:
    """What is covered already counts for nothing, not even against a claim of a negative amount."""
    return sum(min(left[name], nano) for name, nano in asks.items() if left[name])


def _take(left: Nanos, asks: Nanos) -> None:
    for name, nano in asks.items():
        left[name] = max(left[name] - nano, 0)
