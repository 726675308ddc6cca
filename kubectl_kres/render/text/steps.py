"""The entries of a journal as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from kubectl_kres.provenance.journal import Assume, Check, Derive, Entry, Set, Source, is_own_rule
from kubectl_kres.render.text.line import Line, toned, wrapped

_INDENT = " " * 8
#: A default and the field of the LimitRange that it was taken from, to the rule that says how it came there.
_TAKEN_FROM = {
    ("limitrange/default", "max"): "limitrange/default-from-max",
    ("limitrange/default-request", "max"): "limitrange/default-from-max",
    ("limitrange/default-request", "default"): "limitrange/default-request-from-default",
    ("limitrange/default-request", "min"): "limitrange/default-request-from-min",
}


def shown_source(source: Source | None) -> str:
    """``LimitRange/limits spec.limits[0].max[cpu]``; empty for none."""
    return "" if source is None else str(source)


def step_lines(entries: Sequence[Entry], width: int) -> Iterator[Line]:
    """One entry after the other: what changed by which rule, then the source, then what the rule says."""
    shown = [entry for entry, then in zip_longest(entries, entries[1:]) if not _told_by(then, entry)]
    for number, entry in enumerate(shown, 1):
        head, *more = _texts(entry)
        yield from toned("", wrapped(head, width, first=f"    {number}. ", rest=_INDENT))
        for text in more:
            yield from toned("quiet", wrapped(text, width, first=_INDENT, rest=_INDENT))


def _told_by(then: Entry | None, entry: Entry) -> bool:
    """Whether the next entry says the same, and how the value came about."""
    return isinstance(entry, Set) and isinstance(then, Derive) and (entry.rule, entry.after) == (then.rule, then.value)


def _texts(entry: Entry) -> Iterator[str]:
    yield text(entry)
    if isinstance(entry, Assume):
        return
    if entry.source is not None:
        yield entry.source.field if is_own_rule(entry.rule) and entry.source.field else shown_source(entry.source)
    from kubectl_kres.provenance.rules import RULES

    field = entry.source.field.rpartition("[")[0].rpartition(".")[2] if entry.source is not None else ""
    for code in (entry.rule, _TAKEN_FROM.get((entry.rule, field))):
        rule = RULES.get(code or "")
        if rule is not None:
            yield rule.title


def text(entry: Entry) -> str:
    """One entry in words, without its source."""
    match entry:
        case Assume():
            return f"assumed: {entry.text}"
        case Set(after=None):
            return f"{entry.before} is dropped by {entry.rule}"
        case Set():
            return f"{f'{entry.before} -> ' if entry.before is not None else ''}{entry.after} by {entry.rule}"
        case Derive():
            return f"{entry.value} by {entry.rule}{_division(entry)}"
        case Check():
            text = f"{entry.observed} against {entry.bound}" if entry.observed and entry.bound else entry.bound
            return f"{entry.rule} {'passes' if entry.passed else 'refuses'}{f': {text}' if text else ''}"


def _division(entry: Derive) -> str:
    """How Tekton came to a share; other derived values have a place where their terms are shown."""
    if not entry.rule.startswith("tekton/"):
        return ""
    terms = [f"{term.path} = {term.value}" for term in entry.terms if term.kept or term.value != "0"]
    return f": {'; '.join(terms)}" if terms else ""
