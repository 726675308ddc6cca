"""Differences as a unified diff of YAML; each changed line gives its reason as a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

from msgspec import structs

from kubectl_kres.provenance.journal import is_own_rule
from kubectl_kres.render.text.data import yaml_lines
from kubectl_kres.render.text.line import Line, draw, size, wrap_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.text.values import format_source
from kubectl_kres.render.verdict.brief import Brief, with_remedies
from kubectl_kres.render.verdict.headline import PARTLY, cause, one_line_message, unread_caveat, verdict_reason
from kubectl_kres.reports.common.explanation import Verdict
from kubectl_kres.reports.explain.difference import Difference, Reason
from kubectl_kres.reports.pod.verdict import is_negative, outcome_word

_CONTEXT = 3
#: Values that are reported in few words.
_BRIEFLY = 3
#: What the columns of other answers are called.
_HEADS = {"WRITTEN": "SPEC", "STORED": "EFFECTIVE"}
#: What to say where nothing differs, by what would be beside it.
_SAME = {"STORED": "it is stored as it is written", "TODAY": "it would get the same values today"}
#: Patterns that are kept.
_KEPT = 1000
#: Names as controllers make them. They are written as they stand, and no word of ours is like them.
_MADE = re.compile(r"[a-z](?=[a-z0-9-]*-)(?=[a-z-]*[0-9])[a-z0-9-]{7,}")
_Yaml = list[tuple[str, str]]


def lines(difference: Difference, *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Nothing where nothing changed. A refusal is reported first, in comment lines."""
    if not difference.changed:
        return
    for line in difference_lines(difference, width):
        yield draw(line, color=color)


def brief(difference: Difference, more: str) -> Brief:
    """In few words. ``more``: the command that shows the whole difference."""
    verdict, full = difference.verdict, difference.subject.full_name
    if verdict.allowed is not True:
        reason = cause(verdict.findings) or one_line_message(verdict)
        refused = Brief(
            "bad" if verdict.allowed is False else "warn", _format_refusal(difference), f": {full}: {reason}"
        )
        return with_remedies(structs.replace(refused, next=more), difference.fixes)
    if not difference.changed:
        word = "the same" if difference.complete else f"the same{PARTLY}"
        return Brief(
            "good" if difference.complete else "warn", word, f": {full}: {_SAME[difference.after_label]}", next=more
        )
    changes = list(_changes(difference)) or ["annotations alone"]
    texts = [*changes[:_BRIEFLY], *[f"and {len(changes) - _BRIEFLY} more"] * (len(changes) > _BRIEFLY)]
    return Brief("warn", "differs", f": {full}: {'; '.join(texts)}", next=more)


def _changes(difference: Difference) -> Iterator[str]:
    """Yield each value that differs, with its reason; annotations, and the class of what was no pod yet, follow from
    it.
    """
    before, after = (_values(document) for document in (difference.before, difference.after))
    for path in {**before, **after}:
        old, new = before.get(path, "none"), after.get(path, "none")
        follows = path.startswith("metadata.") or (path.startswith("status.") and path not in before)
        if old != new and not follows:
            reason = difference.reasons.get(path)
            reason_text = (sentence_text(reason.note) or _rule(reason)) if reason is not None else ""
            yield f"{path} {old}, {difference.after_label.lower()} {new}{f' ({reason_text})' if reason_text else ''}"


def _values(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the leaves of a document by path."""
    return {path: value for text, path in yaml_lines(document) if (value := text.partition(": ")[2])}


class Patterns:
    """Draws differences; those that are equal but for their pod's name are drawn once."""

    def __init__(self, *, color: bool, width: int) -> None:
        self._color, self._width = color, width
        self._cached_texts: dict[int, tuple[Difference, str]] = {}

    def lines(self, difference: Difference, pattern: Difference | None) -> list[str]:
        """Return the lines of a difference that is equal to ``pattern`` but for the name; None: it has no equal.

        The name stands nowhere in ``pattern`` but as the pod's. One as long as it breaks lines at the same words.
        """
        name = difference.subject.name
        other = pattern.subject.name if pattern is not None else ""
        if pattern is None or len(other) != len(name) or not (_MADE.fullmatch(name) and _MADE.fullmatch(other)):
            return self._lines(difference)
        drawn = self._cached_texts.get(id(pattern))
        if drawn is None or drawn[0] is not pattern:
            if len(self._cached_texts) >= _KEPT:
                self._cached_texts.clear()
            drawn = self._cached_texts[id(pattern)] = pattern, "\n".join(self._lines(pattern))
        return drawn[1].replace(other, name).split("\n")

    def _lines(self, difference: Difference) -> list[str]:
        return list(lines(difference, color=self._color, width=self._width))


def difference_lines(difference: Difference, width: int) -> Iterator[Line]:
    """Yield the same, not drawn yet."""
    ref = difference.subject
    name = f"v1.Pod.{ref.namespace}.{ref.name}" if ref.kind == "Pod" else f"{ref.kind}.{ref.namespace}.{ref.name}"
    verdict = difference.verdict
    if verdict.allowed is not True or is_negative(verdict):
        head = f"{_format_refusal(difference)}: {ref.full_name}: {_format_cause(verdict)}"
        # The server's own words stay on one line.
        shown = wrap_text(head, width, first="# ", rest="#   ") if verdict.allowed is True else [f"# {head}"]
        for line in shown:
            yield [("bad", line)]
        for index, remedy in enumerate(difference.fixes):
            for line in wrap_text(
                sentence_text(remedy.text), width, first="# or: " if index else "# fix: ", rest="#   "
            ):
                yield [("bad", line)]
    before, after = yaml_lines(difference.before), yaml_lines(difference.after)
    groups = list(_groups(before, after))
    if not groups:
        return
    if verdict.allowed is True and not difference.certain:
        yield [("warn", "# the order of LimitRanges, which nobody chooses, decides between values")]
    for mark, label in (("---", difference.before_label), ("+++", difference.after_label)):
        yield [("strong", f"{mark} {_HEADS.get(label, label)}/{name}")]
    for group in groups:
        yield from _hunk(group, before, after, difference.reasons, width)


def _format_cause(verdict: Verdict) -> str:
    """Return the server's words, or why not all pods come although the next one is admitted."""
    return one_line_message(verdict) if verdict.allowed is not True else verdict_reason(verdict)


def _format_refusal(difference: Difference) -> str:
    if difference.verdict.allowed is True:
        return outcome_word(difference.verdict)
    if difference.verdict.allowed is None:
        return "refused under some orders"
    full = difference.before_label == "WRITTEN" and outcome_word(difference.verdict) == "full"
    word = "a further pod would be refused" if full else "refused"
    return f"{word}{unread_caveat(difference.verdict.message, difference.unread)}"


_Step = tuple[str, int, int, int, int]


def _groups(before: _Yaml, after: _Yaml) -> Iterator[list[_Step]]:
    # With the paths: equal texts at different places, a request and a limit, are not the same line.
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        yield list(group)


def _hunk(group: list[_Step], before: _Yaml, after: _Yaml, reasons: Mapping[str, Reason], width: int) -> Iterator[Line]:
    body: list[tuple[str, str]] = []
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            body += [(" ", text) for text, _ in before[i1:i2]]
            continue
        additions = {path for _, path in after[j1:j2]}
        for text, path in before[i1:i2]:
            reason = reasons.get(path)
            replaced = reason is not None and path in additions and not reason.note
            said = "" if reason is None or replaced else sentence_text(reason.note) or _rule(reason)
            body += _add_reason("-", text, said, width)
        for text, path in after[j1:j2]:
            reason = reasons.get(path)
            said = "" if reason is None else _rule(reason) or sentence_text(reason.note)
            body += _add_reason("+", text, said, width)
    start, end = group[0], group[-1]
    # Comment lines belong to the side whose sign they carry, so the counts come from the lines themselves.
    removed = sum(1 for mark, _ in body if mark != "+")
    gained = sum(1 for mark, _ in body if mark != "-")
    first, second = _range(start[1], removed, end[2]), _range(start[3], gained, end[4])
    yield [("quiet", f"@@ -{first} +{second} @@")]
    for mark, text in body:
        yield [("bad" if mark == "-" else "good" if mark == "+" else "", f"{mark}{text}")]


def _range(start: int, count: int, _end: int) -> str:
    return f"{start + 1 if count else start},{count}"


def _add_reason(mark: str, text: str, reason: str, width: int) -> list[tuple[str, str]]:
    """Return the line with its reason behind it where there is room, else in comment lines above it."""
    if not reason:
        return [(mark, text)]
    inline = f"{text}  # {reason}"
    if size(inline) + 1 <= width:
        return [(mark, inline)]
    indent = " " * (len(text) - len(text.lstrip(" -")))
    comments = wrap_text(reason, width - 1, first=f"{indent}# ", rest=f"{indent}#   ")
    return [*((mark, line) for line in comments), (mark, text)]


def _rule(reason: Reason) -> str:
    """Return what sets the value, and what else may be set; a live one that differs has a note on why it does."""
    rule = reason.rule if is_own_rule(reason.rule) else f"{reason.rule} {format_source(reason.source)}".strip()
    return f"{rule}; or {' or '.join(reason.others)} in another order" if reason.others else rule
