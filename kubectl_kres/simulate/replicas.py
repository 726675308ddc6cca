"""Pods of StatefulSets by ordinal: those that are alike and follow each other are one entry, however many they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kubectl_kres.model.ordinals import free_rows, length, overlap


class Replica(NamedTuple):
    """Pods of a StatefulSet that are alike: ``number`` of them, from ``ordinal`` on."""

    ordinal: int
    template: int
    shape: int
    ready: bool = True
    number: int = 1

    @property
    def ordinals(self) -> range:
        return range(self.ordinal, self.ordinal + self.number)

    @property
    def last(self) -> int:
        return self.ordinal + self.number - 1

    def between(self, ordinals: range) -> Replica | None:
        """Return those of some ordinals; None: there is none."""
        common = overlap(self.ordinals, ordinals)
        return self._replace(ordinal=common.start, number=length(common)) if common else None


#: All pods of a StatefulSet, the lowest ordinals first; two entries never follow each other that could be one.
Replicas = tuple[Replica, ...]


def joined(replicas: Iterable[Replica]) -> Replicas:
    """Return pods in any order as one tuple; the same for the same pods, whatever entries they come in."""
    result: list[Replica] = []
    for item in sorted(replicas):
        before = result[-1] if result else None
        if (
            before is not None
            and before._replace(ordinal=item.ordinal, number=item.number) == item
            and (before.last + 1 == item.ordinal)
        ):
            result[-1] = before._replace(number=before.number + item.number)
        elif item.number > 0:
            result.append(item)
    return tuple(result)


def count_pods(replicas: Iterable[Replica]) -> int:
    """Return how many pods there are."""
    return sum(item.number for item in replicas)


def within(replicas: Replicas, ordinals: range) -> Replicas:
    """Return those of some ordinals."""
    if not replicas or (replicas[0].ordinal >= ordinals.start and replicas[-1].last < ordinals.stop):
        return replicas
    parts = (item.between(ordinals) for item in replicas)
    return tuple(part for part in parts if part is not None)


def outside(replicas: Replicas, ordinals: range) -> Replicas:
    """Return those of all other ordinals."""
    if not ordinals or not replicas:
        return replicas
    before = within(replicas, range(min(replicas[0].ordinal, ordinals.start), ordinals.start))
    behind = within(replicas, range(ordinals.stop, max(replicas[-1].last + 1, ordinals.stop)))
    return (*before, *behind)


def gaps(replicas: Iterable[Replica], ordinals: range) -> Iterator[range]:
    """Yield the ordinals that no pod has, each row of them at once."""
    yield from free_rows((item.ordinals for item in replicas), ordinals)
