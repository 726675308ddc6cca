"""Lists as kubectl get prints them: a head, a row for each object, the last column cut where a terminal ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.line import Line, Tone, cells, clip_text, draw, printable_text, size
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.headline import CALM, verdict_reason, verdict_word
from kubectl_kres.render.verdict.run_state import nearest_in_short, short
from kubectl_kres.render.verdict.run_state import reason_text as reason_of
from kubectl_kres.reports.common.explanation import waits_or_fails
from kubectl_kres.reports.explain.summary import Outline
from kubectl_kres.reports.pod.verdict import outcome_word

HEADS = ("NAMESPACE", "NAME", "READY", "STATE", "QOS", "OUTCOME", "WHY")
#: Between columns, as kubectl has it.
_GAP = "   "


class Row(NamedTuple):
    """What one line says of one object. ``remedy``: shown where there is room for everything."""

    ref: ObjectRef
    outcome: str
    tone: Tone
    reason: str = ""
    ready: str = ""
    state: str = ""
    state_tone: Tone = ""
    quality: str = ""
    remedy: str = ""


def row_of(outline: Outline) -> Row:
    """Return the row of a pod or of what makes pods."""
    return _row(outline, _format_outline_reason(outline))


def _format_outline_reason(outline: Outline) -> str:
    return verdict_reason(
        outline.verdict, outline.replicas, outline.names, live=outline.live, has_ended=outline.ended, beside_ready=True
    )


def _row(outline: Outline, reason: str) -> Row:
    verdict, run_state = outline.verdict, outline.run_state
    state, tone = short(run_state)
    fares = outline.state
    if outcome_word(verdict) in CALM and waits_or_fails(run_state) and run_state is not None:
        fares = "; ".join(filter(None, (reason_of(run_state), nearest_in_short(outline.nodes))))
    text = f"{fares}; {reason}" if fares and reason else fares or reason
    return Row(
        outline.subject,
        verdict.outcome,
        verdict_word(verdict)[1],
        text,
        outline.ready,
        state,
        tone,
        outline.quality,
        sentence_text(outline.remedy),
    )


_LAST, _OUTCOME, _STATE = len(HEADS) - 1, HEADS.index("OUTCOME"), HEADS.index("STATE")


class Rows:
    """Makes rows; outlines of pods that were evaluated together share their verdict, and are worded once."""

    def __init__(self) -> None:
        self._last_outline: tuple[Outline, str] | None = None

    def row(self, outline: Outline) -> Row:
        """As ``row_of``."""
        last = self._last_outline
        if last is None or last[0].verdict is not outline.verdict:
            last = self._last_outline = outline, _format_outline_reason(outline)
        return _row(outline, last[1])


class PrintedTable:
    """A table that may be drawn in pieces, so that the first rows do not wait for the last: its head comes once, and
    columns only become wider.

    ``width`` 0: nothing is cut. ``wide``: with the remedies.
    """

    def __init__(self, *, width: int = 0, wide: bool = False, color: bool = False) -> None:
        self._width, self._is_wide, self._color = width, wide, color
        self._heads = (*HEADS, "FIX") if wide else HEADS
        #: The columns with their widths, once the head is drawn.
        self._widths: dict[int, int] = {}

    def lines(self, rows: Sequence[Row], name: Callable[[ObjectRef], str], *, more: bool = False) -> Iterator[str]:
        """Yield the next rows. ``name``: what an object is called; ``more``: others may follow."""
        if not rows:
            return
        pairs = [_cells(row, name, wide=self._is_wide) for row in rows]
        drawn = [tuple(map(printable_text, texts)) for texts in pairs]
        sizes = [tuple(map(cells, texts)) for texts in drawn]
        heads, widths = self._heads, self._widths
        begun = bool(widths)
        if not begun:
            # What the rows that follow have is not known: then no column is left out.
            used = (index for index in range(len(heads)) if more or index >= _LAST or any(row[index] for row in pairs))
            widths.update((index, size(heads[index])) for index in used)
        for index in widths:
            widths[index] = max(widths[index], *(taken[index] for taken in sizes))
        if not begun:
            yield from self._draw_cut_line([("", heads[index]) for index in widths])
        *before, last = widths
        room = self._width - sum(widths[index] + len(_GAP) for index in before)
        for row, texts, safe, taken in zip(rows, pairs, drawn, sizes, strict=True):
            if self._width and (taken[last] or 1) > room:
                yield from self._draw_cut_line([(_tone_at(row, index), texts[index] or "-") for index in widths])
            else:
                yield self._render_whole_row(row, safe, taken)

    def _render_whole_row(self, row: Row, texts: Sequence[str], sizes: Sequence[int]) -> str:
        """Return a row that nothing is cut from. ``texts``: as they are drawn, with the cells that they take."""
        parts: list[str] = []
        for index, column in self._widths.items():
            text = texts[index] or "-"
            tone = _tone_at(row, index) if self._color else ""
            parts.append(draw([(tone, text)], color=True) if tone else text)
            parts.append(" " * (column + len(_GAP) - (sizes[index] if texts[index] else 1)))
        return "".join(parts).rstrip()

    def _draw_cut_line(self, line: Line) -> Iterator[str]:
        return _draw_line(line, self._widths.values(), self._width, color=self._color)


def _tone_at(row: Row, index: int) -> Tone:
    return row.tone if index == _OUTCOME else row.state_tone if index == _STATE else ""


def _cells(row: Row, name: Callable[[ObjectRef], str], *, wide: bool) -> tuple[str, ...]:
    texts = (row.ref.namespace, name(row.ref), row.ready, row.state, row.quality, row.outcome, row.reason)
    return (*texts, row.remedy) if wide else texts


def _draw_line(line: Line, widths: Iterable[int], width: int, *, color: bool) -> Iterator[str]:
    """Yield one line; what stands beyond the width goes."""
    parts: list[tuple[Tone, str]] = []
    left = width or 1 << 20
    pairs = list(zip(line, widths, strict=True))
    for index, ((tone, text), column) in enumerate(pairs):
        last = index == len(pairs) - 1
        kept = clip_text(text, max(1, left)) if last or size(text) > left else text
        parts.append((tone, kept))
        room = max(0, left - size(kept))
        gap = "" if last else " " * min(room, max(0, column - size(kept)) + len(_GAP))
        parts.append(("", gap))
        left -= max(column, size(kept)) + len(_GAP)
        if left <= 0:
            break
    yield draw(parts, color=color)
