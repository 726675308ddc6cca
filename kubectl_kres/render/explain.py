"""An explanation as text: the verdict, the smallest remedy, then values, totals, QoS, quotas and what was seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.provenance.journal import Derive, Source
from kubectl_kres.render.escape import cells
from kubectl_kres.render.line import Line, Tone, draw, padded, toned, wrapped
from kubectl_kres.render.steps import step_lines
from kubectl_kres.reports import question as asked
from kubectl_kres.reports.explanation import Container, Explanation, QuotaCost, Total, Value, Verdict

_ROLE = {"container": "container", "init": "init container", "sidecar": "sidecar", "pod": "pod level"}


def lines(
    explanation: Explanation,
    *,
    steps: bool = False,
    container: str = "",
    question: str = "",
    color: bool = False,
    width: int = 80,
) -> Iterator[str]:
    """Every line of the answer. ``container`` and ``question`` (``app.limits.memory``) narrow it.

    Raises UsageError where they name nothing. Lines of ours keep to ``width``; the server's own sentences are not cut.
    """
    if question:
        one, value = asked.value(explanation, question)
        found: Iterator[Line] = _answer(one, value, width)
    elif container:
        found = _tables(asked.containers(explanation, container), explanation, steps=steps, width=width)
    else:
        found = _all(explanation, steps=steps, width=width)
    for line in found:
        yield draw(line, color=color)


def summary(explanation: Explanation, *, color: bool = False) -> str:
    """One line for one of many objects: verdict, name, QoS class, and the remedy if it is refused."""
    verdict = explanation.verdict
    word, tone = _word(verdict)
    quality = explanation.qos.name if explanation.qos is not None else "-"
    rest = f"  {explanation.remedies[0]}" if verdict.allowed is not True else ""
    line: Line = [
        (tone, padded(word, 9)),
        ("", f"{padded(_name(explanation.subject), 40)} {padded(quality, 10)}{rest}"),
    ]
    return draw(line, color=color)


def counts(explanations: Sequence[Verdict]) -> str:
    """The last line over many objects."""
    words = [_word(verdict)[0] for verdict in explanations]
    shown = [f"{words.count(word)} {word}" for word in ("admitted", "refused", "depends") if word in words]
    return f"{len(words)} objects: {', '.join(shown)}" if words else "no objects"


def _word(verdict: Verdict) -> tuple[str, Tone]:
    if verdict.allowed is None:
        return "depends", "warn"
    return ("admitted", "good") if verdict.allowed else ("refused", "bad")


def _name(ref: ObjectRef) -> str:
    return f"{ref.namespace}/{ref}" if ref.namespace else str(ref)


def _all(explanation: Explanation, *, steps: bool, width: int) -> Iterator[Line]:
    yield from _verdict(explanation)
    yield from _remedies(explanation.remedies, width)
    yield [("", "")]
    where = f" in {explanation.subject.namespace}" if explanation.subject.namespace else ""
    head = f"{explanation.subject}{where}, from {explanation.start}"
    yield from toned("quiet", wrapped(head, width, rest="  "))
    yield from _tables(explanation.containers, explanation, steps=steps, width=width)
    yield from _pod(explanation, width)
    for cost in explanation.quotas:
        yield from _quota(cost)
    yield from _facts(explanation, width)
    yield from _remarks(explanation, steps=steps, width=width)


def _verdict(explanation: Explanation) -> Iterator[Line]:
    verdict = explanation.verdict
    if verdict.allowed is True:
        order = "" if explanation.certain else ", with values that depend on the order of LimitRanges"
        yield [("good", "admitted"), ("", f": {_name(explanation.subject)}{order}")]
        return
    sources = dict.fromkeys(shown_source(one.source) for one in verdict.findings if one.source is not None)
    by = f" by {' and '.join(sources)}" if sources else ""
    if verdict.allowed is None:
        yield [("warn", "depends"), ("", f" on the server's order: admitted, or refused{by}: {verdict.message}")]
    else:
        yield [("bad", "refused"), ("", f"{by}: {verdict.message}")]


def _remedies(remedies: Sequence[str], width: int) -> Iterator[Line]:
    for index, remedy in enumerate(remedies):
        label = "remedy: " if index == 0 else "   and: "
        first, *rest = wrapped(remedy, width, first=label, rest="        ")
        yield [("strong", label), ("", first[len(label) :])]
        yield from toned("", rest)


def shown_source(source: Source | None) -> str:
    """``LimitRange/limits spec.limits[0].max[cpu]``."""
    if source is None:
        return ""
    return f"{source.kind}/{source.name} {source.field}".rstrip()


def _tables(containers: Sequence[Container], explanation: Explanation, *, steps: bool, width: int) -> Iterator[Line]:
    live = explanation.live
    columns = ("WRITTEN", "TODAY", "LIVE") if live else ("WRITTEN", "STORED")
    rows = [value for one in containers for value in one.values]
    titles = {one.path: f"{_ROLE.get(one.role, one.role)} {one.name}".rstrip() for one in containers}
    label = max([16, *(len(_label(value)) for value in rows), *(cells(title) - 2 for title in titles.values())])
    texts = [_cells_of(value, live=live) for value in rows]
    widths = [max([len(head), *(len(text[index]) for text in texts)]) for index, head in enumerate(columns)]
    for one in containers:
        yield [("", "")]
        heads = "  ".join(padded(head, size) for head, size in zip(columns, widths, strict=True))
        yield [("strong", padded(titles[one.path], label + 2)), ("quiet", f"  {heads}  SET BY")]
        if one.note:
            yield from toned("warn", wrapped(one.note, width, first="  ", rest="  "))
        if not one.values:
            yield [("quiet", "  no requests, no limits")]
        for value in one.values:
            yield from _row(value, label, widths, live=live, width=width)
            if steps:
                yield from step_lines(value.steps, width)


def _label(value: Value) -> str:
    return f"{value.resource} {value.side[:-1]}"


def _cells_of(value: Value, *, live: bool) -> tuple[str, ...]:
    stored = " or ".join([value.value or "-", *(other.value for other in value.alternatives)])
    shown = (value.written or "-", stored)
    return (*shown, value.live or "-") if live else shown


def _row(value: Value, label: int, widths: Sequence[int], *, live: bool, width: int) -> Iterator[Line]:
    shown_cells = _cells_of(value, live=live)
    changed = value.written != value.value
    shown = "  ".join(padded(cell, size) for cell, size in zip(shown_cells, widths, strict=True))
    left = f"  {padded(_label(value), label)}  {shown}  "
    tone: Tone = "warn" if value.note or value.alternatives else "" if changed else "quiet"
    source = shown_source(value.source)
    one_line = f"{left}{value.rule}  {source}"
    if len(one_line) <= width:
        yield [(tone, left), ("", value.rule), ("quiet", f"  {source}")]
    else:
        yield [(tone, left), ("", value.rule)]
        if source:
            yield [("quiet", f"      {source}")]
    for other in value.alternatives:
        first = f" when {' before '.join(other.order)}" if other.order else ""
        text = f"or {other.value} by {other.rule} {shown_source(other.source)}{first}"
        yield from toned("warn", wrapped(text, width, first="      ", rest="        "))
    if value.note:
        yield from toned("warn", wrapped(f"live differs: {value.note}", width, first="      ", rest="        "))


def _answer(one: Container, value: Value, width: int) -> Iterator[Line]:
    """One value, then everything that happened to it."""
    stored = " or ".join([value.value or "nothing", *(other.value for other in value.alternatives)])
    yield [("strong", f"{one.name or 'pod'}.{value.side}.{value.resource}"), ("", f" = {stored}")]
    set_by = f"{value.rule}  {shown_source(value.source)}".strip()
    if set_by:
        yield [("", f"set by   {set_by}")]
    if value.edited is not None:
        at = f" at {value.edited.time}" if value.edited.time else ""
        yield [("", f"changed  by {value.edited.manager}{at}")]
    if value.written is not None and value.written != value.value:
        yield [("", f"written  {value.written}")]
    if value.live is not None:
        yield [("", f"live     {value.live}")]
    if value.note:
        yield from toned("warn", wrapped(value.note, width, first="because  ", rest="         "))
    for other in value.alternatives:
        order = " before ".join(other.order)
        text = f"{other.value} by {other.rule} {shown_source(other.source)} when {order}"
        yield from toned("warn", wrapped(text, width, first="or       ", rest="         "))
    yield from step_lines(value.steps, width)


def _pod(explanation: Explanation, width: int) -> Iterator[Line]:
    if explanation.totals:
        yield [("", "")]
        yield [("strong", "pod in all")]
        names = {one.path: one.name or "pod level" for one in explanation.containers}
        label = max(len(f"{total.resource} {total.side[:-1]}") for total in explanation.totals)
        size = max(len(total.value) for total in explanation.totals)
        for total in explanation.totals:
            head = f"  {padded(f'{total.resource} {total.side[:-1]}', label)}  {padded(total.value, size)}  "
            yield from toned("", wrapped(_sum(total, names), width, first=head, rest=" " * len(head)))
    if explanation.qos is not None:
        yield [("", "")]
        quality = explanation.qos
        other = f" or {', '.join(explanation.qos_alternatives)}" if explanation.qos_alternatives else ""
        head = f"QoS class {quality.name}{other}"
        yield from toned("", wrapped(f"{head}: {quality.because}", width, rest="  "))
        if explanation.live_qos and explanation.live_qos != quality.name:
            yield [("warn", f"  the live pod is {explanation.live_qos}: the class is kept from its creation")]


def _sum(total: Total, names: dict[str, str]) -> str:
    of: Derive = total.of
    kept = [f"{_term(term.path, names)} {term.value}" for term in of.terms if term.kept]
    lost = [f"{_term(term.path, names)} {term.value}" for term in of.terms if not term.kept]
    if of.rule == "pod/pod-level":
        return f"{' + '.join(kept)}" + (f", in place of {' + '.join(lost)}" if lost else "")
    if of.rule == "pod/init-peak":
        return f"{' + '.join(kept)} while it runs" + (f"; later {' + '.join(lost)}" if lost else "")
    return " + ".join(kept) + (f" (while they run: {', '.join(lost)})" if lost else "")


def _term(path: str, names: dict[str, str]) -> str:
    if path.startswith("spec.overhead"):
        return "overhead"
    return names.get(path.partition(".resources.")[0], path)


def _quota(cost: QuotaCost) -> Iterator[Line]:
    charge = cost.charge
    counted = ("ASKS", "USED", "HARD", "") if cost.counted else ("COSTS", "USED", "HARD", "AFTER")
    rows = [(name, charge.requested[name], charge.used[name], charge.hard[name]) for name in sorted(charge.requested)]
    afters = {row[0]: "" if cost.counted else charge.after[row[0]] for row in rows}
    columns = [[head, *(row[index + 1] for row in rows)] for index, head in enumerate(counted[:3])]
    widths = [max(map(len, column)) for column in columns]
    label = max([14, *(len(row[0]) for row in rows), len(f"quota {cost.quota}") - 2])
    yield [("", "")]
    heads = "  ".join(padded(head, size) for head, size in zip(counted, widths, strict=False))
    yield [("strong", padded(f"quota {cost.quota}", label + 2)), ("quiet", f"  {heads}  {counted[3]}")]
    for name, *numbers in rows:
        shown = "  ".join(padded(number, size) for number, size in zip(numbers, widths, strict=True))
        too_much = name in cost.exceeded and not cost.counted
        tail = f"  {afters[name]}{'  too much' if too_much else ''}"
        yield [("bad" if too_much else "", f"  {padded(name, label)}  {shown}{tail}")]
    if cost.fits is not None:
        already = "this pod is already counted; " if cost.counted else ""
        room = "there is no room for another one" if cost.counted else "there is no room"
        yield [("", f"  {already}{f'{cost.fits} more like it fit' if cost.fits else room}")]


def _facts(explanation: Explanation, width: int) -> Iterator[Line]:
    if not explanation.facts:
        return
    yield [("", "")]
    yield [("strong", "seen in the cluster")]
    for fact in explanation.facts:
        times = f" {fact.count}x" if fact.count > 1 else ""
        at = f", last {fact.time}" if fact.time else ""
        yield [("warn", f"  {fact.reason}{times}"), ("quiet", f"  {shown_source(fact.source)}{at}")]
        yield from toned("", wrapped(fact.text, width, first="    ", rest="    "))


def _remarks(explanation: Explanation, *, steps: bool, width: int) -> Iterator[Line]:
    """What else the answer may be, warns of, supposes, could not see; with steps, who last changed what."""
    groups: list[tuple[Tone, str, list[str]]] = [
        ("warn", "or: ", list(explanation.verdict.others)),
        ("warn", "Warning: ", list(explanation.warnings)),
        ("quiet", "assumed: ", [one.text for one in explanation.assumptions]),
        ("bad", "not seen: ", [_unseen_text(one.kind, one.namespace, one.message, one.state)
                               for one in explanation.unseen]),
    ]  # fmt: skip
    if steps:
        edits = [
            f"{field}: {edit.manager} {edit.operation} {edit.time}".rstrip()
            for field, edit in explanation.edits.items()
        ]
        groups.append(("quiet", "last changed: ", edits))
    if any(texts for _, _, texts in groups):
        yield [("", "")]
    for tone, label, texts in groups:
        for text in texts:
            yield from toned(tone, wrapped(text, width, first=label, rest="  "))


def _unseen_text(kind: str, namespace: str, message: str, state: str) -> str:
    where = f" in {namespace}" if namespace else ""
    return f"{kind}{where}: {message or state}"
