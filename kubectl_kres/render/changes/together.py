"""Whether the objects of files fit together, in a few lines below their list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.render.text.columns import columns
from kubectl_kres.render.text.line import Line, Tone, clipped, draw, toned, wrapped
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
    head = {"admitted": "all of it fits", "partly": "not all of it fits", "refused": "none of it comes"}[word]
    yield [(tone, f"together: {head}{seen}")]
    yield from _reached(together.workloads, width)
    for lack in together.lacks:
        text = f"quota {lack.quota.name} lacks {lack.amount} of {lack.resource}"
        yield from toned("warn", wrapped(text, width, first="  ", rest="    "))
    for refusal in together.refused:
        yield from toned("bad", wrapped(f"refused: {refusal}", width, first="  ", rest="    "))
    if together.ends > 1:
        lucky = together.in_some_order
        which = "all fits if they come in the right order" if lucky else "the first in the files came first"
        number = f"{'' if together.exhaustive else 'at least '}{together.ends}"
        text = f"{which}; {number} ends are possible, since controllers race for room"
        yield from toned("quiet", wrapped(text, width, first="  ", rest="    "))


def _reached(workloads: Sequence[Reach], width: int) -> Iterator[Line]:
    """Yield a row for each workload with how many of its pods fit; of many only those that lack pods."""
    lacking = [reach for reach in workloads if reach.pods < reach.wanted]
    shown = list(workloads) if len(workloads) <= _FEW else lacking[:_FEW]
    if shown:
        head, *rows = columns([("  NAME", "FITS"), *((f"  {reach.subject.name}", _reach(reach)) for reach in shown)])
        yield [("quiet", head)]
        for reach, row in zip(shown, rows, strict=True):
            yield [("bad" if reach.pods < reach.wanted else "", clipped(row, width))]
    if len(workloads) <= _FEW:
        return
    if len(lacking) > _FEW:
        yield [("bad", f"  {len(lacking) - _FEW} more lack pods")]
    whole = len(workloads) - len(lacking)
    if whole:
        yield [("", f"  {whole}{' others' if lacking else ''} get all their pods")]


def _reach(reach: Reach) -> str:
    stays = f" updated, {reach.old} old pod{'s' if reach.old > 1 else ''} stay{'' if reach.old > 1 else 's'}"
    return f"{reach.pods} of {reach.wanted}{stays if reach.old else ''}"
