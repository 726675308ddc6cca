"""Requests and limits as tables, what they cost, and the answer to a question about one of them with the entries of its
journal.
"""

# ruff: noqa: PLC0415 - the catalogue of rules is for --steps alone
from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from kubectl_kres.provenance.journal import Assumption, Check, Derive, Entry, Set, Source, is_own_rule
from kubectl_kres.render.text.line import (
    Line,
    Tone,
    ago_or_at,
    aligned_lines,
    clip_text,
    row,
    size,
    tone_lines,
    with_ages,
    wrap_text,
)
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import Alternative, ContainerValues, QuotaCost, ResourceValue

_INDENT = " " * 8
#: A default and the field of the LimitRange that it was taken from, to the rule that says how it came there.
_TAKEN_FROM = {
    ("limitrange/default", "max"): "limitrange/default-from-max",
    ("limitrange/default-request", "max"): "limitrange/default-from-max",
    ("limitrange/default-request", "default"): "limitrange/default-request-from-default",
    ("limitrange/default-request", "min"): "limitrange/default-request-from-min",
}


def format_source(source: Source | None) -> str:
    """``LimitRange/limits spec.limits[0].max[cpu]``; empty for none."""
    return "" if source is None else str(source)


def step_lines(entries: Sequence[Entry], width: int) -> Iterator[Line]:
    """Yield one entry after the other: what changed by which rule, then the source, then what the rule says."""
    shown = [entry for entry, then in zip_longest(entries, entries[1:]) if not _is_repeated_by(then, entry)]
    for number, entry in enumerate(shown, 1):
        head, *more = _texts(entry)
        yield from tone_lines("", wrap_text(head, width, first=f"    {number}. ", rest=_INDENT))
        for text in more:
            yield from tone_lines("quiet", wrap_text(text, width, first=_INDENT, rest=_INDENT))


def _is_repeated_by(then: Entry | None, entry: Entry) -> bool:
    """Return whether the next entry says the same, and how the value came about."""
    return isinstance(entry, Set) and isinstance(then, Derive) and (entry.rule, entry.after) == (then.rule, then.value)


def _texts(entry: Entry) -> Iterator[str]:
    yield text(entry)
    if isinstance(entry, Assumption):
        return
    if entry.source is not None:
        yield entry.source.field if is_own_rule(entry.rule) and entry.source.field else format_source(entry.source)
    from kubectl_kres.provenance.rules import RULES

    field = entry.source.field.rpartition("[")[0].rpartition(".")[2] if entry.source is not None else ""
    for code in (entry.rule, _TAKEN_FROM.get((entry.rule, field))):
        rule = RULES.get(code or "")
        if rule is not None:
            yield rule.title


def text(entry: Entry) -> str:
    """Return one entry in words, without its source."""
    match entry:
        case Assumption():
            return f"assumed: {sentence_text(entry.text)}"
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
    """Return how Tekton came to a share; other derived values have a place where their terms are shown."""
    if not entry.rule.startswith("tekton/"):
        return ""
    terms = [f"{term.path} = {term.value}" for term in entry.terms if term.kept or term.value != "0"]
    return f": {'; '.join(terms)}" if terms else ""


_ROLE = {"container": "container", "init": "init container", "sidecar": "sidecar", "pod": "pod level"}

#: Widest column of labels and of values; what is wider gets a line of its own or is clipped.
_LABEL, CELL = 26, 20


#: What a noun begins with that takes "an".
_VOWELS = ("a", "e", "i", "o", "u")


def tables(
    containers: Sequence[ContainerValues], *, live: bool, steps: bool, width: int, now: str = ""
) -> Iterator[Line]:
    """Yield a table for each container, with the same columns throughout; ``live``: with what the live pod has."""
    heads = ("SPEC", "TODAY", "LIVE") if live else ("SPEC", "EFFECTIVE")
    rows = [value for container in containers for value in container.values]
    texts = [_cells(value, live=live) for value in rows]
    widths = [max([len(head), *(size(text[index]) for text in texts)]) for index, head in enumerate(heads)]
    label = max(
        [16, *(size(title(container)) - 2 for container in containers), *(size(_label(value)) for value in rows)]
    )
    table = _Table(min(label, _LABEL), widths, live=live, steps=steps, width=width, now=now)
    for container in containers:
        yield [("", "")]
        yield from aligned_lines("strong", title(container), table.label + 2, table.heads(heads), width)
        if container.note:
            yield from tone_lines("warn", wrap_text(sentence_text(container.note), width, first="  ", rest="  "))
        if not container.values:
            yield [("quiet", "  no requests, no limits")]
        for value in container.values:
            yield from table.lines(value)


def title(container: ContainerValues) -> str:
    """``sidecar proxy``; ``pod level``."""
    return f"{_ROLE.get(container.role, container.role)} {container.name}".rstrip()


class _Table:
    """The columns that the tables of all containers share."""

    def __init__(self, label: int, widths: Sequence[int], *, live: bool, steps: bool, width: int, now: str) -> None:
        self.label, self.widths, self.width = label, widths, width
        self.live, self.steps, self.now = live, steps, now

    def heads(self, heads: Sequence[str]) -> Line:
        return [("quiet", f"  {row(heads, self.widths)}  SET BY")]

    def lines(self, value: ResourceValue) -> Iterator[Line]:
        tone: Tone = "warn" if value.note or value.alternatives else "" if value.written != value.value else "quiet"
        shown = f"  {row(_cells(value, live=self.live), self.widths)}  "
        source = "" if is_own_rule(value.rule) or (self.steps and value.steps) else format_source(value.source)
        # Rule and source stand behind the values as far as there is room, else below.
        room = self.width - self.label - 2 - size(shown)
        beside = size(f"{value.rule}  {source}".rstrip()) <= room, len(value.rule) <= room
        tail: Line = [(tone, shown)]
        if beside[1]:
            tail = [*tail, ("", value.rule), ("quiet", f"  {source}" if beside[0] else "")]
        yield from aligned_lines(tone, f"  {_label(value)}", self.label + 2, tail, self.width)
        for below in (*(() if beside[1] else (value.rule,)), *(() if beside[0] or not source else (source,))):
            yield from tone_lines("quiet", wrap_text(below, self.width, first="      ", rest="        "))
        for other in value.alternatives:
            yield from tone_lines(
                "warn", wrap_text(_format_alternative(other), self.width, first="      or ", rest="        ")
            )
        if value.note:
            text = f"live differs: {with_ages(sentence_text(value.note), self.now)}"
            yield from tone_lines("warn", wrap_text(text, self.width, first="      ", rest="        "))
        if self.steps:
            yield from step_lines(value.steps, self.width)


def _label(value: ResourceValue) -> str:
    return f"{value.resource} {value.side[:-1]}"


def _cells(value: ResourceValue, *, live: bool) -> tuple[str, ...]:
    computed = " or ".join([value.value or "-", *(other.value for other in value.alternatives)])
    shown = (value.written or "-", computed, value.live or "-")
    return tuple(clip_text(text, CELL) for text in (shown if live else shown[:2]))


def _format_alternative(other: Alternative) -> str:
    return f"{other.value} by {other.rule} {format_source(other.source)}{orders(other.order, other.listed)}"


def orders(order: Sequence[str], listed: Sequence[str]) -> str:
    """Return which order of LimitRanges leads there: of the API server, and of Tekton; empty where none matters."""
    parts = [
        f"{' comes before '.join(names)}{list_text}"
        for names, list_text in ((order, ""), (listed, " in Tekton's list"))
        if names
    ]
    return f", if {' and '.join(parts)}" if parts else ""


def answer(container_values: ContainerValues, value: ResourceValue, width: int, now: str = "") -> Iterator[Line]:
    """Yield one value, then everything that happened to it."""
    stored = " or ".join([value.value or "nothing", *(other.value for other in value.alternatives)])
    yield [("strong", f"{container_values.name or 'pod'}.{value.side}.{value.resource}"), ("", f" = {stored}")]
    set_by = f"{value.rule}  {format_source(value.source)}".strip()
    if set_by:
        yield from tone_lines("", wrap_text(set_by, width, first="set by   ", rest=" " * 9))
    if value.edited is not None:
        edited_text = ago_or_at(value.edited.time, now)
        yield from tone_lines(
            "", wrap_text(f"by {value.edited.manager}{edited_text}", width, first="changed  ", rest=" " * 9)
        )
    if value.written is not None and value.written != value.value:
        yield [("", f"written  {value.written}")]
    if value.live is not None:
        yield [("", f"live     {value.live}")]
    if value.note:
        yield from tone_lines(
            "warn", wrap_text(with_ages(sentence_text(value.note), now), width, first="because  ", rest=" " * 9)
        )
    for other in value.alternatives:
        yield from tone_lines("warn", wrap_text(_format_alternative(other), width, first="or       ", rest=" " * 9))
    yield from step_lines(value.steps, width)


#: Widest column of names; a longer one gets a line of its own.
_NAME = 36


def cost_lines(cost: QuotaCost, noun: str = "pod", *, width: int = 80) -> Iterator[Line]:
    """Yield an empty line, heads, a row for each name; what is too much is marked. ``noun`` is what it is that
    costs.
    """
    charge = cost.charge
    heads = ("COUNTED", "USED", "HARD", "") if cost.counted else ("COSTS", "USED", "HARD", "AFTER")
    names = sorted(charge.requested)
    figures = (charge.requested, charge.used, charge.hard, charge.after)
    rows = [[clip_text(figure[name], CELL) for figure in figures] for name in names]
    widths = [max(size(head), *(size(row[index]) for row in rows)) for index, head in enumerate(heads[:3])]
    title = f"quota {cost.quota}"
    column = 2 + min(_NAME, max([14, size(title) - 2, *(size(name) for name in names)]))
    yield [("", "")]
    shown = row(heads[:3], widths)
    yield from aligned_lines("strong", title, column, [("quiet", f"  {shown}  {heads[3]}")], width)
    for name, texts in zip(names, rows, strict=True):
        numbers = row(texts[:3], widths)
        too_much = name in cost.exceeded and not cost.counted
        after = "" if cost.counted else f"  {texts[3]}{'  too much' if too_much else ''}"
        tone: Tone = "bad" if too_much else ""
        yield from aligned_lines(tone, f"  {name}", column, [(tone, f"  {numbers}{after}")], width)
    if cost.fits is not None:
        yield [("", f"  {room_text(cost.fits, noun, counted=cost.counted)}")]


def room_text(fits: int, noun: str = "pod", *, counted: bool) -> str:
    """Return for how many more such pods there is room."""
    if counted:
        return f"this {noun} is already counted; {f'room for {fits} more' if fits else 'no room for another one'}"
    return (
        f"room for {fits} such {noun}{'s' if fits != 1 else ''}"
        if fits
        else f"no room for such a{'n' * noun.startswith(_VOWELS)} {noun}"
    )
