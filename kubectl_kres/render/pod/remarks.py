"""What stands below an answer about a pod: other answers, warnings, assumptions, failed reads, and the last editors."""

# ruff: noqa: PLC0415 - most answers have read all
from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.render.text.line import Line, Tone, ago_or_at, labelled_lines
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import Explanation

#: Possible answers of the server that are written out.
_MOST_ANSWERS = 8


def remark_lines(explanation: Explanation, *, steps: bool, width: int, now: str = "") -> Iterator[Line]:
    """Yield other possible answers, warnings, assumptions, failed reads, and the last editors."""
    groups = remark_groups(explanation, steps=steps, now=now)
    if any(texts for _, _, texts in groups):
        yield [("", "")]
    for tone, label, texts in groups:
        for remark in texts:
            yield from labelled_lines(label, remark, width, tone=tone)


def remark_groups(
    explanation: Explanation, *, steps: bool = False, now: str = ""
) -> tuple[tuple[Tone, str, tuple[str, ...]], ...]:
    """Return the remarks with tone and label. ``now`` (RFC 3339): times are ages then."""
    return (
        ("warn", "or", _some_answers(explanation.verdict.others)),
        ("warn", "warning", explanation.warnings),
        ("bad", "unread", tuple(_not_seen(explanation))),
        ("quiet", "assumed", tuple(sentence_text(assumption.text) for assumption in explanation.assumptions)),
        ("quiet", "changed", tuple(_edits(explanation, steps=steps, now=now))),
    )


def _some_answers(answers: tuple[str, ...]) -> tuple[str, ...]:
    """Return the first of what the server may answer in another order of LimitRanges or quotas, and how many more."""
    left = len(answers) - _MOST_ANSWERS
    return (*answers[:_MOST_ANSWERS], f"one of {left} more answers: -o json has all") if left > 1 else answers


def _not_seen(explanation: Explanation) -> Iterator[str]:
    if explanation.unread:
        from kubectl_kres.render.text.remarks import unseen_text

        yield from map(unseen_text, explanation.unread)


def _edits(explanation: Explanation, *, steps: bool, now: str) -> Iterator[str]:
    """Return who last changed what refuses; with ``steps`` also what set a value."""
    sources = (finding.source for finding in explanation.verdict.findings)
    refusing = {str(source.ref) for source in sources if source is not None}
    for field, edit in explanation.edits.items():
        if steps or field.partition(" ")[0] in refusing:
            how = f" ({edit.operation})" if edit.operation else ""
            yield f"{field} by {edit.manager}{how}{ago_or_at(edit.time, now)}"
