"""The values of a pod as a tree of rows: containers with requests and limits, the pod's sums, what quotas count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from kubectl_kres.provenance.journal import Check, Source, is_own_rule
from kubectl_kres.render.text.line import Tone
from kubectl_kres.render.text.values import title
from kubectl_kres.reports.common.explanation import ContainerValues, Explanation, QuotaCost, ResourceValue, Total
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.view import RowKey


class ValueRow(Struct, frozen=True):
    """A line of the tree. ``path``: the keys above it and its own. ``of``: what it is about.

    ``source``: the object that Enter goes to. ``question``: how ``--for`` names it.
    """

    path: RowKey
    label: str
    text: str = ""
    by: str = ""
    origin: str = ""
    tone: Tone = ""
    of: ContainerValues | ResourceValue | Total | QuotaCost | None = None
    source: Source | None = None
    question: str = ""
    branch: bool = False
    container: ContainerValues | None = None


def value_rows(explanation: Explanation) -> Iterator[ValueRow]:
    """All lines from the top, the branches before what is in them."""
    refused = {entry.path for entry in explanation.journal if isinstance(entry, Check) and not entry.passed}
    for number, container in enumerate(explanation.containers):
        yield from _container(container, f"{number:03}", refused)
    if explanation.totals:
        kept = f"{explanation.qos.name}" if explanation.qos is not None else ""
        yield ValueRow(("800",), "pod total", kept, branch=True)
    for number, total in enumerate(explanation.totals):
        label = f"{total.resource} {total.side[:-1]}"
        yield ValueRow(("800", f"{number:03}"), label, total.value, _by(total.of.rule, None), of=total)
    for number, cost in enumerate(explanation.quotas):
        over = "no room" if cost.exceeded and not cost.counted else ""
        by = "counted" if cost.counted else over
        at = (f"9{number:02}",)
        tone: Tone = "bad" if over else ""
        source = Source("ResourceQuota", cost.quota, explanation.subject.namespace)
        yield ValueRow(at, f"quota {cost.quota}", "", by, "", tone, cost, source, branch=True)
        for name in sorted(cost.charge.requested):
            bad = name in cost.exceeded and not cost.counted
            shown = f"+{cost.charge.requested[name]}" if not cost.counted else cost.charge.requested[name]
            of = f"of {cost.charge.hard.get(name, '?')}"
            yield ValueRow((*at, name), name, shown, of, "", "bad" if bad else "", cost, source)


def _container(container_values: ContainerValues, number: str, refused: set[str]) -> Iterator[ValueRow]:
    # A name would be cut for the sake of a word that "init" says as well.
    label = title(container_values).replace("init container", "init", 1)
    yield ValueRow(
        (number,),
        label,
        container_values.note and "!",
        "",
        "",
        "warn" if container_values.note else "",
        container_values,
        branch=True,
    )
    if not container_values.values:
        yield ValueRow((number, "0"), "no requests, no limits", tone="quiet", of=container_values)
    for at, value in enumerate(container_values.values):
        several = [value.value or "-", *(other.value for other in value.alternatives)]
        shown = value.live if value.live is not None else " or ".join(several)
        bad = bool({value.path, f"{container_values.path}.resources[{value.resource}]"} & refused)
        tone: Tone = "bad" if bad else "warn" if value.note or value.alternatives else ""
        question = f"{container_values.name}.{value.side}.{value.resource}" if container_values.name else ""
        yield ValueRow(
            (number, f"{at:03}"),
            f"{value.resource} {value.side[:-1]}",
            shown,
            _by(value.rule, value.source) if not value.note else "differs",
            value.source.name if value.source is not None and not is_own_rule(value.rule) else "",
            tone,
            value,
            value.source,
            question,
            container=container_values,
        )


def _by(rule: str, source: Source | None) -> str:
    """Who set it: the kind of an object, or the rule where it looks at nothing but the manifest."""
    return rule.rpartition("/")[2] if source is None or is_own_rule(rule) else source.kind


def columns(folded: set[RowKey], *, ascii_only: bool) -> Sequence[Column]:
    """What the tree shows of a row."""
    opened, closed = ("v ", "> ") if ascii_only else ("▾ ", "▸ ")

    def label(row: ValueRow) -> str:
        if not row.branch:
            return f"  {row.label}"
        return f"{closed if row.path in folded else opened}{row.label}"

    return (
        Column("name", "VALUE", label, tone=lambda row: row.tone or ("strong" if row.branch else ""), most=40),
        Column("text", "", lambda row: row.text, tone=lambda row: row.tone, right=True, most=18),
        Column("by", "SET BY", lambda row: row.by, tone=lambda row: row.tone or "quiet", most=10),
        Column("from", "OBJECT", lambda row: row.origin, tone=lambda _: "quiet", most=36, wide=True),
    )
