"""The short page of a pod's QoS class; ``qos.quality_lines`` is the whole answer, which ``--all`` shows."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.render.pod.qos import class_lines, culprit_text, edit_text, refused_lines, score_lines, tree
from kubectl_kres.render.text.line import Line, Tone, draw, labelled_lines, more_line, tone_lines, wrap_text
from kubectl_kres.render.text.remarks import unseen_text
from kubectl_kres.reports.qos.qos_reach import CLASSES, ClassChange
from kubectl_kres.reports.qos.qos_report import PodQos

#: Reasons, edits that lead to a class, and containers that are shown; the rest is counted.
_REASONS, _EDITS, _SCORES = 2, 2, 2
#: Cells of the server's sentence.
_SENTENCE = 150


def lines(quality: PodQos, *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield the short page; of cgroups, which were asked for, the whole tree."""
    for line in page_lines(quality, width):
        yield draw(line, color=color)


def page_lines(quality: PodQos, width: int) -> Iterator[Line]:
    """Yield the same, not drawn yet."""
    yield from class_lines(quality, width)
    yield from refused_lines(quality, width, _SENTENCE)
    if quality.cgroups is not None:
        yield from tree(quality.cgroups, width, notes=False)
    else:
        yield from _reasons(quality, width)
        for reach in _select_better_classes(quality):
            yield from _reach_lines(reach, width, live=quality.live)
        yield from score_lines(quality, width, _SCORES)
    yield [("", "")]
    for failed_read in quality.unseen:
        yield from labelled_lines("unread", unseen_text(failed_read), width, tone="bad")
    yield from more_line(_hidden_parts(quality), width)


def _reasons(quality: PodQos, width: int) -> Iterator[Line]:
    """Yield what else keeps it from being Guaranteed; the first line has the first reason."""
    others = [culprit_text(culprit, quality) for culprit in quality.culprits]
    others = [text for text in others if text != quality.qos.because]
    if not others:
        return
    yield [("", "")]
    yield [
        ("strong", "not Guaranteed, also because" if len(others) < len(quality.culprits) else "not Guaranteed, because")
    ]
    for text in others[:_REASONS]:
        yield from tone_lines("", wrap_text(text, width, first="  ", rest="    "))
    if len(others) > _REASONS:
        yield [("quiet", f"  and {len(others) - _REASONS} more")]


def _select_better_classes(quality: PodQos) -> list[ClassChange]:
    """Return the ways to better classes, the best class first; of a Guaranteed pod that to the next one."""
    better = CLASSES[: CLASSES.index(quality.qos.name)]
    return [reach for reach in quality.reach if reach.name in better] or list(quality.reach[:1])


def _reach_lines(reach: ClassChange, width: int, *, live: bool) -> Iterator[Line]:
    yield [("", "")]
    if not reach.edits:
        yield [("", f"to be {reach.name}: no edit of the manifest leads there")]
        return
    remarks = ["the next pod; a live one keeps its class"] * live + ["such a pod would be refused"] * bool(
        reach.refused
    )
    tone: Tone = "warn" if reach.refused else "quiet"
    yield [("strong", f"to be {reach.name}"), (tone, f" ({'; '.join(remarks)})" * bool(remarks))]
    for edit in reach.edits[:_EDITS]:
        yield from tone_lines("", wrap_text(edit_text(edit), width, first="  ", rest="    "))
    if (count := len(reach.edits) - _EDITS) > 0:
        yield [("quiet", f"  and {count} more edit{'s' * (count != 1)}")]


def _hidden_parts(quality: PodQos) -> list[str]:
    """Return what only the whole answer shows."""
    if quality.cgroups is not None:
        notes = len(quality.cgroups.notes)
        parts = ["what leads to other classes, oom_score_adj", f"{notes} note{'s' * (notes != 1)} about the cgroups"]
    else:
        parts = ["every reason, every edit and class"]
    count = len(quality.assumptions)
    return [*parts, *([f"{count} assumption{'s' * (count != 1)}"] if count else [])]
