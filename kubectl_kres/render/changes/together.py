"""Whether the objects of files fit together, in a few lines below their list."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.render.text.line import Line, Tone, draw, toned, wrapped
from kubectl_kres.reports.changes.together import Reach, Together
from kubectl_kres.reports.pod.verdict import AS_FAR_AS_SEEN


def lines(together: Together, *, color: bool, width: int) -> Iterator[str]:
    """The word, how far each workload gets, what quotas lack."""
    for line in _lines(together, width):
        yield draw(line, color=color)


def _lines(together: Together, width: int) -> Iterator[Line]:
    tone: Tone = "bad" if together.negative else "good"
    word = together.outcome.removesuffix(AS_FAR_AS_SEEN)
    seen = " as far as seen" if together.outcome != word else ""
    parts = [_reach(reach) for reach in together.workloads]
    parts += [f"quota {lack.quota.name} lacks {lack.amount} of {lack.resource}" for lack in together.lacks]
    head = {"admitted": "all of it fits", "partly": "not all of it fits", "refused": "none of it comes"}[word]
    text = f"together: {head}{seen}: {', '.join(parts)}" if parts else f"together: {head}{seen}"
    yield from toned(tone, wrapped(text, width, rest="  "))
    for refusal in together.refused:
        yield from toned("bad", wrapped(f"refused: {refusal}", width, first="  ", rest="    "))
    if together.ends > 1:
        text = f"the first in the files came first; {together.ends} ends are possible, since controllers race for room"
        yield from toned("quiet", wrapped(text, width, first="  ", rest="    "))


def _reach(reach: Reach) -> str:
    return f"{reach.subject.name}: {reach.pods} of {reach.wanted}"
