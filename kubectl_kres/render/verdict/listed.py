"""Lists as kubectl get prints them: a head, a row for each object, the last column cut where a terminal ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.render.text.line import Line, Tone, clipped, draw, size
from kubectl_kres.render.verdict.headline import why
from kubectl_kres.render.verdict.words import verdict_word
from kubectl_kres.reports.explain.summary import Outline

HEADS = ("NAMESPACE", "NAME", "READY", "QOS", "OUTCOME", "WHY")
#: Between columns, as kubectl has it.
_GAP = "   "


class Row(NamedTuple):
    """What one line says of one object. ``remedy``: shown where there is room for everything."""

    ref: ObjectRef
    outcome: str
    tone: Tone
    why: str = ""
    ready: str = ""
    quality: str = ""
    remedy: str = ""


def row_of(outline: Outline) -> Row:
    """The row of a pod or of what makes pods."""
    verdict = outline.verdict
    tone = verdict_word(verdict)[1]
    because = why(verdict, outline.replicas, outline.names, live=outline.live, ended=outline.ended)
    text = "; ".join(filter(None, (outline.state, because)))
    return Row(outline.subject, verdict.outcome, tone, text, outline.ready, outline.quality, outline.remedy)


def table(
    rows: Sequence[Row], name: Callable[[ObjectRef], str], *, width: int = 0, wide: bool = False, color: bool = False
) -> Iterator[str]:
    """The lines. ``name``: what an object is called; ``width`` 0: nothing is cut. ``wide``: with the remedies."""
    if not rows:
        return
    cells = [_cells(row, name, wide=wide) for row in rows]
    heads = (*HEADS, "REMEDY") if wide else HEADS
    last = len(HEADS) - 1
    shown = [at for at in range(len(heads)) if at >= last or any(row[at] for row in cells)]
    widths = {at: max(size(heads[at]), *(size(row[at]) for row in cells)) for at in shown}
    yield from _drawn([("", heads[at]) for at in shown], [widths[at] for at in shown], width, color=color)
    for row, texts in zip(rows, cells, strict=True):
        tones: dict[int, Tone] = {HEADS.index("OUTCOME"): row.tone}
        line: Line = [(tones.get(at, ""), texts[at] or "-") for at in shown]
        yield from _drawn(line, [widths[at] for at in shown], width, color=color)


def _cells(row: Row, name: Callable[[ObjectRef], str], *, wide: bool) -> tuple[str, ...]:
    found = (row.ref.namespace, name(row.ref), row.ready, row.quality, row.outcome, row.why)
    return (*found, row.remedy) if wide else found


def _drawn(line: Line, widths: Iterable[int], width: int, *, color: bool) -> Iterator[str]:
    """One line; what stands beyond the width goes."""
    parts: list[tuple[Tone, str]] = []
    left = width or 1 << 20
    pairs = list(zip(line, widths, strict=True))
    for at, ((tone, text), column) in enumerate(pairs):
        last = at == len(pairs) - 1
        kept = clipped(text, max(1, left)) if last or size(text) > left else text
        parts.append((tone, kept))
        room = max(0, left - size(kept))
        gap = "" if last else " " * min(room, max(0, column - size(kept)) + len(_GAP))
        parts.append(("", gap))
        left -= max(column, size(kept)) + len(_GAP)
        if left <= 0:
            break
    yield draw(parts, color=color)
