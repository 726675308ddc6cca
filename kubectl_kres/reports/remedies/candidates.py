"""The one engine behind all searches for remedies: what was tried comes in as data, remedies go out, each once.

What may be changed, and how it is tried, differs between pods and runs of Tekton: their searches yield candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from msgspec import Struct

from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.parts import Admits, Edit, Remedy
from kubectl_kres.reports.remedies.words import compose_remedy
from kubectl_kres.store.store import Store

T = TypeVar("T")


def _as_it_is(remedy: Remedy) -> Remedy:
    return remedy


class Candidate(Struct, frozen=True):
    """A set of edits that was tried. ``wanted``: how many pods come with it; ``now``: without it.

    ``finish``: what the search adds to the remedy; asked only of one that is new.
    """

    edits: tuple[Edit, ...]
    wanted: int = 1
    now: int = 0
    finish: Callable[[Remedy], Remedy] = _as_it_is


def remedies_of(store: Store, subject: Subject, candidates: Iterable[Candidate]) -> Iterator[Remedy]:
    """Yield the remedy of each candidate in their order; of equal edits the first, and nothing of none."""
    seen: list[tuple[Edit, ...]] = []
    for it in candidates:
        if it.edits and it.edits not in seen:
            seen.append(it.edits)
            yield it.finish(compose_remedy(store, subject, it.edits, Admits(it.wanted, it.wanted), it.now))


def fewest_enough(items: Sequence[T], does: Callable[[Sequence[T]], bool]) -> Sequence[T]:
    """Return as few items from the beginning as are enough; none where not even all are."""
    return next((items[:number] for number in range(1, len(items) + 1) if does(items[:number])), ())
