"""The values of a pod as a tree of rows, and what stands behind each: steps, checks, assumptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from kubectl_kres.provenance.journal import Check, Source, is_own_rule
from kubectl_kres.render.pictures.bounds import bounds_pairs, scale_lines
from kubectl_kres.render.pictures.cost import cost_picture
from kubectl_kres.render.pod.explain import sum_text
from kubectl_kres.render.pod.remarks import remark_lines
from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.text.values import answer, format_source, step_lines, text, title
from kubectl_kres.reports.common.explanation import ContainerValues, Explanation, QuotaCost, ResourceValue, Total
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_order import RowKey


class ValueRow(Struct, frozen=True):
    """A line of the tree. ``path``: the keys above it and its own. ``report``: what it is about.

    ``source``: the object that Enter goes to. ``question``: how ``--for`` names it.
    """

    path: RowKey
    label: str
    text: str = ""
    by: str = ""
    origin: str = ""
    tone: Tone = ""
    report: ContainerValues | ResourceValue | Total | QuotaCost | None = None
    source: Source | None = None
    question: str = ""
    branch: bool = False
    container: ContainerValues | None = None


def value_rows(explanation: Explanation) -> Iterator[ValueRow]:
    """Yield all lines from the top, the branches before what is in them."""
    refused = {entry.path for entry in explanation.journal if isinstance(entry, Check) and not entry.passed}
    for number, container in enumerate(explanation.containers):
        yield from _container(container, f"{number:03}", refused)
    if explanation.totals:
        kept = f"{explanation.qos.name}" if explanation.qos is not None else ""
        yield ValueRow(("800",), "pod total", kept, branch=True)
    for number, total in enumerate(explanation.totals):
        label = f"{total.resource} {total.side[:-1]}"
        yield ValueRow(
            ("800", f"{number:03}"), label, total.value, _format_setter(total.derivation.rule, None), report=total
        )
    for number, cost in enumerate(explanation.quotas):
        over = "no room" if cost.exceeded and not cost.counted else ""
        by = "counted" if cost.counted else over
        key = (f"9{number:02}",)
        tone: Tone = "bad" if over else ""
        source = Source("ResourceQuota", cost.quota, explanation.subject.namespace)
        yield ValueRow(key, f"quota {cost.quota}", "", by, "", tone, cost, source, branch=True)
        for name in sorted(cost.charge.requested):
            bad = name in cost.exceeded and not cost.counted
            shown = f"+{cost.charge.requested[name]}" if not cost.counted else cost.charge.requested[name]
            hard_text = f"of {cost.charge.hard.get(name, '?')}"
            yield ValueRow((*key, name), name, shown, hard_text, "", "bad" if bad else "", cost, source)


def _container(container_values: ContainerValues, number: str, refused: set[str]) -> Iterator[ValueRow]:
    # A name would be cut for the sake of a word that "init" says as well.
    label = title(container_values).replace("init container", "init", 1)
    yield ValueRow(
        (number,),
        label,
        "!" if container_values.note else "",
        "",
        "",
        "warn" if container_values.note else "",
        container_values,
        branch=True,
    )
    if not container_values.values:
        yield ValueRow((number, "0"), "no requests, no limits", tone="quiet", report=container_values)
    for index, value in enumerate(container_values.values):
        several = [value.value or "-", *(other.value for other in value.alternatives)]
        shown = value.live if value.live is not None else " or ".join(several)
        bad = bool({value.path, f"{container_values.path}.resources[{value.resource}]"} & refused)
        tone: Tone = "bad" if bad else "warn" if value.note or value.alternatives else ""
        question = f"{container_values.name}.{value.side}.{value.resource}" if container_values.name else ""
        yield ValueRow(
            (number, f"{index:03}"),
            f"{value.resource} {value.side[:-1]}",
            shown,
            _format_setter(value.rule, value.source) if not value.note else "differs",
            value.source.name if value.source is not None and not is_own_rule(value.rule) else "",
            tone,
            value,
            value.source,
            question,
            container=container_values,
        )


def _format_setter(rule: str, source: Source | None) -> str:
    """Return who set it: the kind of an object, or the rule where it looks at nothing but the manifest."""
    return rule.rpartition("/")[2] if source is None or is_own_rule(rule) else source.kind


def columns(wrapped: set[RowKey], *, ascii_only: bool) -> Sequence[Column]:
    """Return what the tree shows of a row."""
    opened, closed = ("v ", "> ") if ascii_only else ("▾ ", "▸ ")

    def label(row: ValueRow) -> str:
        if not row.branch:
            return f"  {row.label}"
        return f"{closed if row.path in wrapped else opened}{row.label}"

    return (
        Column("name", "VALUE", label, tone=lambda row: row.tone or ("strong" if row.branch else ""), most=40),
        Column("text", "", lambda row: row.text, tone=lambda row: row.tone, right=True, most=18),
        Column("by", "SET BY", lambda row: row.by, tone=lambda row: row.tone or "quiet", most=10),
        Column("from", "OBJECT", lambda row: row.origin, tone=lambda _: "quiet", most=36, wide=True, gives_way=True),
    )


def journal_lines(
    explanation: Explanation, row: ValueRow, width: int, *, steps: bool, ascii_only: bool
) -> Iterator[Line]:
    """Return why the line under the cursor says what it says."""
    match row.report:
        case ResourceValue() if row.container is not None:
            yield from _value(explanation, row.container, row.report, width, steps=steps)
        case Total():
            yield from _total(explanation, row.report, width, steps=steps)
        case QuotaCost():
            yield from cost_picture(row.report, width, ascii_only=ascii_only)
        case ContainerValues():
            yield from _journal_container(explanation, row.report, width, ascii_only=ascii_only)
        case _:
            yield from _pod(explanation, width)


def _value(
    explanation: Explanation, container_values: ContainerValues, value: ResourceValue, width: int, *, steps: bool
) -> Iterator[Line]:
    yield from answer(container_values, value, width)
    value_path = f"{container_values.path}.resources[{value.resource}]"
    checks = [
        entry for entry in explanation.journal if isinstance(entry, Check) and entry.path in {value.path, value_path}
    ]
    if checks and steps:
        yield [("", "")]
        yield [("strong", "checked")]
    for check in checks if steps else ():
        tone: Tone = "bad" if not check.passed else "good"
        mark = "x  " if not check.passed else "ok "
        first, *rest = wrap_text(text(check), width, first=mark, rest="   ")
        yield [(tone, first[:3]), ("", first[3:])]
        yield from tone_lines("", rest)
        if check.source is not None:
            yield from tone_lines("quiet", wrap_text(format_source(check.source), width, first="   ", rest="   "))


def _total(explanation: Explanation, total: Total, width: int, *, steps: bool) -> Iterator[Line]:
    yield [("strong", f"pod {total.resource} {total.side[:-1]}"), ("", f" = {total.value}")]
    yield from tone_lines("", wrap_text(sum_text(explanation, total), width, first="= ", rest="  "))
    if steps:
        yield from step_lines((total.derivation,), width)


def _journal_container(
    explanation: Explanation, container_values: ContainerValues, width: int, *, ascii_only: bool
) -> Iterator[Line]:
    """Yield requests and limits of a container on one scale, and what set each."""
    yield [("strong", f"{container_values.role} {container_values.name}".rstrip())]
    if container_values.note:
        yield from tone_lines("warn", wrap_text(sentence_text(container_values.note), width))
    yield from tone_lines("quiet", wrap_text(container_values.path, width))
    if container_values.values:
        name = container_values.name or "pod level"
        pairs = [replace(pair, container="") for pair in bounds_pairs(explanation) if pair.container == name]
        yield from scale_lines(pairs, width, ascii_only=ascii_only)
    for value in container_values.values:
        yield []
        yield from answer(container_values, value, width)


def _pod(explanation: Explanation, width: int) -> Iterator[Line]:
    if explanation.qos is not None:
        yield from tone_lines(
            "", wrap_text(f"QoS class {explanation.qos.name}: {explanation.qos.reason}", width, rest="  ")
        )
    yield from remark_lines(explanation, steps=True, width=width)
