"""The entries of a journal as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.provenance.journal import Assume, Derive, Entry, Set
from kubectl_kres.provenance.rules import RULES
from kubectl_kres.render.line import Line, wrapped

_INDENT = "        "


def step_lines(entries: Sequence[Entry], width: int) -> Iterator[Line]:
    """One entry after the other: what changed, by which rule, and what the rule says."""
    for number, entry in enumerate(entries, 1):
        head = f"    {number}. "
        for index, line in enumerate(wrapped(text(entry), width, first=head, rest=_INDENT)):
            yield [("" if index == 0 else "quiet", line)]


def text(entry: Entry) -> str:
    """One entry in words."""
    if isinstance(entry, Assume):
        return f"assumed: {entry.text}"
    rule = RULES.get(entry.rule)
    title = f": {rule.title}" if rule is not None else ""
    at = f" {entry.source.kind}/{entry.source.name} {entry.source.field}".rstrip() if entry.source else ""
    if isinstance(entry, Set):
        return f"{entry.before or '-'} -> {entry.after or '-'} by {entry.rule}{at}{title}"
    if isinstance(entry, Derive):
        return f"= {entry.value} by {entry.rule}{at}{title}"
    outcome = "passes" if entry.passed else "refuses"
    return f"{entry.rule} {outcome}: {entry.observed} against {entry.bound}{at}"
