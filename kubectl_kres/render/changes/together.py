"""Whether the objects of files fit together, in a few lines below their list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.render.text.line import Line, Tone, draw, toned, wrapped
from kubectl_kres.reports.changes.together import Reach, Together
from kubectl_kres.reports.pod.verdict import AS_FAR_AS_SEEN

#: Workloads that are named one by one.
_FEW = 8


def lines(together: Together, *, color: bool, width: int) -> Iterator[str]:
    """The word, how far each workload gets, what quotas lack."""
    for line in _lines(together, width):
        yield draw(line, color=color)


def _lines(together: Together, width: int) -> Iterator[Line]:
    tone: Tone = "bad" if together.negative else "good"
    word = together.outcome.removesuffix(AS_FAR_AS_SEEN)
    seen = " as far as seen" if together.outcome != word else ""
    parts = list(_reached(together.workloads))
    parts += [f"quota {lack.quota.name} lacks {lack.amount} of {lack.resource}" for lack in together.lacks]
    head = {"admitted": "all of it fits", "partly": "not all of it fits", "refused": "none of it comes"}[word]
    text = f"together: {head}{seen}: {', '.join(parts)}" if parts else f"together: {head}{seen}"
    yield from toned(tone, wrapped(text, width, rest="  "))
    for refusal in together.refused:
        yield from toned("bad", wrapped(f"refused: {refusal}", width, first="  ", rest="    "))
    if together.ends > 1:
        lucky = together.in_some_order
        which = "all fits if they come in the right order" if lucky else "the first in the files came first"
        number = f"{'' if together.exhaustive else 'at least '}{together.ends}"
        text = f"{which}; {number} ends are possible, since controllers race for room"
        yield from toned("quiet", wrapped(text, width, first="  ", rest="    "))


def _reached(workloads: Sequence[Reach]) -> Iterator[str]:
    """How far each gets; of many only those that lack pods."""
    if len(workloads) <= _FEW:
        yield from map(_reach, workloads)
        return
    lacking = [reach for reach in workloads if reach.pods < reach.wanted]
    yield from map(_reach, lacking[:_FEW])
    if len(lacking) > _FEW:
        yield f"{len(lacking) - _FEW} more lack pods"
    whole = len(workloads) - len(lacking)
    if not lacking:
        yield f"all {whole} get all their pods"
    elif whole:
        yield f"{whole} other{'s get all their' if whole > 1 else ' gets all its'} pods"


def _reach(reach: Reach) -> str:
    stays = f" updated, {reach.old} old pod{'s' if reach.old > 1 else ''} stay{'' if reach.old > 1 else 's'}"
    return f"{reach.subject.name}: {reach.pods} of {reach.wanted}{stays if reach.old else ''}"
